"""Earlier accesses to local memory that nothing orders before the one being issued, in an order of their own.

Cells have none that means anything: how they came to be split depends on all that the core has done before. So the
first clash that is met has all of its kind judged, in the order of pipes and instructions.
"""

from __future__ import annotations

from collections.abc import Iterator

from .memory import Region
from .partition import Access, Cell

Clash = tuple[Access, str, Region]  # the earlier access, what it is (RAW, WAR or WAW), and a region of the later one


def of(me: Access, reading: bool) -> list[Clash]:
    """All clashes of what `me` reads, or of what it writes."""
    found: dict[tuple[int, str], Clash] = {}
    for region in me[3].reads if reading else me[3].writes:
        for cell in region.cells:
            for last, code in [(cell.write, "RAW")] if reading else _overwritten(cell):
                if last is not me and last[0] > me[6][last[1]]:
                    found.setdefault((id(last), code), (last, code, region))
    return _in_order(found)


def _overwritten(cell: Cell) -> Iterator[tuple[Access, str]]:
    """What a write has to follow: the reads since the last write, or that where there are none."""
    readers = cell.reads().values()
    yield from ((reader, "WAR") for reader in readers)
    if not readers:
        yield cell.write, "WAW"


def replaced(me: Access) -> list[Clash]:
    """Reads of this pipe that `me` is about to replace in the cells, which it also overwrites."""
    found: dict[tuple[int, str], Clash] = {}
    for read, write in me[3].updates:
        both = {id(cell) for cell in write.cells}
        for cell in read.cells:
            last = cell.reads().get(me[1])
            if last is not None and id(cell) in both and last[0] > me[6][me[1]]:
                found.setdefault((id(last), "WAR"), (last, "WAR", write))
    return _in_order(found)


def _in_order(found: dict[tuple[int, str], Clash]) -> list[Clash]:
    return sorted(found.values(), key=lambda clash: (clash[0][1], clash[0][0], clash[1]))
