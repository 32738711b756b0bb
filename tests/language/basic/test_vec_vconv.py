"""cast, cast_deq and the scale register: literal cases, the vendor's examples, every pair against a second opinion.

NaNs are equal whatever their bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference_convert
from basic_machine import at, codes, launch, on_image, ub
from hypothesis import given, settings
from hypothesis import strategies as st

from ascsim.hw.checks import Checks
from ascsim.hw.device import Device
from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError, MemoryFault, NotSimulatedError, OperandError
from ascsim.hw.soc import soc
from ascsim.language.basic import (
    cast,
    cast_deq,
    data_copy,
    duplicate,
    pipe_barrier,
    reset_mask,
    set_deq_scale,
    set_mask_count,
    set_mask_norm,
    set_vector_mask,
)
from ascsim.language.conversions import CONVERSIONS
from ascsim.language.core import MaskMode, PipeID, RoundMode, UnaryRepeatParams, VdeqInfo
from ascsim.language.core import dtype as dt

COLLECT = Checks.collect()
R = RoundMode
FIVE = "RINT FLOOR CEIL ROUND TRUNC"
# The pairs of the A2 and A3 tables of the Cast page.
TABLE = f"""
    int8 float16 NONE; uint8 float16 NONE; int16 float16 {FIVE} NONE; int16 float32 NONE; float16 int8 {FIVE} NONE
    float16 uint8 {FIVE} NONE; float16 int16 {FIVE}; float16 int32 {FIVE}; float16 float32 NONE
    bfloat16 int32 {FIVE}; bfloat16 float32 NONE; int32 int16 NONE; int32 float32 {FIVE} NONE; int32 int64 NONE
    float32 int16 {FIVE}; float32 float16 {FIVE} ODD NONE; float32 bfloat16 {FIVE}; float32 int32 {FIVE}
    float32 float32 {FIVE}; float32 int64 {FIVE}; int64 int32 NONE; int64 float32 {FIVE}
