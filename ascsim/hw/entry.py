"""One instruction of a record, and what the clocks say of two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .pipe import Clock, Known

if TYPE_CHECKING:
    from .core import Core
    from .findings import Site
    from .global_memory import GlobalArray
    from .instruction import Plan

Key = tuple[int, int]  # of a pipe: core serial and slot


class Entry:
    """One recorded instruction, unpacked."""

    __slots__ = ("at", "clock", "core", "gm", "known", "n", "number", "plan", "site", "turn")

    def __init__(self, number: int, row: list[Any]) -> None:
        self.number = number  # position in the canonical order
        self.core: Core
        self.plan: Plan
        self.gm: GlobalArray | None
        self.at: int
        self.n: int
        self.clock: Clock
        self.known: Known
        self.site: Site
        self.turn: int
        self.core, self.plan, self.gm, self.at, self.n, self.clock, self.known, self.site, self.turn = row

    @property
    def key(self) -> Key:
        """Core serial and pipe slot."""
        return self.core.serial, self.plan.pipe.slot

    def run(self) -> None:
        """Do the work again."""
        if self.gm is None:
            self.plan.run()
        else:
            self.plan.run(self.gm, self.at)

    def needs(self) -> list[tuple[Key, int]]:
        """What must have ended before it starts: of each pipe, everything up to a number."""
        serial, slot = self.key
        own = [
            ((serial, other), min(needed, self.n - 1) if other == slot else needed)
            for other, needed in enumerate(self.clock)
        ]
        foreign = [
            ((core, other), needed)
            for core, clock in self.known.items()
            if core >= 0 and core != serial
            for other, needed in enumerate(clock)
        ]
        return [(key, needed) for key, needed in (*own, *foreign) if needed]


def before(a: Entry, b: Entry) -> bool:
    """Whether a has ended when b starts, by the clocks."""
    if a.core.serial == b.core.serial:
        return b.clock[a.plan.pipe.slot] >= a.n and a.number < b.number
    clock = b.known.get(a.core.serial)
    return clock is not None and clock[a.plan.pipe.slot] >= a.n
