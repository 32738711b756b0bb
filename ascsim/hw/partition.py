"""Which cell holds which byte of a memory.

Two bytes share a cell as long as no region seen so far holds one of them without the other. A new region that cuts a
cell splits it and adds the new half to every region that held the whole.

As long as every region is one run of bytes, so is what has to be remembered: the runs of bytes of one cell, in order.
The first region with gaps makes the memory keep a label a byte instead, which strided regions are looked up in.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .memory import Region

# An access: [n, pipe slot, call site, plan, loop turn, core serial, clock]. A list because an order that the
# compiler adds while the access is being issued is entered into its clock.
Access = list[Any]
START: Access = [0, 0, None, None, None, -1, None]  # "before the launch": ordered before everything


class Cell:
    """Bytes that every region so far holds together; their last write and the reads since, one a pipe.

    Nearly always one pipe alone reads between two writes: that is `reader`; `others` holds the rest by pipe slot.
    """

    __slots__ = ("others", "reader", "regions", "size", "write")

    def __init__(self, size: int, regions: list[Region]) -> None:
        self.size, self.regions = size, regions
        self.reset()

    def reset(self) -> None:
        """No access so far."""
        self.write: Access = START
        self.reader: Access | None = None
        self.others: dict[int, Access] | None = None

    def reads(self) -> dict[int, Access]:
        """The reads since the last write, by pipe slot."""
        first = {} if self.reader is None else {self.reader[1]: self.reader}
        return {**first, **(self.others or {})}

    def also(self, me: Access) -> None:
        """Enter a read by another pipe than the first reader's."""
        if self.others is None:
            self.others = {}
        self.others[me[1]] = me


class Partition:
    """The cells of a memory of `size` bytes. `cells[label]`; `starts` and `runs` are first bytes and labels of runs."""

    __slots__ = ("_labels", "cells", "runs", "size", "starts")

    def __init__(self, size: int) -> None:
        self.size = size
        self.cells = [Cell(size, [])]
        self.starts, self.runs = [0], [0]
        self._labels: np.ndarray | None = None

    def labels(self) -> np.ndarray:
        """The label of each byte; from now on these are kept instead of runs."""
        if self._labels is None:
            lengths = np.diff([*self.starts, self.size])
            self._labels = np.repeat(np.array(self.runs, np.int32), lengths)
        return self._labels

    def resolve(self, region: Region) -> None:
        """Find the cells of a new region; where it holds a part of a cell, split it."""
        if self._labels is None and region.contiguous:
            self._among_runs(region)
        else:
            self._among_labels(region)

    def _among_runs(self, region: Region) -> None:
        starts, runs = self.starts, self.runs
        start, end = region.start, region.end
        first = bisect_right(starts, start) - 1
        after = first
        held: dict[int, int] = {}  # label -> bytes inside the region
        inside = []  # runs inside the region: first byte and label
        while after < len(starts) and starts[after] < end:
            begin, label = max(starts[after], start), runs[after]
            after += 1
            stop = min(starts[after] if after < len(starts) else self.size, end)
            held[label] = held.get(label, 0) + stop - begin
            inside.append((begin, label))
        moved = {label: self._take(region, label, held[label]) for label in sorted(held)}
        cut = [(begin, moved[label]) for begin, label in inside]
        if starts[first] < start:
            cut.insert(0, (starts[first], runs[first]))
        if end < (starts[after] if after < len(starts) else self.size):
            cut.append((end, runs[after - 1]))
        starts[first:after] = [begin for begin, _ in cut]
        runs[first:after] = [label for _, label in cut]

    def _among_labels(self, region: Region) -> None:
        labels = self.labels()
        views = region.views(labels)
        flat = views[0] if region.contiguous else labels[region.mask()]
        if (flat == flat[0]).all():
            held = [(int(flat[0]), flat.size)]
        else:
            labels_held, counts = np.unique(flat, return_counts=True)
            held = list(zip(labels_held.tolist(), counts.tolist(), strict=True))
        for label, count in held:
            new = self._take(region, label, count)
            if new != label:
                for view in views:
                    view[view == label] = new

    def _take(self, region: Region, label: int, count: int) -> int:
        """Give the region `count` bytes of a cell, split if it has more; the label that they have from now on."""
        cell = self.cells[label]
        if count < cell.size:
            cell, label = self._split(cell, count), len(self.cells) - 1
        region.cells.append(cell)
        cell.regions.append(region)
        return label

    def _split(self, cell: Cell, count: int) -> Cell:
        """Take `count` bytes out of a cell into a new one with the same history."""
        cell.size -= count
        part = Cell(count, list(cell.regions))
        part.write, part.reader, part.others = cell.write, cell.reader, cell.others and dict(cell.others)
        for region in part.regions:
            for holder in region.holders:
                holder.append(part)
        self.cells.append(part)
        return part
