"""What softmax and softmax_flash_v2 share: the rows they work on, how rows are folded, their plan and price.

Rows lie one behind the other (ND), or in fractals whose c0 is 16 for either type (NZ). Everything is float32 inside,
as in the vendor's implementation: every step is rounded, sums are added in its order, and halves are rounded with
ties away from zero. Its exponential is the correctly rounded one here; the device's last bit may differ.
Not modelled: that an operation with less scratch than the most takes smaller pieces, and their effect on time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ...hw.core import Core
from ...hw.cost import CYCLES_PER_REPEAT
from ...hw.errors import ArgumentValueError
from ...hw.findings import Site
from ...hw.instruction import Plan
from ...hw.memory import Piece
from .. import values
from ..conversions import CONVERSIONS
from ..core.dtype import DataType, float16, float32
from ..core.enums import RoundMode
from ..core.ir_value import unwrap
from ..core.place import Place
from ..core.tensor import LocalTensor
from ..fractals import NZ, Fractals, dims_of
from ..operand import BLOCK, REPEAT
from ..overlap import disjoint
from ..reduction import extreme, tree
from ..spans import span
from .scratch import scratch
from .tiling import SoftMaxShapeInfo, SoftmaxTiling

C0 = 16  # columns of a fractal, of float32 too
LANES = 64  # of float32 in a repeat
BASIC = (8, 64, 2048)  # basic block: m a multiple, k a multiple, k less than
HALF = CONVERSIONS[float32, float16].make(RoundMode.CAST_ROUND, float16)
# Steps of the programs on the pages: cost class, and whether a step goes over the rows or over a block for each row.
STEPS = {
    "reduce": ("simple", True),
    "broadcast": ("simple", False),
    "sub": ("simple", True),
    "exp": ("exp", True),
    "div": ("exp", True),
    "cast": ("simple", True),
    "block": ("simple", False),  # max, sub, mul or add
    "block_exp": ("exp", False),
}


class Rows(NamedTuple):
    """m rows of k elements, of which the first `lines` rows and the first `used` elements of each count."""

    m: int
    k: int
    lines: int
    used: int
    nz: bool


class Operand(NamedTuple):
    """A tensor operand: a matrix of all rows, or a block of 32 bytes for each row."""

    name: str
    place: Place
    matrix: bool
    written: bool


def attached(src: Any) -> Any:
    """The shape set on a source, as a part of the key of a plan."""
    return src.get_shape_info().key if isinstance(src, LocalTensor) else None


def shape_of(operation: str, src: Any, name: str, info: SoftMaxShapeInfo | None = None) -> tuple[int, int, int, int]:
    """(m, k) and both before padding, from `info` or, where that is empty, from what was set on src."""
    if info is not None and info.src_m and info.src_k:
        return info.src_m, info.src_k, info.ori_src_m, info.ori_src_k
    shape, original = src.get_shape_info().key[:2]
    if not shape or not original:
        rule = "set_shape_info(asc.ShapeInfo(asc.array(asc.uint32, [rows, columns])))"
        raise ArgumentValueError(operation, f"{name} has no shape", operand=name, rule=rule)
    return math.prod(shape[:-1]), shape[-1], math.prod(original[:-1]), original[-1]


def rows_of(
    operation: str, shape: tuple[int, int, int, int], dtype: DataType, name: str, nz: bool, promised: bool
) -> Rows:
    """The rows of a call, checked; `promised`: to be a basic block."""
    m, k, lines, used = shape
    step = C0 if nz else BLOCK // dtype.size
    if k == 0 or k % step:
        rule, nearest = f"a multiple of {step} elements ({step * dtype.size} bytes)", (k // step + 1) * step
        raise ArgumentValueError(operation, operand=f"last axis of {name}", value=k, rule=rule, nearest=nearest)
    if m == 0 or (nz and m % C0):
        rule, nearest = (f"a multiple of {C0} in NZ", (m // C0 + 1) * C0) if nz else ("1 or more", 1)
        raise ArgumentValueError(operation, operand=f"rows of {name}", value=m, rule=rule, nearest=nearest)
    least = k - C0 + 1 if nz else 1
    if not least <= used <= k:
        rule = f"{least} to {k}"
        raise ArgumentValueError(operation, operand="last axis of the original shape", value=used, rule=rule)
    if nz and not 1 <= lines <= m:
        raise ArgumentValueError(operation, operand="rows of the original shape", value=lines, rule=f"1 to {m}")
    rows, columns, limit = BASIC
    if promised and not (m % rows == 0 and k % columns == 0 and REPEAT // dtype.size <= k < limit):
        least = REPEAT // dtype.size
        rule = f"with basic_block: m a multiple of {rows}, k one of {columns} from {least} to {limit - columns}"
        raise ArgumentValueError(operation, operand=f"[m, k] of {name}", value=[m, k], rule=rule)
    return Rows(m, k, lines if nz else m, used, nz)


def all_count(operation: str, rows: Rows) -> None:
    """A basic block has no padding: the device would count it."""
    if rows.used != rows.k:
        rule, name = f"{rows.k} in a basic block, which counts all of a row", "last axis of the original shape"
        raise ArgumentValueError(operation, operand=name, value=rows.used, rule=rule, nearest=rows.k)


def agrees(operation: str, tiling: SoftmaxTiling, rows: Rows, made_anew: bool = True) -> None:
    """A tiling of this shape must cut it without a rest; one of another shape is `made_anew`, or refused."""
    m, k, piece, pieces, tail = (
        unwrap(getattr(tiling, name)) for name in ("src_m", "src_k", "split_m", "range_m", "tail_m")
    )
    same = (m, k) == (rows.lines, rows.k)
    if same and rows.lines != rows.m:
        rule = f"src_m = {rows.m}: with {m} the device takes columns of fractals to lie {m} rows apart"
        raise ArgumentValueError(operation, operand="tiling.src_m", value=m, rule=rule, nearest=rows.m)
    if same and piece * pieces + tail != m:
        rule, value = f"split_m * range_m + tail_m = src_m = {m}", f"{piece} * {pieces} + {tail}"
        raise ArgumentValueError(operation, operand="tiling", value=value, rule=rule)
    if not same and not made_anew:
        rule = f"that of the source, [{rows.lines}, {rows.k}], where is_check_tiling is False"
        raise ArgumentValueError(operation, operand="[src_m, src_k] of tiling", value=[m, k], rule=rule)


# ------------------------------------------------------------------ values


def view_of(operand: Operand, rows: Rows) -> np.ndarray:
    """The operand's elements, sharing the memory's bytes: a matrix, or a row of a block for each line."""
    where = operand.place
    if not operand.matrix:
        return where.array(rows.lines * BLOCK // where.dtype.size).reshape(rows.lines, -1)
    if not rows.nz:
        return where.array(rows.m * rows.k).reshape(rows.m, rows.k)
    assert where.memory is not None
    return _fractals(where, rows).view(where.memory)


def _fractals(where: Place, rows: Rows) -> Fractals:
    return Fractals(where.start, where.dtype, rows.m, rows.k, NZ, C0)


def taken(matrix: np.ndarray, rows: Rows) -> np.ndarray:
    """What counts of a matrix, in float32; not to be written to."""
    return matrix.reshape(rows.m, rows.k)[: rows.lines, : rows.used].astype(np.float32, copy=False)


def put(matrix: np.ndarray, rows: Rows, results: np.ndarray) -> None:
    """Write what counts of a matrix."""
    whole = matrix.reshape(rows.m, rows.k)
    whole[: rows.lines, : rows.used] = rounded(results, matrix.dtype)
    if rows.nz:  # of fractals, `whole` is a copy
        matrix[...] = whole.reshape(matrix.shape)


def rounded(x: np.ndarray, dtype: Any) -> np.ndarray:
    """Float32 in the type of an operand."""
    out: np.ndarray = HALF(x) if dtype == np.float16 else x
    return out


def greatest(x: np.ndarray) -> np.ndarray:
    """The greatest of each row, as a column; NaN wins."""
    bits, _ = extreme(x, None, greatest=True)
    return bits.view(np.float32)[:, None]


def sums(x: np.ndarray, rows: Rows, repeats: bool, special: bool) -> np.ndarray:
    """The sum of each row, as a column.

    Repeats are added to the first one lane by lane, then its lanes as a tree. From 512 elements on the first repeat
    is made of the sums of 64 blocks, except where all is added by `repeats`; 1024 elements are `special` to a basic
    block of softmax_flash_v2.
    """
    if rows.nz:
        return _sums_nz(x)
    m, k = x.shape
    if special and k == LANES * 16:
        lanes = tree(x.reshape(m, 16, LANES))
        return tree(lanes[:, :8] + lanes[:, 8:])[:, None]
    if k >= LANES * 8 and not repeats:
        lanes, first = tree(x[:, : LANES * 8].reshape(m, LANES, 8)), LANES * 8
    else:
        lanes, first = _first(x, LANES), LANES
    _pile(lanes, x, first)
    return tree(lanes)[:, None]


def exponentials(
    total: np.ndarray, peak: np.ndarray, src: np.ndarray, rows: Rows, repeats: bool, special: bool
) -> tuple[np.ndarray, np.ndarray]:
    """exp(x - the greatest of its row) and the sum of each row (see `sums`); `peak` and `total` take both columns."""
    x = taken(src, rows)
    most = greatest(x)
    power = values.exp(x - most)
    row = sums(power, rows, repeats, special)
    peak[...], total[...] = rounded(most, peak.dtype), rounded(row, total.dtype)
    return power, row


def _sums_nz(x: np.ndarray) -> np.ndarray:
    """Columns of fractals are added to the first lane by lane, then its upper half to its lower one."""
    lanes = _first(x, C0)
    if x.shape[1] < C0:
        return tree(lanes)[:, None]
    _pile(lanes, x, C0)
    return tree(lanes[:, :8] + lanes[:, 8:])[:, None]


def _first(x: np.ndarray, width: int) -> np.ndarray:
    """The first lanes of each row; where there are none, -0, which adds nothing."""
    if x.shape[1] >= width:
        return x[:, :width].copy()
    lanes = np.full((len(x), width), -0.0, np.float32)
    lanes[:, : x.shape[1]] = x
    return lanes


def _pile(lanes: np.ndarray, x: np.ndarray, first: int) -> None:
    """Add what lies from `first` on to the lanes, as many at a time as there are."""
    for start in range(first, x.shape[1], lanes.shape[1]):
        part = x[:, start : start + lanes.shape[1]]
        lanes[:, : part.shape[1]] += part


# ------------------------------------------------------------------ the plan


def plan(
    core: Core,
    operation: str,
    operands: Sequence[Operand],
    shared: Sequence[tuple[str, str]],
    rows: Rows,
    room: tuple[int, int],
    temp: tuple[str, Any],
    run: Callable[[], None],
    steps: str,
    site: Site,
) -> Plan:
    """The plan of a call. `shared`: pairs that may start at one place; `room`: least and most bytes of scratch, and
    `temp` the operand for it; `steps`: names of STEPS."""
    regions = {}
    for operand in operands:
        name, where = operand.name, operand.place
        nbytes = rows.m * rows.k * where.dtype.size if operand.matrix else rows.lines * BLOCK
        regions[name] = span(where, nbytes, name, operation, site)
        if operand.matrix and rows.lines < rows.m:
            pieces = Fractals(where.start, where.dtype, rows.lines, rows.k, NZ, C0, rows.m * C0 * where.dtype.size)
            regions[name] = core.region("UB", pieces.pieces(), f"{operation}: {name}", site)
    for one, other in combinations(operands, 2):
        if not one.written and not other.written:
            continue
        if (one.name, other.name) not in shared or one.place.start != other.place.start:
            disjoint(core, (one.name, regions[one.name]), (other.name, regions[other.name]), operation, site)
    buffer, tensor = temp
    lost = scratch(core, tensor, *room, operation, site, buffer)
    for named in regions.items():
        disjoint(core, (buffer, lost), named, operation, site)
    voids = core.region("UB", lost.pieces + _padding(operands[0].place, rows), operation, site)
    reads = [regions[operand.name] for operand in operands if not operand.written]
    writes = [regions[operand.name] for operand in operands if operand.written]
    if operands[0].place.dtype is float16:
        steps = f"cast {steps} cast"
    cycles = sum(_price(core, rows, step) for step in steps.split())
    return Plan(operation, core.pipes["V"], reads, (*writes, lost), run, cycles, voids=voids)


def _padding(dst: Place, rows: Rows) -> tuple[Piece, ...]:
    """The footprint of what dst has behind the elements that count."""
    more = rows.k - rows.used
    if not more:
        return ()
    size = dst.dtype.size
    if rows.nz:  # all in the last column of fractals
        return ((_fractals(dst, rows).at(0, rows.used), dims_of(((rows.lines, C0 * size), (more, size)), size)),)
    return ((dst.start + rows.used * size, dims_of(((rows.m, rows.k * size), (more, size)), size)),)


def _price(core: Core, rows: Rows, step: str) -> int:
    """Cycles of a step: float32 inside, so a row has 4 bytes an element."""
    cost, matrix = STEPS[step]
    nbytes = rows.lines * (rows.k * 4 if matrix else BLOCK)
    return core.device.cost.vector(-(-nbytes // REPEAT), CYCLES_PER_REPEAT[cost][4])
