"""What a Matmul multiplies: types of its matrices, their sizes, and where each matrix of a call lies.

Pages: Matmul usage (table of types), MatmulType, IterateBatch (layouts of batched matrices).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from ...hw.core import Core
from ...hw.errors import ArgumentTypeError, ArgumentValueError
from ...hw.findings import Site
from ..core.dtype import DataType, bfloat16, float16, float32, int8, int32
from ..core.enums import CubeFormat, LayoutMode, QuantModes, TPosition
from ..core.global_tensor import GlobalTensor
from ..core.limits import buffered
from ..core.place import L1_POSITIONS, VECTOR_POSITIONS, index, report
from ..core.tensor import LocalTensor
from ..fractals import SIDE, align_up, c0_of
from .matmul_moves import PITCH_LIMIT, Stored
from .matmul_product import InGm, InL1, Product

_SOURCES = frozenset((TPosition.GM, *VECTOR_POSITIONS, *L1_POSITIONS))
_RESULTS = _SOURCES | {TPosition.CO1}
# Type of A and B -> types of the bias, types of C
TYPES: dict[DataType, tuple[tuple[DataType, ...], tuple[DataType, ...]]] = {
    float32: ((float32, float16), (float32, float16, bfloat16)),
    float16: ((float32, float16), (float32, float16, bfloat16, int8)),
    bfloat16: ((float32, float16), (float32, float16, bfloat16, int8)),
    int8: ((int32,), (int32, float16, int8)),
}
# (accumulator, type of C) -> mode without factors, with one factor, with one a column
_MODES: dict[tuple[DataType, DataType], tuple[QuantModes | None, QuantModes | None, QuantModes | None]] = {
    (float32, float32): (QuantModes.NoQuant, None, None),
    (float32, float16): (QuantModes.F322F16, None, None),
    (float32, bfloat16): (QuantModes.F322BF16, None, None),
    (float32, int8): (None, QuantModes.QF322B8_PRE, QuantModes.VQF322B8_PRE),
    (int32, int32): (QuantModes.NoQuant, None, None),
    (int32, float16): (None, QuantModes.DEQF16, QuantModes.VDEQF16),
    (int32, int8): (None, QuantModes.REQ8, QuantModes.VREQ8),
}


@dataclass(frozen=True)
class MatmulType:
    """A matrix of a Matmul: where it lies, how, its element type, whether it may be transposed, its batch layout.

    `is_trans`: set_tensor_a and set_tensor_b may take it transposed: A as [K, M], B as [N, K]. Page: MatmulType.
    """

    position: TPosition
    format: CubeFormat
    dtype: DataType
    is_trans: bool = False
    layout: LayoutMode = LayoutMode.NONE

    def __post_init__(self) -> None:
        kinds = (TPosition, CubeFormat, DataType, None, LayoutMode)
        for field, kind in zip(fields(self), kinds, strict=True):
            given = getattr(self, field.name)
            if kind is not None and not isinstance(given, kind):
                rule = f"a {kind.__name__}"
                raise ArgumentTypeError("adv.MatmulType", operand=field.name, value=given, rule=rule)
        object.__setattr__(self, "is_trans", bool(index(self.is_trans, "adv.MatmulType", "is_trans")))


def check_types(a: MatmulType, b: MatmulType, c: MatmulType, bias: MatmulType | None) -> None:
    """The combinations of positions and types that the page lists."""

    def legal(name: str, value: Any, allowed: Any) -> None:
        if value not in allowed:
            rule = ", ".join(getattr(x, "name", str(x)) for x in sorted(allowed, key=str))
            raise ArgumentValueError("adv.Matmul", operand=name, value=getattr(value, "name", value), rule=rule)

    legal("a.position", a.position, _SOURCES)
    legal("b.position", b.position, _SOURCES)
    legal("c.position", c.position, _RESULTS)
    legal("a.dtype", a.dtype, TYPES)
    legal("b.dtype", b.dtype, (a.dtype,))
    biases, results = TYPES[a.dtype]
    legal("c.dtype", c.dtype, results)
    if bias is not None:
        legal("bias.position", bias.position, _SOURCES)
        legal("bias.dtype", bias.dtype, biases)
    if c.position is TPosition.CO1:
        legal("c.format", c.format, (CubeFormat.NZ,))
        legal("c.dtype", c.dtype, (int32 if a.dtype is int8 else float32,))
    if a.layout != b.layout:
        rule = "the layout of A"
        raise ArgumentValueError("adv.Matmul", operand="b.layout", value=b.layout.name, rule=rule, nearest=a.layout)


def mode_of(a: DataType, c: DataType, factor: Any, operation: str) -> QuantModes:
    """How results are converted, given the factor of a quantisation (None, a number, or a vector)."""
    sums = int32 if a is int8 else float32
    row = _MODES[sums, c]
    which = 0 if factor is None else 1 if isinstance(factor, int) else 2
    mode = row[which]
    if mode is None:
        if which == 0:
            problem, rule = f"{a} to {c} needs factors", "set_quant_scalar or set_quant_vector before it"
        else:
            problem, rule = f"{a} to {c} takes no factors", "results of int8, or of float16 from int8"
        raise ArgumentValueError(operation, problem, operand="quantisation", rule=rule)
    return mode


@dataclass
class Sizes:
    """The whole matrices (`org`) and the part that one call multiplies (`single`), in elements."""

    org_m: int
    org_n: int
    org_ka: int
    org_kb: int
    org_kc: int
    m: int
    n: int
    k: int


class Axes(NamedTuple):
    """Axes of a batched matrix: b batches, s rows, n by g matrices side by side, d columns."""

    b: int
    s: int
    n: int
    g: int
    d: int

    def pitch(self, layout: LayoutMode) -> int:
        """Elements from row to row."""
        beside = {LayoutMode.BSNGD: self.n * self.g, LayoutMode.SBNGD: self.b * self.n * self.g}
        return beside.get(layout, 1) * self.d

    def offset(self, layout: LayoutMode, number: int) -> int:
        """Elements from the first matrix to matrix `number`."""
        if layout is LayoutMode.SBNGD:
            return number * self.d
        if layout is LayoutMode.BSNGD:
            outer, inner = divmod(number, self.n * self.g)
            return (outer * self.s * self.n * self.g + inner) * self.d
        return number * self.s * self.d


class Operand(NamedTuple):
    """What set_tensor_a or set_tensor_b was given: a tensor, or a number; and whether it is transposed."""

    given: Any
    transposed: bool


def source_of(kind: MatmulType, operand: Operand, sizes: Sizes, is_b: bool) -> Any:
    """Where a matrix lies. A tensor of UB has become one in global memory by now."""
    given, transposed = operand
    rows, columns = (sizes.org_kb, sizes.org_n) if is_b else (sizes.org_m, sizes.org_ka)
    lines, deep = (sizes.k, sizes.n) if is_b else (sizes.m, sizes.k)
    if transposed:
        rows, columns, lines, deep = columns, rows, deep, lines
    if isinstance(given, GlobalTensor):
        nz = kind.format == CubeFormat.NZ
        return InGm(given, given.start, align_up(rows, SIDE) if nz else columns, nz)
    across = transposed is not is_b  # the stored rows are those of K
    step = max(SIDE, c0_of(kind.dtype)) if across else SIDE
    return InL1(Stored(given.place.live, align_up(lines, step) * 32))


def compressed(product: Product, index: GlobalTensor, sizes: Sizes, operation: str) -> Product:
    """A product whose B keeps two of four elements along K. Its index: columns of fractals, 16 rows of N by 8 bytes."""
    if not isinstance(product.b, InGm) or product.b_across:
        rule = "B in global memory, set_tensor_b(..., transpose=True)"
        raise ArgumentValueError(operation, "of a sparse B", operand="transpose", value=False, rule=rule, nearest=True)
    if product.k % 2:
        raise ArgumentValueError(operation, "of a sparse B", operand="single_k", value=product.k, rule="even")
    pitch = product.b.pitch if product.b.fractal else product.b.pitch // 2
    fields = InGm(index, index.start, align_up(sizes.org_n, SIDE), True)
    return product._replace(b=product.b._replace(pitch=pitch), sparse=fields)


def check_rows(product: Product, operation: str) -> None:
    """Rows that lie further apart than one load to L1 can take need a load each, which has to be asked for."""
    for name, source, rows in (
        ("A", product.a, product.k if product.a_across else product.m),
        ("B", product.b, product.k if product.b_across else product.n),
    ):
        if isinstance(source, InGm) and not source.fractal and source.pitch > PITCH_LIMIT and rows > 1:
            rule = f"True (intrinsics_limit) where rows of {name} have more than {PITCH_LIMIT} elements: {source.pitch}"
            operand = "matmul_config.intrinsics_check"
            raise ArgumentValueError(operation, operand=operand, value=False, rule=rule, nearest=True)


_ALIKE = (VECTOR_POSITIONS, L1_POSITIONS)  # positions of one memory


def placed(core: Core, tensor: Any, name: str, operation: str, site: Site) -> TPosition:
    """Where a tensor handed to a call lies."""
    if isinstance(tensor, GlobalTensor):
        buffered(operation, tensor, name)
        return TPosition.GM
    if not isinstance(tensor, LocalTensor):
        rule = "a GlobalTensor or LocalTensor"
        raise ArgumentTypeError(operation, "is no tensor", operand=name, value=tensor, rule=rule)
    where = tensor.place
    if where.fault is not None:
        report(core, where.fault[0], f"{name}: {where.fault[1]}", site, operation)
    return where.live.position


def operand(core: Core, kind: MatmulType, tensor: Any, name: str, operation: str, site: Site) -> Any:
    """A tensor handed to a call, which must be of the type that the object was made for."""
    given = placed(core, tensor, name, operation, site)
    alike = next((positions for positions in _ALIKE if kind.position in positions), {kind.position})
    if given not in alike:
        text = f"{name} lies in {given.name}; rule: {kind.position.name}, as its MatmulType says"
        report(core, "BAD_POSITION", text, site, operation)
    if tensor.dtype is not kind.dtype:
        text = f"{name} has type {tensor.dtype}; rule: {kind.dtype}, as its MatmulType says"
        report(core, "BAD_DTYPE", text, site, operation)
    return tensor


__all__ = ["MatmulType"]
