"""ListTensorDesc and TensorDesc: a list of tensors in global memory, found through pointers there.

The list, in words of 64 bits: the byte distance from its start to the pointers; for each tensor its number of
dimensions (low half) and its index (high half), then its dimensions; then one pointer a tensor. A list without shapes
holds 24, the number of tensors in a high half, 0xFFFFFFFF, and the pointers. Pointers are addresses of the host (of a
numpy array `a.ctypes.data`, of a torch tensor `t.data_ptr()`); they must lie in arguments of the launch.

Words are read by the scalar unit through its data cache. Not modelled: the memory behind set_shape_addr (get_shape
reads what get_desc found), and pointers to memory that is no argument. Pages: ListTensorDesc, TensorDesc.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...hw.cache import load
from ...hw.core import Core
from ...hw.errors import ArgumentTypeError, ArgumentValueError
from ...hw.findings import Site, author
from ..core.address import GlobalAddress
from ..core.dtype import DataType, float32
from ..core.global_tensor import GlobalTensor
from ..core.ir_value import Int64, PlainValue, UInt32, UInt64
from ..core.place import element_type, running
from ..core.place import index as to_index

WORD = 8  # bytes
HALF = (1 << 32) - 1  # the low half of a word; also "not given"
NO_SHAPES = 24  # bytes from the start to the pointers of a list without shapes


class TensorDesc:
    """What ListTensorDesc.get_desc finds out about one tensor of the list. Page: TensorDesc."""

    __slots__ = ("_data", "_index", "_shape", "_shape_addr", "dtype")

    def __init__(self, dtype: DataType = float32) -> None:
        running("TensorDesc")
        self.dtype = element_type(dtype, "TensorDesc")
        self._data: GlobalAddress | None = None
        self._index = 0
        self._shape: tuple[int, ...] = ()
        self._shape_addr: int | None = None

    def set_shape_addr(self, shape_ptr: Any) -> None:
        """Where the device keeps the dimensions; needed before get_desc. Page: SetShapeAddr."""
        self._shape_addr = to_index(shape_ptr, "TensorDesc.set_shape_addr", "shape_ptr")

    def get_dim(self) -> PlainValue:
        """Number of dimensions (uint64). Page: GetDim."""
        return UInt64.pack(len(self._shape))

    def get_index(self) -> PlainValue:
        """Number of the tensor in its list (uint64). Page: GetIndex."""
        return UInt64.pack(self._index)

    def get_shape(self, offset: Any) -> PlainValue:
        """One dimension (int64). Page: GetShape."""
        at = _inside("TensorDesc.get_shape", "offset", offset, len(self._shape))
        return Int64.pack(self._shape[at])

    def get_data_ptr(self) -> GlobalAddress:
        """Address of the tensor's data. Page: GetDataPtr."""
        if self._data is None:
            raise ArgumentValueError("TensorDesc.get_data_ptr", "describes nothing yet", rule="call get_desc first")
        return self._data

    def get_data_obj(self) -> GlobalTensor:
        """The tensor's data as a GlobalTensor of as many elements as the shape has. Page: GetDataObj."""
        out = GlobalTensor()
        out.set_global_buffer(self.get_data_ptr(), prod(self._shape))
        return out