"""
PAIRS = [row.split() for line in TABLE.strip().splitlines() for row in line.split(";")]
FULL = (1 << 64) - 1


def image(size: int, *parts: tuple[int, np.ndarray]) -> np.ndarray:
    out = np.full(size, 7, np.uint8)
    for start, values in parts:
        raw = values.view(np.uint8)
        out[start : start + raw.size] = raw
    return out


def converted(numbers: Any, src: str, dst: str, mode: RoundMode, before: Any = None) -> list[Any]:
    """A few numbers through the count form."""
    source, target = dt.DataType(src), dt.DataType(dst)
    values = np.array(numbers).astype(source.np)

    def call() -> None:
        if before is not None:
            before()
        cast(ub(target, 512), ub(source, 0), mode, values.size)

    after, _ = on_image(image(1024, (0, values)), call)
    return after[512 : 512 + values.size * target.size].view(target.np).tolist()


def test_the_table_of_pairs() -> None:
    built = {(str(src), str(dst)): {mode.name for mode in row.modes} for (src, dst), row in CONVERSIONS.items()}
    assert built == {(src, dst): {f"CAST_{mode}" for mode in modes} for src, dst, *modes in PAIRS}


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (R.CAST_CEIL, [2, 2, 2, 3, 3, 3]),
        (R.CAST_RINT, [1, 2, 2, 2, 2, 3]),
        (R.CAST_FLOOR, [1, 1, 1, 2, 2, 2]),
        (R.CAST_ROUND, [1, 2, 2, 2, 3, 3]),
        (R.CAST_TRUNC, [1, 1, 1, 2, 2, 2]),
    ],
)
def test_the_examples_of_the_page(mode: RoundMode, expected: list[int]) -> None:
    assert converted([1.4, 1.5, 1.6, 2.4, 2.5, 2.6], "float16", "int32", mode) == expected


def test_negative_numbers() -> None:
    """-1.5, an example of the rules of precision conversion, and -2.5."""
    expected = {"RINT": [-2, -2], "FLOOR": [-2, -3], "CEIL": [-1, -2], "ROUND": [-2, -3], "TRUNC": [-1, -2]}
    for name, out in expected.items():
        assert converted([-1.5, -2.5], "float16", "int32", R[f"CAST_{name}"]) == out


@pytest.mark.parametrize(
    ("src", "dst", "number", "expected"),
    [
        # 2**12 + 2 lies in the middle of two halves, 0.5 + 2**-12 too, 2**25 + 3 between two floats.
        ("int16", "float16", 4098, [4096, 4096, 4100, 4100, 4096]),
        ("float32", "float16", 0.5 + 2**-12, [0.5, 0.5, 0.5 + 2**-11, 0.5 + 2**-11, 0.5]),
        ("int32", "float32", 2**25 + 3, [2**25 + 4, 2**25, 2**25 + 4, 2**25 + 4, 2**25]),
        ("float32", "bfloat16", 0.5 + 2**-9 + 2**-11, [0.5 + 2**-8, 0.5, 0.5 + 2**-8, 0.5 + 2**-8, 0.5]),
        ("float32", "int32", 2**22 + 0.5, [2**22, 2**22, 2**22 + 1, 2**22 + 1, 2**22]),
        ("float32", "int64", 2**22 + 0.5, [2**22, 2**22, 2**22 + 1, 2**22 + 1, 2**22]),
        ("float32", "int16", 2**22 + 0.5, [32767] * 5),
        ("float32", "float32", 0.5, [0.0, 0.0, 1.0, 1.0, 0.0]),
        ("float16", "int8", 127.5, [127] * 5),
        ("float16", "uint8", 1.75, [2, 1, 2, 2, 1]),
        ("bfloat16", "int32", 64.5, [64, 64, 65, 65, 64]),
        (
            *("int64", "float32", 2**35 + 2**12 + 2**11),
            [2**35 + 2**13, 2**35 + 2**12, 2**35 + 2**13, 2**35 + 2**13, 2**35 + 2**12],
        ),
    ],
)
def test_the_examples_of_the_conversion_rules(src: str, dst: str, number: float, expected: list[float]) -> None:
    got = [converted([number], src, dst, R[f"CAST_{mode}"])[0] for mode in FIVE.split()]
    assert got == expected


def test_odd() -> None:
    """Exact values stay; others go to the neighbour with an odd last bit: 1 + 2**-11 is between 1 and 1 + 2**-10."""
    numbers = [1.0, 1 + 2**-11, 1 + 2**-10 + 2**-20, 2 - 2**-12, -(1 + 2**-11), 70000.0]
    assert converted(numbers, "float32", "float16", R.CAST_ODD) == [
        *(1.0, 1 + 2**-10, 1 + 2**-10, 2 - 2**-10, -(1 + 2**-10), np.inf)
    ]


def test_edge_values() -> None:
    """Rows of the vendor's table: saturation, NaN to 0, overflow to infinity, -0."""
    inf, nan = np.inf, np.nan
    edge = [inf, -inf, nan, 3e38, -3e38]
    assert converted(edge, "float32", "int16", R.CAST_RINT) == [32767, -32768, 0, 32767, -32768]
    assert converted(edge, "float32", "int32", R.CAST_CEIL) == [2**31 - 1, -(2**31), 0, 2**31 - 1, -(2**31)]
    assert converted(edge, "float32", "int64", R.CAST_FLOOR) == [2**63 - 1, -(2**63), 0, 2**63 - 1, -(2**63)]
    assert converted([inf, -inf, nan, -1.0], "float16", "uint8", R.CAST_NONE) == [255, 0, 0, 0]
    assert converted([inf, -inf, nan], "bfloat16", "int32", R.CAST_TRUNC) == [2**31 - 1, -(2**31), 0]
    for mode in FIVE.split():
        assert converted([3e38, -3e38], "float32", "float16", R[f"CAST_{mode}"]) == [inf, -inf]
    assert converted([2**31 - 1, -(2**31)], "int32", "int16", R.CAST_NONE) == [32767, -32768]
    assert converted([2**31, -(2**63)], "int64", "int32", R.CAST_NONE) == [2**31 - 1, -(2**31)]
    assert converted([2**63 - 1], "int64", "float32", R.CAST_RINT) == [2.0**63]
    assert converted([2**63 - 1, 1 - 2**63], "int64", "float32", R.CAST_TRUNC) == [2.0**63 - 2.0**39, 2.0**39 - 2.0**63]
    # One more than 2**62: a float's next step there is 2**39.
    assert converted([2**62 + 1], "int64", "float32", R.CAST_CEIL) == [2.0**62 + 2.0**39]
    assert converted([-(2**62) - 1], "int64", "float32", R.CAST_FLOOR) == [-(2.0**62) - 2.0**39]
    assert np.signbit(converted([-0.0, -0.25], "float32", "float32", R.CAST_RINT)).tolist() == [False, False]
    assert np.signbit(converted([-0.0, -1e-9], "float32", "float16", R.CAST_CEIL)).tolist() == [True, True]


