"""Global memory: the launch's arrays, copied at the first store, and what is remembered of accesses to them.

Most arrays are only read, or only written in disjoint pieces. So an array keeps one bounding box of its reads and
one of its writes, and a log in which the accesses of one source line in a steady loop are one Stretch however many
turns it takes. Only when boxes meet is the log turned into a run map (`intervals`), which then takes every access.

An array's bytes are the caller's until the kernel stores: then they are copied into a block of our own with
padding behind it. Between arrays lies nothing: an address belongs to exactly one array or its padding.
"""

from __future__ import annotations

import numpy as np

from .intervals import Clash, RunMap
from .memory import UNDEFINED, Access

ALIGN = 512  # bytes; what the runtime of the device gives
PADDING = 4096  # bytes behind every array; published kernels stray that far on small shapes
NEVER = 1 << 62


class Stretch:
    """Accesses of one line by one pipe whose start and number grow in equal steps."""

    __slots__ = ("at", "count", "last", "me", "n_step", "step", "write")

    def __init__(self, me: Access, at: int, write: bool) -> None:
        self.me, self.at, self.write = me, at, write  # the first access
        self.count, self.step, self.n_step = 1, 0, 0
        self.last = at

    def takes(self, me: Access, at: int, write: bool) -> bool:
        """Whether this access continues the stretch; if so it is entered."""
        first = self.me
        if first[3].gm is not me[3].gm or first[5] != me[5] or first[2][0] is not me[2][0] or self.write is not write:
            return False
        count = self.count
        if count == 1:
            self.step, self.n_step = at - self.at, me[0] - first[0]
        elif at - self.last != self.step or me[0] - first[0] != self.n_step * count:
            return False
        self.count, self.last = count + 1, at
        return True

    def accesses(self) -> list[tuple[Access, int]]:
        """The accesses with their start bytes, in order."""
        n, slot, site, plan, turn, serial, clock = self.me
        return [
            ([n + k * self.n_step, slot, site, plan, turn, serial, clock], self.at + k * self.step)
            for k in range(self.count)
        ]


class GlobalArray:
    """One array of a launch. `name` is the kernel's parameter, `address` its place in the arena."""

    __slots__ = (
        "address",
        "data",
        "defined",
        "index",
        "lines",
        "log",
        "name",
        "nbytes",
        "owned",
        "read_high",
        "read_low",
        "source",
        "stores",
        "write_high",
        "write_low",
    )

    def __init__(self, name: str, address: int, source: memoryview, defined: bool = True) -> None:
        self.name, self.address, self.source = name, address, source
        self.nbytes = source.nbytes
        self.data = source  # bytes as the kernel sees them
        self.owned = False
        self.defined: np.ndarray | None = None if defined else np.zeros(self.nbytes + PADDING, np.bool_)
        self.forget()

    def forget(self) -> None:
        """No access so far."""
        self.read_low = self.write_low = NEVER
        self.read_high = self.write_high = -NEVER
        self.log: list[Stretch] = []
        self.lines: dict[int, Stretch] = {}  # open stretch by instruction offset
        self.index: RunMap | None = None
        self.stores = 0

    def own(self) -> None:
        """Take a private, padded copy; from now on `data` may be written."""
        block = np.empty(self.nbytes + PADDING, np.uint8)
        block[: self.nbytes] = np.frombuffer(self.data, np.uint8)
        block[self.nbytes :] = UNDEFINED
        self.data, self.owned = memoryview(block), True  # type: ignore[arg-type]

    def restore(self, initial: bytes | memoryview) -> None:
        """Bytes as before the launch, in the private copy (for a replay)."""
        if not self.owned:
            self.own()
        self.data[: self.nbytes] = initial

    def read(self, at: int, end: int, me: Access, clash: Clash) -> None:
        """An access of `me`'s plan reads from byte `at` to `end` (its runs, where it has gaps)."""
        if at < self.read_low:
            self.read_low = at
        if end > self.read_high:
            self.read_high = end
        if self.index is None:
            if at >= self.write_high or end <= self.write_low:
                stretch = self.lines.get(me[2][1])
                if stretch is None or not stretch.takes(me, at, False):
                    self._open(me, at, False)
                return
            self._build()
        for a, b in self._inside(me, at):
            self.index.read(a, b, me, clash)  # type: ignore[union-attr]

    def write(self, at: int, end: int, me: Access, clash: Clash) -> None:
        """The same for a store."""
        self.stores += 1
        if self.index is None:
            if (at >= self.write_high or end <= self.write_low) and (at >= self.read_high or end <= self.read_low):
                stretch = self.lines.get(me[2][1])
                if stretch is None or not stretch.takes(me, at, True):
                    self._open(me, at, True)
            else:
                self._build()
        if at < self.write_low:
            self.write_low = at
        if end > self.write_high:
            self.write_high = end
        if self.index is not None:
            atomic = me[3].gm.atomic
            for a, b in self._inside(me, at):
                self.index.write(a, b, me, clash, atomic)

    def _inside(self, me: Access, at: int) -> list[tuple[int, int]]:
        """The runs of an access, without what strays into the padding: that is reported as a stray alone."""
        runs = me[3].gm.runs(at)
        size = self.nbytes
        return runs if runs[-1][1] <= size else [(a, min(b, size)) for a, b in runs if a < size]

    def _open(self, me: Access, at: int, write: bool) -> None:
        stretch = self.lines[me[2][1]] = Stretch(me, at, write)
        self.log.append(stretch)

    def _build(self) -> None:
        """Enter the log into a run map. Nothing in it conflicts: the boxes had not met."""
        self.index = index = RunMap()
        for stretch in self.log:
            for me, at in stretch.accesses():
                for a, b in self._inside(me, at):
                    if stretch.write:
                        index.write(a, b, me, _agree, me[3].gm.atomic)
                    else:
                        index.read(a, b, me, _agree)
        self.log, self.lines = [], {}


def _agree(earlier: Access, a: int, b: int, write: bool) -> None:
    """For entries that are known not to conflict."""


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
