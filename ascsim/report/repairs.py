"""The smallest set of flag pairs and barriers that puts a faulty kernel in order, found by trying.

Each race gives a few candidates, the cheapest first: a pair in one turn, a reverse flag around the loop, a pair just
before the second access. The launch is made again with them; what is left over gives the next. Then those that the
others make needless are dropped, and smaller sets are tried as long as there are not too many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain, combinations
from math import comb
from typing import Any

from ..hw.calls import Call
from ..hw.events import EVENT_NUMBER, RESERVED
from ..hw.findings import Finding, locate
from ..hw.ledger import Name
from ..hw.rerun import Outcome
from .completions import Completion
from .edits import Line, Repair, edited, function_end, loop_around, meet, tpipe_name

IN_CORE = frozenset(
    [*("RAW", "WAR", "WAW"), *("NO_BARRIER_RAW", "NO_BARRIER_WAR", "NO_BARRIER_WAW")]
)  # what a flag or a barrier of the core mends
TRIALS = 200  # launches made again while a smaller set is looked for
ROUNDS = 32  # repairs at most
Trial = Callable[[tuple[Repair, ...]], Outcome]
Pair = tuple[str, str, int, int, str]  # pipes of the two accesses, turns of their loops, kind of core ("": all are)


class Repairs:
    """A search for repairs. `chosen` are the repairs, `left` what they do not mend, `smallest` whether no set of the
    candidates with fewer of them does as well."""

    def __init__(
        self,
        calls: dict[int, list[Call]],
        trial: Trial,
        describe: Callable[[Name, Name], Pair | None],
        framework: bool = False,
    ) -> None:
        self.calls, self.trial, self.describe = calls, trial, describe
        self.used = _ids_in_use(calls.values())
        self.framework = framework  # a TPipe gives the ids
        self.seen: list[Repair] = []
        self.smallest = True
        self.chosen, self.left = self._search()
        if not self.left:
            self._shrink()
            self._renumber()

    def _search(self) -> tuple[tuple[Repair, ...], list[Finding]]:
        chosen: tuple[Repair, ...] = ()
        base = self.trial(())
        outcome = base
        other = _flags(base)
        for _ in range(ROUNDS):
            races = [finding for finding in outcome.findings if finding.code in IN_CORE]
            if not races:
                return chosen, []
            found = next(filter(None, (self._mend(chosen, outcome, race, other) for race in races)), None)
            if found is None:
                return chosen, races
            chosen, outcome = found
        return chosen, [finding for finding in outcome.findings if finding.code in IN_CORE]

    def _mend(
        self, chosen: tuple[Repair, ...], before: Outcome, race: Finding, other: set[tuple[Any, ...]]
    ) -> tuple[tuple[Repair, ...], Outcome] | None:
        for repair in self._candidates(race, before, chosen):
            more = (*chosen, repair)
            outcome = self.trial(more)
            keys = {finding.key for finding in outcome.findings}
            if not outcome.ended and race.key not in keys and _flags(outcome) <= other:
                self.seen.append(repair)
                return more, outcome
        return None

    def _candidates(self, race: Finding, before: Outcome, chosen: tuple[Repair, ...]) -> Iterator[Repair]:
        first, second = locate(race.sites[0]), locate(race.sites[-1])
        names = before.device.seen.get(race.key)
        known = None if names is None else self.describe(*names)
        if known is None:
            return
        a, b, turn_a, turn_b, kind = known
        event = f"{a}_{b}"
        if a == b or event not in EVENT_NUMBER:
            yield Repair(first, second, pipe=a if a == b else "ALL")
            return
        above, below = meet(chain.from_iterable(self.calls.values()), first, second)
        loop = loop_around(above, below)
        distance = turn_b - turn_a
        free = self._free(event, chosen)
        tpipe = tpipe_name(second) if self.framework else ""
        named = not tpipe or function_end(first) == function_end(second)  # the id's name is known at both lines
        if distance <= 0 and free and (not tpipe or (named and first < second)):
            yield Repair(first, second, event, number=free[0], tpipe=tpipe)
        if loop is not None and named and (distance > 0 or above >= below):
            counts = distance > 0 and not tpipe and loop.variable and (above, below) == (first, second)
            for ids in {distance: None, 1: None} if counts else (1,):
                start = next((k for k in free if all(k + step in free for step in range(ids))), None)
                if start is not None:
                    yield Repair(first, second, event, number=start, ids=ids, loop=loop, kind=kind, tpipe=tpipe)
        if free:
            yield Repair(first, second, event, number=free[0], apart=False, tpipe=tpipe)
        yield Repair(first, second, pipe="ALL")

    def _free(self, event: str, chosen: Iterable[Repair]) -> list[int]:
        taken = set(self.used.get(event, ()))
        for repair in chosen:
            if repair.event == event:
                taken.update(range(repair.number, repair.number + repair.ids))
        return [number for number in range(RESERVED[0]) if number not in taken]

    def _clean(self, repairs: tuple[Repair, ...]) -> bool:
        outcome = self.trial(repairs)
        races = any(finding.code in IN_CORE for finding in outcome.findings)
        return not outcome.ended and not races and _flags(outcome) <= _flags(self.trial(()))

    def _shrink(self) -> None:
        for repair in self.chosen:
            fewer = tuple(other for other in self.chosen if other is not repair)
            if fewer and self._clean(fewer):
                self.chosen = fewer
        trials = 0
        for size in range(1, len(self.chosen)):
            trials += comb(len(self.seen), size)
            if trials > TRIALS:
                self.smallest = False
                return
            for fewer in combinations(self.seen, size):
                if self._clean(fewer):
                    self.chosen = fewer
                    return

    def _renumber(self) -> None:
        """The lowest free ids, now that others have been dropped."""
        fresh: tuple[Repair, ...] = ()
        for repair in self.chosen:
            free = self._free(repair.event, fresh)
            start = next((k for k in free if all(k + step in free for step in range(repair.ids))), repair.number)
            fresh = (*fresh, replace(repair, number=start) if repair.event else repair)
        if self._clean(fresh):
            self.chosen = fresh


def _flags(outcome: Outcome) -> set[tuple[Any, ...]]:
    """The faults of flags that are not as they should be: all that a repair can do wrong beside a deadlock."""
    return {finding.key for finding in outcome.findings if finding.code.startswith("FLAG_")}


def _ids_in_use(calls: Iterable[list[Call]]) -> dict[str, set[int]]:
    """The ids of every event that a launch's flags have."""
    used: dict[str, set[int]] = {}
    for made in calls:
        for call in made:
            if call.what in ("set_flag", "wait_flag"):
                used.setdefault(call.args[0].event, set()).add(call.args[0].id)
    return used


def with_changes(changes: Iterable[Repair | Completion]) -> Callable[[list[Call]], list[Call]]:
    """The edit that makes changes one after the other."""
    return lambda made: edited(made, (), changes)


__all__ = ["IN_CORE", "Line", "Repairs", "with_changes"]
