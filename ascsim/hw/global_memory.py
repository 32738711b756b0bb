"""Global memory: the launch's arrays, copied at the first store, and what is remembered of accesses to them.

Most arrays are only read, or only written in disjoint pieces. So an array keeps a log, in which the accesses of one
source line in a steady loop are one Stretch however many turns it takes. Only when an array is both read and written,
or stores may meet, or lie among too many others, is the log turned into a run map (`intervals`), which then takes
every access.

An array's bytes are the caller's until the kernel stores: from then on a block of our own, with padding behind it,
takes the stores, and is filled from the caller's array as far as needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .intervals import Clash, RunMap
from .memory import UNDEFINED
from .partition import Access
from .stretch import NOWHERE, Stretch

if TYPE_CHECKING:
    from .instruction import GmShape, Plan

PADDING = 4096  # bytes behind every array; published kernels stray that far on small shapes
MANY = 128  # stores that the next one is compared with one by one, before a run map pays
ENDED = -1 - PADDING  # size of an array whose launch has ended: every access lies outside


class GlobalArray:
    """One array of a launch. `name` is the kernel's parameter, `address` its place in the arena."""

    __slots__ = (
        *("address", "data", "defined", "high", "index", "lines", "log", "low", "name", "nbytes", "owned", "read_only"),
        *("source", "stores", "write_only"),
    )

    def __init__(self, name: str, address: int, source: memoryview, defined: bool = True) -> None:
        self.name, self.address, self.source = name, address, source
        self.nbytes = source.nbytes
        self.data = source  # bytes as the kernel sees them
        self.owned = False
        self.low = self.high = -1
        self.defined: np.ndarray | None = None if defined else np.zeros(self.nbytes + PADDING, np.bool_)
        self.forget()

    def forget(self) -> None:
        """No access so far."""
        quiet = self.defined is None  # an array with undefined bytes is looked at access by access
        self.read_only = self.write_only = quiet  # no store, no load so far
        self.log: list[Stretch] = []
        self.lines: dict[tuple[Plan, int], Stretch] = {}  # open stretch by plan and instruction offset
        self.index: RunMap | None = None if quiet else RunMap()
        self.stores = 0

    def close(self) -> None:
        """A core has ended: its stretches take no more, for the next one counts its instructions from 0 again."""
        for stretch in self.lines.values():
            stretch.next_at = NOWHERE
        self.lines.clear()

    def own(self) -> None:
        """Take a private, padded block; from now on `data` may be written. It holds the array from `low` to `high`:
        one run that grows with the stores, so that bytes which are overwritten anyway are not copied first."""
        if self.owned:
            return
        block = np.empty(self.nbytes + PADDING, np.uint8)
        block[self.nbytes :] = UNDEFINED
        self.data, self.owned = memoryview(block), True  # type: ignore[arg-type]
        self.low = self.high = 0

    def claim(self, at: int, end: int, fill: bool) -> None:
        """Before a store to bytes `at` to `end`; `fill` where it leaves some of them as they are, or reads them."""
        if not self.owned:
            self.own()
            self.low = self.high = at
        if fill:
            self.cover(at, end)
        self._copy(self.high, at)
        self._copy(end, self.low)
        self.low, self.high = min(self.low, at), max(self.high, end)

    def cover(self, at: int, end: int) -> None:
        """Before a load of bytes `at` to `end`: a private block must hold them."""
        if self.owned:
            self._copy(at, self.low)
            self._copy(self.high, end)
            self.low, self.high = min(self.low, at), max(self.high, end)

    def _copy(self, at: int, end: int) -> None:
        """Bytes from the caller's memory; the padding is ours already."""
        at, end = max(at, 0), min(end, self.nbytes)
        if at < end:
            self.data[at:end] = self.source[at:end]

    def bytes(self, at: int, end: int) -> memoryview:
        """Bytes as the kernel sees them now."""
        self.cover(at, end)
        return self.data[at:end]

    def give_back(self) -> None:
        """Copy what was written into the caller's memory."""
        if self.stores:
            high = min(self.high, self.nbytes)
            self.source[self.low : high] = self.data[self.low : high]

    def release(self) -> None:
        """The launch has ended: let go of all memory. A later access is a stray, and refused (`bounds`)."""
        self.source = self.data = memoryview(b"")
        self.nbytes = ENDED
        self.log, self.lines, self.index, self.defined = [], {}, None, None

    def rewind(self, initial: Any) -> None:
        """As before the launch, with these bytes."""
        self.source = self.data = memoryview(initial)
        self.owned = False
        self.low = self.high = -1
        if self.defined is not None:
            self.defined[:] = False
        self.forget()

    def restore(self, initial: Any) -> None:
        """Put these bytes into the private block (for a replay)."""
        self.own()
        self.data[: self.nbytes] = initial
        self.low, self.high = 0, self.nbytes

    def read(self, at: int, end: int, me: Access, clash: Clash) -> None:
        """An access of `me`'s plan reads from byte `at` to `end` (its runs, where it has gaps)."""
        if self.index is None:
            self.write_only = False
            if self.read_only:
                self._log(me, at)
                return
            self._build()
        for a, b in self._inside(me, at):
            self.index.read(a, b, me, clash)  # type: ignore[union-attr]

    def write(self, at: int, end: int, me: Access, clash: Clash) -> None:
        """The same for a store; called before `claim`, so that all stores so far lie between `low` and `high`."""
        self.stores += 1
        if self.index is None:
            self.read_only = False
            if self.write_only and (at >= self.high or end <= self.low or self._apart(me[3].gm, at)):
                self._log(me, at)
                return
            self._build()
        self.index.store(self._inside(me, at), me, clash, me[3].gm.atomic)  # type: ignore[union-attr]

    def _apart(self, shape: GmShape, at: int) -> bool:
        """Whether a store meets none of those in the log, of which not too many are looked at."""
        return sum(stretch.count for stretch in self.log) <= MANY and all(s.apart(shape, at) for s in self.log)

    def _inside(self, me: Access, at: int) -> list[tuple[int, int]]:
        """The runs of an access, without what strays into the padding: that is reported as a stray alone."""
        runs = me[3].gm.runs(at)
        size = self.nbytes
        return runs if runs[-1][1] <= size else [(a, min(b, size)) for a, b in runs if a < size]

    def _log(self, me: Access, at: int) -> None:
        plan = me[3]
        stretch = self.lines.get((plan, me[2][1]))
        if stretch is None or stretch.me[5] != me[5] or stretch.site != me[2]:
            stretch = None
        elif stretch.next_n < 0:
            stretch.second(me, at)
        elif stretch.next_at == at and stretch.next_n == me[0]:
            stretch.next_at, stretch.next_n = at + stretch.step, me[0] + stretch.n_step
        else:
            stretch = None
        if stretch is None:
            stretch = self.lines[plan, me[2][1]] = Stretch(self, me, at)
            self.log.append(stretch)
        if stretch.step >= 0 and (plan.gm.plain or not plan.stores):
            plan.stretch = stretch  # `issue` looks there first, where it need not look below the array

    def runmap(self) -> RunMap:
        """The run map; from now on it takes every access."""
        if self.index is None:
            self._build()
        return self.index  # type: ignore[return-value]

    def _build(self) -> None:
        """Enter the log into a run map. Nothing in it conflicts: only reads, or stores whose boxes never met."""
        self.index = index = RunMap()
        self.read_only = self.write_only = False
        accesses = [access for stretch in self.log for access in stretch.accesses()]
        for me, at in sorted(accesses, key=lambda access: access[0][0]):
            runs = self._inside(me, at)
            if me[3].gm.write:
                index.store(runs, me, _agree, me[3].gm.atomic)
                continue
            for a, b in runs:
                index.read(a, b, me, _agree)
        self.log, self.lines = [], {}


def _agree(earlier: Access, a: int, b: int, write: bool) -> None:
    """For entries that are known not to conflict."""
