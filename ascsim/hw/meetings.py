"""Meetings of cores through global memory: mailboxes (`ib_set`), ordered blocks, the soft form of `sync_all`.

The polling itself is not simulated: a call is a wait for what another core has left, and an order. The slots' reads
and writes belong to the calls that use these meetings.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from functools import partial
from typing import TYPE_CHECKING

from .calls import recorded
from .deadlock import stuck_cores
from .findings import Finding, Site, place
from .pipe import Known, Token, merge

if TYPE_CHECKING:
    from .core import Core
    from .device import Device


def foreign(core: Core, token: Token) -> Token:
    """A core's own token as others see it."""
    return Token([], merge(token.known, {core.serial: token.clock}), token.time)


def join(tokens: list[Token]) -> Token:
    """All of them."""
    known: Known = {}
    for token in tokens:
        known = merge(known, token.known)
    return Token([], known, max(token.time for token in tokens))


def arrive(core: Core, token: Token) -> None:
    """S has waited for what another core's token says: everything issued from now on follows it."""
    mine = token.known.get(core.serial)
    core.join_scalar(Token(mine if mine is not None else [0] * len(core.slots), token.known, token.time))


class Box:
    """A place for one letter. A second one waits until the first is taken; each end follows the other."""

    __slots__ = ("letter", "sender", "site", "taken")

    def __init__(self) -> None:
        self.letter: Token | None = None
        self.taken: Token | None = None  # what the last taker had done
        self.site: Site | None = None
        self.sender = ""


class Meetings:
    """The part of `cross.Cross` that needs no flags."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.boxes: dict[Hashable, Box] = {}
        self.gatherings: dict[Hashable, deque[dict[int, Token]]] = {}
        self.visits: dict[tuple[Hashable, int], int] = {}

    @recorded(at=2)
    def await_empty(self, box: Hashable, core: Core, what: str, site: Site) -> None:
        """Wait until a box is empty; from then on this core follows whoever emptied it."""
        slot = self.boxes.setdefault(box, Box())
        self._wait(core, lambda: slot.letter is None, what, site)
        if slot.taken is not None:
            arrive(core, slot.taken)

    @recorded(at=2)
    def post(self, box: Hashable, core: Core, what: str, site: Site) -> None:
        """Leave all that this core has done so far (after PIPE_ALL) in a box, once it is empty."""
        self.await_empty(box, core, what, site)
        slot = self.boxes[box]
        slot.letter, slot.site, slot.sender = foreign(core, core.everything()), site, core.name

    @recorded(at=2)
    def take(self, box: Hashable, core: Core, what: str, site: Site) -> None:
        """Wait until a box holds something and empty it; from then on this core follows the sender."""
        slot = self.boxes.setdefault(box, Box())
        self._wait(core, lambda: slot.letter is not None, what, site)
        assert slot.letter is not None
        arrive(core, slot.letter)
        slot.letter = None
        self.taken(box, core)

    @recorded(at=2)
    def taken(self, box: Hashable, core: Core) -> None:
        """All that the taker has done so far (after PIPE_ALL) comes before the next letter."""
        self.boxes[box].taken = foreign(core, core.everything())

    @recorded(at=2)
    def meet(self, key: Hashable, core: Core, members: int, what: str, site: Site) -> None:
        """Wait until `members` cores have called this equally often; each then follows all the others."""
        turn = self.visits[key, core.serial] = self.visits.get((key, core.serial), -1) + 1
        rounds = self.gatherings.setdefault(key, deque())
        if turn == len(rounds):
            rounds.append({})
        here = rounds[turn]
        here[core.serial] = foreign(core, core.everything())
        self._wait(core, lambda: len(here) >= members, what, site, lambda: f", {len(here)} of {members} cores")
        arrive(core, join(list(here.values())))

    def _wait(
        self, core: Core, ready: Callable[[], bool], what: str, site: Site, there: Callable[[], str] = lambda: ""
    ) -> None:
        stuck = partial(stuck_cores, self.device, "rendezvous", what)
        why = f"{core.name} waits in {what}{{}} ({place(site)})"
        self.device.scheduler.wait(core, ready, lambda: why.format(there()), site, stuck)

    def finish(self) -> None:
        """Letters that nobody took."""
        for box in self.boxes.values():
            if box.letter is not None:
                text = (
                    f"the slot set by {box.sender}, {place(box.site)} is never waited for; its workspace is not back "
                    "to zero, the next kernel would start with it set"
                )
                self.device.report(Finding("XFLAG_LEFT_SET", text, box.sender, "ib_set", (box.site,)))
