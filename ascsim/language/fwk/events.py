"""Flags behind queues: which event orders which direction, and who holds which id.

Under a TPipe the eight ids of every event are handed out: by a queue at enque and free, by the author's
`alloc_event_id` and `fetch_event_id`. Not modelled: the ids that automatic synchronisation takes (its order is added
by the machine without a flag).
"""

from __future__ import annotations

from typing import Any, NoReturn

from ...hw.core import Core
from ...hw.events import EVENT_NUMBER, EVENTS, IDS, RESERVED
from ...hw.findings import Site, place
from ..core.enums import TPosition
from ..core.place import MEMORY_OF, report

# (memory the data comes from, memory it goes to) -> the pipe that fills, the pipe that uses
_DIRECTIONS = {
    ("GM", "UB"): ("MTE2", "V"),
    ("UB", "GM"): ("V", "MTE3"),
    ("UB", "UB"): ("MTE2", "MTE3"),
    ("GM", "L1"): ("MTE2", "MTE1"),
    ("UB", "L1"): ("MTE3", "MTE1"),
    ("L1", "L0A"): ("MTE1", "M"),
    ("L1", "L0B"): ("MTE1", "M"),
    ("L1", "BT"): ("MTE1", "M"),
    ("L0C", "GM"): ("M", "FIX"),
    ("GM", "L0A"): ("MTE2", "M"),
    ("GM", "L0B"): ("MTE2", "M"),
}
# TQue position -> (source, destination) of its data. VECCALC stands apart: it has no events.
ENDS = {
    TPosition.VECIN: (TPosition.GM, TPosition.VECIN),
    TPosition.VECOUT: (TPosition.VECOUT, TPosition.GM),
    TPosition.A1: (TPosition.GM, TPosition.A1),
    TPosition.B1: (TPosition.GM, TPosition.B1),
    TPosition.C1: (TPosition.GM, TPosition.C1),
    TPosition.A2: (TPosition.A1, TPosition.A2),
    TPosition.B2: (TPosition.B1, TPosition.B2),
    TPosition.C2: (TPosition.C1, TPosition.C2),
    TPosition.CO1: (TPosition.CO1, TPosition.CO2),
    TPosition.CO2: (TPosition.CO1, TPosition.CO2),
}
# What `enque` and `deque` take as a position of the author's.
USER_POSITIONS = (TPosition.GM, TPosition.VECIN, TPosition.VECOUT, TPosition.VECCALC)
# Lowest set bit of each mask of eight bits: the lowest free id.
_LOWEST = tuple((mask & -mask).bit_length() - 1 for mask in range(1 << IDS))
_ALL = (1 << IDS) - 1


def ends_from(src: TPosition) -> str:
    """`from L1 to L0A, L0B, BT`: where the data of a position can go, in words."""
    memory = MEMORY_OF.get(src, "GM")
    return f"from {memory} to {', '.join(dst for start, dst in _DIRECTIONS if start == memory) or 'nowhere'}"


def direction(src: TPosition, dst: TPosition) -> tuple[int, int] | None:
    """Numbers of the forward event (enque sets, deque waits) and of the free event (free sets, alloc waits).

    None where data cannot go from `src` to `dst`. Positions outside the local memories lie in global memory.
    """
    pipes = _DIRECTIONS.get((MEMORY_OF.get(src, "GM"), MEMORY_OF.get(dst, "GM")))
    if pipes is None:
        return None
    filler, user = pipes
    return EVENT_NUMBER[f"{filler}_{user}"], EVENT_NUMBER[f"{user}_{filler}"]


def fault(core: Core, code: str, message: str, site: Site, operation: str) -> NoReturn:
    """Report a fault that ends the launch."""
    report(core, code, message, site, operation)
    raise AssertionError(f"{code} ends the launch")


class Spare:
    """An id of an event that this kind of core has not got: `set_flag` and `wait_flag` of it do nothing here."""

    __slots__ = ("guard", "holder", "id")

    def __init__(self, number: int) -> None:
        self.id, self.guard, self.holder = number, True, ""


