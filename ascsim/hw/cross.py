"""What orders cores with one another: counted flags, full barriers, mailboxes, and the token of ordered blocks.

A token of another core carries, in `known`, the clocks of every core whose work is known to have ended.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from .deadlock import TIMEOUT
from .events import CROSS_IDS, CROSS_LIMIT, Counter, Round
from .findings import Finding, Site, place
from .pipe import Known, Pipe, Token, merge

if TYPE_CHECKING:
    from .core import Core
    from .device import Device
    from .scheduler import Waiter

SYNC_ALL_IDS = range(11, 15)  # kept for the hard form of sync_all


def foreign(core: Core, token: Token) -> Token:
    """A core's own token as others see it."""
    return Token([], merge(token.known, {core.serial: token.clock}), token.time)


def join(tokens: list[Token]) -> Token:
    """All of them."""
    known: Known = {}
    for token in tokens:
        known = merge(known, token.known)
    return Token([], known, max(token.time for token in tokens))


class Cross:
    """Flags between the cores of a launch."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.rounds: dict[tuple[Any, ...], Round] = {}
        self.last_report: dict[tuple[int, int], tuple[Pipe, int, Site]] = {}  # (core, id) -> pipe, count, line
        self.last_set: dict[tuple[int, int], Site] = {}
        self.posted: dict[Any, deque[Token]] = {}  # mailboxes and ordered blocks
        self.counters: dict[int, list[Counter]] = {}
        self.by_author: dict[int, Site] = {}
        self.sync_all_used: Site | None = None

    # ------------------------------------------------------------------ counted flags

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

    def set(self, core: Core, number: int, mode: int, pipe: Pipe, site: Site, author: bool = True) -> None:
        """cross_core_set_flag: reported once everything issued to `pipe` so far has ended."""
        if author:
            self.by_author.setdefault(number, site)
            self._reserved(core, number, site)
        self.last_set[core.serial, number] = site
        if pipe.parked is not None:
            core.park(pipe, self._fire, (core, number, mode, pipe, site), site)
        else:
            self._fire(core, number, mode, pipe, site)

    def _fire(self, core: Core, number: int, mode: int, pipe: Pipe, site: Site) -> None:
        own = pipe.ended(core.now)
        before = self.last_report.get((core.serial, number))
        if before is not None and before[0] is not pipe and own.clock[before[0].slot] < before[1]:
            core.report(
                "XFLAG_AMBIGUOUS",
                f"flag {number} of {core.name} is raised from {before[0].name} ({place(before[2])}) and from "
                f"{pipe.name} ({place(site)}) with nothing between: the waiting core cannot know which came first",
                before[2],
                site,
                operation="cross_core_set_flag",
            )
        self.last_report[core.serial, number] = (pipe, pipe.n, site)
        scope, members, targets = self.members(core, mode)
        counter = self.counter(core.serial, number)
        if counter.mode is None:
            counter.mode = mode
        elif counter.mode != mode:
            if counter.tokens or self.rounds_open(core.serial, number, counter.mode):
                core.report(
                    "XFLAG_MODE_MIX",
                    f"flag {number} of {core.name} is used in mode {mode} ({place(site)}) before its sets and waits in "
                    f"mode {counter.mode} are done",
                    site,
                    operation="cross_core_set_flag",
                )
            counter.mode = mode
        key = (*scope, number)
        done = self.rounds.setdefault(key, Round()).report(core.serial, foreign(core, own), members)
        if done is not None:
            token = join(done)
            for serial in targets:
                self._push(serial, number, token, site)

    def rounds_open(self, serial: int, number: int, mode: int) -> bool:
        """Whether this core has reported in a round of that mode that is not complete."""
        return any(
            key[0] == mode and key[-1] == number and bool(turn.reports.get(serial)) for key, turn in self.rounds.items()
        )

    def counter(self, serial: int, number: int) -> Counter:
        """The counter of one core; it exists before the core has started."""
        return self.counters.setdefault(serial, [Counter() for _ in range(CROSS_IDS)])[number]

    def _push(self, serial: int, number: int, token: Token, site: Site) -> None:
        counter = self.counter(serial, number)
        counter.pushed += 1
        counter.tokens.append(token)
        # Some legal timing passes 15 unless the wait number pushed - 15 is known to have happened before this set.
        needed = counter.pushed - CROSS_LIMIT
        if needed > 0 and token.known.get(-1 - serial * CROSS_IDS - number, [0])[0] < needed:
            self.device.report(
                Finding(
                    "XFLAG_OVERFLOW",
                    f"the counter of flag {number} on {self.device.core_name(serial)} may pass {CROSS_LIMIT}: set "
                    f"number {counter.pushed} ({place(site)}) does not follow that core's wait number {needed}; answer with a "
                    "flag in the other direction",
                    self.device.core_name(serial),
                    "cross_core_set_flag",
                    (site,),
                )
            )

    def wait(self, core: Core, number: int, site: Site) -> None:
        """cross_core_wait_flag: S goes no further until the counter is above zero, then takes one."""
        counter = self.counter(core.serial, number)

        def why() -> str:
            return f"{core.name} waits for flag {number} ({place(site)}){self._missing(core, number)}"

        self.device.scheduler.wait(core, lambda: bool(counter.tokens), why, self._deadlock)
        counter.waits += 1
        token = counter.tokens.popleft()
        self.arrive(core, token)
        mark = -1 - core.serial * CROSS_IDS - number  # an entry of its own: how many waits have happened
        core.scalar.known = merge(core.scalar.known, {mark: [counter.waits]})
        for pipe in core.slots:
            if pipe.parked is None:
                pipe.known = merge(pipe.known, {mark: [counter.waits]})

    def arrive(self, core: Core, token: Token) -> None:
        """S has waited for what another core's token says."""
        mine = token.known.get(core.serial)
        clock = mine if mine is not None else [0] * len(core.slots)
        core.join_scalar(Token(clock, token.known, token.time))

    def _missing(self, core: Core, number: int) -> str:
        parts = []
        for key, turn in self.rounds.items():
            if key[-1] != number:
                continue
            absent = [
                self.device.core_name(p.serial)
                for p in self.device.places
                if self._member(key, p) and not turn.reports.get(p.serial)
            ]
            present = [self.device.core_name(s) for s, queue in turn.reports.items() if queue]
            if present and absent:
                parts.append(f" [round of mode {key[0]}: {', '.join(present)} reported, {', '.join(absent)} did not]")
        return "".join(parts)

    @staticmethod
    def _member(key: tuple[Any, ...], place_: Any) -> bool:
        if key[0] == 0:
            return bool(place_.kind == key[1])
        return place_.group == key[1] and place_.kind == (key[2] if key[0] == 2 else "aiv")

    def _deadlock(self, waiters: list[Waiter]) -> BaseException:
        lines = "; ".join(waiter.why() for waiter in sorted(waiters, key=lambda w: w.core.serial))
        ended = [
            self.device.core_name(p.serial)
            for p in self.device.places
            if p.serial not in {w.core.serial for w in waiters}
        ]
        rest = f"; ended before: {', '.join(ended[:8])}{' ...' if len(ended) > 8 else ''}" if ended else ""
        finding = Finding(
            "DEADLOCK",
            f"DEADLOCK (cross_core): {lines}{rest}; {TIMEOUT}",
            waiters[0].core.name,
            "cross_core_wait_flag",
        )
        self.device.found[finding.key] = finding
        return finding.error()

    # ------------------------------------------------------------------ rules and the end

    def _reserved(self, core: Core, number: int, site: Site) -> None:
        if self.sync_all_used is not None and number in SYNC_ALL_IDS:
            core.report(
                "XFLAG_RESERVED_ID",
                f"flag {number} ({place(site)}) belongs to sync_all ({place(self.sync_all_used)}), which uses 11 to 14",
                site,
                operation="cross_core_set_flag",
            )

    def use_sync_all(self, core: Core, site: Site) -> None:
        """Note that the hard form of sync_all is used: its ids are not the author's."""
        self.sync_all_used = self.sync_all_used or site
        for number, at in self.by_author.items():
            self._reserved(core, number, at)

    def finish(self) -> None:
        """Flags that are still up, and rounds that some member never joined."""
        for serial, row in self.counters.items():
            for number, counter in enumerate(row):
                if counter.tokens:
                    self._left(serial, number, f"has {len(counter.tokens)} sets that no wait has taken")
        for key, turn in self.rounds.items():
            for serial, queue in turn.reports.items():
                if queue:
                    self._left(
                        serial, key[-1], f"was reported in mode {key[0]}, but other members of the round never did"
                    )

    def _left(self, serial: int, number: int, what: str) -> None:
        name = self.device.core_name(serial)
        site = next((s for (c, n), s in self.last_set.items() if n == number), None)
        self.device.report(
            Finding(
                "XFLAG_LEFT_SET",
                f"flag {number} of {name} {what} (last set: {place(site)}); the next kernel would start with it up",
                name,
                "cross_core_set_flag",
                (site,),
            )
        )

    # ------------------------------------------------------------------ meetings through memory

    def post(self, box: Any, core: Core) -> None:
        """Leave all that this core has done so far in a box (after PIPE_ALL)."""
        self.posted.setdefault(box, deque()).append(foreign(core, core.everything()))

    def take(self, box: Any, core: Core, what: str, site: Site) -> None:
        """Wait until a box holds something; from then on this core follows it."""
        queue = self.posted.setdefault(box, deque())
        self.device.scheduler.wait(
            core, lambda: bool(queue), lambda: f"{core.name} waits in {what} ({place(site)})", self._deadlock
        )
        self.arrive(core, queue.popleft())
