"""copy: hand-worked values, counter mode, overlaps, definedness, faults, and a second opinion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference_reduce as slow
from basic_machine import codes, launch, on_image, ub
from hypothesis import given, settings
from hypothesis import strategies as st
from images import laid, mixed

from ascsim.hw.checks import Checks
from ascsim.hw.errors import ArgumentTypeError, MemoryFault, OperandError
from ascsim.language.basic import adds, copy, duplicate, reset_mask, set_mask_count, set_mask_norm, set_vector_mask
from ascsim.language.core import CopyRepeatParams, MaskMode
from ascsim.language.core import dtype as dt

COLLECT = Checks.collect()
FULL = (1 << 64) - 1


def i32(start: int, elements: int = 0) -> Any:
    return ub(dt.int32, start, elements)


def run(before: np.ndarray, call: Any) -> np.ndarray:
    after, device = on_image(before, call, COLLECT)
    assert codes(device) == []
    return after


def test_rows_out_of_a_matrix() -> None:
    # The vendor's second example, smaller: the first eight of each of four rows of 64.
    x = np.arange(256, dtype=np.int32)
    after = run(laid(1184, (0, x)), lambda: copy(i32(1024, 32), i32(0, 256), 8, 4, CopyRepeatParams(1, 1, 1, 8)))
    assert after[1024:1152].view(np.int32).tolist() == [64 * row + i for row in range(4) for i in range(8)]
    assert (after[1152:] == 7).all()


def test_bits_and_strides() -> None:
    # Lanes 0 and 9 (blocks 0 and 1); source blocks two apart, destination blocks three apart.
    x = np.arange(64, dtype=np.int32)
    after = run(laid(512, (0, x)), lambda: copy(i32(256, 64), i32(0), [1 | 1 << 9, 0], 1, CopyRepeatParams(3, 2, 8, 8)))
    got = after[256:].view(np.int32)
    assert [got[0], got[25]] == [0, 17]
    assert (np.delete(got, [0, 25]) == 0x07070707).all()


def counted(count: int, call: Any) -> Any:
    def body() -> None:
        set_mask_count()
        set_vector_mask(count, dtype=dt.int32, mode=MaskMode.COUNTER)
        call()
        set_mask_norm()
        reset_mask()

    return body


def test_counter_mode_counts_the_elements_of_a_repeat() -> None:
    # 68 elements a repeat: eight and a half blocks, two repeats 10 blocks apart.
    x = np.arange(160, dtype=np.int32)
    params = (1, 1, 10, 10)
    after = run(
        laid(1280, (0, x)), counted(68, lambda: copy(i32(640, 160), i32(0), 0, 2, CopyRepeatParams(*params), False))
    )
    got = after[640:].view(np.int32)
    assert got[:68].tolist() == list(range(68))
    assert got[80:148].tolist() == list(range(80, 148))
    assert (np.delete(got, [*range(68), *range(80, 148)]) == 0x07070707).all()


def test_counter_mode_by_a_list() -> None:
    x = np.arange(16, dtype=np.int32)

    def call() -> None:
        set_mask_count()
        copy(i32(64, 16), i32(0), [12, 0], 1, CopyRepeatParams(1, 1, 8, 8))

    after = run(laid(128, (0, x)), call)
    assert after[64:112].view(np.int32).tolist() == list(range(12))
    assert (after[112:] == 7).all()


def test_long_repeats_over_each_other_leave_the_last() -> None:
    # Repeats of ten blocks, eight blocks apart: the last two blocks of repeat 0 are those of repeat 1.
    x = np.concatenate([np.full(80, 1, np.int32), np.full(80, 2, np.int32)])
    params = (1, 1, 8, 10)
    after = run(laid(1280, (0, x)), counted(80, lambda: copy(i32(640), i32(0), 0, 2, CopyRepeatParams(*params), False)))
    assert after[640 : 640 + 18 * 32].view(np.int32).tolist() == [1] * 64 + [2] * 80


def test_a_count_beyond_ub_is_a_fault() -> None:
    def body() -> None:
        set_mask_count()
        reset_mask()  # in counter mode: 4294967295 elements
        copy(i32(64), i32(0), 0, 2, CopyRepeatParams(1, 1, 8, 8), False)

    with pytest.raises(MemoryFault, match=r"OOB_PHYS.*copy: dst touches UB"):
        launch(body)


def test_in_place_and_behind_itself() -> None:
    x = np.arange(128, dtype=np.int32)
    before = laid(1024, (0, x))
    _, device = on_image(before, lambda: copy(i32(0), i32(0), 64, 2, CopyRepeatParams(1, 1, 8, 8)), COLLECT)
    assert codes(device) == []
    _, device = on_image(before, lambda: copy(i32(32), i32(0), 64, 1, CopyRepeatParams(1, 1, 8, 8)), COLLECT)
    assert codes(device) == ["OVERLAP_PARTIAL"]
    _, device = on_image(before, lambda: copy(i32(256), i32(0), 64, 2, CopyRepeatParams(1, 1, 8, 8)), COLLECT)
    assert codes(device) == ["OVERLAP_REPEAT"]


def test_undefined_bytes_are_copied_and_reported_at_their_use() -> None:
    far = 65536

    def body(use: int) -> None:
        duplicate(i32(far, 32), 1, 32)  # the rest of the row is undefined
        copy(i32(far + 512, 64), i32(far, 64), 64, 1, CopyRepeatParams(1, 1, 8, 8))
        adds(i32(0, 8), i32(far + 512 + use, 8), 1, 8)

    after, device = on_image(laid(32), lambda: body(96), COLLECT)
    assert codes(device) == []
    assert after.view(np.int32).tolist() == [2] * 8
    _, device = on_image(laid(32), lambda: body(128), COLLECT)
    assert codes(device) == ["UNINIT_READ"]


def test_refuses() -> None:
    params = (1, 1, 8, 8)
    for call, error, message in (
        (
            lambda: copy(ub(dt.int8, 512), ub(dt.int8), 64, 1, CopyRepeatParams(*params)),
            OperandError,
            "BAD_DTYPE.*int8",
        ),
        (lambda: copy(i32(512), ub(dt.float32), 64, 1, CopyRepeatParams(*params)), OperandError, "one type for all"),
        (lambda: copy(i32(512), i32(0), 65, 1, CopyRepeatParams(*params)), OperandError, "BAD_MASK.*mask = 65"),
        (lambda: copy(i32(512), i32(0), 64, 256, CopyRepeatParams(*params)), OperandError, "BAD_REPEAT.*= 256"),
        (lambda: copy(i32(512), i32(0), 64, 1, CopyRepeatParams()), OperandError, "BAD_STRIDE.*dst_stride = 0; .*: 1"),
        (
            lambda: copy(i32(512), i32(0), 64, 1, CopyRepeatParams(1, 1, 4096, 8)),
            OperandError,
            "BAD_STRIDE.*dst_repeat_size = 4096; rule: 0 to 4095 blocks; nearest legal value: 4095",
        ),
        (lambda: copy(i32(512), i32(0), 64, 1, params), ArgumentTypeError, "rule: a CopyRepeatParams"),
        (lambda: copy(i32(516), i32(0), 64, 1, CopyRepeatParams(*params)), MemoryFault, "MISALIGNED_ADDR.*dst"),
        (lambda: copy(7, i32(0), 64, 1, CopyRepeatParams(*params)), OperandError, "BAD_POSITION.*dst = 7"),
    ):
        with pytest.raises(error, match=message):
            launch(call)


def test_the_largest_stride_between_repeats() -> None:
    """4095 blocks, which a single repeat does not go."""
    launch(lambda: copy(i32(512), i32(0), 64, 1, CopyRepeatParams(1, 1, 4095, 4095)))


def test_nothing_to_do() -> None:
    before = laid(1024)
    after, device = on_image(before, lambda: copy(i32(512), i32(0), 64, 0, CopyRepeatParams(1, 1, 8, 8)), COLLECT)
    assert codes(device) == ["ZERO_LENGTH"]
    assert (after == before).all()


# ------------------------------------------------------------------ second opinion

SIZE = 16384


@st.composite
def drawn(draw: Any, size: int) -> dict[str, Any]:
    lanes = 256 // size
    call: dict[str, Any] = {"seed": draw(st.integers(0, 1000)), "repeat": draw(st.integers(1, 5))}
    call["dst"] = draw(st.sampled_from([0, 32, 256, 4096, 8192]))
    call["src"] = draw(st.sampled_from([0, 64, 4096]))
    call["blks"] = draw(st.sampled_from([(1, 1), (1, 0), (2, 1), (1, 3)]))
    call["reps"] = (draw(st.sampled_from([0, 1, 8, 8, 9])), draw(st.sampled_from([0, 1, 8, 8, 9])))
    form = draw(st.sampled_from(["number", "bits", "counter"]))
    if form == "number":
        call["mask"] = draw(st.integers(1, lanes))
    elif form == "bits":
        call["mask"] = [draw(st.integers(1, FULL)), draw(st.integers(0, FULL)) if lanes == 128 else 0]
    else:
        call["length"] = draw(st.integers(1, 3 * lanes))
    return call


@pytest.mark.parametrize("dtype", [dt.int16, dt.bfloat16, dt.float16, dt.uint32, dt.float32], ids=str)
def test_against_the_second_opinion(dtype: dt.DataType) -> None:
    @settings(derandomize=True, max_examples=30, deadline=None, database=None)
    @given(drawn(dtype.size))
    def check(call: dict[str, Any]) -> None:
        before = mixed(dtype, SIZE, call.pop("seed"))

        def issue() -> None:
            params = CopyRepeatParams(*call["blks"], *call["reps"])
            tensors = (ub(dtype, call["dst"]), ub(dtype, call["src"]))
            if "length" in call:
                counted(call["length"], lambda: copy(*tensors, 0, call["repeat"], params, False))()
            else:
                copy(*tensors, call["mask"], call["repeat"], params)

        after, device = on_image(before, issue, COLLECT)
        want = before.copy()
        slow.copy(want, dtype.size, **call)
        assert np.flatnonzero(after != want).tolist() == []
        assert set(codes(device)) <= {"OVERLAP_PARTIAL", "OVERLAP_REPEAT"}

    check()
