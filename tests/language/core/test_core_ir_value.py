"""Run-time scalars: the typing rule, C's arithmetic, conversions, and what they serve as."""

import copy
import math
import operator
import pickle
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascsim.hw.errors import ArgumentTypeError, ScalarError, ScalarRangeError
from ascsim.language.core import dtype as dt
from ascsim.language.core import ir_value
from ascsim.language.core.constexpr import ConstExpr
from ascsim.language.core.enums import TPosition
from ascsim.language.core.ir_value import Float32, Int32, PlainValue, int32, to_index, unwrap, value

INTEGERS = [dt.int8, dt.int16, dt.int32, dt.int64, dt.uint8, dt.uint16, dt.uint32, dt.uint64]
FLOATS = [dt.float16, dt.bfloat16, dt.float32, dt.float64]


def is_(scalar, number, dtype):
    """Equal in number, Python type and dtype: comparing scalars would apply the rules under test."""
    assert isinstance(scalar, PlainValue)
    assert scalar.dtype is dtype
    assert type(scalar.v) is type(number)
    assert scalar.v == number or (scalar.v != scalar.v and number != number)


# --- the typing rule ---


def test_result_has_the_type_of_the_left_scalar_else_of_the_right():
    n, wide, x = int32(7), value(3, dt.int64), value(0.5, dt.float32)
    is_(n + wide, 10, dt.int32)
    is_(wide + n, 10, dt.int64)
    is_(5 - n, -2, dt.int32)
    is_(0.5 * n, 0, dt.int32)
    is_(2.0 / n, 0, dt.int32)
    is_(n + 1.9, 8, dt.int32)
    is_(n + -1.9, 6, dt.int32)
    is_(x * 3, 1.5, dt.float32)
    is_(3 - x, 2.5, dt.float32)
    is_(n + x, 7, dt.int32)  # equal width: the float is truncated
    is_(x + n, 7.5, dt.float32)


def test_integer_and_float_of_different_width_do_not_mix():
    with pytest.raises(ScalarError, match=r"\+: operand = 0.5: no conversion from float16 to int32"):
        int32(7) + value(0.5, dt.float16)
    with pytest.raises(ScalarError, match="equal width"):
        value(1.0, dt.float32) * value(1, dt.int64)


