"""Order between cores: what would end a race in global memory, found by trying.

For a race of a cube core with a vector core of its group: the wait that one of the author's flags lacks, a cross-core
flag, or one that goes the other way round a loop; for any race: a meeting of all cores of the kind. Each is put into
the calls of every core and the launch is made again. Not looked at: races of one line with itself, which no order ends,
and ids that take turns in a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from ..hw import current
from ..hw.calls import Call
from ..hw.cross_rules import SYNC_ALL_IDS
from ..hw.events import CROSS_IDS
from ..hw.findings import Finding, locate
from ..hw.rerun import Outcome
from .completions import Calls, Completion, Trial, visits
from .edits import Block, CodeLine, Line, block_around, function_end, guarded, line_of, loop_around, meet
from .redundancy import misses

if TYPE_CHECKING:
    from ..hw.core import Core

RACES = frozenset(("GM_RACE_RW", "GM_RACE_WW"))
LEFT_SET = "XFLAG_LEFT_SET"
MODE = 2  # cube core and vector cores of a group
SOFT = "int32 workspaces of 32 bytes a core each, the one in global memory zero before the launch"
ROUNDS = 8  # changes at most
FIRST = 8  # races looked at in a round


@dataclass(frozen=True)
class Access:
    """One side of a race: its line, the kind and the group of its core, its pipe."""

    line: Line
    kind: str
    group: int
    pipe: str


def ordered(races: list[Finding], calls: Calls, trial: Trial) -> tuple[tuple[Completion, ...], set[tuple[object, ...]]]:
    """The changes that end races, and the keys of the races, and of flags left set, that they end.

    A race ended shows the next, the other way round a loop. What leaves a race that was not there before is given up.
    """
    chosen: tuple[Completion, ...] = ()
    if not races:
        return chosen, set()
    base = outcome = trial(())
    # Of a polled word a race may be found here alone.
    wanted = [race for race in races if _among(race, base.findings)]
    for _ in range(ROUNDS):
        left = [f for f in outcome.findings if f.code in RACES and (_among(f, wanted) or not _among(f, base.findings))]
        better = next(filter(None, (_mend(chosen, outcome, race, calls, trial) for race in left[:FIRST])), None)
        if better is None:
            break
        chosen, outcome = better
    if misses(outcome, base):
        return (), set()
    for change in chosen:
        fewer = tuple(other for other in chosen if other is not change)
        if fewer and not misses(trial(fewer), outcome):
            chosen = fewer
    kept = {finding.key for finding in outcome.findings}
    other = {finding.key for finding in base.serious if finding.code == LEFT_SET} - kept
    return chosen, other | {race.key for race in wanted if not _among(race, outcome.findings)}


def _mend(
    chosen: tuple[Completion, ...], before: Outcome, race: Finding, calls: Calls, trial: Trial
) -> tuple[tuple[Completion, ...], Outcome] | None:
    """The changes with one that ends a race: the first that brings no other race to light, else the first."""
    known = {finding.key for finding in before.serious}
    best = None
    for candidate in _candidates(race, before.device, calls):
        outcome = trial((*chosen, candidate))
        new = [finding for finding in outcome.serious if finding.key not in known]
        if outcome.ended or _among(race, outcome.findings) or any(finding.code not in RACES for finding in new):
            continue
        if not new:
            return (*chosen, candidate), outcome
        best = best or ((*chosen, candidate), outcome)
    return best


def _among(race: Finding, findings: Iterable[Finding]) -> bool:
    """Whether there is a race of these lines; whether bytes differ may be otherwise when a launch is made again."""
    lines = [locate(site) for site in race.sites]
    return any(other.code == race.code and [*map(locate, other.sites)] == lines for other in findings)


def _candidates(race: Finding, device: Any, calls: Calls) -> Iterator[Completion]:
    first, second = (
        Access(locate(site), core.kind, core.group, core.slots[slot].name)
        for site, (serial, slot, _) in zip(race.sites, device.seen[race.key], strict=True)
        for core in (device.cores[serial],)
    )
    if first.line == second.line:
        return
    loop = loop_around(*meet(chain.from_iterable(calls.values()), first.line, second.line))
    if first.kind == second.kind:
        for side, other in ((second, first), (first, second)):
            if loop is None:
                yield _meeting(side, block_around(side.line, other.line), device.has_scheduler)
            yield _meeting(side, None, device.has_scheduler)
    elif first.group == second.group:
        if second.line < first.line:  # which came first in the launch says little, the text what the author means
            first, second = second, first
        if any(finding.code == LEFT_SET for finding in device.findings):
            yield from (_wait_for(number, side) for number in device.cross.by_author for side in (second, first))
        used = {*device.cross.by_author, *SYNC_ALL_IDS, *(n for _, ids, _ in device.cross.kept.values() for n in ids)}
        free = [number for number in range(CROSS_IDS) if number not in used]
        if free:
            yield _flag(first, second, free[0], None)
        if len(free) > 1 and loop is not None:
            ways = (first, second), (second, first)
            yield from (_flag(other, one, free[0], loop) for one, other in ways)
            for one, other in ways:  # there and back: neither order alone ends a race round a loop
                yield _flag(one, other, free[0], None).then(_flag(other, one, free[1], loop))


def _flag(first: Access, second: Access, number: int, loop: Block | None) -> Completion:
    """Raised after `first`, waited for before `second`; round a loop it is raised once before it."""
    set_code = f"asc.cross_core_set_flag({number}, {MODE}, asc.PipeID.PIPE_{first.pipe})"
    wait_code = f"asc.cross_core_wait_flag({number})"
    lines = [
        CodeLine("after", *first.line, guarded(set_code, first.line, first.kind)),
        CodeLine("before", *second.line, guarded(wait_code, second.line, second.kind)),
    ]
    there, here = (partial(visits, beside=("", side.line)) for side in (first, second))
    puts = [
        _Put("after", there, first.kind, _raise, (number, first.pipe), first.line),
        _Put("before", here, second.kind, _wait, (number,), second.line),
    ]
    if loop is not None:
        lines += [loop.code("before", set_code, first.kind), loop.code("after", wait_code, second.kind)]
        puts += [
            _Put("before", loop.runs, first.kind, _raise, (number, first.pipe), first.line),
            _Put("after", loop.runs, second.kind, _wait, (number,), second.line),
        ]
    return Completion(tuple(lines), lambda made: _put(made, puts))


def _wait_for(number: int, side: Access) -> Completion:
    """Before a line: the other half of a flag that the author raises."""
    line = CodeLine("before", *side.line, guarded(f"asc.cross_core_wait_flag({number})", side.line, side.kind))
    put = _Put("before", partial(visits, beside=("", side.line)), side.kind, _wait, (number,), side.line)
    return Completion((line,), lambda made: _put(made, [put]))


def _meeting(side: Access, block: Block | None, hard: bool) -> Completion:
    """All cores of the kind wait for each other before a line, or before the block that holds it: by flags in a mix
    kernel, else by two workspaces."""
    code = "asc.sync_all()" if hard else f"asc.sync_all(gm_workspace, ub_workspace)  # {SOFT}"
    first = side.line if block is None else (side.line[0], block.first)
    places = partial(visits, beside=("", side.line)) if block is None else partial(_crossing, line=first)
    put = _Put("before", places, side.kind, _meet, (), first)
    return Completion((CodeLine("before", *first, code),), lambda made: _put(made, [put]))


def _crossing(made: list[Call], line: Line) -> list[tuple[int, int]]:
    """Where the text comes to a line that makes no call: before its next call in that function, else at its end."""
    last = function_end(line)
    lines = ((k, line_of(call)) for k, call in enumerate(made))
    after = [k for k, at in lines if at is not None and at[0] == line[0] and line[1] <= at[1] <= last]
    return [(after[0], after[0])] if after else [(len(made), len(made))]


@dataclass(frozen=True)
class _Put:
    """A call to be made `where` ("before" or "after") some places among the calls, on cores of one kind."""

    where: str
    places: Callable[[list[Call]], list[tuple[int, int]]]
    kind: str
    what: Callable[..., None]
    args: tuple[Any, ...]
    line: Line


def _put(made: list[Call], puts: Iterable[_Put]) -> list[Call]:
    before: dict[int, list[Call]] = {}
    after: dict[int, list[Call]] = {}
    own = current.core.get()  # whose text is made again
    for put in puts:
        if own.kind != put.kind:
            continue
        for a, b in put.places(made):
            at, there = (a, before) if put.where == "before" else (b, after)
            turn, run = (made[at].turn, made[at].activation) if at < len(made) else (-1, None)
            there.setdefault(at, []).append(Call(own, put.what, (own, *put.args, put.line), {}, put.line, turn, run))
    calls = (one for k, call in enumerate(made) for one in (*before.get(k, ()), call, *after.get(k, ())))
    return [*calls, *before.get(len(made), ())]


def _raise(core: Core, number: int, pipe: str, site: Any) -> None:
    core.device.cross.set(core, number, MODE, core.pipes[pipe], site)


def _wait(core: Core, number: int, site: Any) -> None:
    core.device.cross.wait(core, number, site)


def _meet(core: Core, site: Any) -> None:
    device = core.device
    if device.has_scheduler:
        device.cross.sync_all(core, site)
        return
    core.barrier_all(site)
    members = sum(place.kind == core.kind for place in device.places)
    device.cross.meet("sync_all", core, members, "sync_all", site)
