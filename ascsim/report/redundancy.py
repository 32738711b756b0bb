"""Flags and barriers that a clean kernel could do without.

A flag is looked at together with all sets and waits that it is paired with, for a set without its wait is a fault; so
is every line of a barrier. Redundant is what the launch, made again without it, does not miss: everything that has to
be ordered is ordered by what is left. Calls of queues, of the library and between cores are not looked at, nor is a
`pipe_barrier(PIPE_ALL)` that ends the kernel, which the vendor's rules ask for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..hw.calls import Call
from ..hw.rerun import Outcome
from .edits import Line, edited, line_of, short, source

Gone = frozenset[tuple[str, Line]]  # kind of call, and line
Trial = Callable[[Callable[[list[Call]], Iterable[Call]], bool], Outcome]  # edit, with the compiler's help
# What the line of the author's own call says.
SAYS = {
    "set_flag": "set_flag",
    "wait_flag": "wait_flag",
    "barrier": "barrier",
    "barrier_all": "barrier",
    "fence": "barrier",
}


@dataclass(frozen=True)
class Redundant:
    """Calls that may go together, and what they cost on the timeline of the slowest core.

    `compiler_only`: needed without the order that the compiler adds (`auto_sync`, `insert_sync`).
    """

    lines: tuple[Line, ...]
    microseconds: float
    compiler_only: bool

    def __str__(self) -> str:
        calls = ", ".join(f"{short(line[0])}:{line[1]} {source(line)}" for line in self.lines)
        cost = f"costs {self.microseconds:.3f} us" if self.microseconds else "costs no time"
        also = "; needed without what the compiler adds" if self.compiler_only else ""
        return f"{calls}: {cost}{also}"


def redundant(calls: dict[int, list[Call]], trial: Trial, microseconds: Callable[[int], float]) -> list[Redundant]:
    """What may go, one after the other: each is judged without those before it, so that all may go together."""
    base, alone = trial(list, True), trial(list, False)
    gone: Gone = frozenset()
    found = []
    for candidate in candidates(calls):
        without = gone | candidate
        outcome = trial(lambda made, without=without: edited(made, without), True)  # type: ignore[misc]
        if misses(outcome, base):
            continue
        uncompiled = trial(lambda made, without=without: edited(made, without), False)  # type: ignore[misc]
        saved = microseconds(base.cycles - outcome.cycles)
        lines = tuple(sorted({line for _, line in candidate}))
        found.append(Redundant(lines, max(0.0, saved), misses(uncompiled, alone)))
        gone, base, alone = without, outcome, uncompiled
    return found


def misses(outcome: Outcome, base: Outcome) -> bool:
    """Whether a launch ends early or finds what another does not."""
    known = {finding.key for finding in base.serious}
    return outcome.ended or any(finding.key not in known for finding in outcome.serious)


def candidates(calls: dict[int, list[Call]]) -> list[Gone]:
    """Sets of calls that belong together, barriers first: they are the dearest."""
    barriers: dict[tuple[str, Line], bool] = {}
    groups: dict[tuple[str, Line], set[tuple[str, Line]]] = {}
    foreign: set[tuple[str, Line]] = set()
    for made in calls.values():
        working = max((k for k, call in enumerate(made) if call.what not in SAYS), default=-1)
        pending: dict[int, dict[str, list[tuple[str, Line]]]] = defaultdict(lambda: {"set_flag": [], "wait_flag": []})
        for k, call in enumerate(made):
            line = line_of(call)
            if not isinstance(call.what, str) or call.what not in SAYS or line is None:
                continue
            name = call.what, line
            if SAYS[call.what] not in source(line):
                foreign.add(name)
            if call.what.endswith("_flag"):
                groups.setdefault(name, {name})
                pending[id(call.args[0])][call.what].append(name)
            else:
                barriers[name] = barriers.get(name, False) or k < working
        for pairs in pending.values():
            for first, second in zip(pairs["set_flag"], pairs["wait_flag"], strict=False):
                _join(groups, first, second)
    flags = {id(group): group for group in groups.values()}
    found = [{name} for name, works in barriers.items() if works] + list(flags.values())
    return [frozenset(group) for group in found if not group & foreign]


def _join(groups: dict[tuple[str, Line], set[tuple[str, Line]]], a: tuple[str, Line], b: tuple[str, Line]) -> None:
    if groups[a] is not groups[b]:
        both = groups[a] | groups[b]
        for name in both:
            groups[name] = both
