"""The second opinion checked by hand: literal cases from the manuals' address formula, edge tables and examples."""

import math
from collections.abc import Sequence

import ml_dtypes
import numpy as np
import pytest
import reference as ref

NAN, INF = math.nan, math.inf
HALF_MAX = 65504.0
INT16_MIN, INT16_MAX = -(2**15), 2**15 - 1
INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1


def one(op: str, dtype: str, *sources: object, scalar: object = None, old: object = 0, dst_dtype: str | None = None):
    """One element through one operation: sources at 0, 64, ..., destination at 256."""
    memory = np.zeros(512, np.uint8)
    addresses = [64 * i for i in range(len(sources))]
    for address, value in zip(addresses, sources, strict=True):
        ref.store(memory, address, dtype, value)
    ref.store(memory, 256, dst_dtype or dtype, old)
    ref.vector(memory, op, dtype, 256, addresses, scalar=scalar, count=1, dst_dtype=dst_dtype)
    return ref.load(memory, 256, dst_dtype or dtype)


def same(result: float, expected: float) -> bool:
    if expected != expected:
        return result != result
    return result == expected and math.copysign(1, result) == math.copysign(1, expected)


@pytest.mark.parametrize(
    ("op", "dtype", "sources", "expected"),
    [
        ("add", "float16", (HALF_MAX, HALF_MAX), INF),
        ("add", "float16", (-0.0, -0.0), -0.0),
        ("add", "float16", (INF, -INF), NAN),
        ("add", "float16", (2048.0, 1.0), 2048.0),  # a tie goes to the even neighbour
        ("add", "float16", (2050.0, 1.0), 2052.0),
        ("add", "int16", (INT16_MAX, INT16_MAX), -2),
        ("add", "int32", (INT32_MIN, INT32_MIN), 0),
        ("sub", "int16", (INT16_MIN, INT16_MAX), 1),
        ("sub", "float32", (-0.0, 0.0), -0.0),
        ("mul", "int16", (INT16_MIN, INT16_MIN), 0),
        ("mul", "int32", (INT32_MAX, INT32_MAX), 1),
        ("mul", "float32", (0.0, INF), NAN),
        ("div", "float32", (1.0, 3.0), 0.3333333432674408),
        ("div", "float16", (HALF_MAX, -0.0), -INF),
        ("div", "float16", (0.0, -0.0), NAN),
        ("div", "float16", (-0.0, INF), -0.0),
        ("max", "float16", (0.0, -0.0), 0.0),
        ("max", "float16", (-0.0, 0.0), 0.0),
        ("max", "float16", (-0.0, -0.0), -0.0),
        ("max", "float32", (NAN, INF), NAN),
        ("max", "int16", (INT16_MIN, INT16_MAX), INT16_MAX),
        ("min", "float16", (0.0, -0.0), -0.0),
        ("min", "float16", (0.0, 0.0), 0.0),
        ("min", "float32", (1.0, NAN), NAN),
        ("min", "int32", (INT32_MIN, INT32_MAX), INT32_MIN),
        ("bitwise_and", "int16", (-1, 0x1234), 0x1234),
        ("bitwise_or", "uint16", (0x8000, 1), 0x8001),
        ("add_relu", "float16", (-0.0, -0.0), 0.0),
        ("add_relu", "float16", (INF, -INF), NAN),
        ("add_relu", "int16", (3, -5), 0),
        ("sub_relu", "float32", (3.0, 5.0), 0.0),
        ("sub_relu", "int16", (5, 3), 2),
        ("abs", "float16", (-INF,), INF),
        ("abs", "float32", (-0.0,), 0.0),
        ("exp", "float32", (1.0,), 2.7182817459106445),
        ("exp", "float16", (HALF_MAX,), INF),
        ("exp", "float32", (-INF,), 0.0),
        ("ln", "float16", (HALF_MAX,), 11.09375),
        ("ln", "float32", (-0.0,), -INF),
        ("ln", "float32", (-1.0,), NAN),
        ("bitwise_not", "int16", (9,), -10),
        ("bitwise_not", "uint16", (0,), 0xFFFF),
        ("reciprocal", "float16", (-0.0,), -INF),
        ("reciprocal", "float32", (-INF,), -0.0),
        ("relu", "float32", (-0.0,), 0.0),
        ("relu", "float16", (NAN,), NAN),
        ("relu", "int32", (INT32_MIN,), 0),
        ("rsqrt", "float32", (4.0,), 0.5),
        ("rsqrt", "float16", (-0.0,), -INF),
        ("rsqrt", "float16", (-1.0,), NAN),
        ("sqrt", "float32", (-0.0,), -0.0),
        ("sqrt", "float16", (2.0,), 1.4140625),
    ],
)
def test_element_values(op: str, dtype: str, sources: Sequence[object], expected: float) -> None:
    assert same(one(op, dtype, *sources), expected)


