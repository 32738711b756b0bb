"""Instructions with a narrower destination, and bilinear_interpolation, against the second opinion `reference`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference
from basic_machine import on_image, ub
from hypothesis import given, settings
from hypothesis import strategies as st

from ascsim.hw.checks import Checks
from ascsim.language import basic
from ascsim.language.basic import reset_mask, set_deq_scale, set_mask_count, set_mask_norm, set_vector_mask
from ascsim.language.core import BinaryRepeatParams, MaskMode
from ascsim.language.core import dtype as dt

SIZE, DST = 12288, 8192  # bytes of the image; where results lie, behind the sources
FULL = (1 << 64) - 1
SPECIAL = (0.0, -0.0, 1.5, 2.5, -2.5, 126.5, 127.4, 255.5, -128.5, 65504.0, -65504.0, 6e-8, np.inf, -np.inf, np.nan)
KINDS = [  # name, sources, destination
    ("mul_cast", dt.float16, dt.int8),
    ("mul_cast", dt.float16, dt.uint8),
    ("add_deq_relu", dt.int32, dt.float16),
    *((name, *types) for name in ("add_relu_cast", "sub_relu_cast") for types in
      ((dt.float16, dt.int8), (dt.int16, dt.int8), (dt.float32, dt.float16))),
]  # fmt: skip
FORMS = ["count", "mask", "bits", "counter", "registers", "registers_counter"]  # mul_cast always sets the mask


def image_of(dtype: dt.DataType, seed: int) -> np.ndarray:
    """Special values, small numbers and bit patterns, mixed."""
    random = np.random.default_rng(seed)
    many = SIZE // dtype.size
    patterns = random.integers(0, 256, SIZE, np.uint8).view(dtype.np)
    small = random.integers(-200, 200, many)
    with np.errstate(all="ignore"):
        if dtype.is_int():
            special = np.array([0, 1, -1, dtype.low, dtype.high, dtype.high // 2 + 1], dtype.np)
            small = small.astype(dtype.np)
        else:
            special, small = np.array(SPECIAL).astype(dtype.np), (small / 4).astype(dtype.np)
    out = np.choose(random.integers(0, 3, many), [special[random.integers(0, special.size, many)], small, patterns])
    return np.ascontiguousarray(out).view(np.uint8)


@st.composite
def calls(draw: Any, lanes: int, forms: list[str]) -> dict[str, Any]:
    starts = st.sampled_from([0, 0, 32, 256, 4096])  # few, so that sources often coincide or overlap
    call = {
        "form": draw(st.sampled_from(forms)),
        "sources": [draw(starts), draw(starts)],
        "seed": draw(st.integers(0, 99)),
    }
    call |= {"times": draw(st.sampled_from([1, 1, 2, 3])), "scale": draw(st.sampled_from([0.1, 1.0, -3.0, 65504.0]))}
    call["blocks"] = [draw(st.sampled_from([1, 1, 2])), *(draw(st.sampled_from([1, 1, 0, 2])) for _ in range(2))]
    call["repeats"] = [draw(st.sampled_from([4, 8, 9])), *(draw(st.sampled_from([8, 0, 1, 9])) for _ in range(2))]
    if call["form"] in ("bits", "registers"):
        high = draw(st.integers(0, FULL)) if lanes == 128 else 0
        call["mask"] = [draw(st.integers(1, FULL)), high]
    else:
        call["mask"] = draw(st.integers(1, lanes if call["form"] == "mask" else 3 * lanes))
    return call


def issue(name: str, source: dt.DataType, target: dt.DataType, call: dict[str, Any]) -> None:
    function, form, mask = getattr(basic, name), call["form"], call["mask"]
    if name == "add_deq_relu":
        set_deq_scale(call["scale"])
    tensors = [ub(target, DST), *(ub(source, start) for start in call["sources"])]
    if form == "count":
        function(*tensors, mask)
        return
    params = BinaryRepeatParams(*call["blocks"], *call["repeats"])
    if form in ("mask", "bits"):
        function(*tensors, mask, call["times"], params)
        return
    if form != "registers":
        set_mask_count()
    if form == "counter":
        function(*tensors, [mask, 0], 1, params)
    else:
        words = (mask[1], mask[0]) if form == "registers" else (mask,)
        set_vector_mask(*words, dtype=source, mode=MaskMode.NORMAL if form == "registers" else MaskMode.COUNTER)
        function(*tensors, 0, call["times"], params, False)
    set_mask_norm()
    reset_mask()


@pytest.mark.parametrize(("name", "source", "target"), KINDS, ids=str)
def test_narrower_results_against_the_second_opinion(name: str, source: dt.DataType, target: dt.DataType) -> None:
    @settings(derandomize=True, max_examples=12, deadline=None, database=None)
    @given(calls(256 // source.size, FORMS[:4] if name == "mul_cast" else FORMS))
    def check(call: dict[str, Any]) -> None:
        image = image_of(source, call["seed"])
        how: dict[str, Any] = {"count": call["mask"]}
        if call["form"] in ("mask", "bits", "registers"):
            how = {"mask": call["mask"], "repeat": call["times"]}
        if call["form"] != "count":
            how |= {"dst_blk": call["blocks"][0], "src_blks": call["blocks"][1:]}
            how |= {"dst_rep": call["repeats"][0], "src_reps": call["repeats"][1:]}
        want = image.copy()
        scale = call["scale"] if name == "add_deq_relu" else None
        reference.vector(want, name, source.name, DST, call["sources"], dst_dtype=target.name, scalar=scale, **how)
        after, _ = on_image(image, lambda: issue(name, source, target, call), Checks.collect())
        got, due = (x[DST:].view(target.np) for x in (after, want))
        np.testing.assert_array_equal(got, due)
        assert not target.is_int() or (np.signbit(got[due == 0]) == np.signbit(due[due == 0])).all()
        if name != "add_deq_relu":  # which uses up its sources
            np.testing.assert_array_equal(after[:DST], image[:DST])

    check()


@settings(derandomize=True, max_examples=12, deadline=None, database=None)
@given(st.data())
def test_bilinear_interpolation_against_the_second_opinion(data: st.DataObject) -> None:
    draw = data.draw
    across, down, by_block = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.booleans())
    stride, pitch = draw(st.sampled_from([1, 2])), draw(st.sampled_from([128, 144, 256]))
    pair = st.tuples(st.integers(1, FULL), st.integers(0, FULL)).map(list)
    mask = draw(st.one_of(st.integers(1, 128), pair))
    image = image_of(dt.float16, draw(st.integers(0, 99)))[: 2 * 1024].copy()
    steps = across * down
    offsets = np.array(draw(st.lists(st.sampled_from(range(0, 512, 32)), min_size=8 * steps, max_size=8 * steps)))
    image = np.concatenate([image, np.zeros(32768 - image.size, np.uint8)])
    image[1024 : 1024 + 32 * steps] = offsets.astype(np.uint32).view(np.uint8)
    image[DST : DST + 512] = 9
    want = image.copy()
    with np.errstate(all="ignore"):
        reference.bilinear_interpolation(want, DST, 0, 1024, 1536, mask, across, by_block, stride, pitch, down)

    def call() -> None:
        basic.bilinear_interpolation(
            ub(dt.float16, DST), ub(dt.float16, 0, 512), ub(dt.uint32, 1024, 8 * steps),
            ub(dt.float16, 1536, 128), mask, across, by_block, stride, pitch, down, ub(dt.uint8, 2048, 4096),
        )  # fmt: skip

    after, _ = on_image(image, call, Checks.off())
    np.testing.assert_array_equal(after[DST:].view(np.float16), want[DST:].view(np.float16))
