"""Changes to a recorded launch: calls of chosen lines left out, flags and barriers put in beside chosen lines.

A change is told twice: as lines of code with their places, for the author, and as an edit of the recorded calls, for
the machine. Not here: which changes are worth a try (`redundancy`, `repairs`).
"""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from ..hw.calls import Activation, Call
from ..hw.events import EVENT_NUMBER
from ..hw.findings import locate

if TYPE_CHECKING:
    from ..hw.core import Core

Line = tuple[str, int]  # file name and number
WHERE = ("before loop", "before", "leave out", "instead of", "after", "after loop")  # places, in the order of the text


@dataclass(frozen=True)
class CodeLine:
    """A line of code to put before, after or in place of a line of the author's file, or to take out of it."""

    where: str  # one of WHERE
    file: str
    line: int
    code: str
    last: int = 0  # of "before loop" and "after loop": `line` is the loop's first, this its last

    def __str__(self) -> str:
        lines = f"{self.line}-{self.last}" if self.last else str(self.line)
        return f"{self.where:<11} {short(self.file)}:{lines}  {self.code}"

    @property
    def order(self) -> tuple[Any, ...]:
        """Sorts lines by place: after loops that end on one line the innermost comes first."""
        at = self.last if self.where == "after loop" else self.line
        return self.file, at, WHERE.index(self.where), -self.line


@dataclass(frozen=True)
class Block:
    """A loop, branch or `with` of the author's text: its lines, and the variable whose value is the turn ("": none)."""

    file: str
    first: int
    last: int
    variable: str = ""

    def code(self, where: str, code: str, kind: str = "") -> CodeLine:
        """A line of code before or after it, for cores of one kind (""; there are no others)."""
        return CodeLine(f"{where} loop", self.file, self.first, guarded(code, (self.file, self.first), kind), self.last)

    def runs(self, made: list[Call], kind: str = "") -> list[tuple[int, int]]:
        """The first and the last call of each of its runs, on a core of this kind. (A function runs its outermost loop
        once.)"""
        found: dict[Activation | None, tuple[int, int]] = {}
        if made and kind not in ("", made[0].core.kind):
            return []
        for k, call in enumerate(made):
            for (file, line), run in levels(call):
                if file == self.file and self.first <= line <= self.last:
                    found[run] = found.get(run, (k, k))[0], k
        return sorted(found.values())