@pytest.mark.parametrize(
    ("op", "dtype", "source", "scalar", "expected"),
    [
        ("adds", "float16", 1.0, 0.1, 1.099609375),  # 0.1 is 0.0999755859375 in half
        ("adds", "int16", 1, 1.7, 2),
        ("muls", "int16", INT16_MIN, INT16_MAX, INT16_MIN),
        ("maxs", "float32", NAN, 1.0, NAN),
        ("mins", "float32", 0.0, -0.0, -0.0),
        ("leaky_relu", "float32", -4.0, 0.5, -2.0),
        ("leaky_relu", "float32", 0.0, -1.0, 0.0),
        ("leaky_relu", "float32", -0.0, -1.0, 0.0),  # a negative zero is multiplied
        ("leaky_relu", "float32", -0.0, INF, NAN),
        ("leaky_relu", "float32", INF, 0.0, INF),
        ("shift_left", "uint16", 0b1010101010101010, 1, 0b0101010101010100),
        ("shift_left", "int16", 0b1010101010101010 - 65536, 1, 0b1101010101010100 - 65536),
        ("shift_left", "int16", 0b1010101010101010 - 65536, 3, 0b1101010101010000 - 65536),
        ("shift_left", "int16", 0x4000, 1, 0),
        ("shift_left", "int32", 1, 30, 2**30),
        ("shift_left", "uint32", 1, 32, 0),
        ("shift_right", "uint16", 0b1010101010101010, 1, 0b0101010101010101),
        ("shift_right", "int16", 0b1010101010101010 - 65536, 3, 0b1111010101010101 - 65536),
        ("shift_right", "int32", -1, 32, -1),
    ],
)
def test_scalar_operations(op: str, dtype: str, source: object, scalar: object, expected: float) -> None:
    assert same(one(op, dtype, source, scalar=scalar), expected)


def test_fused_products_are_rounded_before_the_sum() -> None:
    square = 1 + 2**-10  # its square 1 + 2**-9 + 2**-20 loses the last term in half
    assert one("fused_mul_add", "float16", square, -(1 + 2**-9), old=square) == 0.0
    assert one("mul_add_dst", "float16", square, square, old=-(1 + 2**-9)) == 0.0
    assert one("mul_add_dst", "float16", square, square, old=-(1 + 2**-9), dst_dtype="float32") == 2**-20
    assert same(one("fused_mul_add", "float16", HALF_MAX, -INF, old=HALF_MAX), NAN)
    assert same(one("fused_mul_add_relu", "float16", 2.0, -7.0, old=3.0), 0.0)
    assert one("fused_mul_add_relu", "float32", 2.0, 7.0, old=3.0) == 13.0


def test_mul_cast_rounds_to_even_and_saturates() -> None:
    cases = [(1.5, 1.0, 2), (2.5, 1.0, 2), (-100.0, 2.0, -128), (INF, 1.0, 127), (NAN, 1.0, 0), (-6.0, 5.0, -30)]
    for a, b, expected in cases:
        assert one("mul_cast", "float16", a, b, dst_dtype="int8") == expected
    assert one("mul_cast", "float16", -3.0, 1.0, dst_dtype="uint8") == 0
    assert one("mul_cast", "float16", 300.0, 1.0, dst_dtype="uint8") == 255


def test_add_deq_relu() -> None:
    assert one("add_deq_relu", "int32", 3, 5, scalar=0.5, dst_dtype="float16") == 4.0
    assert one("add_deq_relu", "int32", 3, -5, scalar=1.0, dst_dtype="float16") == 0.0
    assert one("add_deq_relu", "int32", INT32_MAX, 1, scalar=1.0, dst_dtype="float16") == 0.0  # the sum wraps


