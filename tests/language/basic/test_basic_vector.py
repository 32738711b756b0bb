"""Every row of `forms.REGISTRY` against the second opinion `reference`, over the whole memory image.

Form, mask, mask mode, repeats, strides, overlaps and values are drawn; an image of the local memory is compared before
and after, so bytes outside the footprint are watched too. NaNs are equal whatever their bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference
from basic_machine import codes, on_image, ub
from hypothesis import given, settings
from hypothesis import strategies as st

from ascsim.hw.checks import Checks
from ascsim.language import basic
from ascsim.language.basic import reset_mask, set_mask_count, set_mask_norm, set_vector_mask
from ascsim.language.core import BinaryRepeatParams, MaskMode, UnaryRepeatParams
from ascsim.language.core.dtype import DataType, int32
from ascsim.language.rows import REGISTRY

SIZE = 16384  # bytes of the image
FULL = (1 << 64) - 1
KINDS = {0: "fill", 1: "unary", 2: "binary"}
ROWS = [(name, dtype) for name, row in REGISTRY.items() for dtype in row.dtypes if name in reference.OPERATIONS]
SPECIAL = {
    "float": (0.0, -0.0, 1.0, -1.0, 2.0, 0.1, 1e-7, -6e-8, 65504.0, -65504.0, 3e38, 1e-45, np.inf, -np.inf, np.nan),
    "int": (0, 1, 2, 3, -1, -2, 1 << 15, (1 << 15) - 1, -(1 << 15), 1 << 31, (1 << 31) - 1, 0x5555, 0xAAAA),
}


def test_every_row_that_stands_here_is_compared():
    names = {name for name, _ in ROWS}
    expected = """add sub mul div max min bitwise_and bitwise_or add_relu sub_relu fused_mul_add fused_mul_add_relu
        mul_add_dst abs exp ln bitwise_not reciprocal relu rsqrt sqrt adds muls maxs mins leaky_relu shift_left
        shift_right duplicate""".split()
    assert names.issuperset(expected)


def as_type(numbers: Any, dtype: DataType) -> np.ndarray:
    with np.errstate(all="ignore"):
        if dtype.is_int():
            return np.array(numbers, np.int64).astype(dtype.np)
        return np.array(numbers, np.float64).astype(dtype.np)


def image_of(dtype: DataType, seed: int) -> np.ndarray:
    """Special values, small numbers and bit patterns, mixed."""
    random = np.random.default_rng(seed)
    many = SIZE // dtype.size
    special = as_type(SPECIAL["int" if dtype.is_int() else "float"], dtype)
    patterns = random.integers(0, 256, SIZE, np.uint8).view(dtype.np)
    small = as_type(random.integers(-50, 50, many) / (1 if dtype.is_int() else 8), dtype)
    choice = random.integers(0, 3, many)
    return np.choose(choice, [special[random.integers(0, special.size, many)], small, patterns]).view(np.uint8)


def same(a: np.ndarray, b: np.ndarray, dtype: DataType) -> np.ndarray:
    """Elements that are equal bit for bit, or both NaN."""
    bits = np.dtype(f"u{dtype.size}")
    out = a.view(bits) == b.view(bits)
    return out if dtype.is_int() else out | (np.isnan(a.view(dtype.np)) & np.isnan(b.view(dtype.np)))


@st.composite
def calls(draw: Any, name: str, dtype: DataType) -> dict[str, Any]:
    """One call: `operands` byte addresses, then what the form needs."""
    row = REGISTRY[name]
    sources, lanes = row.sources, 256 // dtype.size
    # Addresses from few blocks, so that operands often coincide or overlap.
    starts = st.sampled_from([0, 0, 32, 64, 256, 512, 4096, 4128, 8192])
    call: dict[str, Any] = {"operands": [draw(starts) for _ in range(1 + sources)], "seed": draw(st.integers(0, 1000))}
    if row.scalar is not None:
        if name.startswith("shift"):
            call["scalar"] = draw(st.integers(0, 8 * dtype.size))
        elif dtype.is_int():
            call["scalar"] = draw(st.sampled_from([0, 1, 3, dtype.low, dtype.high]))
        else:
            call["scalar"] = draw(st.sampled_from([0.0, -0.0, 1.5, -2.0, 0.1, float("inf"), float("nan")]))
    forms = ["count", "mask", "bits", "counter", "registers", "length", "registers_counter"]
    call["form"] = form = draw(st.sampled_from(forms))
    if form == "count":
        call["count"] = draw(st.one_of(st.integers(1, 3 * lanes), st.sampled_from([1, lanes, 5 * lanes + 7])))
        return call
    call["times"] = draw(st.sampled_from([1, 1, 2, 3, 5]))
    block = st.sampled_from([1, 1, 1, 2, 3])
    repeat = st.sampled_from([8, 8, 0, 1, 4, 9, 16])
    call["blocks"] = [draw(block), *(draw(st.sampled_from([1, 1, 0, 2])) for _ in range(sources))]
    call["repeats"] = [draw(repeat) for _ in range(1 + sources)]
    if form in ("mask", "length"):
        call["mask"] = draw(st.integers(1, lanes))
    elif form in ("bits", "registers"):
        low = draw(st.one_of(st.integers(1, FULL), st.just(FULL), st.just(1 << 63)))
        high = draw(st.integers(0, FULL)) if lanes == 128 else 0
        call["mask"] = [low & ((1 << min(lanes, 64)) - 1) or 1, high]
    else:
        call["mask"] = draw(st.integers(1, 3 * lanes))
    return call


def issue(name: str, dtype: DataType, call: dict[str, Any]) -> None:
    """The call on tensors that reach to the end of UB."""
    function, row = getattr(basic, name), REGISTRY[name]
    arguments = [ub(dtype, start) for start in call["operands"]]
    if row.scalar is not None:
        arguments.append(call["scalar"])
    form = call["form"]
    if form == "count":
        function(*arguments, call["count"])
        return
    mask, blocks, repeats = call["mask"], call["blocks"], call["repeats"]
    params = (BinaryRepeatParams, UnaryRepeatParams)[row.sources == 1](*blocks, *repeats) if row.sources else None
    strides = (params,) if row.sources else (blocks[0], repeats[0])
    if form in ("mask", "bits"):
        function(*arguments, mask, call["times"], *strides)
    elif form == "counter":
        set_mask_count()
        function(*arguments, [mask, 0], 1, *strides)
        set_mask_norm()
    else:
        if form == "registers":
            set_vector_mask(mask[1], mask[0], dtype=dtype, mode=MaskMode.NORMAL)
        elif form == "length":
            set_vector_mask(mask, dtype=dtype, mode=MaskMode.NORMAL)
        else:
            set_mask_count()
            set_vector_mask(mask, dtype=dtype, mode=MaskMode.COUNTER)
        function(*arguments, 0, call["times"], *strides, False)
        set_mask_norm()
    reset_mask()


def expected(name: str, dtype: DataType, call: dict[str, Any], image: np.ndarray) -> np.ndarray:
    """The image after the call, element by element."""
    out = image.copy()
    dst, *sources = call["operands"]
    how: dict[str, Any] = {}
    if call["form"] != "count":
        how = {"dst_blk": call["blocks"][0], "src_blks": call["blocks"][1:]}
        how |= {"dst_rep": call["repeats"][0], "src_reps": call["repeats"][1:]}
    if call["form"] in ("mask", "bits", "registers", "length"):
        how |= {"mask": call["mask"], "repeat": call["times"]}
    else:
        how["count"] = call["count"] if call["form"] == "count" else call["mask"]
    reference.vector(out, name, dtype.name, dst, sources, scalar=call.get("scalar"), **how)
    return out


def compare(name: str, dtype: DataType, call: dict[str, Any]) -> None:
    image = image_of(dtype, call["seed"])
    after, device = on_image(image, lambda: issue(name, dtype, call), Checks.collect())
    want = expected(name, dtype, call, image)
    wrong = np.flatnonzero(~same(after, want, dtype))
    if wrong.size:
        first = wrong[0]
        got, wanted, before = (memory.view(dtype.np)[first] for memory in (after, want, image))
        raise AssertionError(f"{wrong.size} elements differ, first {first}: {got}, expected {wanted}, before {before}")
    assert set(codes(device)) <= {"OVERLAP_PARTIAL", "OVERLAP_REPEAT"}


@pytest.mark.parametrize(("name", "dtype"), ROWS, ids=lambda part: str(part))
def test_vector_instruction_against_the_second_opinion(name, dtype):
    @settings(derandomize=True, max_examples=14, deadline=None, database=None)
    @given(calls(name, dtype))
    def check(call):
        compare(name, dtype, call)

    check()


@pytest.mark.parametrize("name", ["add", "max", "adds"])
@pytest.mark.parametrize("repeats", [(0, 1, 0), (1, 0, 1)])
def test_255_repeats_that_overlap(name, repeats):
    """Sums that run in place, and every repeat written over most of the one before it."""
    sources = REGISTRY[name].sources
    call = {"operands": [4096, 0, 4096][: 1 + sources], "seed": 3, "form": "bits", "mask": [0b1001 << 7, 0]}
    call |= {"times": 255, "blocks": [1] * (1 + sources), "repeats": list(repeats[: 1 + sources]), "scalar": 3}
    compare(name, int32, call)
