"""A slow second opinion on vector arithmetic and copies: element loops over (repeat, block, lane).

It shares no code with the package. Memory is a flat uint8 array, operands are byte addresses, dtypes are names, and
every element is computed alone as a Python number that is rounded (or wrapped) to the declared type. The rules are
those of the Atlas A2 / A3 manuals.

An element of an operand lies at
    address + 32 * (repeat * repeat_stride + block * block_stride) + size * (lane % per_block)
with block = lane // per_block and per_block = 32 // size. A repeat has 256 // size lanes, size being that of the
widest operand. Within a repeat all reads come before all writes; repeats run in order.

Floats go through Python's float: with 53 bits the double rounding of + - * / and sqrt to 24 or fewer bits is harmless.
`exp`, `ln` and `rsqrt` may differ from the correctly rounded value where the exact result lies within a 2**-27 part of
a float32 step from the middle between two float32 values.

Not here: the saturating float mode, timing, the legality of operands (a caller passes legal ones), and what hardware
makes of operands that overlap partly within one repeat.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import ml_dtypes
import numpy as np

BLOCK = 32  # bytes
REPEAT = 256  # bytes
NAMES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "float32")
DTYPES = {name: np.dtype(name) for name in NAMES}
DTYPES["bfloat16"] = np.dtype(ml_dtypes.bfloat16)

Number = Any  # an int for integer dtypes, a float otherwise


# Numbers of one dtype


def is_integer(dtype: str) -> bool:
    return "int" in dtype


def fit(value: Number, dtype: str) -> Number:
    """The value as the dtype holds it: integers wrap, floats round to nearest even and overflow to infinity."""
    if is_integer(dtype):
        bits = 8 * DTYPES[dtype].itemsize
        value = int(value) & ((1 << bits) - 1)
        return value - (1 << bits) if dtype[0] == "i" and value >> (bits - 1) else value
    with np.errstate(all="ignore"):
        return float(np.array(value, np.float64).astype(DTYPES[dtype]))


def load(memory: np.ndarray, address: int, dtype: str) -> Number:
    kind = DTYPES[dtype]
    value = memory[address : address + kind.itemsize].view(kind)[0]
    return int(value) if is_integer(dtype) else float(value)


def store(memory: np.ndarray, address: int, dtype: str, value: Number) -> None:
    kind = DTYPES[dtype]
    with np.errstate(all="ignore"):
        memory[address : address + kind.itemsize] = np.array([value]).astype(kind).view(np.uint8)


# Functions of single elements


def maximum(a: Number, b: Number) -> Number:
    if a != a or b != b:
        return math.nan
    if a == b == 0 and isinstance(a, float):
        return a + b  # only (-0, -0) gives -0
    return a if a > b else b


def minimum(a: Number, b: Number) -> Number:
    return -maximum(-a, -b)


def relu(a: Number) -> Number:
    return a if a > 0 or a != a else type(a)(0)


def divide(a: float, b: float) -> float:
    if b:
        return a / b
    return a * math.copysign(math.inf, b)  # 0 / 0 and nan / 0 become nan


def exponential(a: float) -> float:
    try:
        return math.exp(a)
    except OverflowError:
        return math.inf


def logarithm(a: float) -> float:
    if a > 0:
        return math.log(a)
    return -math.inf if a == 0 else math.nan


def square_root(a: float) -> float:
    return math.nan if a < 0 else math.sqrt(a)


def leaky_relu(a: float, slope: float) -> float:
    return a * slope if math.copysign(1, a) < 0 or a != a else a


def shift_left(a: int, distance: int, dtype: str) -> int:
    """Signed types keep the sign bit and shift the bits below it."""
    kept = 8 * DTYPES[dtype].itemsize - (dtype[0] == "i")
    return ((a << distance) & ((1 << kept) - 1)) - (1 << kept if a < 0 else 0)


def deq_relu(total: int, scale: float) -> float:
    """int32 sum to half: scaled by scale in float32, with a detour over 2**-17 that keeps the product in range."""
    value = fit(float(total), "float32")
    for factor in (2.0**-17, scale, 2.0**17):
        value = fit(value * factor, "float32")
    return relu(fit(value, "float16"))


def saturate(value: float, dtype: str) -> int:
    """Half to 8-bit integer: nearest even, clamped; nan becomes 0."""
    if value != value:
        return 0
    low, high = (-128, 127) if dtype == "int8" else (0, 255)
    return low if value <= low else high if value >= high else round(value)


def relu_cast(total: Number, source: str, target: str) -> Number:
    """max(0, total) in a narrower type: halves and int16 saturate to int8, floats become halves; of nan 0."""
    if is_integer(source):
        return min(max(total, 0), 127)
    total = fit(total, source)
    total = 0.0 if total != total else relu(total)
    return saturate(total, target) if is_integer(target) else total


# name: function of (old dst element, source elements, scalar, source dtype, dst dtype) before the last rounding
Element = Callable[[Number, Sequence[Number], Number, str, str], Number]
OPERATIONS: dict[str, Element] = {
    "add": lambda d, x, s, st, dt: x[0] + x[1],
    "sub": lambda d, x, s, st, dt: x[0] - x[1],
    "mul": lambda d, x, s, st, dt: x[0] * x[1],
    "div": lambda d, x, s, st, dt: divide(x[0], x[1]),
    "max": lambda d, x, s, st, dt: maximum(x[0], x[1]),
    "min": lambda d, x, s, st, dt: minimum(x[0], x[1]),
    "bitwise_and": lambda d, x, s, st, dt: x[0] & x[1],
    "bitwise_or": lambda d, x, s, st, dt: x[0] | x[1],
    "add_relu": lambda d, x, s, st, dt: relu(fit(x[0] + x[1], dt)),
    "add_relu_cast": lambda d, x, s, st, dt: relu_cast(x[0] + x[1], st, dt),
    "sub_relu_cast": lambda d, x, s, st, dt: relu_cast(x[0] - x[1], st, dt),
    "sub_relu": lambda d, x, s, st, dt: relu(fit(x[0] - x[1], dt)),
    "add_deq_relu": lambda d, x, s, st, dt: deq_relu(fit(x[0] + x[1], st), s),
    "fused_mul_add": lambda d, x, s, st, dt: fit(x[0] * d, dt) + x[1],
    "fused_mul_add_relu": lambda d, x, s, st, dt: relu(fit(fit(x[0] * d, dt) + x[1], dt)),
    "mul_add_dst": lambda d, x, s, st, dt: fit(x[0] * x[1], dt) + d,
    "mul_cast": lambda d, x, s, st, dt: saturate(fit(x[0] * x[1], st), dt),
    "abs": lambda d, x, s, st, dt: abs(x[0]),
    "exp": lambda d, x, s, st, dt: exponential(x[0]),
    "ln": lambda d, x, s, st, dt: logarithm(x[0]),
    "bitwise_not": lambda d, x, s, st, dt: ~x[0],
    "reciprocal": lambda d, x, s, st, dt: divide(1.0, x[0]),
    "relu": lambda d, x, s, st, dt: relu(x[0]),
    "rsqrt": lambda d, x, s, st, dt: divide(1.0, square_root(x[0])),
    "sqrt": lambda d, x, s, st, dt: square_root(x[0]),
    "adds": lambda d, x, s, st, dt: x[0] + s,
    "muls": lambda d, x, s, st, dt: x[0] * s,
    "maxs": lambda d, x, s, st, dt: maximum(x[0], s),
    "mins": lambda d, x, s, st, dt: minimum(x[0], s),
    "leaky_relu": lambda d, x, s, st, dt: leaky_relu(x[0], s),
    "shift_left": lambda d, x, s, st, dt: shift_left(x[0], s, dt),
    "shift_right": lambda d, x, s, st, dt: x[0] >> s,
    "duplicate": lambda d, x, s, st, dt: s,
}


# Vector instructions


def active_lanes(mask: int | Sequence[int] | None, lanes: int) -> list[bool]:
    """One flag a lane: None stands for all lanes, an int for that many leading lanes, a pair for low and high word."""
    if mask is None:
        mask = lanes
    if isinstance(mask, int):
        return [lane < mask for lane in range(lanes)]
    word = mask[0] | mask[1] << 64
    return [bool(word >> lane & 1) for lane in range(lanes)]


def vector(
    memory: np.ndarray,
    op: str,
    dtype: str,
    dst: int,
    srcs: Sequence[int],
    *,
    dst_dtype: str | None = None,
    scalar: Number = None,
    count: int | None = None,
    mask: int | Sequence[int] | None = None,
    repeat: int = 1,
    dst_blk: int = 1,
    src_blks: Sequence[int] | None = None,
    dst_rep: int | None = None,
    src_reps: Sequence[int] | None = None,
) -> None:
    """Run one element-wise instruction in place. `dtype` is that of the sources, and of dst if `dst_dtype` is absent.

    With `count` (count form and counter mode alike) mask and repeat are ignored: as many repeats as hold count
    elements, the last one partly. Strides are in blocks, dense where not given. `add_deq_relu` takes its deq scale as
    scalar.
    """
    dst_dtype = dst_dtype or dtype
    size, dst_size = DTYPES[dtype].itemsize, DTYPES[dst_dtype].itemsize
    lanes = REPEAT // max(size, dst_size)
    src_blks = [1] * len(srcs) if src_blks is None else src_blks
    src_reps = [lanes * size // BLOCK] * len(srcs) if src_reps is None else src_reps
    dst_rep = lanes * dst_size // BLOCK if dst_rep is None else dst_rep
    if scalar is not None:
        scalar = fit(scalar, "float16" if op == "add_deq_relu" else dtype)
    if count is not None:
        repeat = -(-count // lanes)
    flags = active_lanes(mask, lanes)

    def place(base: int, rep: int, lane: int, width: int, blk_stride: int, rep_stride: int) -> int:
        block, inside = divmod(lane, BLOCK // width)
        return base + BLOCK * (rep * rep_stride + block * blk_stride) + width * inside

    for rep in range(repeat):
        results = []
        for lane in range(lanes):
            if not (flags[lane] if count is None else rep * lanes + lane < count):
                continue
            target = place(dst, rep, lane, dst_size, dst_blk, dst_rep)
            values = [
                load(memory, place(base, rep, lane, size, blk, step), dtype)
                for base, blk, step in zip(srcs, src_blks, src_reps, strict=True)
            ]
            old = load(memory, target, dst_dtype)
            results.append((target, fit(OPERATIONS[op](old, values, scalar, dtype, dst_dtype), dst_dtype)))
        for target, value in results:
            store(memory, target, dst_dtype, value)


def bilinear_interpolation(
    memory: np.ndarray,
    dst: int,
    src0: int,
    offsets: int,
    src1: int,
    mask: int | Sequence[int],
    h_repeat: int,
    repeat_mode: bool,
    dst_blk_stride: int,
    v_r_offset: int,
    v_repeat: int,
) -> None:
    """Row v is the sum over h of eight gathered blocks times their weights, each product and sum rounded to half."""
    half = "float16"
    results = []
    for v in range(v_repeat):
        for lane, active in enumerate(active_lanes(mask, 128)):
            if not active:
                continue
            block, inside = divmod(lane, 16)
            total = -0.0  # the neutral element: -0 + x is x for every x
            for step in range(v * h_repeat, (v + 1) * h_repeat):
                offset = load(memory, offsets + 4 * (8 * step + block), "uint32")
                weight = load(memory, src1 + 2 * (8 * step + block if repeat_mode else step), half)
                product = fit(load(memory, src0 + offset + 2 * inside, half) * weight, half)
                total = fit(total + product, half)
            target = dst + 2 * v * v_r_offset + BLOCK * block * dst_blk_stride + 2 * inside
            results.append((target, total + 0.0))  # the copy-out adds 0, which turns -0 into +0
    for target, value in results:
        store(memory, target, half, value)


# Copies: `to` and `source` are memory images (the same one twice for UB to UB), addresses and sizes are in bytes


def data_copy(to: np.ndarray, dst: int, source: np.ndarray, src: int, count: int, size: int) -> None:
    """The count form moves whole 32-byte blocks: the byte length is rounded down."""
    for byte in range(count * size // BLOCK * BLOCK):
        to[dst + byte] = source[src + byte]


def data_copy_params(
    to: np.ndarray,
    dst: int,
    source: np.ndarray,
    src: int,
    block_count: int,
    block_len: int,
    src_gap: int,
    dst_gap: int,
) -> None:
    """Length and gaps in 32-byte blocks; a gap runs from the end of a block to the start of the next."""
    for block in range(block_count):
        for byte in range(BLOCK * block_len):
            to[dst + BLOCK * block * (block_len + dst_gap) + byte] = source[
                src + BLOCK * block * (block_len + src_gap) + byte
            ]


def up(length: int) -> int:
    return -(-length // BLOCK) * BLOCK


def data_copy_pad_in(
    ub: np.ndarray,
    dst: int,
    gm: np.ndarray,
    src: int,
    block_count: int,
    block_len: int,
    src_stride: int,
    dst_stride: int,
    *,
    size: int,
    left: int = 0,
    right: int = 0,
    pad: bytes | None = None,
) -> set[int]:
    """GM to UB. block_len and src_stride in bytes, dst_stride in blocks, left and right in elements of `size` bytes.

    `pad` is one element of the padding value, None if neither the call nor the pad register gives one. With no left and
    right padding the tail up to 32 bytes holds the first element of the block. Returns the UB addresses that are
    written with undefined values.
    """
    undefined: set[int] = set()
    if not block_len:
        return undefined
    left, right = left * size, right * size
    whole = up(left + block_len + right)
    for block in range(block_count):
        at, start = dst + block * (whole + BLOCK * dst_stride), src + block * (block_len + src_stride)
        filler = pad if left or right else bytes(gm[start : start + size])
        for byte in range(whole):
            if left <= byte < left + block_len:
                ub[at + byte] = gm[start + byte - left]
            elif filler is None:
                undefined.add(at + byte)
            else:
                ub[at + byte] = filler[byte % size]
    return undefined


def data_copy_pad_out(
    gm: np.ndarray,
    dst: int,
    ub: np.ndarray,
    src: int,
    block_count: int,
    block_len: int,
    src_stride: int,
    dst_stride: int,
) -> None:
    """UB to GM. block_len and dst_stride in bytes, src_stride in blocks; UB blocks start on whole 32 bytes."""
    for block in range(block_count):
        for byte in range(block_len):
            gm[dst + block * (block_len + dst_stride) + byte] = ub[
                src + block * (up(block_len) + BLOCK * src_stride) + byte
            ]


Slice = tuple[int, int, int, int, int]  # start, end (inclusive), stride, burst length in blocks, shape of the axis


def slice_starts(slices: Sequence[Slice], size: int) -> list[int]:
    """Element offsets of the bursts, innermost axis (index 0) fastest."""
    start, end, stride, burst, _ = slices[0]
    step = burst * BLOCK // size + stride
    offsets = list(range(start, end + 1, step))
    pitch = 1
    for inner, (start, end, stride, _, _) in pairwise(slices):
        pitch *= inner[4]
        offsets = [row * pitch + offset for row in range(start, end + 1, stride + 1) for offset in offsets]
    return offsets


def data_copy_slices(
    to: np.ndarray,
    dst: int,
    source: np.ndarray,
    src: int,
    dst_slices: Sequence[Slice],
    src_slices: Sequence[Slice],
    size: int,
) -> None:
    targets, origins = slice_starts(dst_slices, size), slice_starts(src_slices, size)
    for target, origin in zip(targets, origins, strict=True):
        for byte in range(BLOCK * src_slices[0][3]):
            to[dst + target * size + byte] = source[src + origin * size + byte]
