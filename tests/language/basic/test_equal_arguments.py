"""Arguments that a dictionary takes for one another, or that print alike, and that are not the same call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from basic_machine import FREE, at, f, launch, order, ub, whole

from ascsim.hw.errors import ArgumentTypeError
from ascsim.language import basic
from ascsim.language.core import (
    CMPMODE,
    BinaryRepeatParams,
    DataCopyExtParams,
    DataCopyPadExtParams,
    GlobalAddress,
    HardEvent,
    InitConstValueParams,
    RoundMode,
    SelMode,
    TPosition,
    UnaryRepeatParams,
)
from ascsim.language.core import dtype as dt
from ascsim.language.core.place import running

BITS = SelMode.VSEL_TENSOR_TENSOR_MODE
SIGN = 0x80000000  # of float32, alone: -0.0
# calls with a member of an enumeration, by count and with a mask
BY_MODE: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "cast": (RoundMode.CAST_RINT, lambda mode: basic.cast(ub(dt.int32, 0, 64), f(1024), mode, 64)),
    "cast with a mask": (
        RoundMode.CAST_RINT,
        lambda mode: basic.cast(ub(dt.int32, 0, 64), f(1024), mode, 64, 1, UnaryRepeatParams()),
    ),
    "compare": (CMPMODE.GT, lambda mode: basic.compare(ub(dt.uint8, 0, 64), f(1024), f(2048), mode, 64)),
    "compare with a mask": (
        CMPMODE.GT,
        lambda mode: basic.compare(ub(dt.uint8, 0, 64), f(1024), f(2048), mode, 64, 1, BinaryRepeatParams()),
    ),
    "compare_scalar": (CMPMODE.GT, lambda mode: basic.compare_scalar(ub(dt.uint8, 0, 64), f(1024), 1.0, mode, 64)),
    "select": (BITS, lambda mode: basic.select(f(), ub(dt.uint8, 4096, 64), f(1024), f(2048), mode, 64)),
    "select with a mask": (
        BITS,
        lambda mode: basic.select(f(), ub(dt.uint8, 4096, 64), f(1024), f(2048), mode, 64, 1, BinaryRepeatParams()),
    ),
}


@pytest.mark.parametrize("name", BY_MODE)
def test_a_float_is_no_mode_though_it_equals_one(name: str) -> None:
    mode, call = BY_MODE[name]

    def body() -> None:
        whole("UB", np.zeros(8192, np.uint8))
        for _ in range(3):
            call(mode)
        call(int(mode))
        with pytest.raises(ArgumentTypeError, match="a float is no integer"):
            call(float(mode))

    launch(body, checks=FREE)


def test_a_padding_of_minus_zero_is_none_of_zero() -> None:
    block = DataCopyExtParams(1, 16, 0, 0, 0)
    found = []

    def body(address: GlobalAddress) -> None:
        for value in (0.0, 0.0, -0.0, 0.0):
            basic.data_copy_pad(f(), at(address), block, DataCopyPadExtParams(dt.float32, True, 0, 4, value))
            found.append(running("test").memories["UB"].bytes[16:32].view(np.uint32).tolist())

    launch(body, np.arange(8, dtype=np.float32), checks=FREE)
    assert found == [[0] * 4, [0] * 4, [SIGN] * 4, [0] * 4]


def test_a_fill_with_minus_zero_is_none_with_zero() -> None:
    found = []

    def body() -> None:
        for value in (0.0, 0.0, -0.0, 0.0):
            basic.init_const_value(ub(dt.float32, 0, 8, TPosition.A1), InitConstValueParams(1, 1, 0, value))
            found.append(running("test").memories["L1"].bytes[:32].view(np.uint32).tolist())

    launch(body, kind="aic", checks=FREE)
    assert found == [[0] * 8, [0] * 8, [SIGN] * 8, [0] * 8]


def test_parameters_are_equal_where_their_bits_are() -> None:
    def pads(value: float) -> DataCopyPadExtParams:
        return DataCopyPadExtParams(dt.float32, True, 0, 0, value)

    assert pads(0.0) == pads(0.0) != pads(-0.0)
    assert pads(float("nan")) == pads(float("nan"))
    assert pads(1) == pads(1.0)  # a field has one type


def test_scales_that_print_alike_are_two() -> None:
    # 100 * 0.12 = 12 and 100 * 0.14 = 14; both scales print as 0.1.
    found = []

    def body() -> None:
        whole("UB", np.full(512, 100, np.int16).view(np.uint8), 1024)
        for scale in (0.12, 0.14, 0.12):
            basic.set_deq_scale(scale, 0, True)
            params = UnaryRepeatParams(1, 1, 8, 8)
            basic.cast_deq(ub(dt.int8, 0, 256), ub(dt.int16, 1024, 128), 128, 1, params, True, False, False)
            order(HardEvent.V_MTE3)
            found.append(int(running("test").memories["UB"].bytes[0]))

    with np.printoptions(precision=1):
        launch(body, checks=FREE)
    assert found == [12, 14, 12]


def test_no_number_is_refused_as_a_number_to_compare_with() -> None:
    def body() -> None:
        whole("UB", np.zeros(2048, np.uint8))
        with pytest.raises(ArgumentTypeError, match="a NoneType is no number"):
            basic.compare_scalar(ub(dt.uint8, 0, 64), f(1024), None, CMPMODE.EQ, 64)

    launch(body, checks=FREE)
