"""Matmul: the calls that set an object up, before results are asked for. Pages: SetTensorA, SetOrgShape, SetTail ..."""

from __future__ import annotations

from typing import Any

from ...hw.errors import ArgumentTypeError, ArgumentValueError, NotSimulatedError
from ...hw.findings import Site, author
from ..basic.common import set_hf32_mode, set_hf32_trans_mode
from ..core import ir_value
from ..core.address import GlobalAddress
from ..core.dtype import bfloat16, float16, float32, int8, uint8, uint64
from ..core.global_tensor import GlobalTensor
from ..core.limits import buffered
from ..core.place import L1_POSITIONS, index, report, running
from ..core.tensor import LocalTensor
from ..signatures import signatures
from .matmul_link import NO_L1, in_ub
from .matmul_object import MatmulObject
from .matmul_operands import Operand, Sizes, operand


class SetupCalls:
    """The part of Matmul that sets it up."""

    state: MatmulObject

    def init(self, tiling: Any) -> None:
        """Take a tiling, in place of any before it. Page: Init."""
        self.state.allowed("Matmul.init", "enable_init")
        self.state.tile(tiling, "Matmul.init")

    def set_org_shape(self, org_m: Any, org_n: Any, org_ka: Any, org_kb: Any = None, org_kc: Any = None) -> None:
        """Sizes of the whole matrices, in elements; `org_kc`: columns of C where they are not those of B.

        Before set_tensor_a, set_tensor_b, set_bias. Page: SetOrgShape.
        """
        operation = "Matmul.set_org_shape"
        self.state.allowed(operation, "enable_set_org_shape")
        self.state.tiled(operation)
        if self.state.fresh:
            raise ArgumentValueError(operation, "comes late", rule="before set_tensor_a, set_tensor_b and set_bias")
        m, n, ka = (_size(x, operation, name) for x, name in ((org_m, "org_m"), (org_n, "org_n"), (org_ka, "org_ka")))
        kb = ka if org_kb is None else _size(org_kb, operation, "org_kb")
        kc = 0 if org_kc is None else index(org_kc, operation, "org_kc")
        old = self.state.sizes
        self.state.sizes = Sizes(m, n, ka, kb, kc, old.m, old.n, old.k)

    def set_single_shape(self, single_m: Any, single_n: Any, single_k: Any) -> None:
        """Sizes of the part to multiply, in elements. Page: SetSingleShape."""
        self._single((single_m, single_n, single_k), "Matmul.set_single_shape")

    def set_tail(self, tail_m: Any = -1, tail_n: Any = -1, tail_k: Any = -1) -> None:
        """Sizes of the part to multiply, in elements; -1 leaves one as it is. Page: SetTail."""
        self._single((tail_m, tail_n, tail_k), "Matmul.set_tail")

    def _single(self, given: tuple[Any, ...], operation: str) -> None:
        self.state.allowed(operation, "enable_set_tail")
        self.state.tiled(operation)
        for name, value in zip(("m", "n", "k"), given, strict=True):
            size = index(value, operation, name)
            if size != -1:
                setattr(self.state.sizes, name, _size(size, operation, name))

    def set_tensor_a(self, tensor: Any = None, transpose: Any = False, *, scalar: Any = None) -> None:
        """A: a tensor where its MatmulType says, or a number that stands for a row of K elements.

        A tensor in UB is copied out at once, after V; one in L1 (on a cube core) is the whole part, in fractals.
        `transpose` needs is_trans of the MatmulType; it is what that says for types other than float16 and bfloat16.
        Page: SetTensorA.
        """
        self._operand(0, tensor if scalar is None else scalar, transpose, "Matmul.set_tensor_a", author(1))

    def set_tensor_b(self, tensor: Any = None, transpose: Any = False, *, scalar: Any = None) -> None:
        """B, as set_tensor_a: a number stands for a column of K elements. Page: SetTensorB."""
        self._operand(1, tensor if scalar is None else scalar, transpose, "Matmul.set_tensor_b", author(1))

    def _operand(self, which: int, given: Any, transpose: Any, operation: str, site: Site) -> None:
        state = self.state
        way = state.linked(operation)
        kind, name = (state.b, "b") if which else (state.a, "a")
        turned = bool(index(transpose, operation, "transpose"))
        if turned and not kind.is_trans:
            rule = f"is_trans = True in the MatmulType of {name}"
            raise ArgumentValueError(operation, operand="transpose", value=True, rule=rule, nearest=False)
        if isinstance(given, (GlobalTensor, LocalTensor)):
            if kind.is_trans and not turned and kind.dtype not in (float16, bfloat16):
                rule = f"True for {kind.dtype}, as the MatmulType of {name} says; float16 and bfloat16 have the choice"
                raise ArgumentValueError(operation, operand="transpose", value=False, rule=rule, nearest=True)
            given = self._reached(operand(way.core, kind, given, "tensor", operation, site), operation, site)
        else:
            if kind.dtype not in (float16, float32):
                rule = "float16 or float32"
                raise ArgumentValueError(operation, "takes no number", operand="dtype", value=kind.dtype, rule=rule)
            given = ir_value.value(given, kind.dtype, operation).v
        if state.operands[which] is None or state.operands[which].transposed is not turned:  # type: ignore[union-attr]
            state.cut = None
        state.operands[which] = Operand(given, turned)
        state.fresh = True

    def _reached(self, tensor: Any, operation: str, site: Site) -> Any:
        """A tensor where the cube core can read it."""
        way = self.state.linked(operation)
        if isinstance(tensor, LocalTensor) and in_ub(tensor.place.live):
            return way.send(tensor, operation, site)
        if isinstance(tensor, LocalTensor):
            position = tensor.place.live.position
            if way.remote:
                raise NotSimulatedError(operation, NO_L1)
            if position not in L1_POSITIONS:
                text = f"tensor lies in {position.name}; rule: GM or L1, as a cube core has no UB"
                report(way.core, "BAD_POSITION", text, site, operation)
        return tensor

    def set_bias(self, tensor: Any) -> None:
        """A row of N elements that is added to every row; tiling.is_bias must be 1. Stays until disable_bias.

        Page: SetBias.
        """
        operation, site, state = "Matmul.set_bias", author(1), self.state
        state.allowed(operation, "enable_set_bias")
        way = state.linked(operation)
        state.tiled(operation)
        if state.tiling._memory.is_bias != 1:
            value = state.tiling._memory.is_bias
            raise ArgumentValueError(
                operation, operand="tiling.is_bias", value=value, rule="1 where a bias is set", nearest=1
            )
        kind = state.bias_type or state.c
        state.bias = self._reached(operand(way.core, kind, tensor, "tensor", operation, site), operation, site)

    def disable_bias(self) -> None:
        """No bias from now on. Page: DisableBias."""
        self.state.bias = None

    def set_quant_scalar(self, quant_scalar: Any) -> None:
        """One factor for all results: a 64-bit word as fixpipe takes it. Page: SetQuantScalar."""
        operation = "Matmul.set_quant_scalar"
        self.state.allowed(operation, "enable_quant_vector")
        self.state.factor = index(quant_scalar, operation, "quant_scalar") & ((1 << 64) - 1)

    def set_quant_vector(self, quant_vector: Any) -> None:
        """A factor for each column of C: a GlobalTensor of 64-bit words. Page: SetQuantVector."""
        operation, state = "Matmul.set_quant_vector", self.state
        state.allowed(operation, "enable_quant_vector")
        if not isinstance(quant_vector, GlobalTensor):
            raise ArgumentTypeError(operation, operand="quant_vector", value=quant_vector, rule="a GlobalTensor")
        if quant_vector.dtype is not uint64:
            text = f"quant_vector has type {quant_vector.dtype}; rule: uint64"
            report(running(operation), "BAD_DTYPE", text, author(1), operation)
        state.factor, state.cut = quant_vector, None

    def set_hf32(self, enable_hf32: Any = False, trans_mode: Any = 0) -> None:
        """Round float32 operands to HF32, ties to even (`trans_mode` 0) or toward zero (1): set_hf32_mode and
        set_hf32_trans_mode in one, and so for every mmad of the core. Cube cores alone. Page: SetHF32.

        Device: this page has ties away from zero with 1; the page of the register that it sets, toward zero.
        """
        operation = "Matmul.set_hf32"
        self.state.cube_only(operation)
        on, to_zero = index(enable_hf32, operation, "enable_hf32"), index(trans_mode, operation, "trans_mode")
        if to_zero not in (0, 1):
            raise ArgumentValueError(operation, operand="trans_mode", value=to_zero, rule="0 or 1", nearest=1)
        set_hf32_mode(on)
        set_hf32_trans_mode(to_zero)

    def set_sparse_index(self, index_global: Any) -> None:
        """B is 4:2 compressed along K from now on, and this is its index: uint8 in NZ format, [K / 64, N, 8] with N
        rounded up to 16, two bits a kept element (mmad_with_sparse).

        B is int8, transposed, [N, K / 2]; base_k a multiple of 64. MDL template, kernels of cube cores alone.
        Page: SetSparseIndex.
        Device: B has to be declared by a type that the front end has no name for; without it the call has no effect.
        """
        operation, site, state = "Matmul.set_sparse_index", author(1), self.state
        state.cube_only(operation)
        for field, good, rule in (
            ("matmul_config", state.mdl, "the MDL template (get_mdl_config)"),
            ("b.dtype", state.b.dtype is int8, "int8"),
        ):
            if not good:
                raise ArgumentValueError(operation, operand=field, rule=rule)
        if not isinstance(index_global, GlobalTensor):
            raise ArgumentTypeError(operation, operand="index_global", value=index_global, rule="a GlobalTensor")
        buffered(operation, index_global, "index_global")
        if index_global.dtype is not uint8:
            text = f"index_global has type {index_global.dtype}; rule: uint8"
            report(running(operation), "BAD_DTYPE", text, site, operation)
        state.index, state.cut = index_global, None

    def set_user_def_info(self, tiling_ptr: Any) -> Any:
        """An address for callbacks, which the API has no name for: no effect. Page: SetUserDefInfo."""
        self.state.single_master("Matmul.set_user_def_info")
        if not isinstance(tiling_ptr, GlobalAddress):
            rule = "a GlobalAddress"
            raise ArgumentTypeError("Matmul.set_user_def_info", operand="tiling_ptr", value=tiling_ptr, rule=rule)
        return tiling_ptr

    def set_self_define_data(self, data_ptr: Any) -> Any:
        """A word for callbacks, which the API has no name for: no effect. Page: SetSelfDefineData."""
        self.state.allowed("Matmul.set_self_define_data", "enable_set_define_data")
        self.state.single_master("Matmul.set_self_define_data")
        return _pointer(data_ptr, "Matmul.set_self_define_data", "data_ptr")

    def set_workspace(self, addr: Any, size: Any = None) -> None:
        """Global memory for results that wait to be taken: of iterate(sync=False) and iterate_n_batch.

        `addr`: a GlobalTensor, or a GlobalAddress with `size` in elements. Page: SetWorkspace.
        """
        operation, state = "Matmul.set_workspace", self.state
        state.single_master(operation)
        if size is not None:
            _size(size, operation, "size")
        if isinstance(addr, GlobalTensor):
            addr = addr.get_phy_addr()
        if not isinstance(addr, GlobalAddress):
            rule = "a GlobalTensor or GlobalAddress"
            raise ArgumentTypeError(operation, operand="addr", value=addr, rule=rule)
        out = GlobalTensor()
        out.set_global_buffer(GlobalAddress(addr.array, addr.offset, state.c.dtype))
        state.workspace, state.taken = out, 0


for _side in (SetupCalls.set_tensor_a, SetupCalls.set_tensor_b):
    _side.__overloads__ = signatures("self, tensor, transpose=False", "self, scalar")  # type: ignore[attr-defined]


def _size(x: Any, operation: str, name: str) -> int:
    size = index(x, operation, name)
    if size < 1:
        raise ArgumentValueError(operation, operand=name, value=size, rule="1 or more elements", nearest=1)
    return size


def _pointer(x: Any, operation: str, name: str) -> Any:
    return x if isinstance(x, GlobalAddress) else ir_value.UInt64.pack(index(x, operation, name))
