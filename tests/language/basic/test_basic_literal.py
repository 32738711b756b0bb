"""One literal, hand-worked case or more for each vector instruction: values, edges, masks, strides, accumulation.

Edge values are those of the vendor's table of edge values; the shift of signed types is the example of ShiftLeft.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from basic_machine import FREE, codes, on_image, ub

from ascsim.hw.checks import Checks
from ascsim.hw.errors import ScalarError
from ascsim.language import basic
from ascsim.language.basic import (
    add,
    adds,
    duplicate,
    mins,
    muls,
    relu,
    reset_mask,
    set_mask_count,
    set_mask_norm,
    set_vector_mask,
)
from ascsim.language.core import BinaryRepeatParams, MaskMode, UnaryRepeatParams, number
from ascsim.language.core import dtype as dt

NAN, INF = math.nan, math.inf
TINY = 2.0**-24  # the least subnormal half

# name, type, sources, what dst holds before (or None), scalar (or None), expected
CASES = [
    ("add", "float16", [[1, 65504, 2048, -0.0, INF], [2, 65504, 1, -0.0, -INF]], None, None, [3, INF, 2048, -0.0, NAN]),
    ("add", "int16", [[32767, -32768, 5], [32767, -32768, -7]], None, None, [-2, 0, -2]),
    ("sub", "int32", [[-(2**31), 7], [1, 9]], None, None, [2**31 - 1, -2]),
    ("sub", "float32", [[-0.0, 1.5], [0.0, 1.5]], None, None, [-0.0, 0.0]),
    ("mul", "int16", [[-32768, 300], [-32768, 300]], None, None, [0, 24464]),  # 90000 - 65536
    ("mul", "float32", [[0.0, 3.0], [INF, -2.0]], None, None, [NAN, -6.0]),
    ("div", "float32", [[1, -1, 0, 5], [3, 0, 0, -INF]], None, None, [0.3333333432674408, -INF, NAN, -0.0]),
    ("max", "float16", [[NAN, 1, 0.0, -0.0, -0.0], [1, NAN, -0.0, 0.0, -0.0]], None, None, [NAN, NAN, 0.0, 0.0, -0.0]),
    ("max", "int32", [[-5, 9], [3, 2]], None, None, [3, 9]),
    ("min", "float32", [[0.0, -0.0, 0.0, NAN], [-0.0, 0.0, 0.0, 5]], None, None, [-0.0, -0.0, 0.0, NAN]),
    ("min", "int16", [[-32768, 4], [32767, 6]], None, None, [-32768, 4]),
    ("bitwise_and", "uint16", [[0xFF0F, 0x8000], [0x0FF0, 0xFFFF]], None, None, [0x0F00, 0x8000]),
    ("bitwise_or", "int16", [[-32768, 5], [1, 2]], None, None, [-32767, 7]),
    ("add_relu", "float16", [[-3, -0.0, 2, NAN], [1, -0.0, 5, 1]], None, None, [0.0, 0.0, 7, NAN]),
    ("add_relu", "int16", [[32767, -4], [1, 6]], None, None, [0, 2]),  # the sum wraps to -32768 first
    ("sub_relu", "float32", [[3, 5], [5, 3]], None, None, [0.0, 2.0]),
    ("fused_mul_add", "float16", [[65504, 3], [-INF, 1]], [65504, 2], None, [NAN, 7]),  # the product is infinite first
    ("fused_mul_add_relu", "float32", [[3, 3], [1, -9]], [2, 2], None, [7, 0.0]),
    ("mul_add_dst", "float16", [[65504, 3], [65504, 4]], [-INF, 5], None, [NAN, 17]),
    ("abs", "float16", [[-INF, -0.0, -2.5, TINY]], None, None, [INF, 0.0, 2.5, TINY]),
    ("exp", "float32", [[0.0, -INF, 1.0, 1000.0]], None, None, [1.0, 0.0, 2.7182817459106445, INF]),
    ("exp", "float16", [[1.0]], None, None, [2.71875]),
    ("ln", "float16", [[65504, 0.0, -1, 1]], None, None, [11.09375, -INF, NAN, 0.0]),
    ("bitwise_not", "uint16", [[0, 0xFFF0]], None, None, [0xFFFF, 0x000F]),
    ("bitwise_not", "int16", [[9, -1]], None, None, [-10, 0]),
    ("reciprocal", "float16", [[0.0, -0.0, INF, 4, 65504]], None, None, [INF, -INF, 0.0, 0.25, 256 * TINY]),
    ("relu", "int32", [[-(2**31), 5]], None, None, [0, 5]),
    ("relu", "float16", [[-0.0, NAN, -INF, 3]], None, None, [0.0, NAN, 0.0, 3]),
    ("rsqrt", "float32", [[4, 0.0, -0.0, -1, INF]], None, None, [0.5, INF, -INF, NAN, 0.0]),
    ("sqrt", "float32", [[9, -0.0, -4, INF]], None, None, [3, -0.0, NAN, INF]),
    ("adds", "float16", [[1, 2]], None, 0.5, [1.5, 2.5]),
    ("adds", "int32", [[2**31 - 1, 1]], None, 1.7, [-(2**31), 2]),  # the scalar is truncated to 1
    ("muls", "int16", [[256, -3]], None, 256, [0, -768]),
    ("maxs", "float32", [[NAN, -0.0, 3]], None, 0.0, [NAN, 0.0, 3]),
    ("mins", "int16", [[-5, 5]], None, 2, [-5, 2]),
    ("leaky_relu", "float32", [[2, -2, 0.0, -0.0, NAN]], None, -0.5, [2, 1, 0.0, 0.0, NAN]),
    ("leaky_relu", "float16", [[-INF, 0.0]], None, 0.0, [NAN, 0.0]),
    ("shift_left", "int16", [[-0x5556]], None, 1, [-0x2AAC]),  # 1010 1010 1010 1010 -> 1101 0101 0101 0100
    ("shift_left", "int16", [[-0x5556]], None, 3, [-0x2AB0]),  # -> 1101 0101 0101 0000
    ("shift_left", "uint16", [[0x8001, 3]], None, 1, [2, 6]),
    ("shift_left", "uint32", [[0xFFFFFFFF]], None, 32, [0]),
    ("shift_left", "int32", [[-1, 1]], None, 32, [-(2**31), 0]),
    ("shift_right", "int16", [[-5, 5]], None, 1, [-3, 2]),
    ("shift_right", "uint32", [[0x80000000]], None, 31, [1]),
    ("shift_right", "int32", [[-7, 7]], None, 32, [-1, 0]),
    ("duplicate", "bfloat16", [], None, 1.00390625, [1.0]),  # halfway between 1 and its successor: to the even one
    ("duplicate", "uint16", [], None, 65535, [65535, 65535]),
]


def image_with(placed: dict[int, tuple[str, list[float]]], size: int = 4096, fill: int = 0x5A) -> np.ndarray:
    """An image with typed values at some bytes, and one byte everywhere else."""
    image = np.full(size, fill, np.uint8)
    for start, (name, values) in placed.items():
        raw = np.array(values).astype(dt.DataType(name).np).view(np.uint8)
        image[start : start + raw.size] = raw
    return image


def seen(image: np.ndarray, name: str, start: int, count: int) -> list[float]:
    kind = dt.DataType(name)
    return image[start : start + count * kind.size].view(kind.np).astype(object).tolist()


def alike(a: float, b: float) -> bool:
    a, b = float(a), float(b)
    return (a != a and b != b) or (a == b and math.copysign(1, a) == math.copysign(1, b))


@pytest.mark.parametrize(("name", "kind", "sources", "before", "scalar", "expected"), CASES)
def test_values(name, kind, sources, before, scalar, expected):
    dtype, count = dt.DataType(kind), len(expected)
    placed = {256 * i: (kind, values) for i, values in enumerate(sources)}
    if before is not None:
        placed[1024] = (kind, before)
    image = image_with(placed)
    arguments = [1024, *(256 * i for i in range(len(sources)))]

    def call():
        scalars = [] if scalar is None else [scalar]
        getattr(basic, name)(*(ub(dtype, start) for start in arguments), *scalars, count)

    after, _ = on_image(image, call)
    got = seen(after, kind, 1024, count)
    assert all(map(alike, got, expected)), got
    end = 1024 + count * dtype.size
    assert (after[:1024] == image[:1024]).all()
    assert (after[end:] == image[end:]).all()


def words(**at: list[int]) -> np.ndarray:
    """An image of int32: `b512=[...]` puts values at byte 512; all else is 0."""
    return image_with({int(key[1:]): ("int32", values) for key, values in at.items()}, fill=0)


def ints(image: np.ndarray, start: int, count: int) -> list[int]:
    return seen(image, "int32", start, count)


def test_a_mask_number_takes_the_first_lanes_of_each_repeat():
    image = words(b0=list(range(1, 129)))

    def call():
        adds(ub(dt.int32, 1024), ub(dt.int32, 0), 100, 3, 2, UnaryRepeatParams())

    after, _ = on_image(image, call)
    assert ints(after, 1024, 4) == [101, 102, 103, 0]
    assert ints(after, 1024 + 256, 4) == [165, 166, 167, 0]


def test_a_mask_list_holds_bits_low_word_first():
    """The example of the page: [8, 2] takes lane 3 and lane 65 of a 16-bit type."""
    image = np.zeros(2048, np.uint8)

    def call():
        duplicate(ub(dt.int16, 0), 7, [8, 2], 1, 1, 8)

    after, _ = on_image(image, call)
    assert np.flatnonzero(after.view(np.int16)).tolist() == [3, 65]


def test_strides_are_in_blocks_and_may_differ_between_operands():
    # Source blocks of 8 words: repeat 0 reads blocks 0 and 2, repeat 1 blocks 3 and 5; dst writes blocks 0, 1 | 8, 9.
    image = words(b0=[block for block in range(8) for _ in range(8)])

    def call():
        adds(ub(dt.int32, 1024), ub(dt.int32, 0), 10, 16, 2, UnaryRepeatParams(1, 2, 8, 3))

    after, _ = on_image(image, call)
    assert ints(after, 1024, 17) == [10] * 8 + [12] * 8 + [0]
    assert ints(after, 1024 + 256, 17) == [13] * 8 + [15] * 8 + [0]


def test_source_block_stride_0_reads_one_block_eight_times():
    image = words(b0=[1, 2, 3, 4, 5, 6, 7, 8, 99])

    def call():
        relu(ub(dt.int32, 1024), ub(dt.int32, 0), 64, 1, UnaryRepeatParams(1, 0, 8, 8))

    after, _ = on_image(image, call)
    assert ints(after, 1024, 64) == [1, 2, 3, 4, 5, 6, 7, 8] * 8


@pytest.mark.parametrize(("checks", "found"), [(FREE, []), (Checks.collect(), [])])
def test_repeats_add_up_where_dst_and_src1_stay_in_place(checks, found):
    """Four repeats of ones, twos, threes and fours on top of 5: allowed, and done one after the other."""
    image = words(b0=[value for value in (1, 2, 3, 4) for _ in range(64)], b2048=[5] * 64)

    def call():
        total = ub(dt.int32, 2048)
        add(total, ub(dt.int32, 0), total, 64, 4, BinaryRepeatParams(1, 1, 1, 0, 8, 0))

    after, device = on_image(image, call, checks)
    assert ints(after, 2048, 65) == [15] * 64 + [0]
    assert codes(device) == found


def test_255_repeats_reach_exactly_as_far_as_the_formula_says():
    image = np.zeros(256 * 256, np.uint8)

    def call():
        duplicate(ub(dt.int32, 0), -1, 64, 255, 1, 8)

    after, _ = on_image(image, call)
    assert (after[: 255 * 256] == 0xFF).all()
    assert not after[255 * 256 :].any()


def test_counter_mode_counts_elements_and_ignores_repeat_times():
    """130 elements: two whole repeats 16 blocks apart, then two lanes of a third; block stride 2."""
    image = words(b0=[0])

    def call():
        set_mask_count()
        duplicate(ub(dt.int32, 0), 1, [130, 0], 1, 2, 16)
        set_mask_norm()
        reset_mask()

    after, _ = on_image(image, call)
    want = [repeat * 128 + block * 16 + lane for repeat in (0, 1) for block in range(8) for lane in range(8)]
    assert np.flatnonzero(after.view(np.int32)).tolist() == [*want, 256, 257]


def test_registers_rule_where_the_call_sets_no_mask():
    image = words(b0=[1] * 64)

    def call():
        set_vector_mask(0, 0b101, dtype=dt.int32, mode=MaskMode.NORMAL)  # high word first here
        muls(ub(dt.int32, 1024), ub(dt.int32, 0), 9, 0, 1, UnaryRepeatParams(), False)
        reset_mask()

    after, _ = on_image(image, call)
    assert ints(after, 1024, 4) == [9, 0, 9, 0]


def test_length_in_set_vector_mask_counts_lanes():
    image = words(b0=[1] * 64)

    def call():
        set_vector_mask(2, dtype=dt.int32, mode=MaskMode.NORMAL)
        muls(ub(dt.int32, 1024), ub(dt.int32, 0), 9, 0, 1, UnaryRepeatParams(), False)

    after, _ = on_image(image, call)
    assert ints(after, 1024, 4) == [9, 9, 0, 0]


def test_a_mask_stays_in_the_registers_after_its_call():
    image = words(b0=[1] * 64)

    def call():
        muls(ub(dt.int32, 1024), ub(dt.int32, 0), 9, 2, 1, UnaryRepeatParams())
        muls(ub(dt.int32, 2048), ub(dt.int32, 0), 9, 0, 1, UnaryRepeatParams(), False)

    after, _ = on_image(image, call)
    assert ints(after, 2048, 4) == [9, 9, 0, 0]


def test_the_count_form_leaves_all_lanes_and_normal_mode():
    image = words(b0=[1] * 64)

    def call():
        set_mask_count()
        set_vector_mask(5, dtype=dt.int32, mode=MaskMode.COUNTER)
        muls(ub(dt.int32, 1024), ub(dt.int32, 0), 9, 3)
        muls(ub(dt.int32, 2048), ub(dt.int32, 0), 9, 0, 1, UnaryRepeatParams(), False)

    after, _ = on_image(image, call)
    assert ints(after, 1024, 4) == [9, 9, 9, 0]
    assert ints(after, 2048, 64) == [9] * 64


def test_the_count_form_of_a_scalar_family_may_follow_the_registers():
    """`adds(dst, src, scalar, count, False)`: one repeat under the registers; the count means nothing."""
    image = words(b0=[1] * 64)

    def call():
        set_vector_mask(0, 0b11, dtype=dt.int32, mode=MaskMode.NORMAL)
        mins(ub(dt.int32, 1024), ub(dt.int32, 0), -4, 50, False)
        reset_mask()

    after, _ = on_image(image, call)
    assert ints(after, 1024, 4) == [-4, -4, 0, 0]


def test_one_scalar_after_another_is_used_not_the_first():
    image = words(b0=[10] * 8)

    def call():
        for turn, scalar in enumerate((1, 2, 1.0, 3)):
            adds(ub(dt.int32, 1024 + 32 * turn), ub(dt.int32, 0), scalar, 8)
            adds(ub(dt.int32, 2048), ub(dt.int32, 0), scalar, 8)

    after, _ = on_image(image, call)
    assert [ints(after, 1024 + 32 * turn, 1)[0] for turn in range(4)] == [11, 12, 11, 13]
    assert ints(after, 2048, 1) == [13]


def test_signed_zeros_and_nan_are_scalars_of_their_own():
    image = image_with({0: ("float32", [-0.0] * 8)})

    def call():
        source, into = ub(dt.float32, 0), ub(dt.float32, 512)
        for turn, scalar in enumerate((0.0, -0.0, NAN, -0.0)):
            basic.maxs(into, source, scalar, 8)
            basic.data_copy(ub(dt.float32, 1024 + 32 * turn), into, 8)
            basic.maxs(into, source, scalar, 8, 1, UnaryRepeatParams())
            basic.data_copy(ub(dt.float32, 2048 + 32 * turn), into, 8)

    after, _ = on_image(image, call)
    for base in (1024, 2048):
        got = [seen(after, "float32", base + 32 * turn, 1)[0] for turn in range(4)]
        assert all(map(alike, got, [0.0, -0.0, NAN, -0.0])), got


def test_duplicate_tells_signed_zeros_apart():
    def call():
        for turn, scalar in enumerate((0.0, -0.0, 0)):
            duplicate(ub(dt.float32, 512), scalar, 8)
            basic.data_copy(ub(dt.float32, 1024 + 32 * turn), ub(dt.float32, 512), 8)

    after, _ = on_image(np.zeros(2048, np.uint8), call)
    assert [math.copysign(1, seen(after, "float32", 1024 + 32 * turn, 1)[0]) for turn in range(3)] == [1, -1, 1]


def test_a_run_time_scalar_is_converted_as_the_front_end_does():
    """Any float into any float and equal widths into each other; an int32 is no half, whatever the cache holds."""
    image = image_with({0: ("float16", [1.0] * 16), 256: ("int32", [5] * 8)})

    def call():
        adds(ub(dt.float16, 1024), ub(dt.float16, 0), number(0.5, dt.float32), 16)
        adds(ub(dt.int32, 2048), ub(dt.int32, 256), number(2.75, dt.float32), 8)
        adds(ub(dt.float16, 1024), ub(dt.float16, 0), 2, 16)
        for form in ((16,), (16, 1, UnaryRepeatParams())):
            with pytest.raises(ScalarError, match="no conversion from int32 to float16"):
                adds(ub(dt.float16, 1024), ub(dt.float16, 0), number(2, dt.int32), *form)

    after, _ = on_image(image, call)
    assert seen(after, "float16", 1024, 1) == [3.0]
    assert ints(after, 2048, 1) == [7]
