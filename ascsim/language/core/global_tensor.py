"""GlobalTensor: a typed window on an argument in global memory."""

from __future__ import annotations

import sys
from typing import Any

from ...hw.cache import load, store
from ...hw.errors import ArgumentTypeError, ArgumentValueError
from ...hw.findings import Site, author
from ...hw.findings import place as line_of
from ...hw.global_memory import GlobalArray
from . import ir_value
from .address import GlobalAddress
from .dtype import DataType, float32
from .enums import CacheMode, CacheRwMode
from .ir_value import Int32
from .place import index, member, report, running
from .scalar_access import from_bytes, to_bytes
from .tensor import BaseTensor, shape_of, start_of
from .types import ShapeInfo, TensorShape

_getframe = sys._getframe


class Window:
    """What every view of a global tensor shares: the array, where the tensor ends (bytes), its type, its extras, and
    the line that declared it."""

    __slots__ = ("array", "dtype", "elements", "end", "extra", "site", "size")

    def __init__(
        self, array: GlobalArray | None, end: int, dtype: DataType, elements: int, site: Site | None = None
    ) -> None:
        self.array, self.end, self.dtype, self.elements, self.site = array, end, dtype, elements, site
        self.size = dtype.size
        self.extra: dict[str, Any] = {}

    def origin(self) -> str:
        """`argument 'x' up to byte 256, declared by set_global_buffer at k.py:9`."""
        name = self.array.name if self.array is not None else "?"
        return f"argument {name!r} up to byte {self.end}, declared by set_global_buffer at {line_of(self.site)}"


UNSET = Window(None, -1, float32, 0)  # a tensor that has no buffer yet: no access fits in it