def test_int32_to_half_takes_the_scale_register() -> None:
    """The mode is ignored. 3 * 0.5 = 1.5; the greatest int32 is too much for a half."""
    for mode in (R.CAST_NONE, R.CAST_ODD):
        out = converted([3, -4, 65504, 2**31 - 1], "int32", "float16", mode, lambda: set_deq_scale(0.5))
        assert out == [1.5, -2.0, 32752.0, np.inf]
    with pytest.raises(NotSimulatedError, match="no scale was set"):
        converted([3], "int32", "float16", R.CAST_NONE)


def test_the_scale_of_the_call_not_of_the_first_call() -> None:
    def call() -> None:
        for start, scale in ((512, 1), (576, 2)):
            set_deq_scale(scale)
            cast(ub(dt.float16, start, 8), ub(dt.int32, 0, 8), R.CAST_NONE, 8)
            cast(ub(dt.float16, start + 32, 8), ub(dt.int32, 0, 8), R.CAST_NONE, 8, 1, UnaryRepeatParams(1, 1, 4, 8))

    after, _ = on_image(image(1024, (0, np.full(8, 3, np.int32))), call)
    assert after[512:640].view(np.float16).reshape(4, 16)[:, 0].tolist() == [3, 3, 6, 6]


def test_mask_form_of_the_page() -> None:
    """half to int32, 32 of 64 lanes a repeat, strides {1, 1, 8, 4}: repeat r reads elements 64 r and on."""
    before = image(1024, (0, np.arange(128).astype(np.float16)))
    params = UnaryRepeatParams(1, 1, 8, 4)
    after, _ = on_image(before, lambda: cast(ub(dt.int32, 512), ub(dt.float16, 0), R.CAST_CEIL, 32, 2, params))
    out = after[512:].view(np.int32)
    assert out[:32].tolist() == list(range(32))
    assert out[64:96].tolist() == list(range(64, 96))
    assert (out[32:64] == 0x07070707).all()


def test_block_stride_of_the_narrower_operand() -> None:
    """A block of 16 halves feeds two blocks of floats; with a stride of 2 every second block of halves is read."""
    before = image(1024, (0, np.arange(128).astype(np.float16)))
    params = UnaryRepeatParams(1, 2, 8, 4)
    after, _ = on_image(before, lambda: cast(ub(dt.float32, 512), ub(dt.float16, 0), R.CAST_NONE, 64, 1, params))
    expected = [*range(16), *range(32, 48), *range(64, 80), *range(96, 112)]
    assert after[512:768].view(np.float32).tolist() == expected


# ------------------------------------------------------------------ every pair against the second opinion

SIZE = 8192
SPECIAL = {
    "float": (
        0.0,
        -0.0,
        1.0,
        -1.5,
        2.5,
        0.49999997,
        1e-8,
        -6e-8,
        3e-5,
        65519.0,
        65520.0,
        65536.0,
        2.0**31,
        -3e38,
        1e-45,
    ),
    "int": (0, 1, -1, 127, 128, 255, 2048, 2049, 4098, 32767, -32768, 2**24 + 1, 2**31 - 1, 2**53 + 1, 2**62 + 2**38),
}


