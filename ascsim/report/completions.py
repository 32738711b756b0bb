"""One line put in, left out, changed or moved: a flag of which half was forgotten, or stands on the wrong side.

Such a kernel is nearly right: it lacks the other half, not a second pair. Candidates are tried one after the other on
the launch made again (`rerun`); the first that leaves nothing to report is taken, else the one that leaves least. Not
looked at: flags of queues and of the library.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..hw.calls import Call
from ..hw.events import EVENT_NUMBER
from ..hw.findings import Finding, locate
from ..hw.rerun import Outcome
from .edits import (
    Block,
    CodeLine,
    Line,
    acts,
    bound,
    edited,
    function_end,
    innermost,
    levels,
    line_of,
    loop_around,
    source,
)

OTHER = {"set_flag": "wait_flag", "wait_flag": "set_flag"}
MOST = 4  # lines
TRIALS, WORK = 100, 1_000_000  # launches made again, and the calls of all of them
Key = tuple[str, Line]  # a call of a flag, and its line
Calls = dict[int, list[Call]]


@dataclass(frozen=True)
class Text:
    """What is known of a kernel's text.

    mixed      cores of both kinds run it
    whole      nothing ended the launch before its last call
    framework  a TPipe gives the ids: a number instead would be warned of
    """

    mixed: bool
    whole: bool
    framework: bool


@dataclass(frozen=True)
class Completion:
    """A change of one line, or a move: in words, and to the calls of one core's text."""

    lines: tuple[CodeLine, ...]
    edit: Callable[[list[Call]], list[Call]]

    def then(self, other: Completion) -> Completion:
        """Both, as one."""
        return Completion((*self.lines, *other.lines), lambda made: other.edit(self.edit(made)))


Trial = Callable[[tuple[Completion, ...]], Outcome]


