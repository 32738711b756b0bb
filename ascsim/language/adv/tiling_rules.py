"""What a tiling of Matmul has to satisfy: whole fractals, and the room in L0, L1 and the bias table.

Page: TCubeTiling structure, tables 1 to 3. Where the page is stricter than the vendor's own tilings, these rule: a
block may fill its memory to the last byte (the recommended 128 x 256 x 64 does), base_k of float32 may be 8, and
fields that hand-made tilings leave at 0 (steps along K, buffers of L0) have a meaning.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ...hw.errors import ArgumentTypeError, ArgumentValueError
from ...hw.soc import Soc
from ..core.dtype import DataType
from ..core.enums import CubeFormat
from ..core.place import L1_POSITIONS
from ..fractals import SIDE, align_up, c0_of
from .tcube_tiling import MatmulApiStaticTiling, TCubeTiling

ACCUMULATOR = 4  # bytes of an element in L0C, and of a bias in its table: float32 or int32
_INT32 = (1 << 31) - 1
SPARSE_K = 64  # elements of K behind a fractal of a compressed B
_QUANT = 8  # bytes of a factor of a quantisation by column
_DEEPEST = 4095  # elements along K of one matrix instruction; L0C holds no block so long along M or N


class Matrix(NamedTuple):
    """What the rules ask of a matrix."""

    dtype: DataType
    is_trans: bool = False
    is_nz: bool = False
    in_l1: bool = False  # it lies there already, and needs no buffer

    @property
    def c0(self) -> int:
        """Elements of 32 bytes: the width of a fractal."""
        return c0_of(self.dtype)


class Product(NamedTuple):
    """C = A * B + bias."""

    a: Matrix
    b: Matrix
    bias: Matrix | None = None
    quant_vector: bool = False  # results are scaled by column
    sparse: bool = False  # two of four elements of B along K are kept, and an index of two bits each
    c: Matrix | None = None  # what its layout asks for; None: nothing

    @property
    def k_least(self) -> int:
        """What base_k has to be a multiple of."""
        straight = not self.a.is_trans and self.b.is_trans
        return SPARSE_K if self.sparse else self.a.c0 if straight else min(SIDE, self.a.c0)

    @property
    def k_whole(self) -> int:
        """The multiple of base_k for which no load of either matrix is padded."""
        straight = not self.a.is_trans and self.b.is_trans
        return SPARSE_K if self.sparse else self.a.c0 if straight else max(SIDE, self.a.c0)

    @property
    def m_least(self) -> int:
        """What base_m has to be a multiple of: stored as columns of fractals, whole ones."""
        return max(SIDE, self.a.c0) if self.a.is_nz and self.a.is_trans else SIDE

    @property
    def n_least(self) -> int:
        """What base_n has to be a multiple of: the columns of fractals of B, if it is stored so, and of C."""
        stored = self.b.c0 if self.b.is_nz and not self.b.is_trans else SIDE
        return max(SIDE, stored, self.c.c0 if self.c is not None and self.c.is_nz else SIDE)

    def a1(self, base_m: int, base_k: int) -> int:
        """Bytes of a block of A in L1."""
        return 0 if self.a.in_l1 else _block(self.a, base_m, base_k, self.a.is_trans)

    def b1(self, base_n: int, base_k: int) -> int:
        """Bytes of a block of B in L1, its index included."""
        whole = 0 if self.b.in_l1 else _block(self.b, base_n, base_k, not self.b.is_trans)
        return whole * 5 // 8 if self.sparse else whole

    def b2(self, base_n: int, base_k: int) -> int:
        """Bytes of a block of B in L0B."""
        return base_n * base_k * self.b.dtype.size // (2 if self.sparse else 1)

    def row1(self, base_n: int) -> int:
        """Bytes in L1 of what belongs to the columns of a block: bias, and factors of quantisation."""
        bias = base_n * self.bias.dtype.size if self.bias and not self.bias.in_l1 else 0
        return bias + base_n * _QUANT * self.quant_vector


class Room(NamedTuple):
    """Bytes of the memories."""

    l1: int
    l0a: int
    l0b: int
    l0c: int
    bt: int


class Cut(NamedTuple):
    """The fields that rules are about, as plain numbers."""

    used_core_num: int
    m: int
    n: int
    k_a: int
    k_b: int
    single_core_m: int
    single_core_n: int
    single_core_k: int
    base_m: int
    base_n: int
    base_k: int
    depth_a1: int
    depth_b1: int
    step_m: int
    step_n: int
    step_k_a: int
    step_k_b: int
    is_bias: int
    iterate_order: int
    db_l0a: int
    db_l0b: int
    db_l0c: int


class Breach(NamedTuple):
    """A rule that a field of a tiling or a MatmulConfig breaks, and the legal value that is nearest."""

    field: str
    value: object
    rule: str
    nearest: object = None


def _block(matrix: Matrix, lines: int, k: int, turned: bool) -> int:
    """Bytes of `lines` of M or N by `k`, in fractals; turned: those of the matrix as it lies in global memory."""
    c0 = matrix.c0
    if turned:
        return align_up(lines, c0) * align_up(k, max(SIDE, c0)) * matrix.dtype.size
    return align_up(lines, SIDE) * align_up(k, c0) * matrix.dtype.size


def usage(product: Product, cut: Cut) -> dict[str, int]:
    """The fields that tell what a tiling uses of L1 and L0C, in bytes."""
    l1 = product.a1(cut.base_m, cut.base_k) * cut.depth_a1 + product.b1(cut.base_n, cut.base_k) * cut.depth_b1
    l1 += product.row1(cut.base_n) * cut.step_n
    return {"share_l1_size": l1, "share_l0c_size": cut.base_m * cut.base_n * ACCUMULATOR * cut.db_l0c}


def room(soc: Soc) -> Room:
    """All of a platform's memories."""
    return Room(soc.l1, soc.l0a, soc.l0b, soc.l0c, soc.bt)