def pattern(dtype: dt.DataType, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    many = SIZE // dtype.size
    with np.errstate(all="ignore"):
        if dtype.is_int():
            special = np.array(SPECIAL["int"], np.int64).astype(dtype.np)
        else:
            special = np.array([*SPECIAL["float"], np.inf, -np.inf, np.nan], np.float64).astype(dtype.np)
        small = (random.integers(-400, 400, many) / (1 if dtype.is_int() else 8)).astype(dtype.np)
    bits = random.integers(0, 256, SIZE, np.uint8).view(dtype.np)
    return np.choose(random.integers(0, 3, many), [special[random.integers(0, special.size, many)], small, bits])


@st.composite
def calls(draw: Any, src: str, dst: str) -> dict[str, Any]:
    lanes = 256 // max(np.dtype(reference_convert.DTYPES[name]).itemsize for name in (src, dst))
    call: dict[str, Any] = {"seed": draw(st.integers(0, 1000))}
    if draw(st.booleans()):
        call["count"] = draw(st.integers(1, 3 * lanes))
        return call
    call["blocks"] = [draw(st.sampled_from([1, 1, 2])), draw(st.sampled_from([1, 1, 0, 2, 3]))]
    call["steps"] = [draw(st.sampled_from([8, 4, 9, 16])), draw(st.sampled_from([8, 4, 0, 1, 16]))]
    if draw(st.booleans()):
        call["counter"] = draw(st.integers(1, 3 * lanes))
        return call
    call["repeats"] = draw(st.integers(1, 3))
    low = draw(st.integers(1, FULL)) & ((1 << min(lanes, 64)) - 1) or 1
    call["mask"] = draw(st.one_of(st.integers(1, lanes), st.just([low, FULL if lanes == 128 else 0])))
    call["registers"] = draw(st.booleans())
    return call


def issue(source: dt.DataType, target: dt.DataType, mode: RoundMode, call: dict[str, Any]) -> None:
    tensors = ub(target, SIZE), ub(source, 0)
    if "count" in call:
        cast(*tensors, mode, call["count"])
        return
    params = UnaryRepeatParams(*call["blocks"], *call["steps"])
    if "counter" in call:
        set_mask_count()
        set_vector_mask(0, call["counter"], dtype=source, mode=MaskMode.COUNTER)
        cast(*tensors, mode, 0, 1, params, False)
        set_mask_norm()
        reset_mask()
    elif call["registers"] and isinstance(call["mask"], list):
        set_vector_mask(call["mask"][1], call["mask"][0], dtype=source, mode=MaskMode.NORMAL)
        cast(*tensors, mode, 0, call["repeats"], params, is_set_mask=False)
        reset_mask()
    else:
        cast(*tensors, mode, call["mask"], call["repeats"], params)


def same(a: np.ndarray, b: np.ndarray, dtype: dt.DataType) -> np.ndarray:
    bits = np.dtype(f"u{dtype.size}")
    out = a.view(bits) == b.view(bits)
    return out if dtype.is_int() else out | (np.isnan(a.view(dtype.np)) & np.isnan(b.view(dtype.np)))


@pytest.mark.parametrize(("src", "dst", "mode"), [(src, dst, mode) for src, dst, *modes in PAIRS for mode in modes])
def test_against_the_second_opinion(src: str, dst: str, mode: str) -> None:
    source, target = dt.DataType(src), dt.DataType(dst)

    @settings(derandomize=True, max_examples=4, deadline=None, database=None)
    @given(calls(src, dst))
    def check(call: dict[str, Any]) -> None:
        before = image(2 * SIZE, (0, pattern(source, call["seed"])))
        after, device = on_image(before, lambda: issue(source, target, R[f"CAST_{mode}"], call), COLLECT)
        want = before.copy()
        how = {name: call[name] for name in ("mask", "repeats", "blocks", "steps") if name in call}
        count = call.get("count", call.get("counter"))
        reference_convert.cast(want, src, dst, mode, SIZE, 0, count=count, **how)
        wrong = np.flatnonzero(~same(after, want, target))
        assert not wrong.size, (call, wrong[:5], after.view(target.np)[wrong[:5]], want.view(target.np)[wrong[:5]])
        assert codes(device) == []

    check()


# ------------------------------------------------------------------ what is refused


def test_a_mode_that_the_pair_does_not_take() -> None:
    rule = "round_mode = CAST_NONE; rule: float16 to int32 takes CAST_RINT, .*nearest legal value: CAST_RINT"
    with pytest.raises(OperandError, match=f"BAD_DTYPE: cast: {rule}"):
        converted([1.0], "float16", "int32", R.CAST_NONE)
    with pytest.raises(OperandError, match=r"round_mode = CAST_ODD; rule: float32 to int32"):
        converted([1.0], "float32", "int32", R.CAST_ODD)
    with pytest.raises(OperandError, match=r"round_mode = 9; rule"):
        converted([1.0], "float32", "int32", 9)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError):
        converted([1.0], "float32", "int32", "CAST_RINT")  # type: ignore[arg-type]


