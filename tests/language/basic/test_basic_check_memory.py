"""check_local_memory_ia: which accesses stop a kernel, and that nothing else does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from basic_machine import at, codes, launch, order, ub

from ascsim.hw.checks import Checks
from ascsim.hw.core import Core
from ascsim.hw.device import Device
from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError, LaunchError, OperandError, TrapError
from ascsim.hw.soc import soc
from ascsim.language.basic import add, check_local_memory_ia, data_copy, duplicate, get_block_idx, pipe_barrier
from ascsim.language.core import BinaryRepeatParams, CheckLocalMemoryIAParam, GlobalAddress, HardEvent, PipeID
from ascsim.language.core import dtype as dt

KINDS = ("is_scalar_read", "is_scalar_write", "is_vector_read", "is_vector_write", "is_mte_read", "is_mte_write")
CHECKS = (Checks(), Checks.off(), Checks(hold_sets=True))


def watch(start: int, end: int, *kinds: str, register: int = 0) -> None:
    check_local_memory_ia(CheckLocalMemoryIAParam(register, start, end, is_enable=True, **dict.fromkeys(kinds, True)))


def accesses(gm: Any) -> dict[str, Callable[[], object]]:
    """One access of each kind to bytes 96 to 127 of UB: block 3."""
    here, away = ub(dt.int32, 96, 8), ub(dt.int32, 1024, 8)
    return {
        "is_scalar_read": lambda: here.get_value(0),
        "is_scalar_write": lambda: here.set_value(7, 1),
        "is_vector_read": lambda: add(away, here, away, 8),
        "is_vector_write": lambda: duplicate(here, 1, 8),
        "is_mte_read": lambda: data_copy(gm, here, 8),
        "is_mte_write": lambda: data_copy(here, gm, 8),
    }


def stops(watched: str, access: str, checks: Checks = CHECKS[0], blocks: tuple[int, int] = (2, 3)) -> bool:
    """Whether an access to block 3 stops a kernel that watches for a kind."""

    def body(a: GlobalAddress) -> None:
        duplicate(ub(dt.int32, 0, 512), 1, 512)
        pipe_barrier(PipeID.PIPE_ALL)
        watch(*blocks, watched)
        accesses(at(a))[access]()

    try:
        launch(body, np.zeros(8, np.int32), checks=checks)
    except TrapError:
        return True
    return False


@pytest.mark.parametrize("watched", KINDS)
def test_each_kind_stops_its_own_accesses_alone(watched: str) -> None:
    assert [access for access in KINDS if stops(watched, access)] == [watched]


@pytest.mark.parametrize(("blocks", "expected"), [((2, 3), 1), ((3, 9), 0), ((0, 2), 0), ((0, 65535), 1), ((0, 3), 1)])
def test_the_range_is_open_at_its_start_and_closed_at_its_end(blocks: tuple[int, int], expected: int) -> None:
    assert stops("is_vector_write", "is_vector_write", blocks=blocks) == bool(expected)


@pytest.mark.parametrize("checks", CHECKS)
def test_on_every_machine(checks: Checks) -> None:
    assert stops("is_mte_write", "is_mte_write", checks)
    assert not stops("is_mte_write", "is_mte_read", checks)


def test_the_report() -> None:
    def body() -> None:
        watch(3, 4, "is_vector_write", register=2)
        duplicate(ub(dt.int32, 0, 64), 1, 64)

    with pytest.raises(TrapError) as caught:
        launch(body)
    text = str(caught.value)
    assert text.startswith("TRAP: duplicate, test_basic_check_memory.py:")
    assert (
        "(V) writes UB [128:160), which register 2 watches (check_local_memory_ia, test_basic_check_memory.py:" in text
    )


def test_an_instruction_that_steps_over_the_range_goes_on() -> None:
    """Blocks 0, 2, 4 .. are written, block 1 is watched."""

    def body(stride: int) -> None:
        duplicate(ub(dt.int32, 4096, 64), 1, 64)
        watch(0, 1, "is_vector_write")
        source = ub(dt.int32, 4096, 64)
        add(ub(dt.int32), source, source, 64, 1, BinaryRepeatParams(stride, 1, 1, 8, 8, 8))

    assert codes(launch(lambda: body(2))) == []
    with pytest.raises(TrapError):
        launch(lambda: body(1))


def test_a_cleared_register_watches_no_more_and_the_others_do() -> None:
    def body() -> None:
        kind = type(_core())
        watch(0, 7, "is_vector_write", register=1)
        watch(7, 15, "is_vector_write", register=3)
        check_local_memory_ia(CheckLocalMemoryIAParam(1))
        duplicate(ub(dt.int32, 32, 8), 1, 8)
        with pytest.raises(TrapError, match="register 3"):
            duplicate(ub(dt.int32, 256, 8), 1, 8)
        check_local_memory_ia(CheckLocalMemoryIAParam(3, 0, 9, is_vector_write=True))
        duplicate(ub(dt.int32, 256, 8), 1, 8)
        assert type(_core()) is kind

    launch(body)


def _core() -> Core:
    return ub(dt.int32, 0, 8).place.core


def test_a_watch_ends_with_its_kernel() -> None:
    """The machine of the first core serves the second one."""

    def body() -> None:
        duplicate(ub(dt.int32, 32, 8), 1, 8)
        if get_block_idx() == 0:
            watch(0, 9, "is_vector_write")

    device = Device(soc("Ascend910B1"), 0, 3, checks=Checks())
    device.run(body)
    assert device.findings == []


def test_a_store_that_waits_for_its_flag_is_watched() -> None:
    def body(a: GlobalAddress) -> None:
        here = ub(dt.int32, 32, 8)
        duplicate(here, 1, 8)
        watch(0, 1, "is_mte_read")
        order(HardEvent.V_MTE3)
        data_copy(at(a), here, 8)

    with pytest.raises(TrapError, match=r"data_copy, .* \(MTE3\) reads UB \[32:64\)"):
        launch(body, np.zeros(8, np.int32))


def test_a_watch_of_nothing_is_a_warning() -> None:
    def body() -> None:
        watch(5, 5, "is_vector_write")
        watch(0, 5)
        duplicate(ub(dt.int32, 0, 64), 1, 64)

    (found,) = launch(body, checks=Checks.collect()).findings
    assert (found.code, found.count) == ("ZERO_LENGTH", 2)


def test_cube_cores_have_no_ub() -> None:
    with pytest.raises(OperandError, match="WRONG_CORE"):
        launch(lambda: watch(0, 1, "is_vector_write"), kind="aic")
    assert codes(launch(lambda: watch(0, 1, "is_vector_write"), kind="mix")) == []


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: check_local_memory_ia(3),
            ArgumentTypeError,
            "check_local_memory_ia: check_params = 3: is no parameter",
        ),
        (lambda: watch(0, 1, register=4), ArgumentValueError, "check_local_memory_ia: enable_bit = 4; rule: 0 to 3"),
        (lambda: watch(65536, 1), ArgumentValueError, "check_local_memory_ia: start_addr = 65536; rule: 0 to 65535"),
        (lambda: watch(0, 65536), ArgumentValueError, "check_local_memory_ia: end_addr = 65536; rule: 0 to 65535"),
    ],
)
def test_bad_arguments(call: Callable[[], None], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        launch(call)
    assert str(caught.value).startswith(text)
    with pytest.raises(LaunchError):
        call()
