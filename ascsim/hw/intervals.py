"""A run-length map from byte ranges of one global array to their last accesses.

Used once accesses to an array may conflict; until then `global_memory` keeps bounding boxes and a compressed log.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Any

from .partition import START, Access

# Kinds of update beside the author's atomic ones: a store that only a data cache has seen, and the clean bytes of a
# line that a data cache writes back whole (`cache`).
DIRTY, WHOLE_LINE = "dirty", "line"

Clash = Callable[[Access, int, int, bool], None]  # earlier access, first and last+1 common byte, earlier is a write


NONE: dict[Any, Access] = {}  # where nothing is kept yet: never changed, and shared by all


class RunCell:
    """Last plain write of one run, and the reads and the atomic updates since.

    Atomic updates of one kind do not conflict, so a later one supersedes neither the reads nor the others.
    """

    __slots__ = ("atomic", "reads", "write")

    def __init__(
        self,
        write: Access,
        reads: dict[tuple[int, int], Access] = NONE,
        atomic: dict[tuple[int, int, str], Access] = NONE,
    ) -> None:
        self.write, self.reads, self.atomic = write, reads, atomic

    def copy(self) -> RunCell:
        """The same of another run."""
        return RunCell(self.write, dict(self.reads) if self.reads else NONE, dict(self.atomic) if self.atomic else NONE)


class RunMap:
    """Sorted runs; the run that starts at `starts[i]` ends where the next one starts."""

    __slots__ = ("cells", "starts")

    def __init__(self) -> None:
        self.starts: list[int] = [-(1 << 62)]
        self.cells: list[RunCell] = [RunCell(START)]

    def _cut(self, at: int) -> int:
        """Make a run start at `at`; its index."""
        index = bisect_left(self.starts, at)
        if index < len(self.starts) and self.starts[index] == at:
            return index
        cell = self.cells[index - 1]
        self.starts.insert(index, at)
        self.cells.insert(index, cell.copy())
        return index

    def _common(self, index: int, a: int, b: int) -> tuple[int, int]:
        end = self.starts[index + 1] if index + 1 < len(self.starts) else b
        return max(a, self.starts[index]), min(b, end)

    def read(self, a: int, b: int, me: Access, clash: Clash) -> None:
        """Bytes a to b-1 are read: compare with the last write and the atomic updates since."""
        first, last = self._cut(a), self._cut(b)
        for index in range(first, last):
            cell = self.cells[index]
            lo, hi = self._common(index, a, b)
            clash(cell.write, lo, hi, True)
            for earlier in cell.atomic.values():
                clash(earlier, lo, hi, True)
            if cell.reads is NONE:
                cell.reads = {}
            cell.reads[me[5], me[1]] = me

    def write(self, a: int, b: int, me: Access, clash: Clash, atomic: str = "") -> None:
        """Bytes a to b-1 are written: compare with the reads since, or with the last write where there are none."""
        first, last = self._cut(a), self._cut(b)
        for index in range(first, last):
            cell = self.cells[index]
            lo, hi = self._common(index, a, b)
            for earlier in cell.reads.values():
                clash(earlier, lo, hi, False)
            for earlier in cell.atomic.values():
                if earlier[3].gm.atomic != atomic:
                    clash(earlier, lo, hi, True)
            if not cell.reads and (atomic or not cell.atomic):
                clash(cell.write, lo, hi, True)
            if atomic:
                if cell.atomic is NONE:
                    cell.atomic = {}
                cell.atomic[me[5], me[1], atomic] = me
        if not atomic:
            self.starts[first + 1 : last] = []
            self.cells[first:last] = [RunCell(me)]

    def store(self, runs: list[tuple[int, int]], me: Access, clash: Clash, atomic: str = "") -> None:
        """All runs of one access are written; of one that misses its array there is none."""
        if atomic or not runs or not self._fresh(runs, me, clash):
            for a, b in runs:
                self.write(a, b, me, clash, atomic)

    def _fresh(self, runs: list[tuple[int, int]], me: Access, clash: Clash) -> bool:
        """The short way of rows of results, each of which replaces a part of one run that was only written: the lists
        are changed once. False, and nothing done, where the rows are of another kind."""
        starts, cells = self.starts, self.cells
        first = index = bisect_right(starts, runs[0][0]) - 1
        at = starts[first]
        end = starts[first + 1] if first + 1 < len(starts) else 1 << 62
        new: list[int] = []
        made: list[RunCell] = []
        replaced: list[tuple[Access, int, int]] = []
        start, make = new.append, made.append
        for a, b in runs:
            while end <= a:
                if at < end:
                    start(at)
                    make(cells[index])
                index += 1
                at = starts[index]
                end = starts[index + 1] if index + 1 < len(starts) else 1 << 62
            cell = cells[index]
            if end < b or cell.reads or cell.atomic:
                return False
            if at < a:
                start(at)
                make(RunCell(cell.write))
            start(a)
            make(RunCell(me))
            if cell.write is not START:
                replaced.append((cell.write, a, b))
            at = b
        if at < end:
            start(at)
            make(RunCell(cell.write))
        starts[first : index + 1] = new
        cells[first : index + 1] = made
        for earlier, a, b in replaced:
            clash(earlier, a, b, True)
        return True

    def atomic(self, a: int, b: int) -> list[tuple[Access, int, int]]:
        """The atomic updates of bytes a to b-1 since their last plain write, each with the run that it has there."""
        first, last = self._cut(a), self._cut(b)
        return [
            (update, *self._common(i, a, b)) for i in range(first, last) for update in self.cells[i].atomic.values()
        ]

    def writer(self, at: int) -> Access | None:
        """Who has changed a byte last; None where nobody has, or where that is not known of several atomic updates."""
        cell = self.cells[bisect_right(self.starts, at) - 1]
        last = list(cell.atomic.values()) or [cell.write]
        return last[0] if len(last) == 1 and last[0] is not START else None

    def forget(self, a: int, b: int, reader: tuple[int, int]) -> None:
        """Drop the reads of bytes a to b-1 by one pipe of one core."""
        first, last = self._cut(a), self._cut(b)
        for cell in self.cells[first:last]:
            cell.reads.pop(reader, None)