def test_a_pair_that_is_not_listed() -> None:
    """Of all the pairs those are told that have one of the two types."""
    others = "".join(f"float32, {other}; " for other in ("int16", "float16", "bfloat16", "int32", "float32", "int64"))
    with pytest.raises(OperandError) as caught:
        converted([1], "uint8", "float32", R.CAST_NONE)
    rule = str(caught.value).partition("BAD_DTYPE: cast: dst, src have the types float32, uint8; rule: one of: ")[2]
    assert sorted(rule.split("; ")) == sorted(f"float16, uint8; {others}".strip("; ").split("; "))


def test_bad_input() -> None:
    def refused(error: type[Exception], match: str, *arguments: Any, dst: int = 1024, source: Any = None) -> None:
        def body() -> None:
            duplicate(ub(dt.float32, 0, 128), 1, 128)
            cast(ub(dt.float16, dst), ub(dt.float32, 0) if source is None else source, R.CAST_RINT, *arguments)

        with pytest.raises(error, match=match):
            launch(body)

    dense = UnaryRepeatParams(1, 1, 4, 8)
    refused(MemoryFault, r"MISALIGNED_ADDR: cast: dst starts at byte 1026", 8, dst=1026)
    refused(OperandError, r"BAD_MASK: cast: mask = 65; rule: 1 to 64", 65, 1, dense)
    refused(OperandError, r"BAD_MASK: cast: count = -1", -1)
    refused(OperandError, r"BAD_REPEAT: cast: repeat_times = 256", 64, 256, dense)
    refused(OperandError, r"BAD_STRIDE: cast: repeat_params = None; rule: a UnaryRepeatParams", 64, 1)
    refused(OperandError, r"BAD_STRIDE: cast: the block stride of dst is 0", 64, 1, UnaryRepeatParams(0, 1, 4, 8))
    refused(OperandError, r"BAD_POSITION: cast: src = 3 is an int", 8, source=3)
    refused(OperandError, r"OVERLAP_PARTIAL: cast: dst bytes .32:160. and src bytes .0:256. of UB meet", 64, dst=32)


def test_narrower_elements_in_place() -> None:
    def body(x: Any, z: Any) -> None:
        wide, narrow = ub(dt.float32, 0, 256), ub(dt.float16, 0, 256)
        data_copy(wide, at(x), 256)
        pipe_barrier(PipeID.PIPE_ALL)
        cast(narrow, wide, R.CAST_RINT, 256)
        pipe_barrier(PipeID.PIPE_ALL)
        data_copy(at(z), narrow, 256)

    x, z = np.arange(256, dtype=np.float32), np.zeros(256, np.float16)
    launch(body, x, z, checks=Checks.strict())
    assert z.tolist() == list(range(256))


def test_nothing_to_do_is_a_warning() -> None:
    def body() -> None:
        cast(ub(dt.float16, 1024), ub(dt.float32), R.CAST_RINT, 0)
        cast(ub(dt.float16, 1024), ub(dt.float32), R.CAST_RINT, 64, 0, UnaryRepeatParams(1, 1, 4, 8))

    assert codes(launch(body, checks=COLLECT)) == ["ZERO_LENGTH"] * 2


