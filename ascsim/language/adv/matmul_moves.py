"""The instructions of a Matmul on its cube core, as plans: the ones that data_copy, load_data, mmad and fixpipe issue.

A matrix is spoken of as it is stored: `rows` by `columns`, A as [M, K] or transposed as [K, M], B as [K, N] or
transposed as [N, K]. In L1 it lies in columns of fractals, c0 elements wide, `pitch` bytes apart. A load to L0 is one
instruction for a block, as the image-to-column load is; only an int8 block with an odd number of fractals along its
outer axis, stored across, takes two.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import NamedTuple

from ...hw.core import Core
from ...hw.findings import Site
from ...hw.instruction import Plan
from .. import copies
from ..basic.data_copy_nd2nz import nd2nz_plan
from ..basic.load_transposed import sparse_plan
from ..basic.mmad import multiply_plan
from ..core.cube_types import LoadData2DParams, MmadParams, Nd2NzParams
from ..core.dtype import DataType, int8
from ..core.place import Place, place
from ..fractals import BLOCK, FRACTAL, SIDE, Dims, align_up, c0_of, ceil_div
from ..moves import Side, move_plan
from ..paths import bias_plan

INDEX_ROW = 8  # bytes of the index of 32 kept elements
PITCH_LIMIT = 65535  # elements from row to row that one conversion to fractals can take


class Stored(NamedTuple):
    """A block in L1: its first byte, and the bytes from one column of fractals to the next."""

    place: Place
    pitch: int


def line(core: Core, of: Stored, row: int) -> Stored:
    """A row of a block, and those below it."""
    whole, skipped = of.place, row * BLOCK
    return Stored(place(core, whole.position, whole.dtype, whole.start + skipped, whole.nbytes - skipped), of.pitch)


@lru_cache(maxsize=1024)
def footprint(rows: int, columns: int, dtype: DataType, across: bool) -> tuple[int, int]:
    """(pitch, bytes) of rows x columns in L1; `across`: the rows are those of K."""
    c0 = c0_of(dtype)
    wide = align_up(columns, max(SIDE, c0) if across else c0)
    pitch = align_up(rows, max(SIDE, c0) if across else SIDE) * BLOCK
    return pitch, wide // c0 * pitch


def from_rows(core: Core, to: Stored, rows: int, columns: int, pitch: int, site: Site) -> Plan:
    """GM to L1: rows of `columns` elements, `pitch` elements apart, into fractals."""
    params = Nd2NzParams(1, rows, columns, 0, pitch if rows > 1 else columns, to.pitch // BLOCK, 1, 0)
    return nd2nz_plan(core, to.place, params, site)


def from_fractals(core: Core, to: Stored, rows: int, columns: int, height: int, at: int, site: Site) -> Plan:
    """GM to L1: a block of a matrix that lies in fractals already, `height` rows in all."""
    moves = copies.Moves(rows * BLOCK, to.pitch, height * BLOCK, ceil_div(columns, c0_of(to.place.dtype)))
    return copies.load_plan(core, "data_copy", to.place, moves, at, site)


def contiguous(core: Core, to: Place, nbytes: int, at: int, site: Site) -> Plan:
    """GM to L1: bytes as they stand."""
    return copies.load_plan(core, "data_copy", to, copies.Moves(nbytes, nbytes, nbytes, 1), at, site)


class Block(NamedTuple):
    """A block of a stored matrix for L0: `lines` of M or N by `k`, `line` and `at_k` elements into what lies in L1."""

    lines: int
    k: int
    line: int
    at_k: int
    across: bool  # the stored rows are those of K


def loads(core: Core, to: Place, source: Stored, block: Block, gemv: bool, site: Site) -> list[Plan]:
    """L1 to L0A (fractals along rows of M; with `gemv` a single row as it stands) or L0B (fractals along N)."""
    memory = to.memory
    assert memory is not None
    size, c0 = to.dtype.size, c0_of(to.dtype)
    lines, k = ceil_div(block.lines, SIDE), ceil_div(block.k, c0)
    row = gemv and block.lines == 1 and memory.name == "L0A"
    if memory.name == "L0A":
        step_line, step_k = k * FRACTAL, FRACTAL
    else:
        step_line, step_k = FRACTAL, lines * FRACTAL
    cycles = core.device.cost.load_l0(memory.name, lines * k * FRACTAL)
    pitch, start = source.pitch, source.place.start

    def plan(dst: tuple[tuple[int, int], ...], src: tuple[tuple[int, int], ...], to_at: int, at: int, n: int) -> Plan:
        sides = Side(to, to.start + to_at, dst, n), Side(source.place, at, src, n)
        return move_plan(core, "load_data", "MTE1", *sides, cycles, site)

    if not block.across:
        start += block.line * BLOCK + block.at_k // c0 * pitch
        if row:
            return [plan(((k, BLOCK),), ((k, pitch),), 0, start, BLOCK)]
        return [plan(((lines, step_line), (k, step_k)), ((lines, FRACTAL), (k, pitch)), 0, start, FRACTAL)]
    start += block.line // c0 * pitch + block.line % c0 * size + block.at_k * BLOCK
    if row:
        return [plan(((block.k, size),), ((block.k, BLOCK),), 0, start, size)]
    inside = ((k, step_k), (min(SIDE, c0), BLOCK), (c0, size))
    outside = ((k, c0 * BLOCK), (min(SIDE, c0), size), (c0, BLOCK))
    dst: Dims
    src: Dims
    if c0 < SIDE:  # float32: a fractal's 16 lines are two columns of L1
        halves = SIDE // c0
        dst = ((lines, step_line), (halves, c0 * BLOCK), *inside)
        return [plan(dst, ((lines, halves * pitch), (halves, pitch), *outside), 0, start, size)]
    halves = c0 // SIDE  # fractals that share a column of L1: one of 16 bits, two of 8
    whole, rest = divmod(lines, halves)
    out = []
    if whole:
        dst = ((whole, halves * step_line), (halves, step_line), *inside)
        out.append(plan(dst, ((whole, pitch), (halves, SIDE * size), *outside), 0, start, size))
    if rest:
        dst = ((rest, step_line), *inside)
        src = ((rest, SIDE * size), *outside)
        out.append(plan(dst, src, whole * halves * step_line, start + whole * pitch, size))
    return out


def fill(core: Core, to: Place, block: Block, value: float, site: Site) -> Plan:
    """L0A or L0B filled with one number, as init_const_value does."""
    assert to.memory is not None
    size, c0 = to.dtype.size, c0_of(to.dtype)
    row = block.lines == 1 and to.memory.name == "L0A"
    nbytes = block.k * size if row else ceil_div(block.lines, SIDE) * ceil_div(block.k, c0) * FRACTAL
    write = core.region(to.memory.name, ((to.start, ((nbytes, 1),)),), "init_const_value: dst", site)
    run = partial(to.array(nbytes // size).fill, value)
    cycles = core.device.cost.load_l0(to.memory.name, nbytes)
    return Plan("init_const_value", core.pipes["MTE1"], (), (write,), run, cycles)


def bias_table(core: Core, to: Place, source: Place, n: int, site: Site) -> Plan:
    """L1 to the bias table, whole 64-byte blocks of it."""
    length = align_up(n * to.dtype.size, 2 * BLOCK) // to.dtype.size * source.dtype.size
    return bias_plan(core, "data_copy", to, source, copies.Moves(length, length, length, 1), site)


class Start(NamedTuple):
    """What a multiply adds to: nothing, what stands in L0C, or the bias table."""

    fresh: bool
    table: Place | None = None


def multiply(
    core: Core, to: Place, left: Place, right: Place, size: tuple[int, int, int], start: Start, sparse: bool, site: Site
) -> Plan:
    """A multiply of m, n, k."""
    m, n, k = size
    params = MmadParams(m, n, k, cmatrix_init_val=start.fresh and start.table is None)
    return multiply_plan(core, to, left, right, params, start.table, site, sparse)


# --- a 4:2 compressed B ----------------------------------------------------------------------------------------------


def index(core: Core, to: Stored, columns: int, height: int, at: int, site: Site) -> Plan:
    """GM to L1: the index of `columns` kept elements along K, `height` rows of N in all."""
    moves = copies.Moves(to.pitch, to.pitch, height * INDEX_ROW, ceil_div(columns, c0_of(int8)))
    return copies.load_plan(core, "data_copy", to.place, moves, at, site)


def sparse_loads(core: Core, to: Place, source: Stored, index: Stored, block: Block, site: Site) -> list[Plan]:
    """L1 to L0B and the index buffer: an instruction for each column of fractals."""
    many = ceil_div(block.lines, SIDE)
    out = []
    for column in range(ceil_div(block.k, c0_of(int8))):
        first = (block.line * BLOCK + (block.at_k // c0_of(int8) + column) * source.pitch) // FRACTAL
        there = place(core, to.position, to.dtype, to.start + column * many * FRACTAL, many * FRACTAL)
        out.append(sparse_plan(core, there, source.place, index.place, LoadData2DParams(first, many), site))
    return out
