"""LocalTensor: a typed view of a core's local memory, and LocalTensorAuto, which the compiler places.

Vendor's pages: LocalTensor and its members (GetSize, SetValue, ReinterpretCast ...). A tensor may be declared larger
than its memory: the declaration is no fault, an access is.
"""

from __future__ import annotations

import math
import sys
from os import PathLike
from typing import Any, NoReturn

import numpy as np

from ...hw.core import Core
from ...hw.errors import ArgumentTypeError, ArgumentValueError, ScalarError
from ...hw.findings import author
from . import ir_value
from .dtype import DataType, float32
from .enums import TPosition
from .ir_value import Int32
from .made import remember
from .place import MEMORY_OF, Place, call_stack, claim, element_type, index, place, running
from .scalar_access import load_element, store_element
from .types import ShapeInfo, TensorShape

_getframe = sys._getframe


class BaseTensor:
    """What local and global tensors share: an element type and shape information."""

    __slots__ = ()

    dtype: DataType

    # What Python would make of a tensor by itself is never what the author means: a walk without end, a comparison of
    # identities, a truth that is always the same; and numpy would make an array of one object of it.

    def _no_value(self, *_: Any) -> NoReturn:
        raise ScalarError(
            type(self).__name__, "a tensor is no scalar and no sequence", rule="t.get_value(i), for i in asc.range(n)"
        )

    def _no_operand(self, *_: Any, **__: Any) -> NoReturn:
        rule = "asc.add(dst, src0, src1, count) and the like for its elements, t.get_value(i) for one of them"
        raise ScalarError(type(self).__name__, "a tensor is no operand of Python's operators or of numpy", rule=rule)

    __iter__ = __contains__ = __bool__ = __len__ = __float__ = __int__ = __index__ = _no_value
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _no_value
    __hash__ = object.__hash__
    __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = __matmul__ = _no_operand
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = __rmatmul__ = _no_operand
    __and__ = __or__ = __xor__ = __rand__ = __ror__ = __rxor__ = __neg__ = __abs__ = __invert__ = _no_operand
    __array__ = __array_ufunc__ = __array_function__ = _no_operand


def shape_of(info: Any) -> ShapeInfo:
    """What set_shape_info takes."""
    if not isinstance(info, ShapeInfo):
        raise ArgumentTypeError("set_shape_info", "is no ShapeInfo", operand="shape_info", value=info)
    return info


def start_of(key: Any, operation: str) -> int:
    """The offset that `t[i]` or `t[i:]` names, in elements; a stop, a step or nothing at all is refused."""
    if key.__class__ is slice:
        if key.start is None or key.stop is not None or key.step is not None:
            raise ArgumentValueError(
                operation,
                "a tensor slice has a start and nothing else",
                operand="slice",
                value=key,
                rule="t[i] or t[i:]",
            )
        key = key.start
    return index(key, operation, "offset")


