"""Element-wise mathematics: values that the vendor prints, edge values, a second opinion, faults, prices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import reference_adv as slow
from adv_machine import DST, OTHER, SRC, TEMP, run, scratch
from basic_machine import codes, launch, ub
from hypothesis import given, settings
from hypothesis import strategies as st

from ascsim.hw.checks import Checks
from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError, MemoryFault, OperandError
from ascsim.language import adv
from ascsim.language.adv.math import MATH
from ascsim.language.basic import adds, set_mask_count
from ascsim.language.core import UnaryRepeatParams
from ascsim.language.core import dtype as dt
from ascsim.language.core.place import running

INF, NAN = math.inf, math.nan
F16, F32 = np.float16, np.float32
PLAIN = sorted(set(MATH) - {"exp", "axpy", "power", "xor"})


def unary(name: str, x: Any, *more: Any, type: type = F32) -> list[float]:
    """Results of `name` on an array; nothing may be found."""
    array = np.array(x, type)
    kind = dt.from_numpy(array.dtype)
    after, device = run(
        lambda: getattr(adv, name)(ub(kind, DST), ub(kind, SRC), array.size, *more, scratch()), (SRC, array)
    )
    assert codes(device) == []
    return after[DST : DST + array.nbytes].view(type).tolist()


# Printed on the vendor's pages, to about six digits.
PRINTED = {
    "acos": ([0, 0.001, 0.002, 0.252, 0.253, -1, 1], [1.570796, 1.569796, 1.568796, 1.316050, 1.315016, 3.141593, 0]),
    "acosh": ([-1, 0, 1, 2, 3, 4], [NAN, NAN, 0, 1.316958, 1.762747, 2.063437]),
    "asin": ([0, 0.001, 0.002, 0.252, 0.253, -1, 1], [0, 0.001, 0.002, 0.254746, 0.255780, -1.570796, 1.570796]),
    "asinh": ([0, 0.1, 0.2, 51, 51.100002], [0, 0.099834, 0.198690, 4.625069, 4.627028]),
    "atanh": ([0, 0.01, 0.02, 0.99, 1, 1.01], [0, 0.01, 0.020003, 2.646650, INF, NAN]),
    "ceil": ([-1.1, 0, 0.9, 1.9, 2.9, 3.9, 4.9, 5.9], [-1, 0, 1, 2, 3, 4, 5, 6]),
    "cos": ([0, 0.01, 0.02, 5.10, 5.11], [1, 0.999949992, 0.999800026, 0.377977639, 0.387216508]),
    "cosh": ([0, 0.01, 0.02, 2.52, -11.089], [1, 1.00005, 1.0002, 6.254528, 32723.625]),
    "digamma": ([5.3675685, 0.26528683, -2.872628, 2.9387941, 9.001339],
                [1.5843406, -3.978809, -6.2081366, 0.8983184, 2.1407988]),
    "erf": ([2.015634, -2.3880906, -0.2151161, -2.5, 0, 2.5],
            [0.99563545, -0.999268, -0.23903976, -0.9995931, 0, 0.9995931]),
    "erfc": ([0, 1, 2, 3], [1, 0.15729921, 0.0046777348, 2.2090497e-5]),
    "floor": ([-1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5], [-2, -1, 0, 1, 2, 3, 4, 5]),
    "frac": ([-258.41888, 5592.625], [-0.41888428, 0.625]),
    "lgamma": ([0, 0.01, 0.02, 0.03, 0.04], [INF, 4.599480, 3.900805, 3.489971, 3.197078]),
    "log": ([144.22607, 9634.764, 1835.1245, 3145.5125], [4.971382, 9.173133, 7.514868, 8.053732]),
    "round": ([6.6, -4.3, -8.6, 8.8, -8.3, 3.5, -3.4], [7, -4, -9, 9, -8, 4, -3]),
    "sign": ([-INF, -2, -0.0, 0, NAN, 2, INF], [-1, -1, 0, 0, 0, 1, 1]),
    "trunc": ([9.33, -8.07, -6.38, 8.45, 5.83, 6.46, 4.18, 1.93], [9, -8, -6, 8, 5, 6, 4, 1]),
}  # fmt: skip


@pytest.mark.parametrize("name", PRINTED)
def test_what_the_page_prints(name: str) -> None:
    x, y = PRINTED[name]
    assert unary(name, x) == pytest.approx(y, rel=3e-5, abs=5e-7, nan_ok=True)


# Of halves, worked out by hand from the exact value.
EDGES = [
    ("acos", [2.0, NAN], [NAN, NAN]),
    ("asinh", [-0.0, INF], [-0.0, INF]),
    ("atan", [INF, -INF, -0.0], [1.5703125, -1.5703125, -0.0]),  # pi/2 = 1.57080 between 1.5703125 and 1.5712890625
    ("atanh", [-1.0], [-INF]),
    ("ceil", [-0.5, -0.0, INF, 0.0001, 65504.0], [0.0, 0.0, INF, 1.0, 65504.0]),
    ("cosh", [-INF, 0.0, 12.0], [INF, 1.0, INF]),
    ("digamma", [0.0, -0.0, -3.0, INF, -INF, 1.0], [-INF, INF, NAN, INF, NAN, -0.5771484375]),  # -0.577216
    ("erf", [INF, -INF, -0.0], [1.0, -1.0, -0.0]),
    ("erfc", [INF, -INF, 0.0], [0.0, 2.0, 1.0]),
    ("floor", [-0.0, 0.5, -INF], [0.0, 0.0, -INF]),
    ("frac", [-1.0, INF, -0.25, -0.0], [0.0, NAN, -0.25, -0.0]),
    ("lgamma", [1.0, 2.0, -0.0, -2.0, -INF], [0.0, 0.0, INF, INF, INF]),
    ("log", [0.0, -0.0, -1.0, INF, 1.0, 65504.0], [-INF, -INF, NAN, INF, 0.0, 11.09375]),  # 11.08987
    ("round", [0.5, 1.5, 2.5, -0.5, -2.5], [0.0, 2.0, 2.0, 0.0, -2.0]),
    ("sign", [-0.0, NAN, 6e-8], [0.0, 0.0, 1.0]),
    ("sin", [-0.0, INF], [-0.0, NAN]),
    ("sinh", [12.0, -12.0, -0.0], [INF, -INF, -0.0]),
    ("tanh", [INF, -INF, -0.0], [1.0, -1.0, -0.0]),
    ("trunc", [-0.5, 1.9], [0.0, 1.0]),
]


@pytest.mark.parametrize(("name", "x", "y"), EDGES, ids=[name for name, _, _ in EDGES])
def test_edge_values_of_halves(name: str, x: list[float], y: list[float]) -> None:
    assert list(map(repr, unary(name, x, type=F16))) == list(map(repr, y))


@pytest.mark.parametrize("name", PLAIN)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_correctly_rounded(name: str, data: st.DataObject) -> None:
    """No further than half a unit of the last place from the exact value, as far as a second opinion knows it."""
    function, low, high = slow.FUNCTIONS[name]
    kind = data.draw(st.sampled_from((F16, F32)))
    x = data.draw(st.lists(st.floats(low, high), min_size=1, max_size=100))
    x = np.clip(np.array(x).astype(kind), kind(low), kind(high)).tolist()
    for value, result in zip(x, unary(name, x, type=kind), strict=True):
        try:
            exact = function(value)
        except (ValueError, ZeroDivisionError):  # at the edge of the domain, or at a pole
            continue
        if not abs(exact) < float(np.finfo(kind).max):
            continue
        unit = float(np.spacing(kind(abs(exact))))
        assert abs(result - exact) <= 0.501 * unit + 2e-14 * max(1, abs(value)), (value, result, exact)
        assert math.copysign(1, result) == math.copysign(1, exact) or name in ("sign", "frac") or result == 0


def test_exp_and_its_taylor_form() -> None:
    x = [0.0, 0.01, 0.02, 5.11]
    assert unary("exp", x, 0) == pytest.approx([1.0, 1.0100503, 1.0202013, 165.67036], rel=1e-6)
    assert unary("exp", x, 10) == pytest.approx([1.0, 1.0100503, 1.0202013, 165.67036], rel=1e-6)
    # Level 1: exp(-2) * (1 + 0.5) of -1.5, exp(2) * (1 + 0.75) of 2.75.
    assert unary("exp", [-1.5, 2.75, 3.0], 1) == pytest.approx([0.20300293, 12.930848, 20.085537], rel=1e-6)
    assert unary("exp", [-1.5], 1, type=F16) == [0.2030029296875]
    assert unary("exp", [INF, -INF, NAN, 100.0, -200.0], 0) == pytest.approx([INF, 0, NAN, INF, 0], nan_ok=True)
    assert unary("exp", [INF, -INF, 100.0, -200.0], 12) == pytest.approx([NAN, NAN, INF, 0], nan_ok=True)


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 15), st.lists(st.floats(-20, 20, width=32), min_size=1, max_size=64))
def test_exp_of_a_level(level: int, x: list[float]) -> None:
    exact = [slow.exp_series(value, level) for value in x]
    assert unary("exp", x, level) == pytest.approx(exact, rel=6.1e-8)


def two(name: str, a: Any, b: Any, kind: dt.DataType, *more: Any) -> list[Any]:
    x, y = np.array(a, kind.np), np.array(b, kind.np)
    call = lambda: getattr(adv, name)(ub(kind, DST), ub(kind, SRC), ub(kind, OTHER), x.size, scratch())  # noqa: E731
    after, device = run(call, (SRC, x), (OTHER, y))
    assert codes(device) == []
    return after[DST : DST + x.nbytes].view(kind.np).tolist()


def test_power_of_floats() -> None:
    a = [2.0, 2.0, -2.0, -2.0, 0.0, 4.0, 1.0, NAN, 10.0]
    b = [10.0, -1.0, 3.0, 0.5, -1.0, 0.5, NAN, 0.0, 39.0]
    expected = [1024.0, 0.5, -8.0, NAN, INF, 2.0, 1.0, 1.0, INF]
    assert list(map(repr, two("power", a, b, dt.float32))) == list(map(repr, expected))
    # 1.5^3 = 3.375; 3^0.5 = 1.7320508 between halves 1.7314453125 and 1.732421875: the nearer is the second.
    assert two("power", [1.5, 3.0, 2.0], [3.0, 0.5, 16.0], dt.float16) == [3.375, 1.732421875, INF]


def test_power_of_integers() -> None:
    a = [3, 0, -2, 2, 2, 3, 7, 1, -1, -1, 2, 0, 46341]
    b = [4, 0, 3, 31, 32, 21, 0, -5, -3, -4, -1, -2, 2]
    # 2^31 wraps to the lowest, 2^32 to 0; 3^21 = 10460353203 = 2 * 2^32 + 1870418611; 46341^2 = 2147488281 - 2^32.
    expected = [81, 1, -8, -(1 << 31), 0, 1870418611, 1, 1, -1, 1, 0, 0, -2147479015]
    assert two("power", a, b, dt.int32) == expected


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(-(1 << 31), (1 << 31) - 1), st.integers(-40, 40)), min_size=1, max_size=40))
def test_power_of_any_integers(pairs: list[tuple[int, int]]) -> None:
    a, b = zip(*pairs, strict=True)
    assert two("power", a, b, dt.int32) == [slow.int_power(*pair) for pair in pairs]


def test_xor() -> None:
    # The page's example, and all bits.
    assert two("xor", [2, 3, 5, 7, 11, 13, 17, 19], [1, 2, 3, 4, 5, 6, 7, 8], dt.int16) == [3, 1, 6, 3, 14, 11, 22, 27]
    assert two("xor", [0xFFFF, 0xAAAA, 0], [0x00FF, 0x5555, 0], dt.uint16) == [0xFF00, 0xFFFF, 0]


def axpy(x: Any, y: Any, scalar: Any) -> list[float]:
    source, target = dt.from_numpy(x.dtype), dt.from_numpy(y.dtype)
    after, device = run(
        lambda: adv.axpy(ub(target, DST), ub(source, SRC), scalar, x.size, scratch()), (SRC, x), (DST, y)
    )
    assert codes(device) == []
    return after[DST : DST + y.nbytes].view(y.dtype).tolist()


def test_axpy() -> None:
    ramp = np.arange(1, 65, dtype=F32)
    assert axpy(ramp, np.zeros(64, F32), 3.0) == [3.0 * i for i in range(1, 65)]
    assert axpy(ramp[:2].astype(F16), np.array([0.5, -1.0], F32), 0.1) == [
        pytest.approx(0.5 + 0.0999755859375, abs=1e-7),  # the scalar is a half
        pytest.approx(-1.0 + 0.199951171875, abs=1e-7),
    ]
    # 2049 = 3 * 683 is no half: kept in float32 until 0.5 is added, 2049.5 rounds to 2050; rounded first, 2048.
    assert axpy(np.array([683], F16), np.array([0.5], F16), 3) == [2050.0]
    # 3 * 2^24 / 3 + 1: float32 rounds after the product.
    assert axpy(np.array([1 + 2**-23], F32), np.array([-1.0], F32), 1 + 2**-23) == [2**-22]


def test_count_left_out_means_all_of_src_and_what_lies_beyond_stays() -> None:
    x = np.arange(8, dtype=F32) + 0.5
    after, device = run(lambda: adv.floor(ub(dt.float32, DST), ub(dt.float32, SRC, 8)), (SRC, x))
    assert codes(device) == []
    assert after[DST : DST + 32].view(F32).tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    assert (after[DST + 32 : TEMP] == 7).all()
    after, device = run(lambda: adv.trunc(ub(dt.float32, SRC), ub(dt.float32, SRC), 3, scratch()), (SRC, x))
    assert codes(device) == []
    assert after[:16].view(F32).tolist() == [0, 1, 2, 3.5]
    _, device = run(lambda: adv.log(ub(dt.float32, DST), ub(dt.float32, SRC), 0))
    assert codes(device) == ["ZERO_LENGTH"]


def test_masks_do_not_matter_and_are_all_set_afterwards() -> None:
    def body() -> None:
        set_mask_count()
        adv.log(ub(dt.float32, DST), ub(dt.float32, SRC), 4)
        adds(ub(dt.float32, OTHER), ub(dt.float32, SRC), 1.0, 0, 1, UnaryRepeatParams(), False)

    after, device = run(body, (SRC, np.ones(64, F32)))
    assert codes(device) == []
    assert after[OTHER : OTHER + 256].view(F32).tolist() == [2.0] * 64


def test_refuses() -> None:
    f = lambda start=SRC: ub(dt.float32, start)  # noqa: E731
    h = lambda start=SRC: ub(dt.float16, start)  # noqa: E731
    i = lambda start=SRC: ub(dt.int32, start)  # noqa: E731
    for bad, error, message in (
        (lambda: adv.acos(i(DST), i(), 8, scratch()), OperandError, r"BAD_DTYPE.*adv\.acos: dst has type int32"),
        (lambda: adv.acos(h(DST), f(), 8, scratch()), OperandError, "src has type float32, dst has float16; rule: one"),
        (lambda: adv.acos(f(DST), h(), 8, scratch()), OperandError, "src has type float16, dst has float32; rule: one"),
        (lambda: adv.axpy(h(DST), f(), 1.0, 8, scratch()), OperandError, "src has type float32, dst has float16"),
        (lambda: adv.acos(f(DST + 4), f(), 8, scratch()), MemoryFault, "MISALIGNED_ADDR.*dst starts at byte 1028"),
        (lambda: adv.acos(f(DST), f(), 8, f(TEMP)), OperandError, "temp_buffer has type float32; rule: uint8"),
        (lambda: adv.acos(f(DST), f(), 8, 5), ArgumentTypeError, "temp_buffer = 5: is no LocalTensor"),
        (lambda: adv.acos(f(DST), 3, 8), OperandError, "BAD_POSITION.*src = 3 is an int"),
        (lambda: adv.acos(f(DST), f(), -1, scratch()), OperandError, "BAD_MASK.*count = -1"),
        (lambda: adv.acos(f(DST), f(), 2.5, scratch()), ArgumentTypeError, "count"),
        (lambda: adv.xor(i(DST), i(), i(OTHER), 8, scratch()), OperandError, "BAD_DTYPE.*rule: int16, uint16"),
        (lambda: adv.power(f(DST), f(), i(OTHER), 8, scratch()), OperandError, "src1 has type int32, dst has float32"),
        (lambda: adv.exp(f(DST), f(), 8, 256, scratch()), ArgumentValueError, "_level = 256; rule: 0 to 255; .*: 255"),
        (lambda: adv.log(f(DST), f(), 1 << 20), MemoryFault, "OOB_PHYS"),
    ):
        with pytest.raises(error, match=message):
            launch(bad)


def test_price() -> None:
    """1024 float32 are 16 repeats: 22 cycles to start an instruction, 2 a repeat of the exp class, 1 of the simple."""

    def cycles(call: Callable[[], Any]) -> int:
        spent = []

        def body() -> None:
            pipe = running("cycles").pipes["V"]
            before = pipe.free
            call()
            spent.append(pipe.free - before)

        launch(body, checks=Checks.off())
        return spent[0]

    big = lambda n: ub(dt.float32, 8192 * n)  # noqa: E731
    assert cycles(lambda: adv.log(big(1), big(0), 1024)) == 22 + 32
    assert cycles(lambda: adv.floor(big(1), big(0), 1024)) == 22 + 16
    assert cycles(lambda: adv.power(big(1), big(0), big(2), 1024, ub(dt.uint8, 81920))) == 3 * (22 + 32)
    # Ten terms of three instructions, and four more.
    assert cycles(lambda: adv.exp(big(1), big(0), 1024, 10, ub(dt.uint8, 81920))) == 34 * (22 + 16)


def test_every_function_publishes_its_form() -> None:
    assert len(MATH) == 27
    for name in MATH:
        function = getattr(adv, name)
        assert function.__name__ == name
        (form,) = function.__overloads__
        assert list(form.parameters)[-2:] == ["temp_buffer", "is_reuse_source"]
        assert name in function.__doc__
