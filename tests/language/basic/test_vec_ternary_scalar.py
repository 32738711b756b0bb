"""axpy: literal cases, the vendor's edge values, and every pair of types against `reference_convert`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference_convert
from basic_machine import codes, launch, on_image, ub
from hypothesis import given, settings
from hypothesis import strategies as st

from ascsim.hw.checks import Checks
from ascsim.hw.errors import ArgumentTypeError, OperandError
from ascsim.language.basic import axpy, duplicate, reset_mask, set_mask_count, set_mask_norm, set_vector_mask
from ascsim.language.core import MaskMode, UnaryRepeatParams
from ascsim.language.core import dtype as dt

COLLECT = Checks.collect()
HALF, FLOAT = dt.float16, dt.float32
PAIRS = [(HALF, HALF), (FLOAT, FLOAT), (FLOAT, HALF)]  # dst, src


def summed(dst: dt.DataType, src: dt.DataType, x: list[float], y: list[float], scalar: Any) -> list[float]:
    before = np.zeros(1024, np.uint8)
    with np.errstate(over="ignore"):
        before[: len(x) * src.size] = np.array(x).astype(src.np).view(np.uint8)
        before[512 : 512 + len(y) * dst.size] = np.array(y).astype(dst.np).view(np.uint8)
    after, _ = on_image(before, lambda: axpy(ub(dst, 512), ub(src, 0), scalar, len(x)))
    return after[512 : 512 + len(y) * dst.size].view(dst.np).tolist()


@pytest.mark.parametrize(("dst", "src"), PAIRS)
def test_literal(dst: dt.DataType, src: dt.DataType) -> None:
    assert summed(dst, src, [1, 2, 3, -4], [10, 20, 30, 40], 2.0) == [12, 24, 36, 32]


def test_product_and_sum_are_rounded_one_after_the_other() -> None:
    """In half (1 + 2**-10) squared is 1 + 2**-9, its last bit is lost; in float32 the product of halves is exact."""
    a = 1 + 2**-10
    assert summed(HALF, HALF, [a], [-1.0], a) == [2**-9]
    assert summed(FLOAT, HALF, [a], [-1.0], a) == [2**-9 + 2**-20]


def test_edge_values() -> None:
    """65504 * 65504 overflows a half, so that -inf then gives NaN; not so in float32. +0 + -0 is +0."""
    inf = np.inf
    out = summed(HALF, HALF, [65504, 65504, -65504], [0, -inf, -65504], 65504.0)
    assert out[0] == inf
    assert np.isnan(out[1])
    assert out[2] == -inf
    assert summed(FLOAT, HALF, [65504], [-inf], 65504.0) == [-inf]
    zeros = summed(FLOAT, FLOAT, [0.0, -0.0, 0.0], [-0.0, -0.0, -0.0], -0.0)
    assert np.signbit(zeros).tolist() == [True, False, True]
    assert np.isnan(summed(HALF, HALF, [0.0, np.nan], [1.0, 1.0], inf)).all()


def test_the_scalar_has_the_type_of_the_source() -> None:
    """0.1 as a half is 0.0999755859375."""
    assert summed(FLOAT, HALF, [1.0], [0.0], 0.1) == [0.0999755859375]
    assert summed(FLOAT, FLOAT, [1.0], [0.0], 0.1) == [float(np.float32(0.1))]


def test_one_plan_a_scalar() -> None:
    """The second call finds the plan of the first for another number, the third its own."""

    def call() -> None:
        for scalar in (1.0, 2.0, 1.0, -0.0):
            axpy(ub(FLOAT, 512, 8), ub(FLOAT, 0, 8), scalar, 8)

    before = np.zeros(1024, np.uint8)
    before[:32] = np.full(8, 3, np.float32).view(np.uint8)
    after, _ = on_image(before, call)
    assert after[512:544].view(np.float32).tolist() == [12] * 8


@st.composite
def calls(draw: Any, lanes: int) -> dict[str, Any]:
    call: dict[str, Any] = {"seed": draw(st.integers(0, 1000)), "scalar": draw(st.sampled_from([0.0, -1.5, 0.1, 3e4]))}
    if draw(st.booleans()):
        call["count"] = draw(st.integers(1, 3 * lanes))
        return call
    call["blocks"] = [draw(st.sampled_from([1, 1, 2])), draw(st.sampled_from([1, 0, 2]))]
    call["steps"] = [draw(st.sampled_from([8, 16])), draw(st.sampled_from([8, 4, 0]))]
    if draw(st.booleans()):
        call["counter"] = draw(st.integers(1, 3 * lanes))
        return call
    call["repeats"] = draw(st.integers(1, 3))
    bits = [draw(st.integers(1, (1 << 64) - 1)), draw(st.integers(0, (1 << 64) - 1)) if lanes == 128 else 0]
    call["mask"] = draw(st.sampled_from([lanes, 1, lanes - 3, bits]))
    return call


def issue(dst: dt.DataType, src: dt.DataType, call: dict[str, Any]) -> None:
    tensors = ub(dst, 8192), ub(src, 0)
    if "count" in call:
        axpy(*tensors, call["scalar"], call["count"])
        return
    params = UnaryRepeatParams(*call["blocks"], *call["steps"])
    if "counter" in call:
        set_mask_count()
        set_vector_mask(0, call["counter"], dtype=src, mode=MaskMode.COUNTER)
        axpy(*tensors, call["scalar"], 0, 1, params, False)
        set_mask_norm()
        reset_mask()
    else:
        axpy(*tensors, call["scalar"], call["mask"], call["repeats"], params)


@pytest.mark.parametrize(("dst", "src"), PAIRS)
def test_against_the_second_opinion(dst: dt.DataType, src: dt.DataType) -> None:
    @settings(derandomize=True, max_examples=15, deadline=None, database=None)
    @given(calls(256 // dst.size))
    def check(call: dict[str, Any]) -> None:
        random = np.random.default_rng(call["seed"])
        before = random.integers(0, 256, 16384, np.uint8)
        special = np.array([0.0, -0.0, 1.0, -2.5, 65504.0, 1e-7, np.inf, -np.inf, np.nan])
        before[:2048] = random.choice(special, 2048 // src.size).astype(src.np).view(np.uint8)
        after, device = on_image(before, lambda: issue(dst, src, call), COLLECT)
        want = before.copy()
        how = {name: call[name] for name in ("mask", "repeats", "blocks", "steps") if name in call}
        count = call.get("count", call.get("counter"))
        reference_convert.axpy(want, str(src), str(dst), call["scalar"], 8192, 0, count=count, **how)
        a, b = after.view(dst.np), want.view(dst.np)
        bits = np.dtype(f"u{dst.size}")
        wrong = np.flatnonzero((after.view(bits) != want.view(bits)) & ~(np.isnan(a) & np.isnan(b)))
        assert not wrong.size, (call, wrong[:5], a[wrong[:5]], b[wrong[:5]])
        assert codes(device) == []

    check()


def test_the_destination_is_read() -> None:
    def body(filled: bool) -> None:
        duplicate(ub(FLOAT, 0, 64), 1, 64)
        if filled:
            duplicate(ub(FLOAT, 512, 64), 1, 64)
        axpy(ub(FLOAT, 512, 64), ub(FLOAT, 0, 64), 1.0, 64)

    assert codes(launch(lambda: body(True), checks=COLLECT)) == []
    assert codes(launch(lambda: body(False), checks=COLLECT)) == ["UNINIT_READ"]


def test_refused() -> None:
    with pytest.raises(OperandError, match=r"BAD_DTYPE: axpy: dst, src have the types float16, float32; rule: one of"):
        launch(lambda: axpy(ub(HALF, 512), ub(FLOAT), 1.0, 8))
    with pytest.raises(OperandError, match=r"BAD_DTYPE: axpy: dst, src have the types int32, int32"):
        launch(lambda: axpy(ub(dt.int32, 512), ub(dt.int32), 1, 8))
    with pytest.raises(OperandError, match=r"OVERLAP_PARTIAL: axpy"):
        launch(lambda: axpy(ub(FLOAT, 0), ub(HALF, 0), 1.0, 64))
    with pytest.raises(OperandError, match=r"BAD_MASK: axpy: mask = 65; rule: 1 to 64"):
        launch(lambda: axpy(ub(FLOAT, 512), ub(HALF), 1.0, 65, 1, UnaryRepeatParams(1, 1, 8, 4)))
    with pytest.raises(ArgumentTypeError, match="axpy: scalar"):
        launch(lambda: axpy(ub(FLOAT, 512), ub(FLOAT), "1", 8))
