"""What the three tiling classes share: what is known of the product, and `get_tiling`. Pages: Matmul tiling classes.

Setters answer 0, or -1 and a SimulatorWarning where the value cannot be; `get_tiling` likewise, with the rule that no
tiling satisfies (the vendor's library logs the reason at level WARNING). A failed call changes nothing.
"""

from __future__ import annotations

import warnings
from typing import Any

from ascsim.hw.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    NotSimulatedError,
    SimulatorError,
    SimulatorWarning,
)
from ascsim.language.adv.tcube_tiling import TCubeTiling
from ascsim.language.adv.tiling_rules import Cut, Matrix, Product, Room, room, usage
from ascsim.language.adv.tiling_search import FREE, Problem, Range, search
from ascsim.language.core.dtype import DataType as Type
from ascsim.language.core.dtype import bfloat16, float16, float32, int8, int32
from ascsim.language.core.ir_value import to_index
from ascsim.language.core.place import E, member
from ascsim.language.fractals import SIDE, align_up

from .enums import CubeFormat, DataType, DequantType, MatrixMadType, MatrixTraverse, ScheduleType, TPosition
from .platform import PlatformAscendC

MESSAGES = 256  # bytes at the end of L1 and of UB, kept for the messages of the matmul framework
_ALIGN = 32  # bytes: spaces are cut to whole blocks
_TYPES = {
    DataType.DT_FLOAT: float32,
    DataType.DT_FLOAT16: float16,
    DataType.DT_BF16: bfloat16,
    DataType.DT_BFLOAT16: bfloat16,
    DataType.DT_INT8: int8,
    DataType.DT_INT32: int32,
}
_FACTORS, _BIASES = (float32, float16, bfloat16, int8), (float32, float16, bfloat16, int32)
_IN_L1 = (TPosition.A1, TPosition.B1, TPosition.C1, TPosition.TSCM)
_NORM, _MDL = 0, 1


def fail(error: SimulatorError) -> int:
    """-1, and the reason as a warning."""
    warnings.warn(str(error), SimulatorWarning, stacklevel=3)
    return -1


class MatmulConfigParams:
    """Choices for `set_matmul_config_params`. `mm_config_type`: 0 Norm, 1 MDL."""

    def __init__(
        self,
        mm_config_type: int = _MDL,
        enable_l1_cache_ub: bool = False,
        schedule_type: ScheduleType = ScheduleType.INNER_PRODUCT,
        traverse: MatrixTraverse = MatrixTraverse.NOSET,
        en_vec_nd2nz: bool = False,
    ) -> None:
        self.mm_config_type = mm_config_type
        self.enable_l1_cache_ub = enable_l1_cache_ub
        self.schedule_type = schedule_type
        self.traverse = traverse
        self.en_vec_nd2nz = en_vec_nd2nz


