"""One line put in, left out or changed where sets and waits do not come out even: a flag of which half was forgotten.

Such a kernel is nearly right: it lacks the other half, not a second pair. Candidates are tried one after the other on
the launch made again (`rerun`); the first that leaves nothing to report is taken, else the one that leaves least. Not
looked at: flags of queues and of the library, and pairs that come out even in the wrong order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..hw.calls import Call
from ..hw.events import EVENT_NUMBER
from ..hw.findings import locate
from ..hw.rerun import Outcome
from .edits import CodeLine, Line, Loop, acts, edited, innermost, line_of, loop_around, source

OTHER = {"set_flag": "wait_flag", "wait_flag": "set_flag"}
MOST = 4  # lines
TRIALS, WORK = 100, 1_000_000  # launches made again, and the calls of all of them
Key = tuple[str, Line]  # a call of a flag, and its line
Calls = dict[int, list[Call]]


@dataclass(frozen=True)
class Completion:
    """A change of one line: in words, and to the calls of one core's text."""

    lines: tuple[CodeLine, ...]
    edit: Callable[[list[Call]], list[Call]]


Trial = Callable[[tuple[Completion, ...]], Outcome]


def completed(calls: Calls, trial: Trial) -> tuple[tuple[Completion, ...], Outcome, bool]:
    """The changes, none where all flags come out even or nothing helps, the launch with them, and whether no smaller
    set of the candidates does as well: of two changes, where each alone was tried."""
    chosen: tuple[Completion, ...] = ()
    outcome = trial(())
    alone = False  # every change was tried alone
    trials, most = 0, min(TRIALS, WORK // max(1, sum(map(len, calls.values()))))
    for _ in range(MOST):
        now = {serial: edited(made, (), chosen) for serial, made in calls.items()}
        uneven = _Uneven(now)
        best, left = None, _faults(outcome)
        for candidate in uneven.candidates([locate(f.sites[-1]) for f in outcome.findings if f.sites]):
            trials += 1
            if trials > most:
                break
            tried = trial((*chosen, candidate))
            if _faults(tried) < left:
                best, left = (candidate, tried), _faults(tried)
                if left == CLEAN:
                    break
        if best is None:
            break
        chosen, outcome = (*chosen, best[0]), best[1]
        alone |= len(chosen) == 1 and trials <= most
    return chosen, outcome, len(chosen) < 2 or (len(chosen) == 2 and alone)


CLEAN = (False, 0)


def _faults(outcome: Outcome) -> tuple[bool, int]:
    """How bad a launch is."""
    return outcome.ended, sum(finding.count for finding in outcome.serious)


class _Uneven:
    """The author's sets and waits, and those of flags which come out uneven."""

    def __init__(self, calls: Calls) -> None:
        self.flags: dict[Key, set[str]] = {}  # events at each line
        self.acts: dict[str, dict[Line, None]] = {}  # lines of instructions by pipe, in order
        self.over: dict[Key, dict[int, None]] = {}  # lines with calls of flags that lack the other half, and the ids
        for made in calls.values():
            self._look(made)

    def _look(self, made: list[Call]) -> None:
        balance: Counter[tuple[str, int]] = Counter()
        for call in made:
            line = line_of(call)
            if line is None:
                continue
            if call.what in OTHER and str(call.what) in source(line):
                flag = call.args[0]
                self.flags.setdefault((str(call.what), line), set()).add(flag.event)
                balance[flag.event, flag.id] += 1 if call.what == "set_flag" else -1
            elif call.what == "issue":
                self.acts.setdefault(call.args[0].pipe.name, {})[line] = None
        for call in made:
            line = line_of(call)
            if call.what in OTHER and line is not None and (str(call.what), line) in self.flags:
                left = balance[call.args[0].event, call.args[0].id]
                if left and (left > 0) == (call.what == "set_flag"):
                    self.over.setdefault((str(call.what), line), {})[call.args[0].id] = None

    def candidates(self, found: list[Line]) -> Iterator[Completion]:
        """What one line could do, the likeliest first; `found` are lines at which something was found."""
        over = [key for key in self.over if len(self.flags[key]) == 1]
        for key in over:
            yield _leave_out(key)
        for key in over:
            for other in over:
                if key[0] != other[0]:
                    yield from self._change(key, other)
        for key in over:
            (event,) = self.flags[key]
            yield from self._put(key, event, found)

    def _change(self, key: Key, other: Key) -> Iterator[Completion]:
        """The call at one line takes the flag of the other half at another line."""
        (event,) = self.flags[other]
        for ids in self._ids(other, event, key[1]):
            yield _place("instead of", key, key[0], event, ids)

    def _put(self, key: Key, event: str, found: list[Line]) -> Iterator[Completion]:
        """The other half, beside an instruction of its pipe; or before or after the loop; or beside the call itself."""
        what, line = OTHER[key[0]], key[1]
        sets = what == "set_flag"
        where = "after" if sets else "before"
        lines = list(self.acts.get(event.split("_")[0 if sets else 1], ()))
        lines.sort(key=lambda other: (other not in found, (other < line) is not sets, abs(other[1] - line[1])))
        for other in lines:
            for ids in self._ids(key, event, other):
                yield _place(where, ("", other), what, event, ids)
        loop = loop_around(line, line)
        once = tuple(self.over[key])
        beside = ("before" if sets else "after") + " loop" * (loop is not None)
        yield _place(beside, key, what, event, once, loop)

    def _ids(self, key: Key, event: str, line: Line) -> Iterator[Key | tuple[int, ...]]:
        """The ids that a call at a line may have: those of another call in the same loop, or one number."""
        loop = innermost(line)
        same = [other for other, events in self.flags.items() if events == {event} and innermost(other[1]) == loop]
        yield from sorted(same, key=lambda other: other != key)
        if len(self.over[key]) == 1:
            yield tuple(self.over[key])


def _leave_out(key: Key) -> Completion:
    line = CodeLine("leave out", *key[1], source(key[1]))
    return Completion((line,), lambda made: [call for call in made if (call.what, line_of(call)) != key])


def _place(
    where: str, beside: Key, what: str, event: str, ids: Key | tuple[int, ...], loop: Loop | None = None
) -> Completion:
    """A call of a flag in some place. `beside` is the call there, ("", line) any instruction of the line; `ids` are
    taken from another call, turn by turn, or given, one line each."""
    line = beside[1]
    if loop is not None:
        line = line[0], loop.first if where == "before loop" else loop.last
    texts = [_arguments(*ids)] if isinstance(ids[0], str) else []
    texts = [text for text in texts if text] or [
        f"asc.HardEvent.{event}, {number}" for number in ids if isinstance(number, int)
    ]
    code = tuple(CodeLine(where, *line, f"asc.{what}({text})") for text in texts)

    def edit(made: list[Call]) -> list[Call]:
        out: list[Call] = []
        numbers = _Numbers(made, ids)
        there = {(b if where.startswith("after") else a) for a, b in visits(made, beside, loop)}
        for k, call in enumerate(made):
            row = call.core.flags[EVENT_NUMBER[event]] if k in there else None
            if row is None:
                out.append(call)
                continue
            put = [Call(call.core, what, (row[n], line), {}, line, call.turn) for n in numbers.beside(k, call.turn)]
            if where == "instead of":
                out += put or [call]
            else:
                out += [call, *put] if where.startswith("after") else [*put, call]
        return out

    return Completion(code, edit)


class _Numbers:
    """The ids of a call beside another, turn by turn."""

    def __init__(self, made: list[Call], ids: Key | tuple[int, ...]) -> None:
        self.fixed = [number for number in ids if isinstance(number, int)]
        self.known: dict[int, list[tuple[int, int]]] = {}
        if not self.fixed:
            for k, call in enumerate(made):
                if (call.what, line_of(call)) == ids:
                    self.known.setdefault(call.turn, []).append((k, call.args[0].id))

    def beside(self, k: int, turn: int) -> list[int]:
        """Beside call number k."""
        near = [number for _, number in sorted((abs(k - at), number) for at, number in self.known.get(turn, ()))]
        return self.fixed or near[:1]


def visits(made: list[Call], beside: Key, loop: Loop | None) -> list[tuple[int, int]]:
    """First and last call of every time that the text comes by a line, or runs a loop."""
    what, line = beside

    def here(call: Call) -> bool:
        at = line_of(call)
        if loop is not None:
            return at is not None and at[0] == line[0] and loop.first <= at[1] <= loop.last
        return at == line and (call.what == what if what else acts(call))

    found: list[tuple[int, int]] = []
    for k, call in enumerate(made):
        if not here(call):
            continue
        last = found[-1] if found else None
        runs_on = last is not None and (loop is not None or (last[1] == k - 1 and not what))
        if last is not None and runs_on and (loop is not None or made[k - 1].turn == call.turn):
            found[-1] = last[0], k
        else:
            found.append((k, k))
    return found


def _arguments(call: str, line: Line) -> str:
    """What stands between the parentheses of a call, as the author has it."""
    found = re.search(rf"\b{call}\(([^()]*(?:\([^()]*\)[^()]*)*)\)", source(line))
    return found[1] if found else ""
