"""compare, compare_scalar and the compare mask: literal bits, the vendor's examples and edge values, strides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference_convert
from basic_machine import codes, launch, on_image, ub
from hypothesis import given, settings
from hypothesis import strategies as st

from ascsim.hw.checks import Checks
from ascsim.hw.errors import ArgumentValueError, MemoryFault, NotSimulatedError, OperandError, SimulatorWarning
from ascsim.language.basic import abs as absolute
from ascsim.language.basic import (
    compare,
    compare_scalar,
    duplicate,
    get_cmp_mask,
    reset_mask,
    set_cmp_mask,
    set_mask_count,
    set_vector_mask,
)
from ascsim.language.core import CMPMODE, BinaryRepeatParams, MaskMode, UnaryRepeatParams
from ascsim.language.core import dtype as dt

COLLECT = Checks.collect()
A, B, DST = 0, 2048, 4096  # first bytes in UB
DENSE = BinaryRepeatParams(1, 1, 1, 8, 8, 8)
MODES = [mode.name for mode in CMPMODE]
EDGE = [-65504.0, 65504.0, 0.0, -0.0, np.nan, np.inf, -np.inf]


def memory(a: Any, b: Any, dtype: dt.DataType) -> np.ndarray:
    """a and b at their places; dst holds 7 in every byte."""
    out = np.full(DST + 256, 7, np.uint8)
    for start, values in ((A, a), (B, b)):
        raw = np.resize(np.array(values, np.float64).astype(dtype.np), 2048 // dtype.size).view(np.uint8)
        out[start : start + raw.size] = raw
    return out


def bits(a: Any, b: Any, mode: CMPMODE, dtype: dt.DataType = dt.float32, *form: Any) -> np.ndarray:
    """Bytes of dst after compare; sources are repeated up to 2048 bytes."""
    form = form or (64 * 4 // dtype.size,)
    call = lambda: compare(ub(dt.uint8, DST), ub(dtype, A), ub(dtype, B), mode, *form)  # noqa: E731
    after, _ = on_image(memory(a, b, dtype), call)
    return after[DST:]


def test_a_mask_form_after_a_count_form_with_the_same_number_compares_all_its_repeats() -> None:
    """One repeat by count, then two by mask: the second call used to be taken for the first."""

    def call() -> None:
        tensors = (ub(dt.uint8, DST), ub(dt.float32, A), ub(dt.float32, B))
        compare(*tensors, CMPMODE.LT, 64)
        compare(*tensors, CMPMODE.LT, 64, 2, DENSE)
        compare_scalar(ub(dt.uint8, DST + 32), ub(dt.float32, A), 2.0, CMPMODE.LT, 64)
        compare_scalar(ub(dt.uint8, DST + 32), ub(dt.float32, A), 2.0, CMPMODE.LT, 64, 2, UnaryRepeatParams())

    after, _ = on_image(memory([1.0], [2.0], dt.float32), call)
    assert after[DST : DST + 17].tolist() == [255] * 16 + [7]
    assert after[DST + 32 : DST + 49].tolist() == [255] * 16 + [7]


def test_the_example_of_the_page() -> None:
    """2 3 5 7 11 13 17 19 against 2 4 6 8 10 12 14 16: the lowest bit is the first element."""
    a, b = [2, 3, 5, 7, 11, 13, 17, 19], [2, 4, 6, 8, 10, 12, 14, 16]
    expected = {"LT": 0b1110, "GT": 240, "GE": 241, "LE": 15, "EQ": 1, "NE": 254}
    for name, byte in expected.items():
        out = bits(a, b, CMPMODE[name])
        assert out[:8].tolist() == [byte] * 8
        assert (out[8:] == 7).all()  # 64 floats are eight bytes of bits


@pytest.mark.parametrize("dtype", [dt.float16, dt.float32])
@pytest.mark.parametrize(
    ("mode", "rows"),
    [
        ("EQ", "1000000 0100000 0011000 0011000 0000000 0000010 0000001"),
        ("GE", "1000001 1111001 1011001 1011001 0000000 1111011 0000001"),
        ("GT", "0000001 1011001 1000001 1000001 0000000 1111001 0000000"),
        ("LE", "1111010 0100010 0111010 0111010 0000000 0000010 1111011"),
        ("LT", "0111010 0000010 0100010 0100010 0000000 0000000 1111010"),
        ("NE", "0111011 1011011 1100011 1100011 0000000 1111001 1111010"),
    ],
)
def test_edge_values(dtype: dt.DataType, mode: str, rows: str) -> None:
    """The vendor's table: -65504, 65504, +0, -0, NaN, inf, -inf against each other; NE with NaN is false."""
    a = [x for x in EDGE for _ in EDGE]
    b = [y for _ in EDGE for y in EDGE]
    out = np.unpackbits(bits(a, b, CMPMODE[mode], dtype), bitorder="little")[:49]
    assert "".join(map(str, out)) == rows.replace(" ", "")
    for row, x in zip(rows.split(), EDGE, strict=True):
        for bit, y in zip(row, EDGE, strict=True):
            call = lambda x=x, y=y: compare_scalar(ub(dt.uint8, DST), ub(dtype, A), y, CMPMODE[mode], 128)  # noqa: E731
            after, _ = on_image(memory([x], [0], dtype), call)
            assert after[DST] == (255 if bit == "1" else 0), (x, y)


