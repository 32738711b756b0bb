"""quant: hand-worked values, a second opinion in plain Python, its configuration, and faults."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
import pytest
from basic_machine import at, codes, launch, order, ub
from hypothesis import given, settings
from hypothesis import strategies as st

from ascsim.hw.checks import Checks
from ascsim.hw.errors import ArgumentTypeError, OperandError
from ascsim.language import adv
from ascsim.language.basic import data_copy, duplicate
from ascsim.language.core import GlobalAddress, HardEvent
from ascsim.language.core import dtype as dt

SRC, DST, TEMP = 0, 4096, 8192  # bytes
INF, NAN = math.inf, math.nan


def quant(x: Any, scale: float, offset: float, *, dst: int = DST, temp: int = 2048, **more: Any) -> Any:
    """The first 64 bytes of dst as int8 (9 where nothing was written), and what was found."""
    out = np.zeros(64, np.int8)

    def body(source: GlobalAddress, target: GlobalAddress) -> None:
        duplicate(ub(dt.int16, DST), 0x0909, 64)
        data_copy(ub(dt.from_numpy(x.dtype)), at(source), x.size)
        order(HardEvent.MTE2_V)
        adv.quant(
            ub(dt.int8, dst), ub(dt.from_numpy(x.dtype)), scale, offset, **{"count": x.size, **more},
            temp_buffer=ub(dt.uint8, TEMP, temp),
        )  # fmt: skip
        order(HardEvent.V_MTE3)
        data_copy(at(target), ub(dt.int8, dst), 64)

    device = launch(body, np.resize(x, max(x.size, 32)), out, checks=Checks.collect())
    return out.tolist(), codes(device)


def padded(numbers: list[float], type: Any) -> np.ndarray:
    return np.array(numbers + [0.0] * (-len(numbers) % 32), type)


@pytest.mark.parametrize("type", [np.float16, np.float32])
def test_hand_worked(type: Any) -> None:
    # 2x + 0.5: ties go to even; what is too large saturates; NaN gives 0.
    x = [0.0, 0.5, 1.0, -1.0, -0.5, 63.25, 64.0, 1000.0, -64.25, -65.0, INF, -INF, NAN]
    y = [0, 2, 2, -2, 0, 127, 127, 127, -128, -128, 127, -128, 0]
    got, found = quant(padded(x, type), 2.0, 0.5)
    assert (got[: len(x)], found) == (y, [])


def test_every_step_is_a_half() -> None:
    # Halves near 2049 are 2 apart: 2049 becomes 2048, and 2048 - 2047 = 1. In float32 it would be 2.
    assert quant(padded([2049.0], np.float32), 1.0, -2047.0)[0][0] == 1
    # 683 * 3 = 2049 becomes 2048 again.
    assert quant(padded([683.0], np.float16), 3.0, -2047.0)[0][0] == 1
    # The scale becomes 0.0999755859375; times 1000 it is 99.9756, half 100.0; 0.1 * 1000 less 27.5 is 72.5, even 72.
    assert quant(padded([1000.0], np.float32), 0.1, -27.5)[0][0] == 72


def half(x: float) -> float:
    try:
        return float(struct.unpack("<e", struct.pack("<e", x))[0])
    except OverflowError:
        return math.copysign(INF, x)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(-200, 200, width=16), min_size=1, max_size=32), st.floats(-2, 2), st.floats(-50, 50))
def test_against_plain_python(x: list[float], scale: float, offset: float) -> None:
    expected = [
        max(-128, min(127, round(half(half(value * half(scale)) + half(offset)))))
        for value in x
    ]  # fmt: skip
    got, found = quant(padded(x, np.float16), scale, offset)
    assert (got[: len(x)], found) == (expected, [])


def test_count_and_configuration() -> None:
    x = padded([1.0] * 32, np.float32)
    assert quant(x, 2.0, 0.0, count=3)[0][:5] == [2, 2, 2, 9, 9]
    # Both numbers of the configuration rule over the call's; one alone does not.
    assert quant(x, 2.0, 0.0, count=3, config=adv.QuantConfig(5, 0, 0, 512))[0][:7] == [2] * 5 + [9, 9]
    assert quant(x, 2.0, 0.0, count=3, config=adv.QuantConfig(5))[0][:5] == [2, 2, 2, 9, 9]
    assert quant(x, 2.0, 0.0, config=adv.QuantConfig(5, 0, 0, 4096))[1] == ["OOB_BUF"]


def test_dst_may_start_where_src_does() -> None:
    x = padded([1.0] * 64, np.float32)
    assert quant(x, 3.0, 1.0, dst=SRC) == ([4] * 64, [])
    assert quant(x, 3.0, 1.0, dst=SRC + 32)[1] == ["OVERLAP_PARTIAL"]


def test_scratch() -> None:
    x = padded([1.0], np.float32)
    assert quant(x, 1.0, 0.0, temp=512)[1] == []
    assert quant(x, 1.0, 0.0, temp=480)[1] == ["OOB_BUF"]
    assert quant(x.astype(np.float16), 1.0, 0.0, temp=512)[1] == []
    assert quant(x.astype(np.float16), 1.0, 0.0, temp=480)[1] == ["OOB_BUF"]


def test_refuses() -> None:
    f, i8, temp = (lambda s=0: ub(dt.float32, s)), (lambda s=DST: ub(dt.int8, s)), (lambda: ub(dt.uint8, TEMP, 512))
    for bad, error, message in (
        (lambda: adv.quant(f(DST), f(), 1.0, 0.0, 8, temp()), OperandError, "dst has type float32; rule: int8"),
        (lambda: adv.quant(i8(), i8(0), 1, 0, 8, temp()), OperandError, "src has type int8; rule: float16, float32"),
        (lambda: adv.quant(i8(), 3, 1.0, 0.0, 8, temp()), OperandError, "BAD_POSITION.*src = 3 is an int"),
        (lambda: adv.quant(i8(), f(), 1.0, 0.0, 8, temp(), config=7), ArgumentTypeError, "config = 7: is no Q"),
        (lambda: adv.quant(i8(), f(), "x", 0.0, 8, temp()), ArgumentTypeError, "scalar"),
    ):  # fmt: skip
        with pytest.raises(error, match=message):
            launch(bad)