def completed(calls: Calls, trial: Trial, text: Text) -> tuple[tuple[Completion, ...], Outcome, bool]:
    """The changes, none where nothing helps, the launch with them, and whether no smaller set of the candidates does
    as well: of two changes, where each alone was tried."""
    chosen: tuple[Completion, ...] = ()
    base = outcome = trial(())
    alone = False  # every change was tried alone
    trials, most = 0, min(TRIALS, WORK // max(1, sum(map(len, calls.values()))))
    for _ in range(MOST):
        now = {serial: edited(made, (), chosen) for serial, made in calls.items()}
        flags = _Flags(now, text)
        changed = {line for change in chosen for line in _taken(change)}
        best, left = None, _faults(outcome)
        for candidate in flags.candidates([f for f in outcome.findings if f.sites], outcome.ended):
            if not candidate.lines or _taken(candidate) & changed:  # a call of several lines cannot be copied
                continue
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
    if outcome.ended:
        return (), base, True
    return chosen, outcome, len(chosen) < 2 or (len(chosen) == 2 and alone)


def _taken(change: Completion) -> set[Line]:
    """The author's lines that a change takes away."""
    return {(line.file, line.line) for line in change.lines if line.where in ("leave out", "instead of")}


CLEAN = (False, 0, 0)


def _faults(outcome: Outcome) -> tuple[bool, int, int]:
    """How bad a launch is: one that ends early is worse the less it did."""
    return outcome.ended, -outcome.done * outcome.ended, sum(finding.count for finding in outcome.serious)


class _Flags:
    """The author's sets and waits, and those of flags which come out uneven."""

    def __init__(self, calls: Calls, text: Text) -> None:
        self.text = text
        self.flags: dict[Key, set[str]] = {}  # events at each line
        self.acts: dict[str, dict[Line, None]] = {}  # lines of instructions by pipe, in order
        self.over: dict[Key, dict[int, None]] = {}  # lines with calls of flags that lack the other half, and the ids
        self.ids: dict[Key, dict[int, None]] = {}  # at each line
        self.above: dict[Key, dict[Line, None]] = {}  # the line, and those that lead to it
        self.kinds: dict[Key, set[str]] = {}  # of the cores that come by
        self.twice: set[Key] = set()  # waits that follow a wait for the same flag at once
        for made in calls.values():
            self._look(made)

    def _look(self, made: list[Call]) -> None:
        balance: Counter[tuple[str, int]] = Counter()
        before = None
        for call in made:
            line = line_of(call)
            if line is None:
                continue
            if call.what in OTHER and str(call.what) in source(line):
                key, flag = (str(call.what), line), call.args[0]
                self.flags.setdefault(key, set()).add(flag.event)
                self.ids.setdefault(key, {})[flag.id] = None
                self.above.setdefault(key, {}).update((at, None) for at, _ in levels(call))
                self.kinds.setdefault(key, set()).add(call.core.kind)
                if call.what == "wait_flag" and before is flag:
                    self.twice.add(key)
                balance[flag.event, flag.id] += 1 if call.what == "set_flag" else -1
            elif call.what == "issue":
                self.acts.setdefault(call.args[0].pipe.name, {})[line] = None
            before = call.args[0] if call.what == "wait_flag" else None
        for call in made:
            line = line_of(call)
            if call.what in OTHER and line is not None and (str(call.what), line) in self.flags:
                left = balance[call.args[0].event, call.args[0].id]
                if left and (left > 0) == (call.what == "set_flag"):
                    self.over.setdefault((str(call.what), line), {})[call.args[0].id] = None

    def candidates(self, found: list[Finding], ended: bool) -> Iterator[Completion]:
        """What one line could do, the likeliest first.

        Of a launch that something ended it is known that a set is missing, but not what else comes out uneven.
        """
        over = [key for key in self.over if len(self.flags[key]) == 1 and (self.text.whole or key[0] == "wait_flag")]
        yield from (_leave_out(key) for key in over if self.text.whole or key in self.twice)
        for key in over:
            for other in over if self.text.whole else ():
                if key[0] != other[0]:
                    yield from self._change(key, other)
        for key in over:
            (event,) = self.flags[key]
            yield from self._put(key, event, [locate(finding.sites[-1]) for finding in found])
        for finding in found:
            yield from self._move(locate(finding.sites[0]), locate(finding.sites[-1]))
        for key in self.flags if ended and self.text.whole else ():
            if key[0] == "wait_flag" and len(self.flags[key]) == 1:
                yield from self._prime(key)

    def _prime(self, key: Key) -> Iterator[Completion]:
        """A flag that goes round a loop is set once before it and waited for once after it."""
        (event,) = self.flags[key]
        ids = tuple(self.ids[key])
        sets, waits = (self._round(key, *half, event, ids) for half in (("before", "set_flag"), ("after", "wait_flag")))
        yield from (one.then(other) for one, other in zip(sets, waits, strict=True))

    def _round(self, key: Key, where: str, what: str, event: str, ids: tuple[int, ...]) -> Iterator[Completion]:
        """A call before or after each loop around a line, or around what leads to it."""
        kind = next(iter(self.kinds[key])) if self.text.mixed and len(self.kinds[key]) == 1 else ""
        for loop in dict.fromkeys(filter(None, (loop_around(at, at) for at in self.above[key]))):
            top = loop.file, loop.first
            if not self.text.framework:
                yield _place(where, key, what, event, ids, loop, kind)
            elif function_end(top) == function_end(key[1]) and bound(_arguments(*key), top):
                yield _place(where, key, what, event, key, loop, kind)

    def _move(self, first: Line, second: Line) -> Iterator[Completion]:
        """A set before the first access goes behind it, a wait behind the second goes before it."""
        for key, events in self.flags.items():
            what, line = key
            sets = what == "set_flag"
            to = first if sets else second
            for event in events if len(events) == 1 else ():
                pipe = event.split("_")[0 if sets else 1]
                if to in self.acts.get(pipe, ()) and (line < to if sets else line > to) and self._fits(key, to):
                    # Put first: its ids are those of the call that goes.
                    yield _place("after" if sets else "before", ("", to), what, event, key).then(_leave_out(key))

    def _fits(self, key: Key, line: Line) -> bool:
        """Whether the arguments of a call mean the same at another line."""
        arguments = _arguments(*key)
        return bool(arguments) and innermost(key[1]) == innermost(line) and bound(arguments, line)

    def _change(self, key: Key, other: Key) -> Iterator[Completion]:
        """The call at one line takes the flag of the other half at another line."""
        (event,) = self.flags[other]
        for ids in self._ids(other, event, key[1]):
            yield _place("instead of", key, key[0], event, ids)

    def _put(self, key: Key, event: str, found: list[Line]) -> Iterator[Completion]:
        """The other half, beside an instruction of its pipe or a call like it; before or after the loop; or beside the
        call itself."""
        what, line = OTHER[key[0]], key[1]
        sets = what == "set_flag"
        where = "after" if sets else "before"
        side = 0 if sets else 1
        lines = list(self.acts.get(event.split("_")[side], ()))
        lines.sort(key=lambda other: (other not in found, (other < line) is not sets, abs(other[1] - line[1])))
        for other in lines:
            for ids in self._ids(key, event, other):
                yield _place(where, ("", other), what, event, ids)
        for near, events in self.flags.items():  # behind branches that end in work of the pipe
            if near[0] == what and {one.split("_")[side] for one in events} == {event.split("_")[side]}:
                for ids in self._ids(key, event, near[1]):
                    yield _place(where, near, what, event, ids)
        where = "before" if sets else "after"
        yield from self._round(key, where, what, event, tuple(self.over[key]))
        yield _place(where, key, what, event, key)

    def _ids(self, key: Key, event: str, line: Line) -> Iterator[Key | tuple[int, ...]]:
        """The ids that a call at a line may have: those of another call in the same loop, or one number."""
        same = [other for other, events in self.flags.items() if events == {event} and self._fits(other, line)]
        yield from sorted(same, key=lambda other: other != key)
        if len(self.over[key]) == 1 and not self.text.framework:
            yield tuple(self.over[key])


def _leave_out(key: Key) -> Completion:
    line = CodeLine("leave out", *key[1], source(key[1]))
    return Completion((line,), lambda made: [call for call in made if (call.what, line_of(call)) != key])


def _place(
    where: str,
    beside: Key,
    what: str,
    event: str,
    ids: Key | tuple[int, ...],
    loop: Block | None = None,
    kind: str = "",
) -> Completion:
    """A call of a flag in some place. `beside` is the call there, ("", line) any instruction of the line; `ids` are
    taken from another call, turn by turn, or given, one line each. With a loop it is before or after that, on cores
    of one kind ("": there are no others)."""
    line = beside[1]
    texts = [_arguments(*ids)] if isinstance(ids[0], str) else []
    texts = [text for text in texts if text] or [
        f"asc.HardEvent.{event}, {number}" for number in ids if isinstance(number, int)
    ]
    calls = [f"asc.{what}({text})" for text in texts]
    code = tuple(loop.code(where, text, kind) if loop else CodeLine(where, *line, text) for text in calls)

    def edit(made: list[Call]) -> list[Call]:
        out: list[Call] = []
        numbers = _Numbers(made, ids)
        places = loop.runs(made, kind) if loop else visits(made, beside)
        there = {(b if where == "after" else a) for a, b in places}
        for k, call in enumerate(made):
            row = call.core.flags[EVENT_NUMBER[event]] if k in there else None
            if row is None:
                out.append(call)
                continue
            put = [
                call._replace(what=what, args=(row[n], line), named={}, site=line) for n in numbers.beside(k, call.turn)
            ]
            if where == "instead of":
                out += put or [call]
            else:
                out += [call, *put] if where == "after" else [*put, call]
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


def visits(made: list[Call], beside: Key) -> list[tuple[int, int]]:
    """First and last call of every time that the text comes by a line."""
    what, line = beside
    found: list[tuple[int, int]] = []
    for k, call in enumerate(made):
        if line_of(call) != line or not (call.what == what if what else acts(call)):
            continue
        runs_on = found and not what and found[-1][1] == k - 1
        if runs_on and (made[k - 1].turn, made[k - 1].activation) == (call.turn, call.activation):
            found[-1] = found[-1][0], k
        else:
            found.append((k, k))
    return found


def _arguments(call: str, line: Line) -> str:
    """What stands between the parentheses of a call, as the author has it."""
    found = re.search(rf"\b{call}\(([^()]*(?:\([^()]*\)[^()]*)*)\)", source(line))
    return found[1] if found else ""