@dataclass(frozen=True)
class Repair:
    """A flag pair or a barrier that orders line `first` before line `second`.

    event    "MTE2_V" for a flag pair, "" for a barrier of `pipe` ("ALL": of every pipe)
    number   the first id; `ids` follow each other, one for each turn that a loop may run ahead
    loop     set once before it and waited for once after it (a reverse flag); None: a pair in one turn
    kind     of the cores that do so; "": there are no others
    apart    set after `first`, waited for before `second`; False: both before `second`
    tpipe    what gives the ids, in the author's words; "": they are the author's own numbers
    """

    first: Line
    second: Line
    event: str = ""
    pipe: str = ""
    number: int = 0
    ids: int = 1
    loop: Block | None = None
    kind: str = ""
    apart: bool = True
    tpipe: str = ""

    @property
    def lines(self) -> list[CodeLine]:
        """The code, in the order of the text."""
        if not self.event:
            return [CodeLine("before", *self.second, f"asc.pipe_barrier(asc.PipeID.PIPE_{self.pipe})")]
        after, before = ("after", *self.first), ("before", *self.second)
        number = str(self.number)
        if self.tpipe:
            number = f"{self.event.lower()}_{number}"
        take, give = self._alloc(number)
        if not self.apart:
            return [CodeLine(*before, take + self._code("set", number) + "; " + self._code("wait", number) + give)]
        if self.loop is None:
            return [
                CodeLine(*after, take + self._code("set", number)),
                CodeLine(*before, self._code("wait", number) + give),
            ]
        if self.ids > 1:
            number = " + ".join(filter(None, [number * bool(self.number), f"{self.loop.variable} % {self.ids}"]))
        inner = [CodeLine(*before, self._code("wait", number)), CodeLine(*after, self._code("set", number))]
        every = [number] if self.ids == 1 else [str(self.number + k) for k in range(self.ids)]
        prime = [self.loop.code("before", take + self._code("set", k), self.kind) for k in every]
        drain = [self.loop.code("after", self._code("wait", k) + give, self.kind) for k in every]
        return [*prime, *sorted(inner, key=lambda line: line.line), *drain]

    def _code(self, call: str, number: str) -> str:
        return f"asc.{call}_flag(asc.HardEvent.{self.event}, {number})"

    def _alloc(self, name: str) -> tuple[str, str]:
        """How an id is taken from the TPipe, and how it is given back."""
        if not self.tpipe:
            return "", ""
        event = f"asc.HardEvent.{self.event}"
        return (
            f"{name} = {self.tpipe}.alloc_event_id({event}); ",
            f"; {self.tpipe}.release_event_id({name}, {event})",
        )

    def edit(self, calls: list[Call]) -> Iterator[Call]:
        """The calls of one core's text with these among them."""
        runs = [] if self.loop is None else self.loop.runs(calls, self.kind)
        starts, ends = {first for first, _ in runs}, {last for _, last in runs}
        every = range(self.number, self.number + self.ids)
        for k, call in enumerate(calls):
            here = line_of(call)
            number = self.number + call.turn % self.ids
            if k in starts:
                yield from (self._call(call, "set_flag", number) for number in every)
            if here == self.second and acts(call):
                if not self.event:
                    yield self._barrier(call)
                else:
                    if not self.apart:
                        yield self._call(call, "set_flag", number)
                    yield self._call(call, "wait_flag", number)
            yield call
            if here == self.first and acts(call) and self.event and self.apart:
                yield self._call(call, "set_flag", number)
            if k in ends:
                yield from (self._call(call, "wait_flag", number) for number in every)

    def _call(self, beside: Call, what: str, number: int) -> Call:
        site = self.first if what == "set_flag" else self.second
        flag = beside.core.flags[EVENT_NUMBER[self.event]][number]  # type: ignore[index]
        return beside._replace(what=what, args=(flag, site), named={}, site=site)

    def _barrier(self, beside: Call) -> Call:
        core: Core = beside.core
        what, args = ("barrier_all", ()) if self.pipe == "ALL" else ("barrier", (core.pipes[self.pipe],))
        return beside._replace(what=what, args=(*args, self.second), named={}, site=self.second)


class Change(Protocol):
    """What can be done to the calls of one core's text."""

    def edit(self, calls: list[Call]) -> Iterable[Call]:
        """The calls with the change."""


def edited(calls: list[Call], gone: Iterable[tuple[str, Line]] = (), changes: Iterable[Change] = ()) -> list[Call]:
    """Calls without those of some kind at some lines, and with changes."""
    leave = set(gone)
    out = [call for call in calls if not leave or (call.what, line_of(call)) not in leave]
    for change in changes:
        out = list(change.edit(out))
    return out


def acts(call: Call) -> bool:
    """Whether a call is an instruction: one that goes to a pipe, or a function that issues some."""
    return call.what == "issue" or not isinstance(call.what, str)


def line_of(call: Call) -> Line | None:
    """The author's line of a call."""
    return None if call.site is None else locate(call.site)


def levels(call: Call) -> Iterator[tuple[Line, Activation | None]]:
    """The author's line of a call and those that led to it, from the innermost function out, each with its run (None:
    of the kernel itself)."""
    site, run = call.site, call.activation
    while site is not None:
        inner = None if run is None or run.outer is None else run
        yield locate(site), inner
        site, run = (None, None) if inner is None else (inner.site, inner.outer)


def meet(calls: Iterable[Call], first: Line, second: Line) -> tuple[Line, Line]:
    """The lines of the innermost function run that lead to both lines; the lines themselves where none does."""
    calls = list(calls)
    runs = {run: line for call in calls if line_of(call) == first for line, run in levels(call)}
    depth, found = 0, (first, second)
    for call in calls:
        passed = list(levels(call)) if line_of(call) == second else []
        for inner, (line, run) in enumerate(passed):
            if run in runs and len(passed) - inner > depth:
                depth, found = len(passed) - inner, (runs[run], line)
    return found


def short(file: str) -> str:
    """`kernel.py`."""
    return file.replace("\\", "/").rsplit("/", 1)[-1]


