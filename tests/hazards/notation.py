"""Reads cases: small kernels at machine level, written in Markdown in the notation that `cases.md` explains.

A case is a heading `### NAME. title`, a line `Verdict: **...**` and a fenced block. The block becomes a tree of
statements; nothing is executed here. What is malformed, and what no such heading claims, is a `CaseError` with file
and line.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType

MEMORIES = {"ub": "UB", "l1": "L1", "l0a": "L0A", "l0b": "L0B", "l0c": "L0C"}
PIPES = ("S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX")
BUILT_IN = ("idx", "block", "sub", "aic", "aiv")
CODE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")
WORD = r"[A-Za-z_]\w*"
INTEGER_NODES = (
    *(ast.Expression, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Constant, ast.Name),
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.Load),
)


class CaseError(Exception):
    """A case that cannot be read; the text begins with file and line."""

    def __init__(self, file: str, line: int, problem: str) -> None:
        super().__init__(f"{file}:{line}: {problem}")


@dataclass(frozen=True)
class Expr:
    """An integer expression, compiled."""

    text: str
    code: CodeType


@dataclass(frozen=True)
class Slice:
    """`x[a:b]`, `x[a:+n]`, with `/s/c`: c pieces, s bytes apart."""

    name: str
    first: Expr
    last: Expr
    relative: bool  # `last` is a size
    stride: Expr | None = None
    count: Expr | None = None


@dataclass(frozen=True)
class Instruction:
    """`PIPE: W <- R`."""

    line: int
    pipe: str
    atomic: bool
    writes: tuple[Slice, ...]
    reads: tuple[Slice, ...]


@dataclass(frozen=True)
class Call:
    """Any other line that does something: `set`, `xset`, `alloc` ... `names` are pipes, queues and variables."""

    line: int
    word: str
    names: tuple[str, ...] = ()
    numbers: tuple[Expr, ...] = ()


@dataclass
class Block:
    """`for NAME in numbers[0]..numbers[1]:` or, without a name, `if numbers[0]:` with its `else:`."""

    line: int
    name: str
    numbers: tuple[Expr, ...]
    body: list[Statement] = field(default_factory=list)
    other: list[Statement] = field(default_factory=list)


Statement = Instruction | Call | Block


@dataclass(frozen=True)
class Array:
    """`gm NAME BYTES init` or `blank`."""

    name: str
    nbytes: int
    blank: bool


@dataclass(frozen=True)
class Buffer:
    """`ub NAME @ADDR BYTES` and its like."""

    name: str
    memory: str
    address: int
    nbytes: int


@dataclass(frozen=True)
class Queue:
    """`que NAME POS num=N len=BYTES depth=D`; a `tbuf` is one with num 0."""

    line: int
    name: str
    position: str
    num: int
    nbytes: int
    depth: int


@dataclass
class Case:
    """One kernel and what is expected of it."""

    name: str
    title: str
    file: str
    expected: frozenset[str] = frozenset()
    cores: str = ""
    groups: int = 0
    auto_sync: bool = False
    depth: int | None = None
    arrays: dict[str, Array] = field(default_factory=dict)
    buffers: dict[str, Buffer] = field(default_factory=dict)
    queues: dict[str, Queue] = field(default_factory=dict)
    body: list[Statement] = field(default_factory=list)


def read_cases(path: Path) -> list[Case]:
    """The cases of a Markdown file, in its order."""
    lines = path.read_text(encoding="utf-8").splitlines()
    cases: list[Case] = []
    claimed: set[int] = set()  # line numbers that belong to a case
    for number, line in marks(lines):
        if not line.startswith("#") and number not in claimed:
            raise CaseError(path.name, number, f"{line.strip()!r} under no heading `### NAME. title` of its own")
        match = re.fullmatch(r"###\s+(\S+)\.\s+(.*)", line)
        if match is None:
            continue
        case = Case(match[1], match[2], path.name)
        verdict, block = _section(lines, number, path.name)
        if verdict is None and block is None:
            continue  # a section of text
        if verdict is None or block is None:
            raise CaseError(path.name, number, f"case {case.name} has no {'block' if verdict else 'verdict'}")
        claimed |= {verdict[0], *(at for at, _ in block)}
        case.expected = _verdict(path.name, *verdict)
        _Parser(case).parse(block)
        if any(other.name == case.name for other in cases):
            raise CaseError(path.name, number, f"a second case {case.name}")
        cases.append(case)
    if not cases:
        raise CaseError(path.name, len(lines), "no case in this file")
    return cases


def read_case(text: str, name: str) -> Case:
    """The case of one block's text, without a verdict. Its file is `name`."""
    case = Case(name, name, name)
    _Parser(case).parse(list(enumerate(text.splitlines(), 1)))
    return case