class LocalTensor(BaseTensor):
    """A tensor in local memory.

    LocalTensor(dtype, pos, addr, tile_size): `addr` in bytes from the start of the memory of `pos`, `tile_size` in
    elements (0: to the end of the memory). LocalTensor(dtype) has no memory yet; a queue or set_addr_with_offset
    gives it some. `t[i]` and `t[i:]` are views that start i elements in. Page: LocalTensor.
    """

    __slots__ = ("extra", "held", "place")

    place: Place
    held: Any  # the lease of the queue that gave the buffer; a LeasedTensor has one
    extra: dict[str, Any]  # user tag and shape

    def __init__(
        self,
        dtype: DataType = float32,
        pos: TPosition | int | None = TPosition.VECIN,
        addr: Any = None,
        tile_size: Any = 0,
    ) -> None:
        core = running("LocalTensor")
        dtype, pos = element_type(dtype, "LocalTensor"), ir_value.unwrap(pos)
        if addr is None and not isinstance(pos, TPosition) and pos is not None:
            pos, addr = TPosition.VECIN, pos  # the form (dtype, addr)
        where = position(TPosition.VECIN if pos is None else pos, "LocalTensor")
        if addr is None:
            self.place = place(core, where, dtype, 0, 0).dead(
                "QUE_NOT_INIT", "this tensor has no memory: no queue, buffer or address was given to it"
            )
            return
        start = index(addr, "LocalTensor", "addr")
        elements = index(tile_size, "LocalTensor", "tile_size")
        if start < 0 or elements < 0:
            name, bad = ("addr", start) if start < 0 else ("tile_size", elements)
            raise ArgumentValueError("LocalTensor", "negative", operand=name, value=bad, rule="0 or more", nearest=0)
        memory = core.memories.get(MEMORY_OF[where])
        nbytes = elements * dtype.size if elements else max(0, (memory.size if memory else 0) - start)
        self.place = place(core, where, dtype, start, nbytes)
        remember(core, self.place, author(1))

    @classmethod
    def _at(
        cls, core: Core, pos: TPosition, dtype: DataType, start: int, nbytes: int, lease: Any = None
    ) -> LocalTensor:
        """A tensor at a known place (queues, buffers, allocators)."""
        return _tensor(place(core, pos, dtype, start, nbytes), lease)

    # ------------------------------------------------------------------ views

    @property
    def dtype(self) -> DataType:  # type: ignore[override]
        """Element type."""
        return self.place.dtype

    @property
    def shape(self) -> TensorShape:
        """Elements, as a shape."""
        return TensorShape(self.place.nbytes // self.place.dtype.size)

    def __getitem__(self, key: Any) -> LocalTensor:
        """`t[i]`, `t[i:]`: the tensor that starts i elements in."""
        start = key.start if key.__class__ is slice and key.stop is None and key.step is None else key
        if start.__class__ is Int32:
            start = start.v
        elif start.__class__ is not int:
            start = start_of(key, "LocalTensor[]")
        here = self.place
        try:
            view = here.views[start]
        except KeyError:
            view = here.offset(start)
        out = _new(LocalTensor)
        out.place = view
        return out

    def __call__(self, index: Any) -> LocalTensor:
        """Ascend C's element access, declared to give a tensor: the view at `index`."""
        return self[index]

    def __setitem__(self, key: Any, value: Any) -> None:
        frame = _getframe(1)
        store_element(self.place, start_of(key, "LocalTensor[] ="), value, (frame.f_code, frame.f_lasti))

    def reinterpret_cast(self, dtype: DataType) -> LocalTensor:
        """The same bytes as elements of another type. Page: ReinterpretCast."""
        here, dtype = self.place, element_type(dtype, "reinterpret_cast")
        return self._derived(place(here.core, here.position, dtype, here.start, here.nbytes))

    def _derived(self, where: Place) -> LocalTensor:
        fault = self.place.fault
        return _tensor(where if fault is None else where.dead(*fault), self.lease)

    def _resize(self, nbytes: int) -> None:
        here = self.place
        where = place(here.core, here.position, here.dtype, here.start, nbytes)
        remember(here.core, where, author(2))
        self.place = where if here.fault is None or here.nbytes == 0 else where.dead(*here.fault)

    # ------------------------------------------------------------------ sizes and addresses

    def get_size(self) -> ir_value.PlainValue:
        """Elements (int32). Page: GetSize."""
        return ir_value.int32(self.place.nbytes // self.place.dtype.size)

    def get_length(self) -> ir_value.PlainValue:
        """Bytes (uint32). Page: GetLength."""
        return ir_value.UInt32.pack(self.place.nbytes)

    def set_size(self, size: Any = 0) -> None:
        """Change the number of elements; the address stays. Page: SetSize."""
        elements = _natural(size, "set_size", "size")
        self._resize(elements * self.place.dtype.size)

    def set_buffer_len(self, data_len: Any) -> None:
        """Change the length in bytes; the address stays. Page: SetBufferLen."""
        self._resize(_natural(data_len, "set_buffer_len", "data_len"))

    def set_addr_with_offset(self, src: LocalTensor, offset: Any) -> None:
        """Start where `src` has its element `offset`; the own element type stays. Page: SetAddrWithOffset."""
        if not isinstance(src, LocalTensor):
            raise ArgumentTypeError("set_addr_with_offset", "is no LocalTensor", operand="src", value=src)
        there = src.place.live
        shift = _natural(offset, "set_addr_with_offset", "offset") * there.dtype.size
        dtype = self.place.dtype
        self.place = place(there.core, there.position, dtype, there.start + shift, max(0, there.nbytes - shift))
        if src.lease is not None:
            self._hold(src.lease)

    @property
    def lease(self) -> Any:
        """What the tensors of one buffer of a queue share; None for a tensor that no queue gave."""
        return None

    def _hold(self, lease: Any) -> None:
        """Belong to a queue's buffer from now on."""
        self.__class__ = LeasedTensor
        self.held = lease
        lease.tensors.append(self)

    def get_phy_addr(self, offset: Any = 0) -> ir_value.PlainValue:
        """Byte address in the physical memory, `offset` elements in (uint64). Page: GetPhyAddr."""
        here = self.place
        address = here.start + index(offset, "get_phy_addr", "offset") * here.dtype.size
        here.core.state.setdefault("addresses", {})[address] = here.dtype  # for calls that take bare addresses
        return ir_value.UInt64.pack(address)

    def get_position(self) -> ir_value.PlainValue:
        """The TPosition, as a number (int32). Page: GetPosition."""
        return ir_value.int32(int(self.place.position))

    # ------------------------------------------------------------------ tag and shape

    def _extra(self) -> dict[str, Any]:
        """Tag and shape; made when first asked for, since few tensors have any."""
        try:
            return self.extra
        except AttributeError:
            self.extra = {}
            return self.extra

    def set_user_tag(self, tag: Any = 0) -> None:
        """Attach a number (int32) of the author's. Page: SetUserTag."""
        self._extra()["tag"] = index(tag, "set_user_tag", "tag")

    def get_user_tag(self) -> ir_value.PlainValue:
        """The number attached, 0 where none was. Page: GetUserTag."""
        return ir_value.int32(self._extra().get("tag", 0))

    def set_shape_info(self, shape_info: ShapeInfo) -> None:
        """Attach shape information. Page: SetShapeInfo."""
        self._extra()["shape"] = shape_of(shape_info)

    def get_shape_info(self) -> ShapeInfo:
        """The shape information attached; an empty one where none was. Page: GetShapeInfo."""
        return self._extra().get("shape") or ShapeInfo()

    # ------------------------------------------------------------------ elements

    def get_value(self, index: Any) -> ir_value.PlainValue:
        """One element, read by the scalar unit; VECIN, VECOUT, VECCALC only. Page: GetValue."""
        frame = _getframe(1)
        return load_element(self.place, index, (frame.f_code, frame.f_lasti))

    def set_value(self, index: Any, value: Any) -> None:
        """One element, written by the scalar unit; VECIN, VECOUT, VECCALC only. Page: SetValue."""
        frame = _getframe(1)
        store_element(self.place, index, value, (frame.f_code, frame.f_lasti))

    def print(self, data_len: Any) -> None:
        """Print the first elements, one 32-byte block a line. Page: Print (CPU debugging)."""
        values = _first(self.place, data_len, "print")
        width = 32 // self.place.dtype.size
        for first in range(0, values.size, width):
            sys.stdout.write(f"{first:04d}: {' '.join(str(v) for v in values[first : first + width].tolist())}\n")

    def to_file(self, file_name: str) -> None:
        """Write the tensor's bytes to a file. Page: ToFile (CPU debugging)."""
        here = self.place
        if not isinstance(file_name, (str, PathLike)):
            raise ArgumentTypeError("to_file", "is no path", operand="file_name", value=file_name)
        with open(file_name, "wb") as file:
            file.write(_first(here, here.nbytes // here.dtype.size, "to_file").tobytes())

    def __repr__(self) -> str:
        return f"LocalTensor({self.place.text()})"


_new: Any = LocalTensor.__new__


def _tensor(where: Place, lease: Any) -> LocalTensor:
    out: LocalTensor = _new(LocalTensor)
    out.place = where
    if lease is not None:
        out._hold(lease)
    return out


def _natural(x: Any, operation: str, operand: str) -> int:
    value = index(x, operation, operand)
    if value < 0:
        raise ArgumentValueError(operation, "negative", operand=operand, value=value, rule="0 or more", nearest=0)
    return value


def _first(where: Place, count: Any, operation: str) -> Any:
    """The first `count` elements as an array; none where this kind of core has no such memory."""
    elements = _natural(count, operation, "data_len")
    size = where.memory.size if where.memory is not None else 0
    most = max(0, min(where.nbytes, size - where.start)) // where.dtype.size
    if elements > most:
        raise ArgumentValueError(
            operation, "past the tensor", operand="elements", value=elements, rule=f"at most {most}", nearest=most
        )
    return where.array(elements) if where.memory is not None else np.empty(0, where.dtype.np)


def position(pos: Any, operation: str) -> TPosition:
    """A local TPosition; positions in global memory are refused."""
    if pos.__class__ is TPosition and pos in MEMORY_OF:
        return pos
    try:
        where = TPosition(index(pos, operation, "pos", "a TPosition"))
    except ValueError:
        where = TPosition.MAX
    if where not in MEMORY_OF:
        raise ArgumentValueError(
            operation,
            "is no local memory",
            operand="pos",
            value=pos,
            rule="one of " + ", ".join(p.name for p in MEMORY_OF),
        )
    return where


class LeasedTensor(LocalTensor):
    """A tensor of a queue's buffer: it and all that is made from it share the buffer's lease."""

    __slots__ = ()

    @property
    def lease(self) -> Any:
        """What the tensors of one buffer of a queue share."""
        return self.held

    def __getitem__(self, key: Any) -> LocalTensor:
        """`t[i]`, `t[i:]`: the tensor that starts i elements in."""
        return _tensor(self.place.offset(start_of(key, "LocalTensor[]")), self.held)


LeasedTensor.__name__ = LocalTensor.__name__  # what reports call it: authors know of one class


class LocalTensorAuto(LocalTensor):
    """A local tensor that the compiler places: one allocation a call site and call stack, made at its first turn.

    LocalTensorAuto(dtype, shape): shape is a number of elements or a tuple. Its use switches `insert_sync` on, which
    orders what the author has not. pyasc: LocalTensorAuto.
    """

    __slots__ = ()

    def __init__(self, dtype: DataType, shape: Any) -> None:
        core = running("LocalTensorAuto")
        dtype = element_type(dtype, "LocalTensorAuto")
        dims = shape if isinstance(shape, (tuple, list)) else (shape,)
        elements = math.prod(_natural(n, "LocalTensorAuto", "shape") for n in dims)
        nbytes = -(-elements * dtype.size // 32) * 32
        key = (call_stack(), dtype, nbytes)
        table: dict[Any, int] = core.state.setdefault("auto_tensors", {})
        start = table.get(key)
        if start is None:
            start = table[key] = core.state.get("auto_top", 0)
            claim(core, "UB", start, nbytes, f"LocalTensorAuto({dtype}, {shape})", author(1))
            core.state["auto_top"] = start + nbytes
        core.device.insert_sync = True
        self.place = place(core, TPosition.VECCALC, dtype, start, elements * dtype.size)
        remember(core, self.place, author(1))