def test_only_the_bytes_it_takes_are_read_and_written() -> None:
    """8 floats are 32 bytes of source and 16 of destination: the ninth is neither needed nor made."""

    def body(count: int, then: int) -> None:
        duplicate(ub(dt.float32, 0, 8), 1, 8)
        cast(ub(dt.float16, 512), ub(dt.float32), R.CAST_RINT, count)
        cast(ub(dt.float32, 1024), ub(dt.float16, 512), R.CAST_NONE, then)

    assert codes(launch(lambda: body(8, 8), checks=COLLECT)) == []
    assert codes(launch(lambda: body(9, 8), checks=COLLECT)) == ["UNINIT_READ"]
    assert codes(launch(lambda: body(8, 9), checks=COLLECT)) == ["UNINIT_READ"]


def test_price() -> None:
    """Half as many bytes written as read, without bank conflicts: a cycle for each repeat of 64 elements."""
    cycles = []

    def body() -> None:
        for count in (256, 512):
            dst = ub(dt.float16, 65536)
            cast(dst, ub(dt.float32), R.CAST_RINT, count)
            cycles.append(list(dst.place.plans.values())[-1].cycles)

    launch(body, checks=Checks.off())
    assert cycles[1] - cycles[0] == 4


# ------------------------------------------------------------------ cast_deq


def dequantised(numbers: Any, target: dt.DataType, *more: Any, scale: Any = (1.0, 0, True), **flags: Any) -> np.ndarray:
    """The whole destination, bytes 512 to 1024, after cast_deq of int16 numbers."""
    values = np.array(numbers, np.int16)

    def call() -> None:
        set_deq_scale(*scale)
        cast_deq(ub(target, 512), ub(dt.int16, 0), *more, **flags)

    after, _ = on_image(image(1024, (0, values)), call)
    return after[512:].view(target.np)


def test_cast_deq_fills_half_blocks() -> None:
    """The vendor's example: 16 results a block, in the upper half or in the lower one; the other half stays."""
    upper = dequantised(range(32), dt.int8, 32, is_vec_deq=False)
    assert upper[:64].tolist() == [7] * 16 + list(range(16)) + [7] * 16 + list(range(16, 32))
    lower = dequantised(range(32), dt.int8, 32, False, False)
    assert lower[:64].tolist() == list(range(16)) + [7] * 16 + list(range(16, 32)) + [7] * 16


def test_cast_deq_scales_adds_and_saturates() -> None:
    numbers = [3, 5, -3, 300, -300, 32767, -32768]
    signed = dequantised(numbers, dt.int8, 7, False, False, scale=(0.5, 10, True))
    # 1.5 + 10 = 11.5 and 2.5 + 10 = 12.5 both go to 12, -1.5 + 10 = 8.5 to 8.
    assert signed[:7].tolist() == [12, 12, 8, 127, -128, 127, -128]
    unsigned = dequantised(numbers, dt.uint8, 7, False, False, scale=(0.5, -10, False))
    # 1.5 - 10 < 0, 150 - 10 = 140
    assert unsigned[:7].tolist() == [0, 0, 0, 140, 0, 255, 0]


def test_cast_deq_takes_ten_bits_of_the_scale() -> None:
    """A scale just below 2**-6 * (1 + 2**-10) counts as 2**-6: 16409 / 64 - 10 is 246.39; with all bits 246.64."""
    scale = 2**-6 * (1 + 2**-10 - 2**-23)
    assert dequantised([16409], dt.uint8, 1, False, False, scale=(scale, -10, False))[0] == 246


def test_cast_deq_by_mask() -> None:
    """Lanes 1 and 16 of both repeats; a repeat is 128 elements of int16, dst repeats lie 8 blocks apart."""
    params = UnaryRepeatParams(1, 1, 8, 8)
    out = dequantised(range(256), dt.uint8, [1 << 1 | 1 << 16, 0], 2, params, True, False, False, scale=(1.0, 0, False))
    assert np.flatnonzero(out != 7).tolist() == [1, 32, 257, 288]
    assert out[[1, 32, 257, 288]].tolist() == [1, 16, 129, 144]