def test_duplicate_fills_exactly_count_elements() -> None:
    memory = np.zeros(512, np.uint8)
    ref.vector(memory, "duplicate", "bfloat16", 64, [], scalar=1.5, count=130)
    assert memory.view(ml_dtypes.bfloat16).astype(float).tolist() == [0] * 32 + [1.5] * 130 + [0] * 94


def test_bit_mask_pair_is_low_word_then_high_word() -> None:
    memory = np.zeros(256, np.uint8)
    ref.vector(memory, "duplicate", "int16", 0, [], scalar=7, mask=[8, 2])
    assert np.flatnonzero(memory.view(np.int16)).tolist() == [3, 65]


def test_masked_off_lanes_keep_their_value() -> None:
    memory = np.full(256, 1, np.uint8)
    ref.vector(memory, "duplicate", "int32", 0, [], scalar=0, mask=3)
    assert memory.view(np.int32).tolist() == [0] * 3 + [0x01010101] * 61


def test_addresses_follow_block_and_repeat_strides() -> None:
    memory = np.zeros(4096, np.uint8)
    words = memory.view(np.int32)
    words[:512] = np.arange(512)
    # two repeats of nine lanes (block 0 and the first word of block 1); source blocks 2 apart, repeats 3 apart;
    # destination (word 512) blocks 3 apart, repeats 16 apart
    ref.vector(
        memory,
        "adds",
        "int32",
        2048,
        [0],
        scalar=1000,
        mask=9,
        repeat=2,
        dst_blk=3,
        src_blks=[2],
        dst_rep=16,
        src_reps=[3],
    )
    written = {int(i): int(words[i]) for i in np.flatnonzero(words[512:]) + 512}
    assert written == {
        **{512 + i: 1000 + i for i in range(8)},
        512 + 24: 1016,
        **{640 + i: 1024 + i for i in range(8)},
        640 + 24: 1040,
    }


def test_counter_mode_walks_the_strides_and_stops_inside_the_last_repeat() -> None:
    memory = np.zeros(4096, np.uint8)
    memory[:1024].view(np.float16)[:] = np.arange(512)
    # 130 halves, blocks two apart and repeats 16 apart on both sides: 128 lanes, then the first 2 of repeat 1
    ref.vector(
        memory, "adds", "float16", 1024, [0], scalar=1, count=130, dst_blk=2, src_blks=[2], dst_rep=16, src_reps=[16]
    )
    out = memory[1024:].view(np.float16)
    expected = {32 * block + i: 32 * block + i + 1 for block in range(8) for i in range(16)}
    expected |= {256: 257, 257: 258}
    assert {int(i): int(out[i]) for i in np.flatnonzero(out)} == expected


def test_reads_of_a_repeat_come_before_its_writes_and_repeats_run_in_order() -> None:
    memory = np.zeros(1024, np.uint8)
    words = memory.view(np.float32)
    words[:64], words[64:128], words[128:192] = 1, 2, 3
    # dst is also src1 and stands still: 3 += 1, then 4 += 2
    ref.vector(memory, "add", "float32", 512, [0, 512], repeat=2, dst_rep=0, src_reps=[8, 0])
    assert words[128:192].tolist() == [6.0] * 64
    # in place shifted by one block: the repeat reads the old values
    words[:72] = np.arange(72)
    ref.vector(memory, "adds", "float32", 32, [0], scalar=0)
    assert words[8:72].tolist() == list(range(64))


def test_narrower_operands_use_fewer_blocks() -> None:
    memory = np.zeros(1024, np.uint8)
    memory[:512].view(np.float16)[:] = 3
    ref.vector(memory, "mul_cast", "float16", 512, [0, 0], dst_dtype="int8", repeat=2, dst_rep=4, src_reps=[8, 8])
    assert memory[512:].view(np.int8).tolist() == [9] * 256 + [0] * 256
    memory[512:] = 0
    ref.vector(memory, "mul_add_dst", "float16", 512, [0, 0], dst_dtype="float32", count=65)
    assert memory[512:].view(np.float32).tolist() == [9] * 65 + [0] * 63


