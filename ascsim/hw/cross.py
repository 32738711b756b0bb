"""Counted flags between cores: `cross_core_set_flag`, `cross_core_wait_flag`, and the hard form of `sync_all`.

A token of another core carries, in `known`, the clocks of every core whose work is known to have ended, and how many
waits of each counter are known to have happened. Not here: meetings through memory (`meetings`).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from .deadlock import stuck_cores
from .events import CROSS_IDS, CROSS_LIMIT, Counter, Round
from .findings import Finding, Site, place
from .meetings import Meetings, arrive, foreign, join
from .pipe import Pipe, Token

if TYPE_CHECKING:
    from .core import Core
    from .device import Device

SYNC_ALL_IDS = range(11, 15)  # kept for the hard form of sync_all
MODES = ("all cores of one kind", "the two vector cores of a group", "cube and vector cores of a group")


def mark(serial: int, number: int) -> int:
    """The entry of `known` that counts the waits of one counter; below the serial number of any core."""
    return -1 - serial * CROSS_IDS - number


class Cross(Meetings):
    """Flags between the cores of a launch."""

    def __init__(self, device: Device) -> None:
        super().__init__(device)
        self.rounds: dict[tuple[Any, ...], Round] = {}
        self.counters: dict[int, list[Counter]] = {}
        self.by_author: dict[int, Site] = {}
        self.sync_all_used: Site | None = None

    # ------------------------------------------------------------------ calls

    def set(self, core: Core, number: int, mode: int, pipe: Pipe, site: Site, author: bool = True) -> None:
        """cross_core_set_flag: reported once everything issued to `pipe` so far has ended."""
        if author:
            number = self._check(core, number, site, "cross_core_set_flag")
            self._check_mode(core, mode, site)
        counter = self.counter(core.serial, number)
        counter.last_set = site
        if pipe.parked is not None:
            core.park(pipe, self._fire, (core, number, mode, pipe, site), site)
        else:
            self._fire(core, number, mode, pipe, site)

    def wait(self, core: Core, number: int, site: Site, author: bool = True) -> None:
        """cross_core_wait_flag: S goes no further until the counter is above zero, then takes one."""
        if author:
            number = self._check(core, number, site, "cross_core_wait_flag")
        counter = self.counter(core.serial, number)

        def why() -> str:
            return f"{core.name} waits for flag {number} ({place(site)}){self._missing(number)}"

        stuck = partial(stuck_cores, self.device, "cross_core", "cross_core_wait_flag")
        self.device.scheduler.wait(core, lambda: bool(counter.tokens), why, stuck)
        counter.waits += 1
        counter.own_waits += 1
        token = counter.tokens.popleft()
        counted = {**token.known, mark(core.serial, number): [counter.waits]}
        arrive(core, Token(token.clock, counted, token.time))

    def sync_all(self, core: Core, site: Site, whole: bool = False) -> None:
        """The hard form. Vector-only: the cores of one kind meet; whole: all cores of a mix kernel."""
        self.sync_all_used = self.sync_all_used or site
        for number, at in self.by_author.items():
            self._reserved(core, number, at)
        self._check_mode(core, 0, site, "sync_all")
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

    def counter(self, serial: int, number: int) -> Counter:
        """The counter of one core; it exists before the core has started."""
        return self.counters.setdefault(serial, [Counter() for _ in range(CROSS_IDS)])[number]

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
            self._mixed(core.name, number, mode, counter.mode, site)
        if counter.mode != mode:
            counter.mode, counter.key, counter.targets, counter.own_sets, counter.own_waits = mode, key, targets, 0, 0
        counter.own_sets += 1
        pipe.n += 1  # a report is an entry of its pipe: what follows it in another pipe can be told from what does not
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
            self._mixed(self.device.core_name(serial), number, mode, counter.token_mode, site)
        counter.token_mode = mode
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

    # ------------------------------------------------------------------ rules

    def _check(self, core: Core, number: int, site: Site, operation: str) -> int:
        """The id as the hardware takes it; ids that are not the author's are reported."""
        if not 0 <= number < CROSS_IDS:
            cut = number & (CROSS_IDS - 1)
            text = f"{operation}: flag = {number} is cut to {cut}; rule: 0 to 15; nearest legal value: {cut}"
            core.report("XFLAG_BAD_ID", text, site, operation=operation)
            number = cut
        self.by_author.setdefault(number, site)
        self._reserved(core, number, site)
        return number

    def _reserved(self, core: Core, number: int, site: Site) -> None:
        if self.sync_all_used is not None and number in SYNC_ALL_IDS:
            core.report(
                "XFLAG_RESERVED_ID",
                f"flag {number} ({place(site)}) belongs to sync_all ({place(self.sync_all_used)}), which uses 11 to 14",
                site,
                operation="cross_core_set_flag",
            )

    def _check_mode(self, core: Core, mode: int, site: Site, operation: str = "cross_core_set_flag") -> None:
        device = self.device
        if not device.has_scheduler or (mode != 0 and not device.mix):
            needs = "a MIX kernel type" if mode == 0 else "MIX_AIC_1_1 or MIX_AIC_1_2"
            text = f"{operation}: mode {mode} needs {needs}; this launch is {device.kernel_type_name}"
            core.report("XFLAG_KERNEL_TYPE", text, site, operation=operation)
        cores, there = device.blocks * getattr(device, core.kind), getattr(device.soc, core.kind)
        if mode == 0 and cores > there:
            text = f"{operation}: {cores} {core.kind} cores meet, the chip has {there}; they may wait for ever"
            core.report("XFLAG_TOO_MANY_BLOCKS", text, site, operation=operation)

    def _mixed(self, name: str, number: int, mode: int, former: int | None, site: Site) -> None:
        text = (
            f"flag {number} of {name} is used in mode {mode} ({place(site)}) before its sets and waits in mode "
            f"{former} are known to be done"
        )
        self.device.report(Finding("XFLAG_MODE_MIX", text, name, "cross_core_set_flag", (site,)))

    def _missing(self, number: int) -> str:
        """The rounds of a flag that have begun, with who has reported and who has not."""
        parts = []
        for key, turn in self.rounds.items():
            present = [serial for serial, queue in turn.reports.items() if queue]
            absent = [serial for serial in turn.members if not turn.reports.get(serial)]
            if key[-1] == number and present:
                here, missing = (", ".join(map(self.device.core_name, part)) for part in (present, absent))
                parts.append(f" [round among {MODES[key[0]]}: {here} reported, {missing} did not]")
        return "".join(parts)

    def finish(self) -> None:
        """Flags that are still up, and rounds that some member never joined."""
        for serial, row in self.counters.items():
            for number, counter in enumerate(row):
                if counter.tokens:
                    self._left(serial, number, f"has {len(counter.tokens)} sets that no wait has taken")
        for key, turn in self.rounds.items():
            for serial, queue in turn.reports.items():
                if queue:
                    what = f"was reported among {MODES[key[0]]}, but other members of the round never did"
                    self._left(serial, key[-1], what)
        super().finish()

    def _left(self, serial: int, number: int, what: str) -> None:
        name = self.device.core_name(serial)
        sites = [row[number].last_set for row in self.counters.values() if row[number].last_set is not None]
        site = self.counter(serial, number).last_set or (sites[0] if sites else None)
        text = f"flag {number} of {name} {what} (last set: {place(site)}); the next kernel would start with it up"
        self.device.report(Finding("XFLAG_LEFT_SET", text, name, "cross_core_set_flag", (site,)))