def source(line: Line) -> str:
    """The text of a line, without its indentation; empty where the file cannot be read."""
    return linecache.getline(*line).strip()


def tpipe_name(line: Line) -> str:
    """What the author calls the TPipe of the function that holds a line."""
    function = _function(line, line)
    for node in ast.walk(function) if function is not None else ():
        if isinstance(node, ast.Assign):
            names, values = (getattr(side, "elts", [side]) for side in (node.targets[0], node.value))
            for name, value in zip(names, values, strict=False):
                if isinstance(name, ast.Name) and ast.unparse(value).endswith("TPipe()"):
                    return name.id
    return "asc.get_tpipe_ptr()"


def loop_around(first: Line, second: Line) -> Block | None:
    """The outermost loop of one function that holds both lines; its variable if it tells the turn of either line."""
    loops = _loops(first, second)
    if not loops:
        return None
    inner, name = loops[-1], ""
    same = inner is _loops(first, first)[-1] is _loops(second, second)[-1]
    if same and isinstance(inner, ast.For) and isinstance(inner.target, ast.Name):
        counts = re.fullmatch(r"(\w+\.)*range\(.*\)", ast.unparse(inner.iter), re.S)
        name = inner.target.id if counts else ""
    return Block(first[0], loops[0].lineno, loops[0].end_lineno or loops[0].lineno, name)


def block_around(line: Line, other: Line) -> Block | None:
    """The outermost loop, branch or `with` around a line that does not hold the other; None where that is the line."""
    function = _function(line, other)
    blocks = [] if function is None else _holding(function, line, line, ast.For | ast.While | ast.If | ast.With)
    found = next((node for node in blocks if not node.lineno <= other[1] <= node.end_lineno), None)
    return None if found is None else Block(line[0], found.lineno, found.end_lineno or found.lineno)


def guarded(code: str, line: Line, kind: str) -> str:
    """Code for cores of one kind ("": there are no others), beside a line that others may pass too."""
    function = _function(line, line)
    for node in [] if function is None or not kind else _holding(function, line, line, ast.If):
        found = re.fullmatch(r"(?:\w+\.)*ascend_is_(ai[cv])\(\)", ast.unparse(node.test))
        inside = any(part.lineno <= line[1] <= part.end_lineno for part in node.body)
        if found and (found[1] == kind) is inside and line[1] != node.lineno:
            return code
    return f"if asc.ascend_is_{kind}(): {code}" if kind else code


def bound(expression: str, line: Line) -> bool:
    """Whether each name of an expression that the function around a line gives a value has one before the line."""
    function = _function(line, line)
    names = {node.id for node in ast.walk(ast.parse(f"f({expression})")) if isinstance(node, ast.Name)}
    stores: dict[str, int] = {}
    for node in ast.walk(function) if function is not None else ():
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            stores[node.id] = min(node.lineno, stores.get(node.id, node.lineno))
    return all(stores.get(name, 0) < line[1] for name in names)


def function_end(line: Line) -> int:
    """The last line of the function around a line."""
    function = _function(line, line)
    return line[1] if function is None else function.end_lineno or line[1]


def innermost(line: Line) -> tuple[str, int]:
    """The innermost loop or else the function around a line: file, and its first line (0: the module)."""
    loops = _loops(line, line)
    function = _function(line, line)
    around = loops[-1] if loops else function
    return line[0], around.lineno if around is not None else 0


def _function(first: Line, second: Line) -> ast.FunctionDef | None:
    """The innermost function that holds both lines."""
    tree = _tree("".join(linecache.getlines(first[0]))) if first[0] == second[0] else None
    return next((node for node in reversed(_holding(tree, first, second, ast.FunctionDef))), None)


def _loops(first: Line, second: Line) -> list[ast.For | ast.While]:
    """The loops of one function that hold both lines, from the outermost in."""
    function = _function(first, second)
    return [] if function is None else _holding(function, first, second, ast.For | ast.While)


def _holding(tree: ast.AST | None, first: Line, second: Line, kind: Any) -> list[Any]:
    nodes = [] if tree is None else [node for node in ast.walk(tree) if isinstance(node, kind)]
    return [node for node in nodes if all(node.lineno <= line[1] <= node.end_lineno for line in (first, second))]


@lru_cache(maxsize=8)
def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except SyntaxError:
        return None