class GlobalTensor(BaseTensor):
    """A tensor in global memory: nothing until set_global_buffer. `t[i]`, `t[i:]` are views. Page: GlobalTensor."""

    __slots__ = ("start", "window")

    window: Window
    start: int  # byte offset in the window's array

    def __init__(self) -> None:
        self.window, self.start = UNSET, 0

    @property
    def dtype(self) -> DataType:  # type: ignore[override]
        """Element type; a GlobalTensor without buffer has none yet."""
        return self._set("dtype").dtype

    @property
    def shape(self) -> TensorShape:
        """Elements from here to the end of the buffer, as a shape."""
        window = self._set("shape")
        return TensorShape(max(0, window.end - self.start) // window.size)

    def _set(self, operation: str) -> Window:
        if self.window.array is None:
            raise ArgumentValueError(
                f"GlobalTensor.{operation}",
                "the tensor has no buffer yet",
                rule="call set_global_buffer(address) first",
            )
        return self.window

    def set_global_buffer(self, buffer: GlobalAddress | None = None, buffer_size: Any = None) -> None:
        """Point the tensor at an address; `buffer_size` in elements (default: to the end of the argument).

        Page: SetGlobalBuffer.
        """
        if not isinstance(buffer, GlobalAddress):
            raise ArgumentTypeError(
                "set_global_buffer",
                "is no GlobalAddress",
                operand="buffer",
                value=buffer,
                rule="a kernel's array argument",
            )
        elements = 0 if buffer_size is None else index(buffer_size, "set_global_buffer", "buffer_size")
        if elements < 0:
            raise ArgumentValueError(
                "set_global_buffer", "negative", operand="buffer_size", value=elements, rule="0 or more", nearest=0
            )
        end = buffer.array.nbytes if buffer_size is None else buffer.offset + elements * buffer.dtype.size
        self.window = Window(buffer.array, end, buffer.dtype, elements, author(1))
        self.start = buffer.offset

    def __getitem__(self, key: Any) -> GlobalTensor:
        """`t[i]`, `t[i:]`: the tensor that starts i elements in."""
        start = key.start if key.__class__ is slice and key.stop is None and key.step is None else key
        if start.__class__ is Int32:
            start = start.v
        elif start.__class__ is not int:
            start = start_of(key, "GlobalTensor[]")
        out: GlobalTensor = _new(GlobalTensor)
        window = out.window = self.window
        out.start = self.start + start * window.size
        return out

    def __call__(self, index: Any) -> GlobalTensor:
        """Ascend C's element access, declared to give a tensor: the view at `index`."""
        return self[index]

    def __setitem__(self, key: Any, value: Any) -> None:
        frame = _getframe(1)
        self._store(start_of(key, "GlobalTensor[] ="), value, (frame.f_code, frame.f_lasti))

    def get_phy_addr(self, offset: Any = 0) -> GlobalAddress:
        """The address, `offset` elements in. Page: GetPhyAddr."""
        window = self._set("get_phy_addr")
        shift = index(offset, "get_phy_addr", "offset") * window.size
        return GlobalAddress(window.array, self.start + shift, window.dtype)  # type: ignore[arg-type]

    def get_size(self) -> ir_value.PlainValue:
        """Elements as declared (uint64); 0 if set_global_buffer was given no size. Page: GetSize."""
        return ir_value.UInt64.pack(self._set("get_size").elements)

    def set_l2_cache_hint(
        self, mode: CacheMode = CacheMode.CACHE_MODE_NORMAL, rw_mode: CacheRwMode = CacheRwMode.RW
    ) -> None:
        """How L2 treats this tensor: no effect here. Page: SetL2CacheHint.

        Device: the hint changes times, never values; L2 is not modelled.
        """
        operation = "set_l2_cache_hint"
        hints = member(CacheMode, mode, operation, "mode"), member(CacheRwMode, rw_mode, operation, "rw_mode")
        self._set(operation).extra["l2"] = hints

    def set_shape_info(self, shape_info: ShapeInfo) -> None:
        """Attach shape information. Page: SetShapeInfo."""
        self._set("set_shape_info").extra["shape"] = shape_of(shape_info)

    def get_shape_info(self) -> ShapeInfo:
        """The shape information attached; an empty one where none was. Page: GetShapeInfo."""
        return self._set("get_shape_info").extra.get("shape") or ShapeInfo()

    def get_value(self, offset: Any) -> ir_value.PlainValue:
        """One element, read by the scalar unit through the data cache. Page: GetValue."""
        window = self._set("get_value")
        frame = _getframe(1)
        site = (frame.f_code, frame.f_lasti)
        at = self._element(offset, "get_value", site)
        raw = load(running("get_value"), window.array, at, window.size, site)  # type: ignore[arg-type]
        return from_bytes(raw, window.dtype)

    def set_value(self, offset: Any, value: Any) -> None:
        """One element, written by the scalar unit into the data cache; others see it after
        data_cache_clean_and_invalid. Page: SetValue."""
        frame = _getframe(1)
        self._store(offset, value, (frame.f_code, frame.f_lasti))

    def _store(self, offset: Any, value: Any, site: Any) -> None:
        window = self._set("set_value")
        at = self._element(offset, "set_value", site)
        raw = to_bytes(value, window.dtype, "set_value")
        store(running("set_value"), window.array, at, raw, site)  # type: ignore[arg-type]

    def _element(self, offset: Any, operation: str, site: Any) -> int:
        """Byte offset of an element; one outside the declared buffer is reported."""
        window = self.window
        at = self.start + index(offset, operation, "offset") * window.size
        if at + window.size > window.end or at < self.start:
            array = window.array
            assert array is not None
            most = max(0, (window.end - self.start) // window.size - 1)
            message = f"offset = {offset}; rule: 0 to {most}, the elements of the tensor; nearest legal value: {most}"
            if at < array.nbytes and at >= 0:
                core = running(operation)
                report(core, "OOB_BUF", f"{message}; tensor: {window.origin()}{core.loop()}", site, operation)
        return at

    def __repr__(self) -> str:
        array = self.window.array
        return f"GlobalTensor({array.name if array else 'no buffer'} + {self.start} bytes, {self.window.dtype})"


_new: Any = GlobalTensor.__new__
