"""data_copy, data_copy_pad and set_pad_value: against the second opinion `reference`, and literal cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference
from basic_machine import FREE, at, codes, launch, order, ub
from hypothesis import given, settings
from hypothesis import strategies as st

from ascsim.hw.checks import Checks
from ascsim.language.basic import add, data_copy, data_copy_pad, duplicate, pipe_barrier, set_pad_value
from ascsim.language.core import (
    BlockMode,
    DataCopyEnhancedParams,
    DataCopyExtParams,
    DataCopyPadExtParams,
    DataCopyPadParams,
    DataCopyParams,
    HardEvent,
    PipeID,
    ShapeInfo,
    SliceInfo,
)
from ascsim.language.core import dtype as dt

UB_BYTES, GM_BYTES = 8192, 8192
TYPES = (dt.int8, dt.float16, dt.bfloat16, dt.float32, dt.int64)
DRAWN = settings(derandomize=True, max_examples=60, deadline=None, database=None)


def noise(size: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, size, np.uint8)


def run(dtype: dt.DataType, call: Any, checks: Checks = FREE) -> tuple[np.ndarray, np.ndarray, Any]:
    """UB and global memory after `call(global tensor)`, which starts from noise(1) in UB and noise(2) in global."""
    local, outside, after = noise(UB_BYTES, 1), noise(GM_BYTES, 2), np.zeros(UB_BYTES, np.uint8)

    def body(image, gm, out):
        whole = ub(dt.uint8, 0, UB_BYTES)
        data_copy(whole, at(image), UB_BYTES)
        pipe_barrier(PipeID.PIPE_ALL)
        call(at(gm))
        pipe_barrier(PipeID.PIPE_ALL)
        data_copy(at(out), whole, UB_BYTES)

    gm = outside.view(dtype.np)
    device = launch(body, local, gm, after, checks=checks)
    return after, outside, device


def check(call: Any, dtype: dt.DataType, mirror: Any) -> None:
    """`mirror(ub, gm)` does to two images what `call(global tensor)` does to the memories."""
    after, outside, device = run(dtype, call, Checks.collect())
    local, gm = noise(UB_BYTES, 1), noise(GM_BYTES, 2)
    undefined = mirror(local, gm) or ()
    wrong = [byte for byte in np.flatnonzero(after != local).tolist() if byte not in undefined]
    assert not wrong
    assert (outside == gm).all()
    assert set(codes(device)) <= {"MISALIGNED_LEN", "ZERO_LENGTH", *(["UNINIT_READ"] if undefined else [])}


@DRAWN
@given(
    st.sampled_from(TYPES),
    st.integers(0, 300),
    st.integers(0, 60),
    st.integers(0, 100),
    st.booleans(),
)
def test_contiguous_copies(dtype, count, ub_block, gm_at, load):
    place, start = 32 * ub_block, gm_at * dtype.size

    def call(gm):
        here = ub(dtype, place)
        if load:
            data_copy(here, gm[gm_at:], count)
        else:
            data_copy(gm[gm_at:], here, count)

    def mirror(local, gm):
        if load:
            reference.data_copy(local, place, gm, start, count, dtype.size)
        else:
            reference.data_copy(gm, start, local, place, count, dtype.size)

    check(call, dtype, mirror)


@DRAWN
@given(
    st.sampled_from(TYPES),
    st.sampled_from(["in", "out", "inside"]),
    st.tuples(st.integers(0, 4), st.integers(0, 5), st.integers(0, 4), st.integers(0, 4)),
    st.integers(0, 40),
)
def test_strided_copies(dtype, way, fields, gm_at):
    def call(gm):
        ends = {"in": (ub(dtype, 64), gm[gm_at:]), "out": (gm[gm_at:], ub(dtype, 64))}
        dst, src = ends.get(way) or (ub(dtype, 4096), ub(dtype, 64))
        data_copy(dst, src, DataCopyParams(*fields))

    def mirror(local, gm):
        start = gm_at * dtype.size
        ends = {"in": (local, 64, gm, start), "out": (gm, start, local, 64)}
        reference.data_copy_params(*(ends.get(way) or (local, 4096, local, 64)), *fields)

    check(call, dtype, mirror)


pads = st.tuples(st.integers(0, 4), st.integers(0, 4), st.booleans(), st.booleans(), st.booleans())


@DRAWN
@given(
    st.sampled_from(TYPES[:4]),
    st.tuples(st.integers(0, 4), st.integers(0, 40), st.integers(0, 70), st.integers(0, 3)),
    pads,
    st.integers(0, 40),
)
def test_padded_loads(dtype, fields, padding, gm_at):
    """All rows of the table of paddings, both parameter classes, with and without the pad register."""
    left, right, is_pad, register, old_class = padding
    blocks, length, src_gap, dst_gap = fields
    length *= dtype.size
    raw = np.array([5]).astype(dtype.np).tobytes()

    def call(gm):
        if register:
            set_pad_value(3)
        params = (DataCopyParams if old_class else DataCopyExtParams)(blocks, length, src_gap, dst_gap)
        if old_class:
            pad = DataCopyPadParams(is_pad, left, right, int.from_bytes(raw, "little"))
        else:
            pad = DataCopyPadExtParams(dtype, is_pad, left, right, 5)
        data_copy_pad(ub(dtype, 96), gm[gm_at:], params, pad)

    def mirror(local, gm):
        value = raw if is_pad else np.array([3]).astype(dtype.np).tobytes() if register else None
        return reference.data_copy_pad_in(
            *(local, 96, gm, gm_at * dtype.size, blocks, length, src_gap, dst_gap),
            size=dtype.size,
            left=left,
            right=right,
            pad=value,
        )

    check(call, dtype, mirror)


@DRAWN
@given(
    st.sampled_from(TYPES),
    st.tuples(st.integers(0, 4), st.integers(0, 40), st.integers(0, 3), st.integers(0, 70)),
    st.booleans(),
    st.integers(0, 40),
)
def test_byte_exact_stores(dtype, fields, old_class, gm_at):
    blocks, length, src_gap, dst_gap = fields
    length *= dtype.size

    def call(gm):
        params = (DataCopyParams if old_class else DataCopyExtParams)(blocks, length, src_gap, dst_gap)
        data_copy_pad(gm[gm_at:], ub(dtype, 96), params)

    def mirror(local, gm):
        reference.data_copy_pad_out(gm, gm_at * dtype.size, local, 96, blocks, length, src_gap, dst_gap)

    check(call, dtype, mirror)


@st.composite
def slices(draw: Any) -> tuple[Any, ...]:
    """Two lists of slices of float32 that fit each other: UB rows on 32-byte blocks, global rows anywhere."""
    burst, bursts, rows = draw(st.integers(1, 2)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    out = []
    for inside in (True, False):
        unit = 8 if inside else 1
        first = draw(st.integers(0, 2)) * unit
        gap = draw(st.integers(0, 2)) * unit
        end = first + bursts * burst * 8 + (bursts - 1) * gap - 1
        width = -(-(end + 1) // 8) * 8 + 8 * draw(st.integers(0, 2)) if inside else end + 1 + draw(st.integers(0, 3))
        start, skip = draw(st.integers(0, 2)), draw(st.integers(0, 2))
        last = start + (rows - 1) * (skip + 1)
        out.append([(first, end, gap, burst, width), (start, last, skip, 1, last + 1)])
    return tuple(out)


@DRAWN
@given(slices(), st.booleans())
def test_slices(both, load):
    inside, outside = both

    def call(gm):
        lists = [[SliceInfo(*axis) for axis in side] for side in (inside, outside)]
        if load:
            data_copy(ub(dt.float32, 0), gm, lists[0], lists[1], 2)
        else:
            data_copy(gm, ub(dt.float32, 0), lists[1], lists[0], 2)

    def mirror(local, gm):
        if load:
            reference.data_copy_slices(local, 0, gm, 0, inside, outside, 4)
        else:
            reference.data_copy_slices(gm, 0, local, 0, outside, inside, 4)

    check(call, dt.float32, mirror)


# --- literal cases -------------------------------------------------------------------------------------------------


def loaded(dtype: dt.DataType, source: list[float], count: int, call: Any, checks: Checks = FREE) -> list[float]:
    """`count` elements from byte 0 of UB after `call(tensor at 0, global tensor of source)`; UB starts with 99s."""
    gm, out = np.array(source).astype(dtype.np), np.zeros(count, dtype.np)

    def body(a, b):
        here = ub(dtype, 0, 1024)
        duplicate(here, 99, 1024)
        order(HardEvent.V_MTE2)
        call(here, at(a))
        order(HardEvent.MTE2_MTE3)
        data_copy_pad(at(b), here, DataCopyExtParams(1, count * dtype.size, 0, 0, 0))

    launch(body, gm, out, checks=checks)
    return out.astype(float).tolist()


def test_a_count_below_a_block_moves_nothing_and_33_bytes_move_32():
    assert loaded(dt.float32, [1] * 16, 9, lambda ub, gm: data_copy(ub, gm, 7)) == [99.0] * 9
    assert loaded(dt.int16, [1] * 32, 18, lambda ub, gm: data_copy(ub, gm, 17)) == [1.0] * 16 + [99.0] * 2


def test_gaps_run_from_the_end_of_a_block_to_the_start_of_the_next():
    source = [block for block in range(6) for _ in range(8)]
    got = loaded(dt.float32, source, 40, lambda ub, gm: data_copy(ub, gm, DataCopyParams(2, 1, 2, 3)))
    assert got == [0.0] * 8 + [99.0] * 24 + [3.0] * 8


PAD_ROWS = [
    # is_pad, left, right, register, expected first 16 halves of 10 elements 1..10
    ((False, 0, 0), None, [*range(1, 11), 1, 1, 1, 1, 1, 1]),
    ((True, 0, 0), None, [*range(1, 11), 1, 1, 1, 1, 1, 1]),
    ((True, 2, 0), None, [7, 7, *range(1, 11), 7, 7, 7, 7]),
    ((True, 1, 2), None, [7, *range(1, 11), 7, 7, 7, 7, 7]),
    ((False, 0, 3), -2.5, [*range(1, 11), -2.5, -2.5, -2.5, -2.5, -2.5, -2.5]),
    ((False, 0, 0), -2.5, [*range(1, 11), 1, 1, 1, 1, 1, 1]),
]


@pytest.mark.parametrize(("pad", "register", "expected"), PAD_ROWS)
def test_what_pads_and_tail_hold(pad, register, expected):
    def call(here, gm):
        if register is not None:
            set_pad_value(register)
        data_copy_pad(here, gm, DataCopyExtParams(1, 20, 0, 0, 0), DataCopyPadExtParams(dt.float16, *pad, 7))

    assert loaded(dt.float16, list(range(1, 17)), 16, call) == expected


def test_without_pad_parameters_the_tail_repeats_the_first_element_of_each_block():
    def call(here, gm):
        data_copy_pad(here, gm, DataCopyExtParams(2, 4, 4, 0, 0))

    assert loaded(dt.float32, [1, 2, 3], 16, call) == [1.0] * 8 + [3.0] * 8


def test_the_pad_register_holds_what_an_is_pad_copy_wrote_last():
    def call(here, gm):
        set_pad_value(4)
        data_copy_pad(here[64:], gm, DataCopyExtParams(1, 4, 0, 0, 0), DataCopyPadExtParams(dt.int32, True, 1, 0, 6))
        order(HardEvent.MTE2_V)
        order(HardEvent.V_MTE2)
        data_copy_pad(here, gm, DataCopyExtParams(1, 4, 0, 0, 0), DataCopyPadExtParams(dt.int32, False, 1, 0, 0))

    assert loaded(dt.int32, [1], 8, call) == [6, 1, 6, 6, 6, 6, 6, 6]


def test_the_old_pad_class_gives_the_value_as_raw_bits():
    def call(here, gm):
        data_copy_pad(here, gm, DataCopyParams(1, 4, 0, 0), DataCopyPadParams(True, 1, 0, 0x40490FDB))

    assert loaded(dt.float32, [1], 8, call) == [3.1415927410125732, 1.0] + [3.1415927410125732] * 6


def test_equal_pad_copies_of_different_values_do_not_share_a_plan():
    def call(here, gm):
        for turn, value in enumerate((3, 5)):
            pad = DataCopyPadExtParams(dt.int32, True, 1, 0, value)
            data_copy_pad(here[8 * turn :], gm, DataCopyExtParams(1, 4, 0, 0, 0), pad)
        pad = DataCopyPadExtParams(dt.int32, True, 1, 0, 8)
        order(HardEvent.MTE2_V)
        order(HardEvent.V_MTE2)
        data_copy_pad(here, gm, DataCopyExtParams(1, 4, 0, 0, 0), pad)

    assert loaded(dt.int32, [1], 16, call) == [8, 1, 8, 8, 8, 8, 8, 8, 5, 1, 5, 5, 5, 5, 5, 5]


def test_pads_that_nothing_fills_are_undefined():
    def body(a):
        here = ub(dt.float32, 0, 64)
        pad = DataCopyPadExtParams(dt.float32, False, 1, 0, 0)
        data_copy_pad(here, at(a), DataCopyExtParams(1, 4, 0, 0, 0), pad)
        order(HardEvent.MTE2_V)
        add(here[8:], here, here, 8)

    device = launch(body, np.ones(8, np.float32), checks=Checks.collect())
    (found,) = device.findings
    assert found.code == "UNINIT_READ"
    assert "[0:4), [8:32)" in found.message


def test_a_store_of_9_bytes_writes_9_bytes():
    out = np.full(64, 7, np.uint8)

    def body(a):
        here = ub(dt.uint16, 0, 64)
        duplicate(here, 0x0101, 64)
        order(HardEvent.V_MTE3)
        data_copy_pad(at(a)[1:], here.reinterpret_cast(dt.uint8), DataCopyExtParams(2, 9, 0, 3, 0))

    launch(body, out)
    assert out.tolist() == [7] + [1] * 9 + [7] * 3 + [1] * 9 + [7] * 42


def test_the_example_of_the_slice_page():
    """Rows 0 and 2 of three rows of 87; columns 16..39 and 47..70 land side by side in rows of 48."""
    source = np.arange(3 * 87, dtype=np.float32)
    out = np.zeros(96, np.float32)

    def body(a, b):
        here = ub(dt.float32, 0, 96)
        src = [SliceInfo(16, 70, 7, 3, 87), SliceInfo(0, 2, 1, 1, 3)]
        dst = [SliceInfo(0, 47, 0, 3, 48), SliceInfo(0, 1, 0, 1, 2)]
        data_copy(here, at(a), dst, src, 2)
        order(HardEvent.MTE2_MTE3)
        data_copy(at(b), here, 96)

    launch(body, source, out)
    assert out.tolist() == [*range(16, 40), *range(47, 71), *range(190, 214), *range(221, 245)]


def test_slices_without_shape_values_take_the_shapes_of_the_tensors():
    source, out = np.arange(20 * 3, dtype=np.float32), np.zeros(16, np.float32)

    def body(a, b):
        gm, here = at(a), ub(dt.float32, 0, 16)
        gm.set_shape_info(ShapeInfo([20, 3]))
        here.set_shape_info(ShapeInfo([8, 2]))
        src = [SliceInfo(4, 11, 0, 1, 0), SliceInfo(0, 2, 1, 1, 0)]
        dst = [SliceInfo(0, 7, 0, 1, 0), SliceInfo(0, 1, 0, 1, 0)]
        data_copy(here, gm, dst, src, 2)
        order(HardEvent.MTE2_MTE3)
        data_copy(at(b), here, 16)

    launch(body, source, out)
    assert out.tolist() == [*range(4, 12), *range(44, 52)]


def test_enhanced_parameters_change_nothing_on_these_chips():
    """The page of DataCopy from L0C to UB: elsewhere than there, on another chip, the call is the plain copy."""
    numbers, out = np.array([-1, 2, -3, 4, -5, 6, -7, 8], np.float32), np.zeros(8, np.float32)
    params = DataCopyParams(1, 1, 0, 0)

    def body(a, b):
        data_copy(
            ub(dt.float32, 0, 8), at(a), params, DataCopyEnhancedParams(BlockMode.BLOCK_MODE_MATRIX, is_relu_in=True)
        )
        order(HardEvent.MTE2_MTE3)
        data_copy(at(b), ub(dt.float32, 0, 8), params, DataCopyEnhancedParams(is_relu_in=True))

    launch(body, numbers, out, checks=Checks.strict())
    np.testing.assert_array_equal(out, numbers)
