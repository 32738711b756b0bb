"""Changes to a recorded launch: calls of chosen lines left out, flags and barriers put in beside chosen lines.

A change is told twice: as lines of code with their places, for the author, and as an edit of the recorded calls, for
the machine. Not here: which changes are worth a try (`redundancy`, `repairs`).
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..hw.calls import Call
from ..hw.events import EVENT_NUMBER
from ..hw.findings import locate

if TYPE_CHECKING:
    from ..hw.core import Core

Line = tuple[str, int]  # file name and number
WHERE = ("before loop", "before", "after", "after loop")  # places beside a line, in the order of the text


@dataclass(frozen=True)
class CodeLine:
    """A line of code to put before or after a line of the author's file."""

    where: str  # "before" or "after" the line; "before loop" or "after loop", of which it is the first or last line
    file: str
    line: int
    code: str

    def __str__(self) -> str:
        return f"{self.where:<11} {short(self.file)}:{self.line}  {self.code}"


@dataclass(frozen=True)
class Loop:
    """A loop of the author's text: its lines, and the name of its variable ("" where it has none)."""

    first: int
    last: int
    variable: str


@dataclass(frozen=True)
class Repair:
    """A flag pair or a barrier that orders line `first` before line `second`.

    event    "MTE2_V" for a flag pair, "" for a barrier of `pipe` ("ALL": of every pipe)
    number   the first id; `ids` follow each other, one for each turn that a loop may run ahead
    loop     set once before it and waited for once after it (a reverse flag); None: a pair in one turn
    apart    set after `first`, waited for before `second`; False: both before `second`
    """

    first: Line
    second: Line
    event: str = ""
    pipe: str = ""
    number: int = 0
    ids: int = 1
    loop: Loop | None = None
    apart: bool = True

    @property
    def lines(self) -> list[CodeLine]:
        """The code, in the order of the text."""
        if not self.event:
            return [CodeLine("before", *self.second, f"asc.pipe_barrier(asc.PipeID.PIPE_{self.pipe})")]
        after, before = ("after", *self.first), ("before", *self.second)
        if not self.apart:
            return [
                CodeLine(*before, self._code("set", str(self.number)) + "; " + self._code("wait", str(self.number)))
            ]
        if self.loop is None:
            number = str(self.number)
            return [CodeLine(*after, self._code("set", number)), CodeLine(*before, self._code("wait", number))]
        number = str(self.number)
        if self.ids > 1:
            number = " + ".join(
                filter(None, [number * bool(self.number), f"{self.loop.variable or 'turn'} % {self.ids}"])
            )
        file = self.second[0]
        inner = [CodeLine(*before, self._code("wait", number)), CodeLine(*after, self._code("set", number))]
        every = range(self.number, self.number + self.ids)
        prime = [CodeLine("before loop", file, self.loop.first, self._code("set", str(k))) for k in every]
        drain = [CodeLine("after loop", file, self.loop.last, self._code("wait", str(k))) for k in every]
        return [*prime, *sorted(inner, key=lambda line: line.line), *drain]

    def _code(self, call: str, number: str) -> str:
        return f"asc.{call}_flag(asc.HardEvent.{self.event}, {number})"

    def edit(self, calls: list[Call]) -> Iterator[Call]:
        """The calls of one core's text with these among them."""
        inside = [k for k, call in enumerate(calls) if self.loop is not None and self._in_loop(call)]
        every = range(self.number, self.number + self.ids)
        for k, call in enumerate(calls):
            here = line_of(call)
            number = self.number + call.turn % self.ids
            if inside and k == inside[0]:
                yield from (self._call(call, "set_flag", number) for number in every)
            if here == self.second and _acts(call):
                if not self.event:
                    yield self._barrier(call)
                else:
                    if not self.apart:
                        yield self._call(call, "set_flag", number)
                    yield self._call(call, "wait_flag", number)
            yield call
            if here == self.first and _acts(call) and self.event and self.apart:
                yield self._call(call, "set_flag", number)
            if inside and k == inside[-1]:
                yield from (self._call(call, "wait_flag", number) for number in every)

    def _in_loop(self, call: Call) -> bool:
        here = line_of(call)
        return here is not None and here[0] == self.second[0] and self.loop.first <= here[1] <= self.loop.last  # type: ignore[union-attr]

    def _call(self, beside: Call, what: str, number: int) -> Call:
        site = self.first if what == "set_flag" else self.second
        flag = beside.core.flags[EVENT_NUMBER[self.event]][number]  # type: ignore[index]
        return Call(beside.core, what, (flag, site), {}, site, beside.turn)

    def _barrier(self, beside: Call) -> Call:
        core: Core = beside.core
        what, args = ("barrier_all", ()) if self.pipe == "ALL" else ("barrier", (core.pipes[self.pipe],))
        return Call(core, what, (*args, self.second), {}, self.second, beside.turn)


def edited(calls: list[Call], gone: Iterable[tuple[str, Line]] = (), repairs: Iterable[Repair] = ()) -> list[Call]:
    """Calls without those of some kind at some lines, and with repairs."""
    leave = set(gone)
    out = [call for call in calls if not leave or (call.what, line_of(call)) not in leave]
    for repair in repairs:
        out = list(repair.edit(out))
    return out


def _acts(call: Call) -> bool:
    """Whether a call is an instruction: one that goes to a pipe, or a function that issues some."""
    return call.what == "issue" or not isinstance(call.what, str)


def line_of(call: Call) -> Line | None:
    """The author's line of a call."""
    return None if call.site is None else locate(call.site)


def short(file: str) -> str:
    """`kernel.py`."""
    return file.replace("\\", "/").rsplit("/", 1)[-1]


def source(line: Line) -> str:
    """The text of a line, without its indentation; empty where the file cannot be read."""
    return linecache.getline(*line).strip()


def loop_around(first: Line, second: Line) -> Loop | None:
    """The outermost loop of one function that holds both lines, named after its innermost variable there."""
    if first[0] != second[0]:
        return None
    try:
        tree = ast.parse("".join(linecache.getlines(first[0])))
    except SyntaxError:
        return None
    lines = (first[1], second[1])

    def holds(node: ast.AST) -> bool:
        return all(node.lineno <= line <= node.end_lineno for line in lines)  # type: ignore[attr-defined]

    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and holds(node)]
    if not functions:
        return None
    loops = [node for node in ast.walk(functions[-1]) if isinstance(node, ast.For | ast.While) and holds(node)]
    if not loops:
        return None
    inner = loops[-1]
    name = inner.target.id if isinstance(inner, ast.For) and isinstance(inner.target, ast.Name) else ""
    return Loop(loops[0].lineno, loops[0].end_lineno or loops[0].lineno, name)
