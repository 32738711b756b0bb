"""GlobalAddress: a typed pointer into an argument of the launch."""

from __future__ import annotations

from typing import Any, NoReturn

from ...hw.errors import ArgumentTypeError
from ...hw.global_memory import GlobalArray
from .dtype import DataType
from .place import index


class GlobalAddress:
    """A pointer to elements of one type in global memory. `address + n` moves it by n elements; nothing else does.

    `dtype` is the element type, `array` the argument it points into, `offset` the distance from its start in bytes.
    Ascend C: a kernel argument `__gm__ T*`.
    """

    __slots__ = ("array", "dtype", "offset")

    def __init__(self, array: GlobalArray, offset: int, dtype: DataType) -> None:
        self.array, self.offset, self.dtype = array, offset, dtype

    def __add__(self, elements: Any) -> GlobalAddress:
        return GlobalAddress(
            self.array, self.offset + index(elements, "GlobalAddress +", "elements") * self.dtype.size, self.dtype
        )

    __radd__ = __add__

    def __sub__(self, other: Any) -> GlobalAddress:
        raise ArgumentTypeError("GlobalAddress -", "an address can only be moved by +", operand="elements", value=other)

    def __getitem__(self, key: Any) -> NoReturn:
        rule = "g = asc.GlobalTensor(), g.set_global_buffer(address), then g[i:], g.get_value(i), g.set_value(i, value)"
        raise ArgumentTypeError("GlobalAddress[]", "an address has no elements", operand="index", value=key, rule=rule)

    def __setitem__(self, key: Any, value: Any) -> None:
        self[key]

    def __repr__(self) -> str:
        return f"GlobalAddress({self.array.name} + {self.offset} bytes, {self.dtype})"
