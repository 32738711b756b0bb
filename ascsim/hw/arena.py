"""Addresses of global memory. Between arrays lies nothing: an address belongs to one array or its padding."""

from __future__ import annotations

from .global_memory import PADDING, GlobalArray

ALIGN = 512  # bytes; what the runtime of the device gives


class Arena:
    """Addresses for arrays: aligned, padded, never reused within a launch."""

    __slots__ = ("arrays", "top")

    def __init__(self) -> None:
        self.arrays: list[GlobalArray] = []
        self.top = 1 << 40

    def add(self, name: str, source: memoryview, defined: bool = True) -> GlobalArray:
        """Give an array its place."""
        array = GlobalArray(name, self.top, source, defined)
        self.top += -(-(source.nbytes + PADDING) // ALIGN) * ALIGN
        self.arrays.append(array)
        return array

    def at(self, address: int) -> GlobalArray | None:
        """The array that owns an address, padding included."""
        for array in self.arrays:
            if array.address <= address < array.address + array.nbytes + PADDING:
                return array
        return None
