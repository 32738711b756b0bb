"""Counted flags between cores: `cross_core_set_flag`, `cross_core_wait_flag`, and the hard form of `sync_all`.

A token of another core carries, in `known`, the clocks of every core whose work is known to have ended, and how many
waits of each counter are known to have happened. Not here: the rules of ids, modes and kernel types (`cross_rules`),
meetings through memory (`meetings`).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from .calls import recorded
from .cross_rules import SYNC_ALL_IDS, CrossRules
from .deadlock import stuck_cores
from .events import CROSS_IDS, CROSS_LIMIT, Counter, Round
from .findings import Finding, Site, place
from .meetings import arrive, foreign, join
from .pipe import Pipe, Token

if TYPE_CHECKING:
    from .core import Core


def mark(serial: int, number: int) -> int:
    """The entry of `known` that counts the waits of one counter; below the serial number of any core."""
    return -1 - serial * CROSS_IDS - number


class Cross(CrossRules):
    """Flags between the cores of a launch."""

    # ------------------------------------------------------------------ calls

    @recorded(at=1)
    def set(self, core: Core, number: int, mode: int, pipe: Pipe, site: Site, author: bool = True) -> None:
        """cross_core_set_flag: reported once everything issued to `pipe` so far has ended."""
        if author:
            number = self.check(core, number, site, "cross_core_set_flag")
            self.check_mode(core, mode, site)
        counter = self.counter(core.serial, number)
        counter.last_set = site
        if pipe.parked is not None:
            core.park(pipe, self._fire, (core, number, mode, pipe, site), site)
        else:
            self._fire(core, number, mode, pipe, site)

    @recorded(at=1)
    def wait(self, core: Core, number: int, site: Site, author: bool = True) -> None:
        """cross_core_wait_flag: S goes no further until the counter is above zero, then takes one."""
        if author:
            number = self.check(core, number, site, "cross_core_wait_flag")
        counter = self.counter(core.serial, number)

        def why() -> str:
            return f"{core.name} waits for flag {number} ({place(site)}){self.missing(number)}"

        stuck = partial(stuck_cores, self.device, "cross_core", "cross_core_wait_flag")
        self.device.scheduler.wait(core, lambda: bool(counter.tokens), why, site, stuck)
        counter.waits += 1
        counter.own_waits += 1
        token = counter.tokens.popleft()
        counted = {**token.known, mark(core.serial, number): [counter.waits]}
        arrive(core, Token(token.clock, counted, token.time))

    def sync_all(self, core: Core, site: Site, whole: bool = False) -> None:
        """The hard form. Vector-only: the cores of one kind meet; whole: all cores of a mix kernel."""
        self.keep(core, SYNC_ALL_IDS, "sync_all", site)
        self.check_mode(core, 0, site, "sync_all")
        core.barrier_all(site)
        set_, wait = (partial(call, core, site=site, author=False) for call in (self.set, self.wait))
        mte3 = core.pipes["MTE3"]
        if not whole:
            set_(14, mode=0, pipe=mte3)
            wait(14)
        elif core.kind == "aiv":
            set_(12, mode=2, pipe=mte3)
            wait(13)
        else:
            wait(12)
            set_(11, mode=0, pipe=core.pipes["FIX"])
            wait(11)
            set_(13, mode=2, pipe=mte3)

    # ------------------------------------------------------------------ reports and counters

    def members(self, core: Core, mode: int) -> tuple[tuple[Any, ...], list[int], list[int]]:
        """Scope, reporting cores and target cores of a report that `core` makes in a mode."""
        places = self.device.places
        if mode == 0:
            same = [p.serial for p in places if p.kind == core.kind]
            return (0, core.kind), same, same
        group = [p for p in places if p.group == core.group]
        aivs = [p.serial for p in group if p.kind == "aiv"]
        if mode == 1:
            return (1, core.group), aivs, aivs
        aics = [p.serial for p in group if p.kind == "aic"]
        if core.kind == "aic":
            return (2, core.group, "aic"), aics, aivs
        return (2, core.group, "aiv"), aivs, aics

    def _fire(self, core: Core, number: int, mode: int, pipe: Pipe, site: Site) -> None:
        counter = self.counter(core.serial, number)
        scope, members, targets = self.members(core, mode)
        key = (*scope, number)
        own = pipe.ended(core.now)
        before = counter.last_report
        if before is not None and before[0] is not pipe and own.clock[before[0].slot] < before[1]:
            core.report(
                "XFLAG_AMBIGUOUS",
                f"flag {number} of {core.name} is raised from {before[0].name} ({place(before[2])}) and from "
                f"{pipe.name} ({place(site)}) with nothing between: the waiting core cannot know which came first",
                before[2],
                site,
                operation="cross_core_set_flag",
            )
        if counter.mode not in (None, mode) and not self._settled(core, counter, number, own):
            self.mixed(core.name, number, mode, counter.mode, before and before[2], site)
        if counter.mode != mode:
            counter.mode, counter.key, counter.targets, counter.own_sets, counter.own_waits = mode, key, targets, 0, 0
        counter.own_sets += 1
        pipe.n += 1  # a report is an entry of its pipe: what follows it in another pipe can be told from what does not
        own.clock[pipe.slot] = pipe.n  # who waits for it follows it
        counter.last_report = (pipe, pipe.n, site)
        done = self.rounds.setdefault(key, Round()).report(core.serial, foreign(core, own), members)
        if done is not None:
            token = join(done)
            for serial in targets:
                self._push(serial, number, mode, token, site)

    def _settled(self, core: Core, counter: Counter, number: int, own: Token) -> bool:
        """Whether what this core did with the flag in its former mode is known to be over."""
        if core.serial in counter.targets:
            return counter.own_waits >= counter.own_sets
        turn = self.rounds.get(counter.key)
        if counter.tokens or (turn is not None and turn.reports.get(core.serial)):
            return False
        return all(
            own.known.get(mark(serial, number), (0,))[0] >= self.counter(serial, number).pushed
            for serial in counter.targets
        )

    def _push(self, serial: int, number: int, mode: int, token: Token, site: Site) -> None:
        counter = self.counter(serial, number)
        waited = token.known.get(mark(serial, number), (0,))[0]  # waits known to have happened before this set
        if counter.token_mode not in (None, mode) and waited < counter.pushed:
            self.mixed(self.device.core_name(serial), number, mode, counter.token_mode, counter.token_site, site)
        counter.token_mode, counter.token_site = mode, site
        counter.pushed += 1
        counter.tokens.append(token)
        needed = counter.pushed - CROSS_LIMIT
        if waited < needed:  # some legal timing passes the limit
            name = self.device.core_name(serial)
            text = (
                f"the counter of flag {number} on {name} may pass {CROSS_LIMIT}: set number {counter.pushed} "
                f"({place(site)}) does not follow that core's wait number {needed}; answer with a flag in the other "
                "direction"
            )
            self.device.report(Finding("XFLAG_OVERFLOW", text, name, "cross_core_set_flag", (site,)))
