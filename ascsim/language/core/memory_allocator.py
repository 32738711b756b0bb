"""LocalMemAllocator: consecutive buffers of one memory, with no events behind them."""

from __future__ import annotations

from typing import Any

from ...hw.errors import ArgumentValueError
from ...hw.findings import author
from . import ir_value
from .dtype import DataType
from .enums import Hardware, TPosition
from .made import remember
from .place import MEMORY_OF, claim, element_type, index, report, running
from .tensor import LocalTensor, position

_MEMORY = {
    Hardware.UB: "UB",
    Hardware.L1: "L1",
    Hardware.L0A: "L0A",
    Hardware.L0B: "L0B",
    Hardware.L0C: "L0C",
    Hardware.BIAS: "BT",
    Hardware.FIXBUF: "FB",
}


class LocalMemAllocator:
    """A bump pointer over one physical memory, for kernels without a TPipe.

    LocalMemAllocator(hard): `hard` names the memory (default UB). Page: LocalMemAllocator.
    """

    __slots__ = ("core", "memory", "top")

    def __init__(self, hard: Hardware = Hardware.UB) -> None:
        self.core = running("LocalMemAllocator")
        memory = _MEMORY.get(index(hard, "LocalMemAllocator", "hard", "a Hardware"))  # type: ignore[call-overload]
        if memory is None:
            rule = "one of " + ", ".join(f"Hardware.{name.name}" for name in _MEMORY)
            raise ArgumentValueError("LocalMemAllocator", "is no local memory", operand="hard", value=hard, rule=rule)
        self.memory, self.top = memory, 0

    def get_cur_addr(self) -> ir_value.PlainValue:
        """Byte address that the next buffer will have (uint32). Page: GetCurAddr."""
        return ir_value.UInt32.pack(self.top)

    def alloc(self, pos: TPosition, data_type: DataType, tile_size: Any) -> LocalTensor:
        """A tensor of `tile_size` elements at the pointer, which moves on by its bytes, rounded up to 32.

        Page: Alloc.
        """
        where = position(ir_value.unwrap(pos), "LocalMemAllocator.alloc")
        dtype = element_type(data_type, "LocalMemAllocator.alloc", "data_type")
        if MEMORY_OF[where] != self.memory:
            report(
                self.core,
                "BAD_POSITION",
                f"pos = {where.name} lies in {MEMORY_OF[where]}, this allocator hands out {self.memory}",
                author(1),
                "LocalMemAllocator.alloc",
            )
        elements = index(ir_value.unwrap(tile_size), "LocalMemAllocator.alloc", "tile_size")
        if elements < 0:
            raise ArgumentValueError(
                "LocalMemAllocator.alloc", "negative", operand="tile_size", value=elements, rule="0 or more", nearest=0
            )
        start = self.top
        nbytes = -(-elements * dtype.size // 32) * 32
        claim(self.core, self.memory, start, nbytes, f"alloc({where.name}, {dtype}, {elements})", author(1))
        self.top = start + nbytes
        out = LocalTensor._at(self.core, where, dtype, start, elements * dtype.size)
        remember(self.core, out.place, author(1))
        return out