def test_int32_is_compared_for_equality_only() -> None:
    edge = [-(2**31), 2**31 - 1]
    out = bits([edge[0], edge[0], edge[1], edge[1]], [*edge, *edge], CMPMODE.EQ, dt.int32)
    assert out[0] == 0b10011001
    with pytest.raises(OperandError, match=r"BAD_DTYPE: compare: cmp_mode = LT with src0 of int32; rule: EQ"):
        bits([1], [1], CMPMODE.LT, dt.int32)


def test_a_rest_of_less_than_a_repeat_is_left_out() -> None:
    call = lambda: compare(ub(dt.uint8, DST), ub(dt.float32, A), ub(dt.float32, B), CMPMODE.LT, 100)  # noqa: E731
    after, device = on_image(memory([1], [2], dt.float32), call, COLLECT)
    assert after[DST : DST + 9].tolist() == [255] * 8 + [7]
    assert codes(device) == ["MISALIGNED_LEN"]
    with pytest.raises(SimulatorWarning, match=r"count = 100; rule: whole repeats of 64.*the last 36 are left out"):
        on_image(memory([1], [2], dt.float32), call, Checks())


def test_results_follow_each_other_and_masks_have_no_effect() -> None:
    """Two repeats of floats whose blocks lie two apart: 16 bytes of bits, whatever mask and dst strides say."""
    a = np.repeat(np.arange(64), 8)  # block i of 8 floats holds i
    params = BinaryRepeatParams(3, 2, 2, 9, 16, 0)
    for mask in (64, 5, [3, 0]):
        out = bits(a, a, CMPMODE.EQ, dt.float32, mask, 2, params)
        assert out[:17].tolist() == [255] * 8 + [0] * 8 + [7]
    _, device = on_image(
        memory(a, a, dt.float32),
        lambda: compare(ub(dt.uint8, DST), ub(dt.float32, A), ub(dt.float32, B), CMPMODE.EQ, 5, 2, params),
        COLLECT,
    )
    assert codes(device) == ["BAD_MASK"]


@st.composite
def calls(draw: Any) -> dict[str, Any]:
    return {
        "seed": draw(st.integers(0, 1000)),
        "dtype": draw(st.sampled_from([dt.float16, dt.float32])),
        "mode": draw(st.sampled_from(MODES)),
        "repeats": draw(st.integers(1, 3)),
        "blocks": [draw(st.sampled_from([1, 1, 0, 2])) for _ in range(2)],
        "steps": [draw(st.sampled_from([8, 8, 0, 1, 16])) for _ in range(2)],
        "scalar": draw(st.sampled_from([None, 0.0, 0.1, float("nan")])),
    }