def test_other_operands_are_constexpr_enums_bools_and_numpy_scalars():
    n = int32(7)
    is_(n + ConstExpr(2), 9, dt.int32)
    is_(ConstExpr(2) + n, 9, dt.int32)
    is_(n + TPosition.VECIN, 16, dt.int32)
    is_(n + True, 8, dt.int32)
    is_(n * np.int64(2), 14, dt.int32)
    is_(np.int64(2) * n, 14, dt.int32)
    is_(np.float32(2.5) * n, 14, dt.int32)
    is_(np.int64(-9) // n, -1, dt.int32)
    is_(np.uint8(1) << n, 128, dt.int32)
    is_(np.int32(6) < n, True, dt.int1)


def test_functions_of_numpy_and_python_are_refused_with_what_to_do():
    n, x = int32(-7), value(0.5, dt.float32)
    host = "rule: numpy and math work on the host alone: compute it before the launch, or on a tensor"
    for call, text in (
        (lambda: np.sqrt(x), f"np.sqrt: float32 = 0.5: is not available; {host}"),
        (lambda: np.add(n, 1), f"np.add: int32 = -7: is not available; {host}"),
        (lambda: np.array([1, 2]) * n, f"np.multiply: int32 = -7: is not available; {host}"),
        (lambda: n * np.array([1, 2]), f"np.multiply: int32 = -7: is not available; {host}"),
        (lambda: np.array([n, n]), f"a numpy array of it: int32 = -7: is not available; {host}"),
        (lambda: np.max(n), f"np.maximum: int32 = -7: is not available; {host}"),
        (lambda: math.sqrt(x), "rule: use x.cast(dtype); numpy and math work on the host alone"),
        (lambda: abs(n), "abs(x): int32 = -7: is not available; rule: an `if`, or asc.abs on a tensor"),
        (lambda: round(x), "round(x): float32 = 0.5: is not available; rule: asc.scalar_cast(x, asc.int32,"),
        (lambda: divmod(n, 2), "divmod: int32 = -7: is not available; rule: use / and %"),
        (lambda: divmod(7, n), "divmod: int32 = -7: is not available; rule: use / and %"),
    ):
        with pytest.raises(ScalarError) as caught:
            call()
        assert text in str(caught.value)


def test_foreign_operands_keep_pythons_own_meaning():
    n = int32(2)
    assert [1, 2] * n == [1, 2, 1, 2]
    assert (n == None) is False  # noqa: E711 (the operator is what is tested)
    assert n != "2"
    with pytest.raises(TypeError, match=r"unsupported operand.*'Int32' and 'str'"):
        n + "2"


# --- integers ---


@pytest.mark.parametrize(
    ("a", "b", "quotient", "remainder"), [(10, 4, 2, 2), (-7, 2, -3, -1), (7, -2, -3, 1), (-7, -2, 3, -1), (0, 5, 0, 0)]
)
def test_division_truncates_and_remainder_has_the_sign_of_the_dividend(a, b, quotient, remainder):
    for left, right in ((int32(a), b), (int32(a), int32(b)), (a, int32(b))):
        is_(left / right, quotient, dt.int32)
        is_(left // right, quotient, dt.int32)
        is_(left % right, remainder, dt.int32)


def test_division_by_zero_raises_by_name():
    for divide in (operator.truediv, operator.floordiv, operator.mod):
        with pytest.raises(ScalarError, match="division by zero"):
            divide(int32(5), 0)
    with pytest.raises(ScalarError, match="division by zero"):
        int32(5).ceildiv(0)


@pytest.mark.parametrize(
    ("dtype", "top", "after"),
    [(dt.int8, 127, -128), (dt.int32, 2147483647, -2147483648), (dt.uint8, 255, 0), (dt.uint64, 2**64 - 1, 0)],
)
def test_integers_wrap_at_their_width(dtype, top, after):
    is_(value(top, dtype) + 1, after, dtype)
    is_(value(after, dtype) - 1, top, dtype)
    is_(-value(1, dt.uint16), 65535, dt.uint16)
    is_(int32(65536) * 65536, 0, dt.int32)


def test_bits_and_shifts():
    n = int32(-12)
    is_(n >> 2, -3, dt.int32)
    is_(n & 7, 4, dt.int32)
    is_(n | 1, -11, dt.int32)
    is_(n ^ -1, 11, dt.int32)
    is_(1 << int32(31), -2147483648, dt.int32)
    is_(value(0x80, dt.uint8) >> 7, 1, dt.uint8)
    is_(value(0x80, dt.uint8) << 1, 0, dt.uint8)
    for amount in (32, -1):
        with pytest.raises(ScalarError, match=rf"<<: amount = {amount}: .*0\.\.31"):
            n << amount


@pytest.mark.parametrize(("a", "b", "up"), [(10, 4, 3), (8, 4, 2), (-7, 2, -3), (-8, 2, -4), (7, -2, -3), (0, 3, 0)])
def test_ceildiv(a, b, up):
    is_(int32(a).ceildiv(b), up, dt.int32)


@given(
    dtype=st.sampled_from(INTEGERS),
    a=st.integers(-(2**65), 2**65),
    b=st.integers(-(2**65), 2**65),
    name=st.sampled_from(["add", "sub", "mul", "and_", "or_", "xor", "truediv", "mod"]),
)
def test_integer_arithmetic_against_exact_fractions(dtype, a, b, name):
    span = 2**dtype.bitwidth

    def wrap(x):
        x %= span
        return x - span if dtype.is_signed() and x >= span // 2 else x

    a, b = wrap(a), wrap(b)
    if name in ("truediv", "mod"):
        if b == 0:
            return
        q = math.trunc(Fraction(a, b))
        expected = q if name == "truediv" else a - q * b
    else:
        expected = getattr(operator, name)(a, b)
    function = getattr(operator, name)
    for result in (
        function(value(a, dtype), b),
        function(a, value(b, dtype)),
        function(value(a, dtype), value(b, dtype)),
    ):
        is_(result, wrap(expected), dtype)


# --- floats ---


def test_floats_round_after_every_operation():
    is_(value(0.1, dt.float32), 0.10000000149011612, dt.float32)
    is_(value(0.1, dt.float32) * 0.1, 0.010000000707805157, dt.float32)
    is_(value(0.1, dt.float16), 0.0999755859375, dt.float16)
    is_(value(2048.0, dt.float16) + 1, 2048.0, dt.float16)  # ties to even
    is_(value(2049.0, dt.float16) + 2, 2050.0, dt.float16)  # 2049 itself rounds to 2048
    is_(value(65504.0, dt.float16) * 2, math.inf, dt.float16)
    is_(value(1.01, dt.bfloat16), 1.0078125, dt.bfloat16)
    is_(value(3.0, dt.float64) / 4, 0.75, dt.float64)
    is_(value(7.0, dt.float32) // 2, 3.5, dt.float32)


@given(st.floats(width=32))
def test_narrow_floats_against_numpy(x):
    with np.errstate(over="ignore"):
        half, brain = float(np.float16(x)), float(np.float32(x).astype(ml_dtypes.bfloat16))
    is_(value(x, dt.float16), half, dt.float16)
    is_(value(x, dt.bfloat16), brain, dt.bfloat16)
    is_(value(x, dt.float32), x, dt.float32)
    if x == 0:
        assert math.copysign(1, value(x, dt.float16).v) == math.copysign(1, x)


def test_float_division_by_zero_follows_ieee():
    x = value(1.0, dt.float32)
    is_(x / 0, math.inf, dt.float32)
    is_(-x / 0.0, -math.inf, dt.float32)
    is_(x / -0.0, -math.inf, dt.float32)
    is_((x - 1) / 0, math.nan, dt.float32)


@pytest.mark.parametrize("name", ["mod", "lshift", "rshift", "and_", "or_", "xor"])
def test_integer_operators_are_refused_on_floats(name):
    with pytest.raises(ScalarError, match=r"float32 = 1\.5: .*integers only"):
        getattr(operator, name)(value(1.5, dt.float32), 1)
    with pytest.raises(ScalarError, match="integers only"):
        getattr(operator, name)(1, value(1.5, dt.float32))


# --- what is refused, what a scalar serves as ---


@pytest.mark.parametrize(
    ("use", "names"),
    [
        (lambda n: n**2, r"\*\*"),
        (lambda n: 2**n, r"\*\*"),
        (lambda n: ~n, "~"),
        (int, r"int\(x\).*cast"),
        (float, r"float\(x\).*cast"),
    ],
)
@pytest.mark.parametrize("dtype", [dt.int32, dt.float32])
def test_refused_operations_name_themselves(use, names, dtype):
    with pytest.raises(ScalarError, match=names):
        use(value(3, dtype))


def test_truth():
    assert int32(-1)
    assert not int32(0)
    assert value(0.5, dt.float32) > 0
    assert not value(0.5, dt.float32) > 1
    with pytest.raises(ScalarError, match="float is no condition"):
        bool(value(0.5, dt.float32))


def test_comparisons_give_one_bit_with_methods():
    n = int32(3)
    for less in (n < 4, n <= 3, n == 3, n >= 3, n > 2, n != 4, n < 4, n < int32(4), n < 4.9):
        is_(less, True, dt.int1)
    is_(n < 3, False, dt.int1)
    is_(n < 3.9, False, dt.int1)  # the constant becomes 3
    is_((n < 4).logical_and(n > 5), False, dt.int1)
    is_((n < 4).logical_or(n > 5), True, dt.int1)
    is_(n.logical_and(4), True, dt.int1)  # not the bitwise 0
    is_((n < 4) + (n < 5), True, dt.int1)
    is_((n < 4).cast(dt.int32) + 1, 2, dt.int32)
    is_(n * 2 + (n < 4), 7, dt.int32)
    assert (n < 4) is (n < 5)


def test_unsigned_comparison():
    assert value(200, dt.uint8) > value(100, dt.uint8)


def test_a_constant_that_does_not_fit_wraps_before_it_is_compared_or_divided_by():
    byte, word, small = value(3, dt.uint8), value(5, dt.uint32), value(-56, dt.int8)
    assert not byte > -1  # 255
    assert not word > -1
    assert not small < 200  # -56
    is_(word / -1, 0, dt.uint32)  # by 4294967295
    is_(word % -2, 5, dt.uint32)
    is_(-1 // word, 858993459, dt.uint32)
    is_(word.ceildiv(-1), 1, dt.uint32)
    is_(300 >> value(1, dt.uint8), 22, dt.uint8)  # of 44
    is_(word + -1, 4, dt.uint32)


def test_equality_and_hash_are_those_of_the_number():
    assert hash(int32(7)) == hash(7)
    assert {7: "seven"}[int32(7)] == "seven"
    assert {int32(7): "seven"}[7] == "seven"
    assert int32(9) == TPosition.VECIN
    assert int32(9) == TPosition.VECIN
    assert hash(value(0.5, dt.float16)) == hash(0.5)


def test_integers_serve_as_index_bound_and_count():
    n = int32(2)
    assert [10, 20, 30][n] == 30
    assert "abcd"[n:] == "cd"
    assert list(range(n)) == [0, 1]
    assert np.arange(5)[n] == 2
    assert operator.index(n) == 2
    assert operator.index(n < 3) == 1
    with pytest.raises(TypeError, match="Float32"):
        [1, 2][value(1.0, dt.float32)]


def test_text_is_the_number():
    n, x = int32(255), value(0.5, dt.float32)
    assert f"{n} {n:04x} {x:.3f} {n!r} {x!s}" == "255 00ff 0.500 255 0.5"


# --- conversion ---


def test_cast():
    n = int32(-1)
    assert n.cast(dt.int_) is n
    is_(n.cast(dt.uint32), 4294967295, dt.uint32)
    is_(n.cast(dt.uint8), 255, dt.uint8)
    is_(int32(300).cast(dt.int8), 44, dt.int8)
    is_(int32(2).cast(dt.int1), True, dt.int1)
    is_(n.cast(dt.float32), -1.0, dt.float32)
    is_(value(-2.9, dt.float32).cast(dt.int32), -2, dt.int32)
    is_(int32(16777217).cast(dt.float32), 16777216.0, dt.float32)
    is_(value(0.1, dt.float64).cast(dt.float16), 0.0999755859375, dt.float16)
    with pytest.raises(ScalarError, match="cast: operand = -1: no conversion from int32 to float16"):
        n.cast(dt.float16)
    with pytest.raises(ScalarRangeError, match="inf"):
        value(math.inf, dt.float32).cast(dt.int32)
    with pytest.raises(ArgumentTypeError, match="data type"):
        n.cast("int8")


def test_value_wraps_and_refuses():
    is_(value(np.float64(1.5), dt.float32), 1.5, dt.float32)
    is_(value(2**32 + 5, dt.int32), 5, dt.int32)
    is_(value(ConstExpr(5), dt.int8), 5, dt.int8)
    is_(value(True, dt.int32), 1, dt.int32)
    is_(int32(True), 1, dt.int32)
    is_(Int32(np.int64(-3)), -3, dt.int32)
    for refused, dtype in (("5", dt.int32), (None, dt.float32), (5, dt.void)):
        with pytest.raises(ArgumentTypeError, match="no number"):
            value(refused, dtype)
    with pytest.raises(ScalarRangeError, match="nan"):
        value(math.nan, dt.int32)
    with pytest.raises(ScalarRangeError, match="does not fit float32"):
        value(10**400, dt.float32)
    with pytest.raises(ArgumentTypeError, match=r"asc\.number"):
        PlainValue(5)


def test_unwrap_and_to_index():
    assert unwrap(int32(5)) == 5
    assert type(unwrap(int32(5))) is int
    assert unwrap(ConstExpr("a")) == "a"
    assert unwrap(None) is None
    for number in (5, int32(5), ConstExpr(5), np.uint8(5), value(5, dt.uint64)):
        index = to_index(number, "add", "count")
        assert (index, type(index)) == (5, int)
    assert type(to_index(TPosition.A1, "add", "count")) is int
    for refused in (5.0, "5", value(5.0, dt.float32), ConstExpr(5.0)):
        with pytest.raises(ArgumentTypeError, match=r"add: count.*is no integer"):
            to_index(refused, "add", "count")
    with pytest.raises(ArgumentTypeError, match=r"add: count: is missing; rule: an integer"):
        to_index(None, "add", "count")


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, dt.int1])
def test_every_type_has_a_class_that_copies_and_pickles(dtype):
    one = value(1, dtype)
    assert type(one) is ir_value.CLASSES[dtype]
    for again in (copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        is_(again, one.v, dtype)


def test_interned_results_do_not_grow_without_bound():
    table = Int32.pack.__self__
    for i in range(70000):
        int32(i)
    assert len(table) <= 65536
    assert int32(69999) is int32(69998) + 1
    is_(value(1.5, Float32.dtype) + 1, 2.5, dt.float32)
