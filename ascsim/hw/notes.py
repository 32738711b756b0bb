"""Notes: work and order that a kernel could do without. They are listed and never raised.

DEAD_STORE       all that one call has written is overwritten by another before anybody has read any of it, in a local
                 memory or in global memory
SYNC_REDUNDANT   a set and its wait carry nothing that the pair of the same event before them has not carried already;
                 looked for where a launch is recorded, as by `python -m ascsim check`

Not here: a store of which some bytes live (a fill that is patched), what one call overwrites of its own (scratch of a
call that is a program, workspaces), the ids of queues, which the author does not place, and global memory that two
cores share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .findings import Finding, place
from .partition import Access, Cell

if TYPE_CHECKING:
    from .core import Core
    from .events import Flag
    from .findings import Site
    from .pipe import Clock


def dead_store(core: Core, earlier: Access, me: Access, cell: Cell) -> None:
    """An ordered write of local bytes that nobody has read since the write before."""
    mine = me[3].write_cells
    if earlier is me or earlier[2] == me[2] or me[3].private or earlier[3].private:
        return
    if not all(c.write is earlier and c.reader is None and c in mine for c in earlier[3].write_cells):
        return
    if _again(core, "DEAD_STORE", earlier[2], me[2]):
        return
    region = next(region for region in me[3].writes if cell in region.cells)
    name, base = core.device.namer(core, region.memory, region.start, region.end, me[2])
    where = f"{region.memory.name} {name}[{region.start - base}:{region.end - base})"
    _dead(core, earlier, me, f"bytes of {where}")


def dead_gm_store(core: Core, earlier: Access, me: Access, a: int, b: int) -> None:
    """The same in global memory, by one core. Atomic stores use what stands there, and so overwrite nothing."""
    whole = b - a == earlier[3].gm.span and not earlier[3].gm.atomic and not me[3].gm.atomic
    if whole and earlier[2] != me[2] and not _again(core, "DEAD_STORE", earlier[2], me[2]):
        _dead(core, earlier, me, f"GM {core.touching.name}[{a}:{b})")


def _dead(core: Core, earlier: Access, me: Access, where: str) -> None:
    text = (
        f"{me[3].name}, {place(me[2])} ({core.slots[me[1]].name}) on {core.name} overwrites {where}, written by "
        f"{earlier[3].name}, {place(earlier[2])} ({core.slots[earlier[1]].name}) and never read since"
    )
    _enter(core, "DEAD_STORE", text, earlier[2], me[2], me[3].name)


def redundant(core: Core, flag: Flag, before: Clock, clock: Clock, site: Site) -> None:
    """A wait that brought `clock` to a pipe which knew `before`: a note where that and the pair of this event before it
    brought the same."""
    taken, flag.row.taken = flag.row.taken, clock
    source = flag.src.slot
    if flag.holder or taken != clock or not before[source] >= clock[source] > 0:
        return
    if _again(core, "SYNC_REDUNDANT", flag.last_set, site):
        return
    text = (
        f"{flag.name} on {core.name}, set at {place(flag.last_set)} and waited for at {place(site)}: {flag.src.name} "
        f"has had no work since the pair of {flag.event} before; the wait holds nothing back"
    )
    _enter(core, "SYNC_REDUNDANT", text, flag.last_set, site, "wait_flag")


def _enter(core: Core, code: str, text: str, first: Site | None, second: Site, operation: str) -> None:
    finding = Finding(code, text, core.name, operation, (first, second))
    core.device.noted[code, first, second], _ = core.device.enter(finding)


def _again(core: Core, code: str, *sites: Site | None) -> bool:
    """Whether this note is known; if so it is counted."""
    known: dict[tuple[object, ...], Finding] = core.device.noted
    found = known.get((code, *sites))
    if found is None:
        return False
    found.count += 1
    if core.name not in found.cores:
        found.cores.append(core.name)
    return True
