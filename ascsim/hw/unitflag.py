"""unitFlag: one mark bit for each 512 bytes of L0C orders `mmad` and `fixpipe` block by block, without M_FIX or FIX_M.

An `mmad` waits until its blocks are at 0; with value 3 it leaves them at 1, with 2 at 0. A `fixpipe` waits for 1 and
leaves 0 with value 3, 1 with value 2. Between the multiplies of one accumulation the marks order nothing.

In time the two overlap: block follows block, so that an instruction may start with the one it waits for and ends no
earlier than that one (the time between is not published).

Not here: which values a call may give, and the block sizes of results that are no multiple of 512 bytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .calls import recorded
from .findings import Site, place
from .pipe import NOTHING, Token, merge

if TYPE_CHECKING:
    from .core import Core
    from .global_memory import GlobalArray
    from .instruction import Plan
    from .memory import Piece

BLOCK = 512  # bytes


class Mark:
    """The bit of blocks that have always been used together; the token of whoever changed it last, with the time of its
    start, and when it ended; whether an accumulation under unitFlag is open."""

    __slots__ = ("call", "ended", "numbers", "open", "site", "token", "up")

    def __init__(self, numbers: set[int]) -> None:
        self.numbers = numbers
        self.up = self.open = False
        self.ended = 0
        self.token: Token | None = None
        self.site: Site | None = None
        self.call = ""


def blocks(plan: Plan) -> list[int]:
    """The blocks of L0C that an instruction touches."""
    regions = (region for region in (*plan.reads, *plan.writes) if region.memory.name == "L0C")
    return sorted({number for region in regions for piece in region.pieces for number in _blocks(piece)})


@lru_cache(maxsize=1024)  # by numbers alone: a region would keep its core alive
def _blocks(piece: Piece) -> tuple[int, ...]:
    first, dims = piece
    at = np.array(first)
    for count, step in dims:
        at = np.add.outer(at, np.arange(count) * step)
    return tuple(np.unique(at // BLOCK).tolist())


def blocked(core: Core, plan: Plan, *_: Any) -> bool:
    """Whether a block stands at the value that the instruction waits out: 1 for `mmad`, 0 for `fixpipe`."""
    fills = plan.pipe.name == "M"
    return any(mark.up is fills for mark in _marks(core, plan))


def _marks(core: Core, plan: Plan) -> list[Mark]:
    """The marks of an instruction's blocks, and of no others."""
    known: dict[Plan, list[Mark]] = core.state.setdefault("unit flag marks", {})
    found = known.get(plan)
    if found is None:
        numbers, marks = set(blocks(plan)), core.marks
        new = numbers - marks.keys()
        if new:
            marks.update(dict.fromkeys(new, Mark(new)))
        mark = marks[next(iter(numbers))]
        if mark.numbers == numbers:  # as nearly always
            found = [mark]
        else:
            for mark in _apart(marks[number] for number in numbers):
                if not mark.numbers <= numbers:
                    _split(core, mark, numbers)
                    known.clear()
            found = _apart(marks[number] for number in numbers)
        known[plan] = found
    return found


def _apart(marks: Iterable[Mark]) -> list[Mark]:
    return list({id(mark): mark for mark in marks}.values())


def _split(core: Core, mark: Mark, numbers: set[int]) -> None:
    """Blocks of a mark go their own way from now on."""
    part = Mark(mark.numbers & numbers)
    for name in ("up", "open", "ended", "token", "site", "call"):
        setattr(part, name, getattr(mark, name))
    mark.numbers = mark.numbers - numbers
    core.marks.update(dict.fromkeys(part.numbers, part))


@recorded()
def issue(core: Core, plan: Plan, value: int, site: Site, gm: GlobalArray | None = None, at: int = 0) -> Any:
    """`Core.issue` for an `mmad` or `fixpipe` with unit flag 2 or 3."""
    pipe = plan.pipe
    entry = (core, plan, value, site, gm, at)
    if pipe.parked is not None:
        return core.park(pipe, issue, entry, site)
    if blocked(core, plan):
        pipe.parked = deque(((issue, entry, site, core.turn, core.scalar.n),))
        return None
    fills = pipe.name == "M"
    marks = _marks(core, plan)
    for token in {id(mark.token): mark.token for mark in marks if mark.token is not None}.values():
        pipe.clock = core.join(pipe.clock, token.clock)
        pipe.known = merge(pipe.known, token.known)
        pipe.rest(token.time)
    for mark in marks:
        mark.open, mark.site, mark.call = fills or value == 2, site, plan.name
    start = pipe.free
    result = core.issue(plan, site, gm, at)
    ended = max((mark.ended for mark in marks), default=0)
    if pipe.free < ended:
        pipe.idle += ended - pipe.free
        pipe.free = ended
    if value == 3:
        token = pipe.ended(0)._replace(time=start)
        for mark in marks:
            mark.up, mark.token, mark.ended = fills, token, pipe.free
        other = core.pipes["FIX" if fills else "M"]
        if other.parked is not None:
            core.wake(other)
    return result


def send(core: Core, plan: Plan, value: int, site: Site, gm: GlobalArray | None = None, at: int = 0) -> Any:
    """Issue an `mmad` or `fixpipe` with this unit flag, or with none (0)."""
    if value:
        return issue(core, plan, value, site, gm, at)
    if core.marks:
        plain(core, plan, site)
    return core.issue(plan, site, gm, at)


@recorded()
def plain(core: Core, plan: Plan, site: Site) -> None:
    """Before an `mmad` or `fixpipe` without unit flag: the other side must not use it on these blocks."""
    for number in blocks(plan):
        mark = core.marks.get(number)
        if mark is not None and mark.open:
            call = f"{plan.name}, {place(site)} ({plan.pipe.name}) on {core.name}"
            text = (
                f"{call} touches L0C block {number} without unit flag, but {mark.call}, {place(mark.site)} uses it; "
                "needs a unit flag in both or in neither"
            )
            core.report("UNITFLAG_MISMATCH", text, mark.site, site, operation=plan.name)
            mark.up, mark.open, mark.token = False, False, Token([0] * len(core.slots), NOTHING, 0)
            return


def finish(core: Core) -> None:
    """At the end of the kernel every block must be back at 0."""
    for number, mark in core.marks.items():
        if mark.up:
            text = (
                f"L0C block {number} on {core.name} is left at 1 (mmad, {place(mark.site)}): no fixpipe with unit flag"
                " 3 takes it; the next mmad there would hang"
            )
            core.report("UNITFLAG_MISMATCH", text, mark.site, operation="mmad")
