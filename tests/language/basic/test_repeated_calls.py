"""A call that was made before is looked up by its arguments: it does what the first one did, and is judged anew.

The first call on a machine is the reference for the third one on another, where two on other data came before.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from basic_machine import FREE, at, launch, whole
from basic_machine import ub as alive

from ascsim.hw.checks import Checks
from ascsim.hw.errors import NotSimulatedError, SimulatorError
from ascsim.language import basic, plans
from ascsim.language.core import (
    CMPMODE,
    BinaryRepeatParams,
    CopyRepeatParams,
    DataCopyExtParams,
    DataCopyPadExtParams,
    GatherMaskParams,
    GatherRepeatParams,
    GlobalAddress,
    MrgSort4Info,
    MrgSortSrcList,
    RoundMode,
    SelMode,
    UnaryRepeatParams,
)
from ascsim.language.core import dtype as dt
from ascsim.language.core.place import running

SLOT = 1024  # bytes of an operand: four repeats
DYING: dict[int, int] = {}  # slots of UB whose tensors are dead, and how many were handed out


def ub(dtype: dt.DataType, start: int, elements: int) -> Any:
    """A tensor in UB, dead in a slot that is dying."""
    out = alive(dtype, start, elements)
    if start // SLOT in DYING:
        DYING[start // SLOT] += 1
        out.place = out.place.dead("USE_AFTER_FREE", "freed")
    return out


def f(slot: int) -> Any:
    return ub(dt.float32, slot * SLOT, SLOT // 4)


def h(slot: int) -> Any:
    return ub(dt.float16, slot * SLOT, SLOT // 2)


def u(slot: int) -> Any:
    return ub(dt.uint32, slot * SLOT, SLOT // 4)


def lists() -> Any:
    return MrgSortSrcList(dt.float32, *(ub(dt.float32, 4 * SLOT + 256 * i, 64) for i in range(4)))


BINARY, UNARY = BinaryRepeatParams(), UnaryRepeatParams()
WORDS = [(1 << 64) - 1, 0]
BITS = SelMode.VSEL_TENSOR_TENSOR_MODE
PADS = DataCopyPadExtParams(dt.float32, True, 0, 1, 3.0)
ROWS = DataCopyExtParams(2, 60, 0, 0, 0)
# Slots of UB: 0 dst, 1 to 3 floats, 4 pairs, 5 offsets, 6 bits, 7 scratch. `m`: a mask, `n`: repeats.
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda m, n: basic.add(f(0), f(1), f(2), m, n, BINARY),
    "adds": lambda m, n: basic.adds(f(0), f(1), 2.0, m, n, UNARY),
    "cast": lambda m, n: basic.cast(h(0), f(1), RoundMode.CAST_RINT, m, n, UnaryRepeatParams(1, 1, 4, 8)),
    "axpy": lambda m, n: basic.axpy(f(0), f(1), 2.0, m, n, UNARY),
    "compare": lambda m, n: basic.compare(ub(dt.uint8, 0, 64), f(1), f(2), CMPMODE.LT, m, n, BINARY),
    "select": lambda m, n: basic.select(f(0), ub(dt.uint8, 6 * SLOT, 64), f(1), f(2), BITS, m, n, BINARY),
    "copy": lambda m, n: basic.copy(f(0), f(1), m, n, CopyRepeatParams(1, 1, 8, 8)),
    "whole_reduce_sum": lambda m, n: basic.whole_reduce_sum(f(0), f(1), m, n, 1, 1, 8),
    "whole_reduce_max": lambda m, n: basic.whole_reduce_max(f(0), f(1), m, n, 1, 1, 8),
    "block_reduce_min": lambda m, n: basic.block_reduce_min(f(0), f(1), n, m, 1, 1, 8),
    "pair_reduce_sum": lambda m, n: basic.pair_reduce_sum(f(0), f(1), n, m, 1, 1, 8),
    "reduce_sum": lambda m, n: basic.reduce_sum(f(0), f(1), f(7), m, n, 8),
    "reduce_max": lambda m, n: basic.reduce_max(f(0), f(1), f(7), m, n, 8, True),
    "gather": lambda m, n: basic.gather(f(0), f(1), u(5), 0, m, n, 8),
    "gather_mask": lambda m, n: basic.gather_mask(f(0), f(1), 1, True, m, GatherMaskParams(1, 4, 8, 0)),
    "reduce_max by count": lambda m, n: basic.reduce_max(f(0), f(1), f(7), m, cal_index=True),
    "gather by count": lambda m, n: basic.gather(f(0), f(1), u(5), 0, m),
    "gatherb": lambda m, n: basic.gatherb(u(0), u(1), ub(dt.uint32, 5 * SLOT, 32), n, GatherRepeatParams(1, 8)),
    "sort32": lambda m, n: basic.sort32(ub(dt.float32, 0, 64 * n), f(2), u(5), n),
    "mrg_sort": lambda m, n: basic.mrg_sort(ub(dt.float32, 0, 256), lists(), MrgSort4Info([n] * 4, False, 15, 1)),
    "data_copy": lambda m, n: basic.data_copy(f(0), f(1), m),
}
UNMASKED = {"gatherb", "sort32", "mrg_sort"}  # m has no place in them
UNREPEATED = {"reduce_max by count", "gather by count", "data_copy", "gather_mask"}  # nor has n in these
MASKS: dict[str, tuple[Any, ...]] = dict.fromkeys(UNMASKED | {"data_copy", "gather_mask"}, (64,))
MASKS |= dict.fromkeys(("reduce_max by count", "gather by count"), (64, 17))


def image(seed: int) -> np.ndarray:
    """UB from byte 0 on: small numbers with zeros of both signs, and offsets that gather and gatherb both take."""
    rng = np.random.default_rng(seed)
    out = rng.integers(-3, 4, 8 * SLOT // 4).astype(np.float32)
    out[rng.integers(0, out.size, 200)] = -0.0
    raw = out.view(np.uint32)
    raw[5 * SLOT // 4 : 6 * SLOT // 4] = rng.integers(0, SLOT // 32, SLOT // 4) * 32
    return out.view(np.uint8)


def outcome(call: Callable[[], Any], *images: np.ndarray) -> tuple[np.ndarray, Any]:
    """UB and the mask registers after a call on each of the images, one after the other."""
    found: list[Any] = []

    def body() -> None:
        for one in images:
            whole("UB", one)
            call()
        core = running("test")
        found.extend((core.memories["UB"].bytes[: images[0].size].copy(), core.mask))

    launch(body, checks=FREE)
    return found[0], found[1]


@pytest.mark.parametrize("name", CALLS)
def test_a_third_call_does_what_a_first_one_does(name: str) -> None:
    for mask in MASKS.get(name, (64, 17, WORDS, [5, 0])):
        call = partial(CALLS[name], mask, 4)
        first, registers = outcome(call, image(2))
        third, later = outcome(call, image(0), image(1), image(2))
        assert (first != image(2)).any()
        assert np.array_equal(first, third)
        assert registers == later


@pytest.mark.parametrize("name", CALLS)
def test_what_a_first_call_refuses_a_third_one_refuses(name: str) -> None:
    """64.0 finds the entry of 64 in a dictionary, and is no count."""

    def body() -> None:
        whole("UB", image(0))
        for _ in range(3):
            CALLS[name](64, 1)
        for wrong in [(64.0, 1)] * (name not in UNMASKED) + [(64, 1.0)] * (name not in UNREPEATED):
            with pytest.raises(SimulatorError):
                CALLS[name](*wrong)

    launch(body, checks=FREE)


@pytest.mark.parametrize("name", ["reduce_max", "reduce_max by count", "gather by count", "gatherb", "compare"])
def test_counter_mode_is_noticed_after_calls_without(name: str) -> None:
    def body() -> None:
        whole("UB", image(0))
        for _ in range(3):
            CALLS[name](64, 4)
        basic.set_mask_count()
        with pytest.raises(NotSimulatedError):
            CALLS[name](64 if name in UNREPEATED else [64, 0], 4)

    launch(body, checks=FREE)


@pytest.mark.parametrize("name", CALLS)
def test_a_tensor_that_has_died_is_reported_after_good_calls(name: str) -> None:
    def body() -> None:
        whole("UB", image(0))
        for _ in range(3):
            CALLS[name](64, 4)
        for slot in range(7):
            for _ in range(3):  # the report does not make a plan of the call
                DYING[slot] = 0
                message = ""
                try:
                    CALLS[name](64, 4)
                except SimulatorError as error:
                    message = str(error)
                assert ("freed" in message) is (DYING.pop(slot) > 0)

    launch(body, checks=FREE)


def test_a_padded_copy_writes_the_pad_register_each_time() -> None:
    # The last element of a row of 64 bytes is padding: 3 where the call says so, else what the register holds.
    plain = DataCopyPadExtParams(dt.float32, False, 0, 1, 0.0)
    x = np.arange(32, dtype=np.float32)

    def body(address: GlobalAddress) -> None:
        for _ in range(3):
            basic.data_copy_pad(f(0), at(address), ROWS, PADS)
            basic.set_pad_value(5.0)
            basic.data_copy_pad(f(1), at(address), ROWS, plain)
            basic.data_copy_pad(f(0), at(address), ROWS, PADS)
            basic.data_copy_pad(f(2), at(address), ROWS, plain)
            words = running("test").memories["UB"].bytes.view(np.float32)
            assert [words[slot * SLOT // 4 + 15] for slot in range(3)] == [3.0, 5.0, 3.0]
            assert words[16:31].tolist() == list(range(15, 30))

    launch(body, x, checks=FREE)


def test_a_call_that_does_nothing_costs_the_next_one_no_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    build = plans.build
    monkeypatch.setattr(plans, "build", lambda core, row, *more: made.append(row.name) or build(core, row, *more))

    def body() -> None:
        whole("UB", image(0))
        for _ in range(3):
            basic.add(f(0), f(1), f(2), 0)
            basic.mul(f(0), f(1), f(2), 64)

    device = launch(body, checks=Checks.collect())
    assert made == ["mul"]
    assert [(finding.code, finding.count) for finding in device.findings if finding.severity == "warn"] == [
        ("ZERO_LENGTH", 3)
    ]