def marks(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Line number and text of what tells a case: headings, verdicts, and `cores:` in a fenced block."""
    fenced = False
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            fenced = not fenced
        elif line.lstrip().startswith("cores:") if fenced else line.startswith(("#", "Verdict:")):
            yield number, line


def _section(lines: list[str], heading: int, file: str) -> tuple[tuple[int, str] | None, list[tuple[int, str]] | None]:
    """Verdict line and first fenced block of a section, each with line numbers."""
    verdict: tuple[int, str] | None = None
    block: list[tuple[int, str]] = []
    fence = 0
    for number, line in enumerate(lines[heading:], heading + 1):
        if line.startswith("```"):
            if fence:
                return verdict, block
            fence = number
        elif fence:
            block.append((number, line))
        elif line.startswith("#"):
            break
        elif line.startswith("Verdict:"):
            verdict = number, line
    if fence:
        raise CaseError(file, fence, "the fenced block is never closed")
    return verdict, None


def _verdict(file: str, number: int, line: str) -> frozenset[str]:
    match = re.match(r"Verdict:\s*\*\*(.+?)\*\*", line)
    if match is None:
        raise CaseError(file, number, "a verdict reads `Verdict: **CODE, CODE**` or `Verdict: **clean**`")
    words = [word.strip() for word in match[1].split(",")]
    if words == ["clean"]:
        return frozenset()
    for word in words:
        if not CODE.fullmatch(word):
            raise CaseError(file, number, f"{word!r} is no code")
    return frozenset(words)


class _Parser:
    """Turns the lines of one block into declarations and statements."""

    def __init__(self, case: Case) -> None:
        self.case, self.line = case, 0
        self.variables = set(BUILT_IN)  # integer names
        self.tensors: set[str] = set()  # what `alloc` and `deque` name

    def fail(self, problem: str) -> CaseError:
        return CaseError(self.case.file, self.line, problem)

    def parse(self, block: list[tuple[int, str]]) -> None:
        levels: list[tuple[int, list[Statement]]] = [(0, self.case.body)]
        opened: list[Statement] | None = None  # the body that the line before has opened
        for self.line, raw in block:
            text = raw.partition("#")[0].rstrip()
            if not text:
                continue
            if "\t" in text:
                raise self.fail("indent with spaces")
            depth = len(text) - len(text.lstrip())
            if opened is not None:
                if depth <= levels[-1][0]:
                    raise self.fail("an indented block is expected")
                levels.append((depth, opened))
                opened = None
            while depth < levels[-1][0]:
                levels.pop()
            if depth != levels[-1][0]:
                raise self.fail("the indentation fits no block")
            opened = self._line(text.strip(), levels[-1][1])
        if opened is not None:
            raise self.fail("an indented block is expected")
        if not self.case.cores:
            raise self.fail("no `cores:` line")

    def _line(self, text: str, body: list[Statement]) -> list[Statement] | None:
        """One line; returns the body that it opens."""
        for pattern, take in HEADER:
            if match := re.fullmatch(pattern, text):
                if body is not self.case.body or body:
                    raise self.fail("declarations stand before the first instruction")
                take(self, *match.groups())
                return None
        if match := re.fullmatch(rf"for ({WORD}) in (.+)\.\.(.+):", text):
            numbers = self.expr(match[2]), self.expr(match[3])
            self.variables.add(match[1])
            return self._open(Block(self.line, match[1], numbers), body)
        if match := re.fullmatch(r"if (.+):", text):
            return self._open(Block(self.line, "", (self.expr(match[1]),)), body)
        if text == "else:":
            last = body[-1] if body else None
            if not isinstance(last, Block) or last.name or last.other:
                raise self.fail("`else:` without its `if`")
            return last.other
        for pattern, make in STATEMENTS:
            if match := re.fullmatch(pattern, text):
                body.append(make(self, *match.groups()))
                return None
        raise self.fail(f"cannot read {text!r}")

    def _open(self, block: Block, body: list[Statement]) -> list[Statement]:
        body.append(block)
        return block.body

    # ------------------------------------------------------------------ parts of a line

    def expr(self, text: str) -> Expr:
        try:
            tree = ast.parse(text.strip(), mode="eval")
        except SyntaxError:
            raise self.fail(f"{text.strip()!r} is no integer expression") from None
        for node in ast.walk(tree):
            if not isinstance(node, INTEGER_NODES) or (
                isinstance(node, ast.Constant) and not isinstance(node.value, int)
            ):
                raise self.fail(f"{text.strip()!r} is no integer expression")
            if isinstance(node, ast.Name) and node.id not in self.variables:
                raise self.fail(f"{node.id!r} is not known")
        return Expr(text.strip(), compile(tree, f"{self.case.file}:{self.line}", "eval"))

    def slices(self, text: str) -> tuple[Slice, ...]:
        out = []
        for part in re.split(r",(?![^\[]*\])", text):
            match = re.fullmatch(rf"\s*({WORD})\[(.+)\]\s*", part)
            if match is None:
                raise self.fail(f"{part.strip()!r} is no slice: name[a:b], name[a:+n] or name[a:b/s/c]")
            name, inside = match.groups()
            if name not in self.case.arrays and name not in self.case.buffers and name not in self.tensors:
                raise self.fail(f"no buffer {name!r}")
            bounds, *pieces = re.split(r"(?<!/)/(?!/)", inside)
            first, colon, last = bounds.partition(":")
            if not colon or len(pieces) not in (0, 2):
                raise self.fail(f"{part.strip()!r} is no slice: name[a:b], name[a:+n] or name[a:b/s/c]")
            relative = last.lstrip().startswith("+")
            out.append(Slice(name, self.expr(first), self.expr(last), relative, *(self.expr(p) for p in pieces)))
        return tuple(out)

    def known(self, name: str, names: object, what: str) -> str:
        if name not in names:  # type: ignore[operator]
            raise self.fail(f"no {what} {name!r}")
        return name

    def fresh(self, name: str) -> str:
        if name in {*self.case.arrays, *self.case.buffers, *self.case.queues, *BUILT_IN}:
            raise self.fail(f"a second {name!r}")
        return name

    # ------------------------------------------------------------------ declarations

    def take_cores(self, kind: str, groups: str) -> None:
        self.case.cores, self.case.groups = kind, int(groups)
        if not self.case.groups:
            raise self.fail("at least one core")

    def take_auto_sync(self, value: str) -> None:
        self.case.auto_sync = value == "on"

    def take_depth(self, value: str) -> None:
        self.case.depth = int(value)

    def take_array(self, name: str, nbytes: str, kind: str | None) -> None:
        self.case.arrays[self.fresh(name)] = Array(name, int(nbytes), kind == "blank")

    def take_buffer(self, memory: str, name: str, address: str, nbytes: str) -> None:
        self.case.buffers[self.fresh(name)] = Buffer(name, MEMORIES[memory], int(address), int(nbytes))

    def take_queue(self, name: str, position: str, num: str, nbytes: str, depth: str | None) -> None:
        self.case.queues[self.fresh(name)] = Queue(self.line, name, position, int(num), int(nbytes), int(depth or 1))

    def take_tbuf(self, name: str, position: str, nbytes: str) -> None:
        self.case.queues[self.fresh(name)] = Queue(self.line, name, position, 0, int(nbytes), 0)
        self.tensors.add(name)

    # ------------------------------------------------------------------ statements

    def make_instruction(self, pipe: str, atomic: str, writes: str, reads: str) -> Instruction:
        w = () if writes.strip() == "_" else self.slices(writes)
        r = () if reads.strip() == "0" else self.slices(reads)
        return Instruction(self.line, self.known(pipe, PIPES, "pipe"), atomic == "+", w, r)

    def make_flag(self, word: str, event: str, number: str) -> Call:
        source, _, target = event.partition("_")
        self.known(source, PIPES, "pipe")
        self.known(target, PIPES, "pipe")
        return Call(self.line, word, (event,), (self.expr(number),))

    def make_barrier(self, pipe: str) -> Call:
        return Call(self.line, "barrier", (self.known(pipe, (*PIPES, "ALL"), "pipe"),))

    def make_xset(self, mode: str, pipe: str, number: str) -> Call:
        name = self.known(pipe, (*PIPES, "ALL"), "pipe")
        return Call(self.line, "xset", (name,), (self.expr(mode), self.expr(number)))

    def make_take(self, tensor: str, word: str, queue: str) -> Call:
        self.known(queue, self.case.queues, "queue")
        self.tensors.add(self.fresh(tensor))
        return Call(self.line, word, (queue, tensor))

    def make_give(self, word: str, queue: str, tensor: str) -> Call:
        self.known(queue, self.case.queues, "queue")
        return Call(self.line, word, (queue, self.known(tensor, self.tensors, "tensor")))


HEADER = (
    (r"cores:\s*(aiv|aic|mix)\s+(\d+)", _Parser.take_cores),
    (r"auto_sync:\s*(on|off)", _Parser.take_auto_sync),
    (r"depth:\s*([1-9]\d*)", _Parser.take_depth),
    (rf"gm\s+({WORD})\s+([1-9]\d*)(?:\s+(init|blank))?", _Parser.take_array),
    (rf"(ub|l1|l0a|l0b|l0c)\s+({WORD})\s+@(\d+)\s+([1-9]\d*)", _Parser.take_buffer),
    (rf"que\s+({WORD})\s+(\w+)\s+num=([1-9]\d*)\s+len=([1-9]\d*)(?:\s+depth=(\d+))?", _Parser.take_queue),
    (rf"tbuf\s+({WORD})\s+(\w+)\s+len=([1-9]\d*)", _Parser.take_tbuf),
)
STATEMENTS = (
    (r"(set|wait)\s+(\w+_\w+)\s+(.+)", _Parser.make_flag),
    (r"barrier\s+(\w+)", _Parser.make_barrier),
    (r"xset\s+mode=(.+?)\s+pipe=(\w+)\s+id=(.+)", _Parser.make_xset),
    (r"xwait\s+id=(.+)", lambda parser, number: Call(parser.line, "xwait", (), (parser.expr(number),))),
    (r"sync_all", lambda parser: Call(parser.line, "sync_all")),
    (rf"({WORD})\s*=\s*(alloc|deque)\s+({WORD})", _Parser.make_take),
    (rf"(enque|free)\s+({WORD})\s+({WORD})", _Parser.make_give),
    (r"(\w+?)(\+?):\s*(.+?)\s*<-\s*(.+)", _Parser.make_instruction),
)