@settings(derandomize=True, max_examples=60, deadline=None, database=None)
@given(calls())
def test_against_the_second_opinion(call: dict[str, Any]) -> None:
    dtype, mode = call["dtype"], CMPMODE[call["mode"]]
    random = np.random.default_rng(call["seed"])
    values = random.choice([0.0, -0.0, 0.1, 1.0, np.inf, -np.inf, np.nan, 1e-7], 2048)
    before = np.zeros(16384, np.uint8)
    for start in (0, 4096):
        before[start : start + 4096] = random.permutation(values).astype(dtype.np).view(np.uint8)[:4096]
    before[8192:] = random.integers(0, 256, 8192, np.uint8)
    blocks, steps = call["blocks"], call["steps"]

    def body() -> None:
        dst, a, b = ub(dt.uint8, 8192), ub(dtype, 0), ub(dtype, 4096)
        if call["scalar"] is None:
            params = BinaryRepeatParams(1, *blocks, 8, *steps)
            compare(dst, a, b, mode, 0, call["repeats"], params, False)
        else:
            params = UnaryRepeatParams(1, blocks[0], 8, steps[0])
            compare_scalar(dst, a, call["scalar"], mode, 256 // dtype.size, call["repeats"], params)

    after, device = on_image(before, body, COLLECT)
    want = before.copy()
    sources = [0, 4096] if call["scalar"] is None else [0]
    how = {"scalar": call["scalar"], "blocks": blocks, "steps": steps}
    reference_convert.compare(want, str(dtype), call["mode"], 8192, sources, call["repeats"], **how)
    assert (after == want).all()
    assert codes(device) == []


def test_one_plan_a_number() -> None:
    """The number is part of what a plan is remembered by, signed zeros and NaN too."""
    before = memory([1], [0], dt.float32)

    def call() -> None:
        for number in (0.0, 2.0, 0.0, float("nan"), 2.0):
            compare_scalar(ub(dt.uint8, DST, 8), ub(dt.float32, A, 64), number, CMPMODE.LT, 64)

    assert on_image(before, call)[0][DST] == 255


# ------------------------------------------------------------------ what is refused


def test_refused() -> None:
    x, out = ub, (dt.uint8, DST)
    lt = CMPMODE.LT
    with pytest.raises(OperandError, match=r"BAD_DTYPE: compare: src1 has type float16, src0 has float32"):
        launch(lambda: compare(x(*out), x(dt.float32), x(dt.float16), lt, 64))
    with pytest.raises(OperandError, match=r"BAD_DTYPE: compare: src0 has type int16; rule: float16, float32, int32"):
        launch(lambda: compare(x(*out), x(dt.int16), x(dt.int16), lt, 64))
    with pytest.raises(OperandError, match=r"BAD_DTYPE: compare: dst has type float32; rule: int8, uint8"):
        launch(lambda: compare(x(dt.float32, DST), x(dt.float32), x(dt.float32), lt, 64))
    with pytest.raises(OperandError, match=r"BAD_DTYPE: compare_scalar: dst has type int8; rule: uint8"):
        launch(lambda: compare_scalar(x(dt.int8, DST), x(dt.float32), 1.0, lt, 64))
    with pytest.raises(MemoryFault, match=r"MISALIGNED_ADDR: compare: dst starts at byte 4104"):
        launch(lambda: compare(x(dt.uint8, DST + 8), x(dt.float32), x(dt.float32), lt, 64))
    with pytest.raises(ArgumentValueError, match=r"compare: cmp_mode = 9; rule: LT, GT"):
        launch(lambda: compare(x(*out), x(dt.float32), x(dt.float32), 9, 64))
    with pytest.raises(
        OperandError,
        match=r"OVERLAP_PARTIAL: compare: dst bytes .0:8. and src0 bytes .0:256. of UB meet in bytes .0:8.",
    ):
        launch(lambda: compare(x(dt.uint8, 0), x(dt.float32), x(dt.float32, 512), lt, 64))
    with pytest.raises(OperandError, match=r"BAD_REPEAT: compare: repeat_times = 300"):
        launch(lambda: compare(x(*out), x(dt.float32), x(dt.float32), lt, 64, 300, DENSE))

    def counted() -> None:
        set_mask_count()
        compare(x(*out), x(dt.float32), x(dt.float32), lt, 64)

    with pytest.raises(NotSimulatedError, match="compare: in counter mode"):
        launch(counted)
    with pytest.raises(MemoryFault, match="OOB_PHYS: compare: src0 touches UB"):
        launch(lambda: compare(x(*out), x(dt.float32, 196576), x(dt.float32), lt, 64))


def test_used_bytes() -> None:
    """64 floats are read and 8 bytes written."""

    def body(filled: int, taken: int) -> None:
        duplicate(ub(dt.float32, 0, 64), 1, filled)
        compare(ub(dt.uint8, DST), ub(dt.float32, 0), ub(dt.float32, 0), CMPMODE.EQ, 64)
        absolute(ub(dt.float32, 8192), ub(dt.float32, DST), taken)

    assert codes(launch(lambda: body(64, 2), checks=COLLECT)) == []
    assert codes(launch(lambda: body(63, 2), checks=COLLECT)) == ["UNINIT_READ"]
    assert codes(launch(lambda: body(64, 3), checks=COLLECT)) == ["UNINIT_READ"]


# ------------------------------------------------------------------ the compare mask


def in_register(a: Any, b: Any, mode: CMPMODE, mask: Any, dtype: dt.DataType = dt.float32, **how: Any) -> Any:
    """The 16 bytes that get_cmp_mask gives, and the device."""

    def call() -> None:
        compare(ub(dtype, A), ub(dtype, B), mode, mask, BinaryRepeatParams(1, 1, 1, 8, 8, 8), **how)
        get_cmp_mask(ub(dt.uint8, DST, 128))

    after, device = on_image(memory(a, b, dtype), call, COLLECT)
    return after[DST : DST + 128], device


def test_compare_into_the_register() -> None:
    """1 2 3 4 ... against 2: LT of the first only."""
    out, _ = in_register(np.arange(1, 129), [2], CMPMODE.LT, 128, dt.float16)
    assert out.tolist() == [1] + [0] * 15 + [7] * 112
    out, _ = in_register(np.arange(1, 65), [2], CMPMODE.GE, 64)
    assert out[:8].tolist() == [254] + [255] * 7


def test_bits_of_masked_lanes_are_undefined() -> None:
    """16 lanes of 64: two bytes are known."""

    def body(mask: Any, taken: int) -> None:
        duplicate(ub(dt.float32, A, 64), 1, 64)
        compare(ub(dt.float32, A, 64), ub(dt.float32, A, 64), CMPMODE.EQ, mask, DENSE)
        get_cmp_mask(ub(dt.float16, DST, 64))
        reset_mask()
        absolute(ub(dt.float16, 8192, 16), ub(dt.float16, DST, 16), taken)

    assert codes(launch(lambda: body(16, 1), checks=COLLECT)) == []
    assert codes(launch(lambda: body(16, 2), checks=COLLECT)) == ["UNINIT_READ"]
    assert codes(launch(lambda: body(15, 1), checks=COLLECT)) == ["UNINIT_READ"]
    assert codes(launch(lambda: body(64, 4), checks=COLLECT)) == []
    assert codes(launch(lambda: body(64, 5), checks=COLLECT)) == ["UNINIT_READ"]


def test_every_spelling_of_the_form_without_dst() -> None:
    def call() -> None:
        a, b = ub(dt.float32, A), ub(dt.float32, B)
        set_vector_mask(0, 3, dtype=dt.float32, mode=MaskMode.NORMAL)
        compare(a, b, CMPMODE.LT, 0, DENSE, False)
        compare(a, b, CMPMODE.LT, [5, 0], DENSE)
        compare(a, b, CMPMODE.LT, 64, repeat_params=DENSE)
        compare(a, b, CMPMODE.LT, mask=64, repeat_params=DENSE)
        compare(a, b, cmp_mode=CMPMODE.LT, mask=64, repeat_params=DENSE)
        compare(src0=a, src1=b, cmp_mode=CMPMODE.LT, mask=64, repeat_params=DENSE, is_set_mask=True)
        get_cmp_mask(ub(dt.uint8, DST, 128))

    after, _ = on_image(memory([1, 3], [2], dt.float32), call)
    assert after[DST : DST + 8].tolist() == [0b01010101] * 8


def test_set_cmp_mask_and_back() -> None:
    before = memory([1], [2], dt.float32)
    before[A : A + 16] = np.arange(16)

    def call() -> None:
        set_cmp_mask(ub(dt.float16, A))
        get_cmp_mask(ub(dt.float32, DST + 16, 32))

    after, _ = on_image(before, call)
    assert after[DST : DST + 34].tolist() == [7] * 16 + list(range(16)) + [7, 7]


def test_the_register_alone_refuses() -> None:
    with pytest.raises(NotSimulatedError, match="get_cmp_mask: bit 0 of the compare mask is not defined"):
        launch(lambda: get_cmp_mask(ub(dt.uint8, 0, 128)))
    with pytest.raises(MemoryFault, match=r"MISALIGNED_ADDR: set_cmp_mask: src starts at byte 8 of UB; rule: .* 16"):
        launch(lambda: set_cmp_mask(ub(dt.uint8, 8)))
    with pytest.raises(OperandError, match=r"BAD_DTYPE: compare: src0 has type int32; rule: float16, float32"):
        launch(lambda: compare(ub(dt.int32), ub(dt.int32), CMPMODE.EQ, 64, DENSE))

    def small() -> None:
        duplicate(ub(dt.float32, 0, 8), 1, 8)
        set_cmp_mask(ub(dt.float32, 0, 8))
        get_cmp_mask(ub(dt.uint8, 512, 32))

    assert codes(launch(small, checks=COLLECT)) == ["OOB_BUF"]
