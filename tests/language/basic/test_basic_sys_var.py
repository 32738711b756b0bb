"""System variables, the questions for the kind of core, and the state at the start of a kernel."""

from __future__ import annotations

import pytest
from basic_machine import KERNEL_TYPE, launch, ub

from ascsim.hw.checks import Checks
from ascsim.hw.device import Device
from ascsim.hw.soc import soc
from ascsim.language.basic import (
    add,
    ascend_is_aic,
    ascend_is_aiv,
    duplicate,
    get_arch_version,
    get_block_idx,
    get_block_num,
    get_data_block_size_in_bytes,
    get_program_counter,
    get_sub_block_idx,
    get_sub_block_num,
    get_system_cycle,
    get_task_ratio,
    init_soc_state,
    reset_mask,
    set_mask_count,
    set_mask_norm,
    set_vector_mask,
)
from ascsim.language.core import BinaryRepeatParams, MaskMode
from ascsim.language.core import dtype as dt

PLACE = (get_block_idx, get_block_num, get_sub_block_idx, get_sub_block_num, get_task_ratio)


def seen(body, kind: str, blocks: int = 2) -> list[object]:
    """What `body` returns on each core, in the order of the cores."""
    out: list[object] = []
    device = Device(soc("Ascend910B1"), KERNEL_TYPE[kind], blocks, checks=Checks())
    device.run(lambda: out.append(body()))
    return out


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("aiv", [(0, 2, 0, 1, 1), (1, 2, 0, 1, 1)]),
        ("aic", [(0, 2, 0, 1, 1), (1, 2, 0, 1, 1)]),
        # a cube core, then its two vector cores, whose block number is 2 * group + sub-block
        ("mix", [(0, 2, 0, 1, 1), (0, 2, 0, 2, 2), (1, 2, 1, 2, 2), (1, 2, 0, 1, 1), (2, 2, 0, 2, 2), (3, 2, 1, 2, 2)]),
    ],
)
def test_where_a_core_stands(kind, expected):
    assert seen(lambda: tuple(question().v for question in PLACE), kind) == expected


def test_types_of_the_answers():
    questions = (*PLACE, get_data_block_size_in_bytes, get_system_cycle, get_program_counter)
    (names,) = seen(lambda: [q().dtype.name for q in (*questions, lambda: get_arch_version(0))], "aiv", 1)
    assert names == ["int32", "int32", "int64", "uint64", "int64", "int32", "int64", "int64", "int64"]


def test_constants():
    assert seen(lambda: (get_data_block_size_in_bytes().v, get_arch_version(0).v), "aiv", 1) == [(32, 2201)]


def test_kind_of_core():
    def body():
        return bool(ascend_is_aic()), bool(ascend_is_aiv()), ascend_is_aic().dtype.name

    assert seen(body, "mix", 1) == [(True, False, "int1"), (False, True, "int1"), (False, True, "int1")]


def test_the_cycle_counter_ticks_at_50_mhz_and_the_program_counter_moves_on():
    def body():
        first, here = get_system_cycle().v, get_program_counter().v
        for _ in range(1000):
            duplicate(ub(dt.float32, 0, 64), 1, 64)
        return first, get_system_cycle().v - first, get_program_counter().v > here

    ((first, ticks, later),) = seen(body, "aiv", 1)
    assert first == 0
    # handing an instruction to a pipe takes a handful of cycles of 1850 MHz: 37 cycles a tick
    assert 20 < ticks < 1000
    assert later


def test_the_masks_are_all_lanes_and_normal_mode_at_the_start_and_after_init_soc_state():
    out = []

    def body():
        image = ub(dt.int32, 0, 192)
        for turn in range(3):
            duplicate(image, 0, 192)
            if turn:
                set_mask_count()
                set_vector_mask(0, 70, dtype=dt.int32, mode=MaskMode.COUNTER)
            if turn == 1:
                init_soc_state()
            duplicate(image, 7, 0, 2, 1, 8, False)
            out.append(sum(image.get_value(i).v == 7 for i in range(192)))
        set_mask_norm()
        reset_mask()

    launch(body)
    assert out == [128, 128, 70]


def test_reset_mask_keeps_the_mode_and_set_mask_norm_the_words():
    out = []

    def body():
        image = ub(dt.int32, 0, 128)
        duplicate(image, 0, 128)
        set_mask_count()
        reset_mask()
        set_vector_mask(0, 3, dtype=dt.int32, mode=MaskMode.NORMAL)
        duplicate(image, 7, 0, 1, 1, 8, False)  # counter mode still: three elements
        set_mask_norm()
        add(image[64:], image, image, [3, 0], 1, BinaryRepeatParams())
        duplicate(image[64:], 9, 0, 1, 1, 8, False)  # the words of the call before: lanes 0 and 1
        out.append([image.get_value(i).v for i in (0, 1, 2, 3, 64, 65, 66)])

    launch(body)
    assert out == [[7, 7, 7, 0, 9, 9, 0]]


def test_a_launch_leaves_no_mask_behind():
    def first():
        set_mask_count()
        set_vector_mask(0, 1, dtype=dt.int32, mode=MaskMode.COUNTER)

    launch(first)
    out = []

    def second():
        image = ub(dt.int32, 0, 64)
        duplicate(image, 0, 64)
        duplicate(image, 1, 0, 1, 1, 8, False)
        out.append(image.get_value(63).v)

    launch(second)
    assert out == [1]