@pytest.mark.parametrize(("repeat_mode", "first", "last"), [(False, 389, 4096), (True, 1292, 26496)])
def test_bilinear_interpolation_example(repeat_mode: bool, first: int, last: int) -> None:
    # first: 1 * 2 + 129 * 3, or 1 * 2 + 129 * 10; last: 384 * 4 + 512 * 5, or 384 * 25 + 512 * 33
    memory = np.zeros(8192, np.uint8)
    memory[:1024].view(np.float16)[:] = np.arange(1, 513)
    memory[1024:1088].view(np.float16)[:] = np.arange(2, 34)
    memory[2048:2176].view(np.uint32)[:] = np.arange(0, 1024, 32)
    ref.bilinear_interpolation(memory, 4096, 0, 2048, 1024, 128, 2, repeat_mode, 1, 128, 2)
    out = memory[4096:4608].view(np.float16)
    assert (out[0], out[255]) == (first, last)


def bytes_of(length: int) -> np.ndarray:
    return np.arange(1, length + 1).astype(np.uint8)


def test_data_copy_count_rounds_down_to_whole_blocks() -> None:
    to = np.zeros(128, np.uint8)
    ref.data_copy(to, 32, bytes_of(128), 2, count=35, size=2)
    assert to.tolist() == [0] * 32 + list(range(3, 67)) + [0] * 32


def test_data_copy_params_gaps_run_from_end_to_start() -> None:
    # the manual's figure: two blocks of 3, source gap 1, destination gap 2
    source, to = np.repeat(np.arange(1, 8), 32).astype(np.uint8), np.zeros(8 * 32, np.uint8)
    ref.data_copy_params(to, 0, source, 0, block_count=2, block_len=3, src_gap=1, dst_gap=2)
    assert to[::32].tolist() == [1, 2, 3, 0, 0, 5, 6, 7]


def test_data_copy_pad_in_pads_both_sides_and_fills_the_block() -> None:
    ub = np.zeros(128, np.uint8)
    undefined = ref.data_copy_pad_in(
        ub, 0, bytes_of(64), 1, 2, 6, 3, 1, size=2, left=1, right=2, pad=np.int16(-2).tobytes()
    )
    pad = [0xFE, 0xFF]
    assert undefined == set()
    assert ub[:32].tolist() == pad + [2, 3, 4, 5, 6, 7] + pad * 12
    assert ub[32:64].tolist() == [0] * 32
    assert ub[64:96].tolist() == pad + [11, 12, 13, 14, 15, 16] + pad * 12


def test_data_copy_pad_in_without_padding_repeats_the_first_element() -> None:
    ub = np.zeros(64, np.uint8)
    assert ref.data_copy_pad_in(ub, 0, bytes_of(64), 0, 1, 6, 0, 0, size=2) == set()
    assert ub.tolist() == [1, 2, 3, 4, 5, 6] + [1, 2] * 13 + [0] * 32


def test_data_copy_pad_in_reports_bytes_nobody_defined() -> None:
    ub = np.zeros(64, np.uint8)
    undefined = ref.data_copy_pad_in(ub, 0, bytes_of(64), 0, 1, 28, 0, 0, size=4, right=1)
    assert undefined == {28, 29, 30, 31}
    assert ub.tolist() == [*range(1, 29)] + [0] * 36


def test_data_copy_pad_out_writes_exact_bytes() -> None:
    gm = np.zeros(128, np.uint8)
    ref.data_copy_pad_out(gm, 3, bytes_of(160), 0, block_count=2, block_len=47, src_stride=1, dst_stride=1)
    assert gm[:3].tolist() == [0, 0, 0]
    assert gm[3:50].tolist() == list(range(1, 48))
    assert gm[50] == 0
    assert gm[51:98].tolist() == list(range(97, 144))
    assert not gm[98:].any()


def test_data_copy_slices_example() -> None:
    # the manual's example: rows 0 and 2, columns 16..39 and 47..70 of a 3 x 87 float matrix, packed into 2 x 48
    matrix = np.arange(3 * 87, dtype=np.float32)
    to = np.zeros(2 * 48 * 4, np.uint8)
    ref.data_copy_slices(
        to,
        0,
        matrix.view(np.uint8),
        0,
        [(0, 47, 0, 3, 48), (0, 1, 0, 1, 2)],
        [(16, 70, 7, 3, 87), (0, 2, 1, 1, 3)],
        size=4,
    )
    columns = [*range(16, 40), *range(47, 71)]
    assert to.view(np.float32).tolist() == [*columns, *[174 + c for c in columns]]
