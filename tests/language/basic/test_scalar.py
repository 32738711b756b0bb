"""Functions of single numbers: the vendor's examples, edges, types, refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from basic_machine import launch

from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError, LaunchError
from ascsim.language.basic import (
    count_bits_cnt_same_as_sign_bit,
    scalar_cast,
    scalar_count_leading_zero,
    scalar_get_count_of_value,
    scalar_get_sff_value,
)
from ascsim.language.core import RoundMode
from ascsim.language.core import dtype as dt
from ascsim.language.core import ir_value as iv

ALL = (1 << 64) - 1
ROUND, CEIL, FLOOR, RINT, ODD = (
    *(RoundMode.CAST_ROUND, RoundMode.CAST_CEIL, RoundMode.CAST_FLOOR, RoundMode.CAST_RINT),
    RoundMode.CAST_ODD,
)


def inside(call: Callable[[], Any]) -> Any:
    """What a call gives inside a kernel."""
    out: list[Any] = []
    launch(lambda: out.append(call()))
    return out[0]


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        (scalar_count_leading_zero, (0x0100000000000020,), 7),
        (scalar_count_leading_zero, (0xFFFF,), 48),
        (scalar_count_leading_zero, (0,), 64),
        (scalar_count_leading_zero, (ALL,), 0),
        (scalar_count_leading_zero, (-1,), 0),
        (scalar_get_sff_value, (0x1000000000000100, 1), 8),
        (scalar_get_sff_value, (ALL, 0), -1),
        (scalar_get_sff_value, (0, 1), -1),
        (scalar_get_sff_value, (0xFF00, 0), 0),
        (scalar_get_sff_value, (0xFF00, 1), 8),
        (scalar_get_sff_value, (0xFF, 0), 8),
        (scalar_get_sff_value, (1 << 63, 1), 63),
        (scalar_get_count_of_value, (0xFFFF, 1), 16),
        (scalar_get_count_of_value, (0xFFFF, 0), 48),
        (scalar_get_count_of_value, (-1, 0), 0),
        (count_bits_cnt_same_as_sign_bit, (0x0100000000000020,), 6),
        (count_bits_cnt_same_as_sign_bit, (0,), -1),
        (count_bits_cnt_same_as_sign_bit, (-1,), -1),
        (count_bits_cnt_same_as_sign_bit, (0x7FFFFFFFFFFFFFFF,), 0),
        (count_bits_cnt_same_as_sign_bit, (-0x8000000000000000,), 0),
        (count_bits_cnt_same_as_sign_bit, (1,), 62),
        (count_bits_cnt_same_as_sign_bit, (-2,), 62),
        (count_bits_cnt_same_as_sign_bit, (0x00F0000000000000,), 7),
    ],
)
def test_bits(function: Callable[..., Any], arguments: tuple[int, ...], expected: int) -> None:
    got = inside(lambda: function(*arguments))
    assert got == expected
    assert got.dtype is dt.int64
    assert (
        inside(lambda: function(iv.Int64.pack(arguments[0] - (arguments[0] >> 63 << 64)), *arguments[1:])) == expected
    )


@pytest.mark.parametrize(
    ("x", "mode", "expected"),
    [
        *[(1.5, ROUND, 2), (1.5, CEIL, 2), (1.5, FLOOR, 1), (1.5, RINT, 2)],
        *[(2.5, ROUND, 3), (2.5, CEIL, 3), (2.5, FLOOR, 2), (2.5, RINT, 2)],
        *[(-2.5, ROUND, -3), (-2.5, CEIL, -2), (-2.5, FLOOR, -3), (-2.5, RINT, -2)],
        *[(0.49999997, ROUND, 0), (3e9, RINT, 2147483647), (-3e9, FLOOR, -2147483648)],
        *[(float("inf"), CEIL, 2147483647), (float("-inf"), CEIL, -2147483648), (float("nan"), ROUND, 0)],
        (16777217.0, ROUND, 16777216),  # the argument is a float32
    ],
)
def test_cast_to_int32(x: float, mode: RoundMode, expected: int) -> None:
    got = inside(lambda: scalar_cast(x, dt.int32, mode))
    assert got == expected
    assert got.dtype is dt.int32


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (3.14159, 3.142578125),  # between 1608 and 1609 times 2**-9: the odd one, though the even one is nearer
        (-3.14159, -3.142578125),
        (1.0, 1.0),
        (2049.0, 2050.0),  # between 1024 * 2 and 1025 * 2
        (2.0**-24, 2.0**-24),
        (2.0**-26, 2.0**-24),  # between 0 and the least half
        (65510.0, 65504.0),
        (float("inf"), float("inf")),
    ],
)
def test_cast_to_half_goes_to_odd(x: float, expected: float) -> None:
    got = inside(lambda: scalar_cast(iv.Float32.pack(x), dt.float16, ODD))
    assert got == expected
    assert got.dtype is dt.float16


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: scalar_cast(1.5, dt.float16, RINT), ArgumentValueError, r"round_mode = .*for float16: CAST_ODD"),
        (lambda: scalar_cast(1.5, dt.int32, ODD), ArgumentValueError, r"for int32: CAST_ROUND, CAST_CEIL"),
        (lambda: scalar_cast(1.5, dt.int8, RINT), ArgumentTypeError, r"dtype = int8.*int32 or float16"),
        (lambda: scalar_cast("x", dt.int32, RINT), ArgumentTypeError, r"value_in = 'x'"),
        (lambda: scalar_get_sff_value(3, 2), ArgumentValueError, r"count_value = 2.*nearest legal value: 1"),
        (lambda: scalar_get_count_of_value(3, -1), ArgumentValueError, r"count_value = -1.*0 or 1"),
        (lambda: scalar_count_leading_zero(1.0), ArgumentTypeError, r"value_in = 1.0"),
    ],
)
def test_refusals(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        inside(call)


def test_they_are_device_calls() -> None:
    with pytest.raises(LaunchError, match="scalar_count_leading_zero"):
        scalar_count_leading_zero(1)