class Ids:
    """The eight ids of one event on one core.

    `free` is a mask; `flags` the flags by id; `real` is False where the core has no such flags. The holder of a flag
    is text or an object that gives it (a queue's buffer), made only when it is to be read.
    """

    __slots__ = ("core", "event", "flags", "free", "real", "sites")

    def __init__(self, core: Core, event: int) -> None:
        self.core, self.event = core, event
        row = core.flags[event]
        self.real = row is not None
        self.flags: Any = row if row is not None else [Spare(i) for i in range(IDS)]
        self.free = _ALL
        self.sites: dict[int, Site] = {}  # where the author allocated an id

    @property
    def name(self) -> str:
        """`MTE2_V`."""
        return "_".join(EVENTS[self.event])

    def take(self, holder: Any, operation: str, site: Site) -> Any:
        """The flag with the lowest free id, which is `holder`'s now; none free is EVENT_EXHAUSTED."""
        free = self.free
        if not free:
            self._exhausted(operation, site)
        flag = self.flags[_LOWEST[free]]
        self.free = free & free - 1
        flag.holder, flag.guard = holder, True
        return flag

    def give(self, flag: Any) -> None:
        """A flag's id is free again."""
        self.free |= 1 << flag.id
        flag.holder, flag.guard = "", True

    def alloc(self, operation: str, site: Site) -> int:
        """The lowest free id, taken for the author."""
        flag = self.take("", operation, site)
        flag.guard = False
        self.sites[flag.id] = site
        if self.real:
            flag.fetched = ()
        return int(flag.id)

    def fetch(self, operation: str, site: Site) -> int:
        """The lowest free id, not taken: the author may use it until somebody takes it."""
        if not self.free:
            self._exhausted(operation, site)
        flag = self.flags[_LOWEST[self.free]]
        flag.guard = False
        if self.real:
            # An earlier fetch counts as long as its pair is not finished: no set since, or one that is not waited for.
            pending = flag.outstanding > 0 or flag.last_set is flag.fetched_at
            flag.fetched = (*flag.fetched[-1:], site) if pending else (site,)
            flag.fetched_at = flag.last_set
        return int(flag.id)

    def release(self, number: int, operation: str, site: Site) -> None:
        """The author gives an id back. One that a queue holds stays with it: FLAG_ID_CONFLICT."""
        if not 0 <= number < IDS:
            rule = f"0..{IDS - 1}, nearest legal value {min(max(number, 0), IDS - 1)}"
            fault(self.core, "FLAG_BAD_ID", f"id = {number}; rule: {rule}", site, operation)
        flag = self.flags[number]
        if flag.holder:
            text = f"{self.name} id {number} is held by {flag.holder}; rule: release what alloc_event_id gave"
            report(self.core, "FLAG_ID_CONFLICT", text, site, operation)
        else:
            self.give(flag)

    def _author(self, number: int) -> str:
        return f"alloc_event_id at {place(self.sites[number])}" if number in self.sites else "alloc_event_id"

    def _exhausted(self, operation: str, site: Site) -> NoReturn:
        flags = [self.flags[i] for i in range(IDS)]
        holders = ", ".join(f"{flag.id}: {flag.holder or self._author(flag.id)}" for flag in flags)
        what = f"all {IDS} ids of {self.name} on {self.core.name} are taken at {place(site)}"
        text = f"{what} ({holders}); rule: at most {IDS} at once, queues included"
        fault(self.core, "EVENT_EXHAUSTED", text, site, operation)


def guard(core: Core) -> None:
    """A TPipe begins: no id may be used without having been given out."""
    for row in core.flag_rows:
        row.guarded = True
        for flag in row.values():
            flag.guard, flag.holder = True, ""


def unguard(core: Core) -> None:
    """A TPipe has ended: the author owns the ids, but for the reserved ones."""
    for row in core.flag_rows:
        row.guarded = False
        for flag in row.values():
            flag.guard, flag.holder = flag.id in RESERVED, ""


def lower(flag: Any) -> None:
    """Take a flag down that a queue fault explains, so that it is not reported again as FLAG_LEFT_SET."""
    flag.outstanding = 0
    flag.tokens.clear()