def matrix(kind: Any) -> Matrix:
    """The matrix that a MatmulType describes."""
    return Matrix(kind.dtype, bool(kind.is_trans), kind.format == CubeFormat.NZ, kind.position in L1_POSITIONS)


def check_tiling(
    operation: str, tiling: Any, product: Product, soc: Soc, mdl: bool = False, special: bool = False
) -> Cut:
    """The numbers of a tiling that satisfies the rules; else an ArgumentValueError that names the first one broken.

    `mdl`: those of the MDL template too, `special`: in its SpecialMDL form. Left at 0, db_l0a, db_l0b and db_l0c count
    as 1, and step_k_a and step_k_b as what the depth leaves for them.
    """
    if not isinstance(tiling, (TCubeTiling, MatmulApiStaticTiling)):
        raise ArgumentTypeError(operation, "is no TCubeTiling", operand="tiling", value=tiling)
    cut = Cut(*(getattr(tiling._memory, field) for field in Cut._fields))
    cut = cut._replace(
        step_k_a=cut.step_k_a or max(cut.depth_a1 // max(cut.step_m, 1), 1),
        step_k_b=cut.step_k_b or max(cut.depth_b1 // max(cut.step_n, 1), 1),
        **{field: getattr(cut, field) or 1 for field in ("db_l0a", "db_l0b", "db_l0c")},
    )
    for breach in breaches(cut, product, room(soc), soc.aiv, mdl, special):
        field, value, rule, nearest = breach
        raise ArgumentValueError(operation, operand=f"tiling.{field}", value=value, rule=rule, nearest=nearest)
    return cut


def breaches(
    cut: Cut, product: Product, space: Room, cores: int, mdl: bool = False, special: bool = False
) -> Iterator[Breach]:
    """Every rule that is broken, in the order of the page. The first makes those after it unreliable."""
    yield from _ranges(cut, cores)
    yield from _fractals(cut, product)
    yield from _capacities(cut, product, space)
    yield from _steps(cut, mdl, special)


def _ranges(cut: Cut, cores: int) -> Iterator[Breach]:
    for field, value in zip(Cut._fields, cut, strict=True):
        low, high, rule = 1, _INT32, "1 or more"
        if field in ("is_bias", "iterate_order"):
            low, high, rule = 0, 1, "0 or 1"
        elif field.startswith("db_"):
            high, rule = 2, "1 or 2 buffers"
        elif field == "used_core_num":
            high, rule = cores, f"1 to {cores}, the cores of the platform"
        if not low <= value <= high:
            yield Breach(field, value, rule, low if value < low else high)
    for single, whole in (("single_core_m", "m"), ("single_core_n", "n")):
        part, most = getattr(cut, single), getattr(cut, whole)
        if part > most:
            yield Breach(single, part, f"at most {whole} = {most}", most)


def _fractals(cut: Cut, product: Product) -> Iterator[Breach]:
    steps = {"base_m": product.m_least, "base_n": product.n_least, "base_k": product.k_least}
    a, b = product.a, product.b
    if a.is_nz:
        steps |= {"m": SIDE, "k_a": a.c0, "single_core_m": SIDE, "single_core_k": a.c0}
    if b.is_nz:
        steps |= {"k_b": b.c0, "n": SIDE, "single_core_k": b.c0, "single_core_n": SIDE}
    for field, step in steps.items():
        value = getattr(cut, field)
        if value % step:
            rule = f"a multiple of {step}: whole fractals" + ("" if "base" in field else ", for the NZ layout")
            yield Breach(field, value, rule, align_up(value, step))


def _capacities(cut: Cut, product: Product, space: Room) -> Iterator[Breach]:
    m, n, k = cut.base_m, cut.base_n, cut.base_k
    size_a, in_l0b = product.a.dtype.size, product.b2(n, k)
    buffers = (
        ("base_m", "base_m * base_k * bytes of A * db_l0a", m * k * size_a * cut.db_l0a, "L0A", space.l0a),
        ("base_n", "base_n * base_k * bytes of B * db_l0b", in_l0b * cut.db_l0b, "L0B", space.l0b),
        ("base_m", f"base_m * base_n * {ACCUMULATOR} * db_l0c", m * n * ACCUMULATOR * cut.db_l0c, "L0C", space.l0c),
        ("base_n", f"base_n * {ACCUMULATOR}", n * ACCUMULATOR * cut.is_bias, "the bias table", space.bt),
    )
    for field, text, needed, memory, most in buffers:
        if needed > most:
            yield Breach(field, getattr(cut, field), f"{text} = {needed} bytes, {memory} has {most}")
    if k > _DEEPEST:
        most = _DEEPEST // product.k_least * product.k_least
        yield Breach("base_k", k, f"at most {most}, which one matrix instruction takes", most)
    needed = product.a1(m, k) * cut.depth_a1 + product.b1(n, k) * cut.depth_b1
    needed += product.row1(n) if cut.is_bias or product.quant_vector else 0
    if needed > space.l1:
        rule = f"blocks of A * depth_a1 + blocks of B * depth_b1 + bias = {needed} bytes, L1 has {space.l1}"
        yield Breach("depth_a1", cut.depth_a1, rule)


def _steps(cut: Cut, mdl: bool, special: bool) -> Iterator[Breach]:
    for depth, step, step_k in (("depth_a1", "step_m", "step_k_a"), ("depth_b1", "step_n", "step_k_b")):
        blocks, given = getattr(cut, step) * getattr(cut, step_k), getattr(cut, depth)
        if given not in (blocks, 2 * blocks):
            rule = f"{step} * {step_k} = {blocks}, or twice that"
            yield Breach(depth, given, rule, blocks if given < 2 * blocks else 2 * blocks)
        whole = getattr(cut, step_k) * cut.base_k >= cut.single_core_k
        most = 2 if special and step == "step_n" else 1
        if mdl and not whole and getattr(cut, step) > most:
            rule = f"{'1 or 2' if most == 2 else 1}, where {step_k} blocks are not all of K (MDL)"
            yield Breach(step, getattr(cut, step), rule, most)
    loads_a, loads_b = (-(-cut.single_core_k // (cut.base_k * step)) for step in (cut.step_k_a, cut.step_k_b))
    if mdl and loads_a % loads_b and loads_b % loads_a:
        rule = f"{loads_a} loads of A and {loads_b} of B along K: one a multiple of the other (MDL)"
        yield Breach("step_k_a", cut.step_k_a, rule)


__all__ = ["Breach", "Cut", "Matrix", "Product", "Room", "breaches", "check_tiling", "matrix", "room", "usage"]
