"""Loops, arrays, constants, and the small functions."""

from types import SimpleNamespace

import pytest

from ascsim.hw import current
from ascsim.hw.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    ArrayIndexError,
    NotSimulatedError,
    ScalarRangeError,
)
from ascsim.language import core
from ascsim.language.core import dtype as dt
from ascsim.language.core.constexpr import ConstExpr
from ascsim.language.core.ir_value import PlainValue, int32, value
from ascsim.language.core.properties import Property


def numbers(scalars):
    scalars = list(scalars)
    assert all(isinstance(s, PlainValue) and s.dtype is dt.int32 for s in scalars)
    return [s.v for s in scalars]


# --- loops ---


def test_range_yields_int32_scalars():
    assert numbers(core.range(3)) == [0, 1, 2]
    assert numbers(core.range(2, int32(5))) == [2, 3, 4]
    assert numbers(core.range(0, ConstExpr(7), 3)) == [0, 3, 6]
    assert numbers(core.range(5, 2)) == []
    loop = core.range(1, 4)
    assert (loop.start, loop.stop, loop.step) == (1, 4, 1)
    assert numbers(loop) == numbers(loop) == [1, 2, 3]


def test_range_tells_the_core_its_turn():
    core_ = SimpleNamespace(turn=None)
    token = current.core.set(core_)
    try:
        assert [(i.v, core_.turn) for i in core.range(1, 4)] == [(1, 1), (2, 2), (3, 3)]
    finally:
        current.core.reset(token)


def test_static_range_yields_plain_ints():
    indices = list(core.static_range(0, int32(6), 2))
    assert indices == [0, 2, 4]
    assert all(type(i) is int for i in indices)
    assert list(core.static_range(3, 0, -1)) == [3, 2, 1]


@pytest.mark.parametrize("step", [0, -1])
def test_range_refuses_to_count_down(step):
    with pytest.raises(ArgumentValueError, match=rf"range: step = {step}: .*upward.*nearest legal value: 1"):
        core.range(10, 0, step)


def test_loops_refuse_by_name():
    with pytest.raises(ArgumentValueError, match="static_range: step = 0"):
        core.static_range(0, 4, 0)
    with pytest.raises(ArgumentTypeError, match=r"range: stop = 2.5: a float is no integer"):
        core.range(2.5)
    with pytest.raises(ArgumentTypeError, match="range: start"):
        core.range(value(1.0, dt.float32), 5)
    for args in ((), (1, 2, 3, 4)):
        with pytest.raises(ArgumentTypeError, match="static_range: args"):
            core.static_range(*args)


# --- arrays ---


def test_array_of_values_reads_scalars_and_converts():
    a = core.array(dt.int16, [1, int32(-2), 40000, ConstExpr(4)])
    assert len(a) == a.length == 4
    assert [e.v for e in a] == [1, -2, -25536, 4]
    assert all(e.dtype is dt.int16 for e in a)
    a[int32(1)] = 7.9
    assert a[1].v == 7
    assert core.array(dt.half, 2, fill_value=0.1)[1].v == 0.0999755859375


def test_array_bounds():
    a = core.array(dt.int32, 3, 0)
    for index, nearest in ((3, 2), (-1, 0)):
        with pytest.raises(ArrayIndexError, match=rf"array: index = {index}: .*0\.\.2; nearest legal value: {nearest}"):
            a[index]
        with pytest.raises(IndexError):
            a[index] = 1
    with pytest.raises(ArgumentTypeError, match="index"):
        a[0:2]


def test_array_element_never_written():
    a = core.array(dt.int32, 2)
    a[0] = 5
    assert a[0].v == 5
    with pytest.raises(ArgumentValueError, match="index = 1: read before it was written"):
        a[1]


@pytest.mark.parametrize(
    ("args", "error", "text"),
    [
        ((dt.void, 3), ArgumentTypeError, "dtype = void: holds no numbers"),
        (("int32", 3), ArgumentTypeError, "dtype = 'int32'"),
        ((dt.int32, 0), ArgumentValueError, "length = 0: is empty"),
        ((dt.int32, []), ArgumentValueError, "is empty"),
        ((dt.int32, 2.0), ArgumentTypeError, "length = 2.0"),
        ((dt.int32, "abc"), ArgumentTypeError, "length = 'abc'"),
        ((dt.int32, [1], 0), ArgumentValueError, "fill_value = 0: cannot go with initial values"),
        ((dt.int32, ["a"]), ArgumentTypeError, "a str is no number"),
    ],
)
def test_array_refuses_by_name(args, error, text):
    with pytest.raises(error, match=text):
        core.array(*args)


# --- constants and small functions ---


@pytest.mark.parametrize(
    ("prop", "number", "dtype"),
    [
        (core.DEFAULT_C0_SIZE, 32, dt.int32),
        (core.ONE_BLK_SIZE, 32, dt.int16),
        (core.TOTAL_L0C_SIZE, 131072, dt.int32),
        (core.TOTAL_L1_SIZE, 524160, dt.int32),
    ],
)
def test_property(prop, number, dtype):
    scalar = core.property(prop)
    assert (scalar.v, scalar.dtype) == (number, dtype)


def test_property_refuses():
    with pytest.raises(NotSimulatedError, match=r"UNKNOWN.*TOTAL_L1_SIZE"):
        core.property(Property("UNKNOWN", dt.int32))
    with pytest.raises(ArgumentTypeError, match="is no Property"):
        core.property("TOTAL_L1_SIZE")


def test_number():
    for given, dtype, number in (
        (3, dt.int8, 3),
        (3.9, dt.int32, 3),
        (1, dt.float32, 1.0),
        (int32(300), dt.int8, 44),
        (0.1, dt.bfloat16, 0.10009765625),
    ):
        scalar = core.number(given, dtype)
        assert (scalar.v, scalar.dtype) == (number, dtype)
    with pytest.raises(ScalarRangeError, match=r"number: value = 300: .*-128\.\.127; nearest legal value: 127"):
        core.number(300, dt.int8)
    with pytest.raises(ArgumentTypeError, match="number"):
        core.number("3", dt.int8)


def test_inline_is_not_simulated():
    with pytest.raises(NotImplementedError, match="inline: code = 'x;'"):
        core.inline("x;")


@pytest.mark.parametrize(("x", "y", "up"), [(10, 4, 3), (8, 4, 2), (1, 100, 1), (0, 4, 0), (-7, 2, -3), (-8, 2, -4)])
def test_ceildiv(x, y, up):
    assert core.ceildiv(x, y) == up
    assert type(core.ceildiv(ConstExpr(x), y)) is int
    for scalar in (core.ceildiv(int32(x), y), core.ceildiv(x, int32(y)), core.ceildiv(int32(x), int32(y))):
        assert (scalar.v, scalar.dtype) == (up, dt.int32)


def test_ceildiv_refuses():
    with pytest.raises(ArgumentValueError, match="y = 0: division by zero"):
        core.ceildiv(1, 0)
    with pytest.raises(ArgumentTypeError, match=r"x = 1.5"):
        core.ceildiv(1.5, 2)


def test_static_assert():
    core.static_assert(True)
    core.static_assert(ConstExpr(True), "text")
    with pytest.raises(AssertionError, match="too long"):
        core.static_assert(False, "too long")
    with pytest.raises(AssertionError, match="condition is False"):
        core.static_assert(False)
    for given in (1, int32(1), int32(1) == 1, None):
        with pytest.raises(ArgumentTypeError, match="not known at compile time"):
            core.static_assert(given)