class ListTensorDesc:
    """A list of tensors in global memory. Page: ListTensorDesc.

    ListTensorDesc() and `init`, or ListTensorDesc(data, length, shape_size): `length` (bytes of the list) and
    `shape_size` (number of tensors) are compared with the list where both are given.
    """

    __slots__ = ("_core", "_count", "_data", "_dims", "_pointers")

    def __init__(self, data: Any = None, length: Any = HALF, shape_size: Any = HALF) -> None:
        self._core = running("ListTensorDesc")
        self._data: GlobalAddress | None = None
        if data is not None:
            self._decode(data, length, shape_size, author(1))

    def init(self, data: Any, length: Any = HALF, shape_size: Any = HALF) -> None:
        """Point at a list. Page: ListTensorDesc."""
        self._decode(data, length, shape_size, author(1))

    def get_size(self) -> PlainValue:
        """Number of tensors (uint32). Page: ListTensorDesc."""
        self._start("get_size")
        return UInt32.pack(self._count)

    def get_desc(self, desc: TensorDesc, index: Any) -> None:
        """Fill in `desc` for one tensor. Page: ListTensorDesc."""
        site, name = author(1), "ListTensorDesc.get_desc"
        start = self._start("get_desc")
        if not isinstance(desc, TensorDesc):
            raise ArgumentTypeError(name, "is none", operand="desc", value=desc, rule="a TensorDesc")
        if desc._shape_addr is None:
            raise ArgumentValueError(name, "has no room for the shape", operand="desc", rule="set_shape_addr first")
        if not self._dims:
            raise ArgumentValueError(name, "the list holds no shapes", rule="get_data_ptr(index, dtype)")
        at = _inside(name, "index", index, self._count)
        entry = start + WORD * (1 + at * (1 + self._dims))
        desc._shape = tuple(self._word(entry + WORD * (i + 1), site) for i in range(self._dims))
        desc._index = at
        desc._data = self._pointer(name, at, desc.dtype, site)

    def get_data_ptr(self, index: Any, dtype: DataType) -> GlobalAddress:
        """Address of one tensor's data, as elements of `dtype`. Page: ListTensorDesc."""
        name = "ListTensorDesc.get_data_ptr"
        self._start("get_data_ptr")
        kind = element_type(dtype, name)
        return self._pointer(name, _inside(name, "index", index, self._count), kind, author(1))

    def _start(self, operation: str) -> int:
        if self._data is None:
            raise ArgumentValueError(f"ListTensorDesc.{operation}", "has no list yet", rule="call init(data) first")
        return self._data.offset

    def _word(self, at: int, site: Site) -> int:
        assert self._data is not None
        return int.from_bytes(load(self._core, self._data.array, at, WORD, site), "little")

    def _decode(self, data: Any, length: Any, shape_size: Any, site: Site) -> None:
        if not isinstance(data, GlobalAddress):
            rule = "a kernel's array argument"
            raise ArgumentTypeError("ListTensorDesc", "is no GlobalAddress", operand="data", value=data, rule=rule)
        self._data = data
        distance, first = self._word(data.offset, site), self._word(data.offset + WORD, site)
        self._pointers = data.offset + distance
        self._dims = first & HALF
        entry = WORD * (1 + self._dims or 2)
        if self._dims:
            # The first tensor's index is 0; the number of tensors follows from the last one's.
            self._count = first >> 32 or (self._word(self._pointers - entry, site) >> 32) + 1
            sound = distance == WORD + self._count * entry
        else:
            self._count = first >> 32
            sound = distance == NO_SHAPES and self._word(data.offset + 2 * WORD, site) == HALF
        if not sound:
            rule = "8 bytes, then an entry of 8 * (1 + dimensions) bytes a tensor; 24 for a list without shapes"
            raise ArgumentValueError(
                "ListTensorDesc",
                "does not fit its entries",
                operand="distance to the pointers",
                value=distance,
                rule=rule,
            )
        nbytes, many = (
            to_index(x, "ListTensorDesc", name) for x, name in ((length, "length"), (shape_size, "shape_size"))
        )
        if nbytes != HALF and many != HALF:
            for name, given, real in (
                ("shape_size", many, self._count),
                ("length", nbytes, distance + self._count * WORD),
            ):
                if given != real:
                    raise ArgumentValueError(
                        "ListTensorDesc", "is not the list's", operand=name, value=given, rule=str(real), nearest=real
                    )

    def _pointer(self, operation: str, at: int, dtype: DataType, site: Site) -> GlobalAddress:
        return _resolved(self._core, operation, at, self._word(self._pointers + WORD * at, site), dtype)


def _inside(operation: str, name: str, given: Any, count: int) -> int:
    at = to_index(given, operation, name)
    if not 0 <= at < count:
        raise ArgumentValueError(
            operation,
            "is out of range",
            operand=name,
            value=at,
            rule=f"0 to {count - 1}",
            nearest=min(max(at, 0), max(count - 1, 0)),
        )
    return at


def _resolved(core: Core, operation: str, at: int, pointer: int, dtype: DataType) -> GlobalAddress:
    """A host address as a place in the argument of the launch that holds it."""
    for array in core.device.arena.arrays:
        base = np.frombuffer(array.source, np.uint8).ctypes.data if array.nbytes else 0
        if base <= pointer < base + array.nbytes:
            return GlobalAddress(array, pointer - base, dtype)
    rule = "an address in an array that is an argument of the launch"
    raise ArgumentValueError(operation, "points nowhere", operand=f"pointer {at}", value=hex(pointer), rule=rule)


__all__ = ["ListTensorDesc", "TensorDesc"]