class MatmulApiTilingBase:
    """Tiling of one core's product; the methods that all three classes have."""

    def __init__(self, arg0: PlatformAscendC) -> None:
        if not isinstance(arg0, PlatformAscendC):
            raise ArgumentTypeError(type(self).__name__, "is no PlatformAscendC", operand="arg0", value=arg0)
        self._soc = arg0.soc
        self._a = self._b = Matrix(float32)
        self._bias = Matrix(float32)
        self._c: Matrix | None = None
        self._is_bias = False
        self._shape: tuple[int, int, int] | None = None
        self._whole: tuple[int, int, int, int] | None = None
        whole = room(arg0.soc)
        self._most = whole._replace(l1=whole.l1 - MESSAGES)
        self._room: Room = self._most
        self._fixed_base = [-1, -1, -1]
        self._base: list[Range] = list(FREE)
        self._config = MatmulConfigParams()
        self._order: int | None = None
        self._quant_vector = self._sparse = False
        self._layouts: dict[str, int] = {}
        self._normal = False  # the layout of batches is NORMAL, in which L1 need not hold all
        self._batch = 0
        self._cut: Cut | None = None

    def _called(self, method: str) -> str:
        return f"{type(self).__name__}.{method}"

    def _member(self, kind: type[E], given: Any, method: str, name: str) -> E:
        return member(kind, given, self._called(method), name)

    def _int(self, given: Any, method: str, name: str) -> int:
        return to_index(given, self._called(method), name)

    def _ints(self, method: str, **given: Any) -> list[int]:
        return [self._int(number, method, name) for name, number in given.items()]

    def _matrix(
        self, method: str, pos: Any, type: Any, data_type: Any, is_trans: Any, legal: tuple[Type, ...]
    ) -> Matrix:
        position = self._member(TPosition, pos, method, "pos")
        layout = self._member(CubeFormat, type, method, "type")
        kind = self._member(DataType, data_type, method, "data_type")
        if kind is DataType.DT_INT4:
            raise NotSimulatedError(self._called(method), "of int4: there is no such element type here")
        if _TYPES.get(kind) not in legal:
            rule = "one of " + ", ".join(f"DataType.{name.name}" for name, own in _TYPES.items() if own in legal)
            raise ArgumentValueError(self._called(method), operand="data_type", value=kind.name, rule=rule)
        trans = bool(self._int(is_trans, method, "is_trans"))
        if layout is CubeFormat.COLUMN_MAJOR:
            trans = not trans
        return Matrix(_TYPES[kind], trans, layout is CubeFormat.NZ, position in _IN_L1)

    def set_a_type(self, pos: Any, type: Any, data_type: Any, is_trans: Any = False) -> int:
        """Position, format, element type (float, float16, bfloat16, int8) of A, and whether it is transposed."""
        self._a = self._matrix("set_a_type", pos, type, data_type, is_trans, _FACTORS)
        return 0

    def set_b_type(self, pos: Any, type: Any, data_type: Any, is_trans: Any = False) -> int:
        """The same of B."""
        self._b = self._matrix("set_b_type", pos, type, data_type, is_trans, _FACTORS)
        return 0

    def set_c_type(self, pos: Any, type: Any, data_type: Any) -> int:
        """The same of C. Only NZ changes a tiling: base_n is a multiple of the columns of a fractal, 32 for 8 bits."""
        self._member(TPosition, pos, "set_c_type", "pos")
        layout = self._member(CubeFormat, type, "set_c_type", "type")
        kind = _TYPES.get(self._member(DataType, data_type, "set_c_type", "data_type"))
        self._c = None if kind is None else Matrix(kind, is_nz=layout is CubeFormat.NZ)
        return 0

    def set_bias_type(self, pos: Any, type: Any, data_type: Any) -> int:
        """The same of the bias: float, float16, bfloat16, or int32."""
        self._bias = self._matrix("set_bias_type", pos, type, data_type, False, _BIASES)
        return 0

    def enable_bias(self, is_bias_in: Any = False) -> int:
        """Whether a bias is added."""
        self._is_bias = bool(self._int(is_bias_in, "enable_bias", "is_bias_in"))
        return 0

    def set_shape(self, m: Any, n: Any, k: Any) -> int:
        """The product to cut, in elements; -1 along an axis means all of the matrices."""
        m, n, k = self._ints("set_shape", m=m, n=n, k=k)
        self._shape = m, n, k
        return 0

    def set_org_shape(self, org_m_in: Any, org_n_in: Any, *k: Any, **named: Any) -> int:
        """The matrices in global memory, in elements: (m, n, k) or (m, n, k_a, k_b)."""
        names = ("org_k_in",) if len(k) + len(named) == 1 and "org_ka_in" not in named else ("org_ka_in", "org_kb_in")
        given = dict(zip(names, k, strict=False)) | named
        if set(given) != set(names) or len(given) != len(k) + len(named):
            rule = "(org_m_in, org_n_in, org_k_in) or (org_m_in, org_n_in, org_ka_in, org_kb_in)"
            raise ArgumentTypeError(self._called("set_org_shape"), operand="arguments", value=[*given], rule=rule)
        m, n = self._ints("set_org_shape", org_m_in=org_m_in, org_n_in=org_n_in)
        depths = self._ints("set_org_shape", **given)
        self._whole = m, n, depths[0], depths[-1]
        return 0

    def set_fix_split(self, base_m_in: Any = -1, base_n_in: Any = -1, base_k_in: Any = -1) -> int:
        """Fixed blocks: base_m and base_n multiples of 16, base_k one of 32 bytes of A; -1 leaves an axis free."""
        sizes = self._ints("set_fix_split", base_m_in=base_m_in, base_n_in=base_n_in, base_k_in=base_k_in)
        names, steps = ("base_m_in", "base_n_in", "base_k_in"), (SIDE, SIDE, self._a.c0)
        for name, size, step in zip(names, sizes, steps, strict=True):
            if size != -1 and (size < 1 or size % step):
                rule = f"a multiple of {step} of 1 or more, or -1"
                nearest = max(align_up(size, step), step)
                method = self._called("set_fix_split")
                return fail(ArgumentValueError(method, operand=name, value=size, rule=rule, nearest=nearest))
        self._fixed_base = [size if size != -1 else old for size, old in zip(sizes, self._fixed_base, strict=True)]
        return 0

    def set_split_range(
        self,
        max_base_m: Any = -1,
        max_base_n: Any = -1,
        max_base_k: Any = -1,
        min_base_m: Any = -1,
        min_base_n: Any = -1,
        min_base_k: Any = -1,
    ) -> int:
        """Limits of blocks, each cut to a multiple of 16; -1: none. An axis that set_fix_split fixed stays fixed."""
        most = self._ints("set_split_range", max_base_m=max_base_m, max_base_n=max_base_n, max_base_k=max_base_k)
        least = self._ints("set_split_range", min_base_m=min_base_m, min_base_n=min_base_n, min_base_k=min_base_k)
        for axis, (high, low) in enumerate(zip(most, least, strict=True)):
            old = self._base[axis]
            step = SIDE if axis < 2 else min(SIDE, self._a.c0)
            self._base[axis] = Range(
                old.low if low == -1 else max(low // step * step, 1), old.high if high == -1 else high // step * step
            )
        return 0

    def set_buffer_space(self, l1_size: Any = -1, l0_c_size: Any = -1, ub_size: Any = -1, bt_size: Any = -1) -> int:
        """Bytes of each memory that may be used, cut to whole 32-byte blocks; -1: all. UB is not used by a tiling."""
        sizes = self._ints("set_buffer_space", l1_size=l1_size, l0_c_size=l0_c_size, ub_size=ub_size, bt_size=bt_size)
        names = ("l1_size", "l0_c_size", "ub_size", "bt_size")
        limits = (self._most.l1, self._most.l0c, self._soc.ub - MESSAGES, self._most.bt)
        for name, size, most in zip(names, sizes, limits, strict=True):
            if not -1 <= size <= most:
                method, rule = self._called("set_buffer_space"), f"0 to {most} bytes, or -1"
                nearest = min(max(size, -1), most)
                return fail(ArgumentValueError(method, operand=name, value=size, rule=rule, nearest=nearest))
        l1, l0c, _, bt = (most if size == -1 else size for size, most in zip(sizes, limits, strict=True))
        self._room = self._most._replace(l1=l1 // _ALIGN * _ALIGN, l0c=l0c // _ALIGN * _ALIGN, bt=bt)
        return 0

    def set_traverse(self, traverse: Any) -> int:
        """The direction to the next block of C; NOSET leaves it to the tiling."""
        self._order = self._direction(traverse, "set_traverse")
        return 0

    def _direction(self, traverse: Any, method: str) -> int | None:
        member = self._member(MatrixTraverse, traverse, method, "traverse")
        return None if member is MatrixTraverse.NOSET else int(member) - 1

    def set_mad_type(self, mad_type: Any) -> int:
        """Mode of the multiplier: NORMAL or HF32, which cut alike. MXMODE belongs to chips that are not simulated."""
        if self._member(MatrixMadType, mad_type, "set_mad_type", "mad_type") is MatrixMadType.MXMODE:
            raise NotSimulatedError(self._called("set_mad_type"), "of MXMODE: no chip here multiplies with scales")
        return 0

    def set_dequant_type(self, dequant_type: Any) -> int:
        """Factors of a quantisation of C: one for all, or one a column, which then need room in L1."""
        member = self._member(DequantType, dequant_type, "set_dequant_type", "dequant_type")
        self._quant_vector = member is DequantType.TENSOR
        return 0

    def set_sparse(self, is_sparse_in: Any = False, is_sparce_in: Any = None) -> int:
        """Whether B is 4:2 compressed: half the room and an eighth for its index, base_k a multiple of 64."""
        given = is_sparse_in if is_sparce_in is None else is_sparce_in
        self._sparse = bool(self._int(given, "set_sparse", "is_sparse_in"))
        return 0

    def set_double_buffer(
        self, a: Any, b: Any, c: Any, bias: Any, trans_nd2nz: Any = True, trans_nz2nd: Any = True
    ) -> int:
        """Reserved by the vendor, without effect: the tiling itself decides what alternates."""
        self._ints("set_double_buffer", a=a, b=b, c=c, bias=bias, trans_nd2nz=trans_nd2nz, trans_nz2nd=trans_nz2nd)
        return 0

    def set_matmul_config_params(self, *args: Any, **kwargs: Any) -> None:
        """A MatmulConfigParams, or its fields, whose names may end in `_in`. Only these change a tiling: the template
        (0 Norm, 1 MDL), the schedule, the traverse; the others do not exist on these chips."""
        method = "set_matmul_config_params"
        given = {name.removesuffix("_in"): value for name, value in kwargs.items()}
        whole = args[0] if args else given.get("config_params")
        if isinstance(whole, MatmulConfigParams):
            config = MatmulConfigParams(**vars(whole))
        else:
            try:
                config = MatmulConfigParams(*args, **given)
            except TypeError as error:
                raise ArgumentTypeError(self._called(method), str(error), operand="arguments", value=args) from None
        if self._int(config.mm_config_type, method, "mm_config_type") not in (_NORM, _MDL):
            value = config.mm_config_type
            raise ArgumentValueError(
                self._called(method), operand="mm_config_type", value=value, rule="0 (Norm) or 1 (MDL)"
            )
        config.schedule_type = self._member(ScheduleType, config.schedule_type, method, "schedule_type")
        self._order = self._direction(config.traverse, method)
        self._config = config

    def set_a_layout(self, b: Any, s: Any, n: Any, g: Any, d: Any) -> int:
        """The axes of a batched A, for the layouts BSNGD, SBNGD and BNGS1S2."""
        return self._layout("a", "bsngd", self._ints("set_a_layout", b=b, s=s, n=n, g=g, d=d))

    def set_b_layout(self, b: Any, s: Any, n: Any, g: Any, d: Any) -> int:
        """The axes of a batched B."""
        return self._layout("b", "bsngd", self._ints("set_b_layout", b=b, s=s, n=n, g=g, d=d))

    def set_c_layout(self, b: Any, s: Any, n: Any, g: Any, d: Any) -> int:
        """The axes of a batched C: s is s1, d is s2."""
        axes = ("b", "s1", "n", "g", "s2")
        return self._layout("c", axes, self._ints("set_c_layout", b=b, s=s, n=n, g=g, d=d))

    def _layout(self, matrix: str, axes: Any, sizes: list[int]) -> int:
        self._layouts |= {f"{matrix}_layout_info_{axis}": size for axis, size in zip(axes, sizes, strict=True)}
        return 0

    def set_batch_info_for_normal(self, batch_a: Any, batch_b: Any, m: Any, n: Any, k: Any) -> int:
        """Batches and axes of A and B in the layout NORMAL."""
        a, b, m, n, k = self._ints("set_batch_info_for_normal", batch_a=batch_a, batch_b=batch_b, m=m, n=n, k=k)
        self._layout("a", "bsngd", [a, m, 1, 1, k])
        self._layout("b", "bsngd", [b, n, 1, 1, k])
        self._layout("c", ("b", "s1", "n", "g", "s2"), [max(a, b), m, 1, 1, n])
        self._normal = True
        return 0

    def set_batch_num(self, batch: Any) -> int:
        """Most products of one batched call: the larger of the batches of A and B. Unless the layout is NORMAL, L1
        holds the matrices of all of them."""
        self._batch = self._int(batch, "set_batch_num", "batch")
        return 0

    def get_base_m(self) -> int:
        """base_m of the tiling; before there is one, that of set_fix_split, or -1."""
        return self._cut.base_m if self._cut else self._fixed_base[0]

    def get_base_n(self) -> int:
        """base_n likewise."""
        return self._cut.base_n if self._cut else self._fixed_base[1]

    def get_base_k(self) -> int:
        """base_k likewise."""
        return self._cut.base_k if self._cut else self._fixed_base[2]

    def get_tiling(self, tiling: Any) -> int:
        """Work the tiling out and fill a TCubeTiling with it: 0; or -1 where no tiling satisfies every rule, of which a
        warning names one. `tiling` then stays as it was."""
        if not isinstance(tiling, TCubeTiling):
            raise ArgumentTypeError(self._called("get_tiling"), "is no TCubeTiling", operand="tiling", value=tiling)
        problem = self._problem()
        try:
            cut = search(self._called("get_tiling"), problem)
        except ArgumentValueError as error:
            return fail(error)
        self._cut = cut
        more = {
            **dict.fromkeys(("batch_m", "batch_n", "single_batch_m", "single_batch_n"), 1),
            **usage(problem.product, cut),
            "batch_num": self._batch,
            **self._layouts,
        }
        empty = TCubeTiling()
        for name in TCubeTiling.struct_fields:
            setattr(tiling, name, getattr(empty, name))
        for name, number in {**cut._asdict(), **more}.items():
            setattr(tiling, name, number)
        return 0

    def _problem(self, **more: Any) -> Problem:
        """The problem as it is set."""
        asked = self._shape or (-1, -1, -1)
        whole = self._whole or (*asked, asked[2])
        m, n, k = (size if size != -1 else whole[axis] for axis, size in enumerate(asked))
        base = [
            Range(fixed, fixed) if fixed != -1 else own for fixed, own in zip(self._fixed_base, self._base, strict=True)
        ]
        bias = self._bias if self._is_bias else None
        return Problem(
            Product(self._a, self._b, bias, self._quant_vector, self._sparse, self._c),
            self._room,
            (m, n, k),
            whole,
            is_bias=self._is_bias,
            base=(base[0], base[1], base[2]),
            batch=0 if self._normal else self._batch,
            order=self._order,
            mdl=self._config.mm_config_type == _MDL,
            outer=self._config.schedule_type is ScheduleType.OUTER_PRODUCT,
            **more,
        )


__all__ = ["MatmulApiTilingBase", "MatmulConfigParams"]