def test_cast_deq_by_channel() -> None:
    """Lane j of a block takes word j: scale j, offset -j, signed; the words lie in UB, written by the scalar unit."""
    info = VdeqInfo([float(j) for j in range(16)], [-j for j in range(16)], [True] * 16)
    values = np.full(20, 3, np.int16)

    def call() -> None:
        set_deq_scale(ub(dt.uint64, 768, 16), info)
        cast_deq(ub(dt.int8, 512), ub(dt.int16, 0), 20)

    after, device = on_image(image(1024, (0, values)), call, Checks.strict())
    assert after[528:544].view(np.int8).tolist() == [3 * j - j for j in range(16)]
    assert after[560:564].view(np.int8).tolist() == [0, 2, 4, 6]
    # Word 2: 2.0 is 0x40000000, offset -2 is 0x1fe in bits 37 to 45, sign mode in bit 46.
    assert after[768:896].view(np.uint64)[2] == 0x40000000 | 0x1FE << 37 | 1 << 46
    assert codes(device) == []


def test_the_signs_of_the_call_not_of_the_first_call() -> None:
    def call() -> None:
        for signed in (True, False):
            set_deq_scale(ub(dt.uint64, 768, 16), VdeqInfo([1.0] * 16, [0] * 16, [signed] * 16))
            cast_deq(ub(dt.int8, 512), ub(dt.int16, 0), 16, 1, UnaryRepeatParams(1, 1, 8, 8))

    with pytest.raises(OperandError, match=r"BAD_DTYPE.*dst has type int8, sign_mode is False"):
        on_image(image(1024), call)


def test_cast_deq_by_channel_waits_for_the_scalar_unit() -> None:
    """Without automatic synchronisation the words need an S_V flag before V reads them."""
    device = Device(soc("Ascend910B1"), 0, 1, checks=COLLECT, auto_sync=False)

    def body() -> None:
        duplicate(ub(dt.int16, 0, 16), 1, 16)
        set_deq_scale(ub(dt.uint64, 768, 16), VdeqInfo([1.0] * 16, [0] * 16, [True] * 16))
        cast_deq(ub(dt.int8, 512), ub(dt.int16, 256), 16)

    device.run(body)
    assert "RAW" in codes(device)


def test_cast_deq_of_int32_is_the_cast_with_a_scale() -> None:
    def call() -> None:
        set_deq_scale(2)
        cast_deq(ub(dt.float16, 512), ub(dt.int32), 8)
        cast_deq(ub(dt.float16, 544), ub(dt.int32), 8, 1, UnaryRepeatParams(1, 1, 4, 8))

    after, _ = on_image(image(1024, (0, np.arange(8, dtype=np.int32))), call)
    assert after[512:528].view(np.float16).tolist() == [0, 2, 4, 6, 8, 10, 12, 14]
    assert after[544:560].view(np.float16).tolist() == [0, 2, 4, 6, 8, 10, 12, 14]


def test_cast_deq_needs_the_form_that_fits() -> None:
    with pytest.raises(ArgumentValueError, match="finds no scale for int16"):
        dequantised([1], dt.int8, 1, False, scale=(1.0,))
    with pytest.raises(ArgumentValueError, match=r"is_vec_deq = True.*nearest legal value: False"):
        dequantised([1], dt.int8, 1)
    with pytest.raises(OperandError, match=r"BAD_DTYPE.*dst has type uint8, sign_mode is True"):
        dequantised([1], dt.uint8, 1, False)
    with pytest.raises(OperandError, match=r"BAD_DTYPE.*dst, src have the types int16, int16"):
        dequantised([1], dt.int16, 1, False)
    with pytest.raises(ArgumentValueError, match=r"offset = 256; rule: -256 to 255.*nearest legal value: 255"):
        dequantised([1], dt.int8, 1, False, scale=(1.0, 256, True))
    with pytest.raises(ArgumentTypeError, match="vdeq_info"):
        launch(lambda: set_deq_scale(ub(dt.uint64, 0, 16), 3))
    with pytest.raises(OperandError, match=r"BAD_DTYPE: set_deq_scale: vdeq has type float32; rule: uint64"):
        launch(lambda: set_deq_scale(ub(dt.float32), VdeqInfo([1.0] * 16, [0] * 16, [True] * 16)))
