"""A case as the steps of every core: loops unrolled, queues written out, footprints as sets of bytes.

Written from the rules alone: it shares no code with `ascsim`. Bytes are the bits of an integer.

Not here: scalar access to global memory (data caches), undefined bytes, ids, modes and the misuse of queues.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import Any

from notation import Block, Call, Case, Instruction, Slice, Statement

PIPES = {"aiv": ("S", "V", "MTE2", "MTE3"), "aic": ("S", "M", "MTE1", "MTE2", "MTE3", "FIX")}
LOCAL = {"aiv": ("UB",), "aic": ("L1", "L0A", "L0B", "L0C")}
QUEUES = {"VECIN": ("MTE2", "V"), "VECOUT": ("V", "MTE3")}  # who fills a buffer, and who empties it

Space = tuple[Any, ...]
Mask = dict[Space, int]  # bytes of each memory, one bit a byte


@dataclass(eq=False)
class Step:
    """One entry of a pipe's queue. kind: run, set, wait, barrier, all, xset or xwait; `pipe`: where it stands."""

    core: int
    kind: str
    pipe: str
    line: int
    key: Any = None  # of a flag, or of a round of cores
    turn: tuple[int, ...] = ()
    reads: Mask = field(default_factory=dict)
    writes: Mask = field(default_factory=dict)
    adds: Mask = field(default_factory=dict)  # atomic updates
    at: int = -1  # its place among all steps of the program
    number: int = -1  # of a run: its place among those of its core and pipe


def meet(a: Mask, b: Mask) -> bool:
    """Whether two sets of bytes have one in common."""
    return any(bits & b.get(space, 0) for space, bits in a.items())


def conflict(a: Step, b: Step) -> bool:
    """A common byte, of which one writes; atomic adds do not conflict with one another."""
    return (
        any(meet(a.writes, other) for other in (b.reads, b.writes, b.adds))
        or meet(a.adds, b.reads)
        or meet(a.adds, b.writes)
        or meet(a.reads, b.writes)
        or meet(a.reads, b.adds)
    )


# ---------------------------------------------------------------------- from a case to steps


class Walk:
    """The text of a case as one core executes it."""

    def __init__(self, case: Case, core: int, names: dict[str, int]) -> None:
        self.case, self.core, self.names = case, core, names
        self.kind = "aic" if names["aic"] else "aiv"
        self.steps: list[Step] = []
        self.turn: tuple[int, ...] = ()
        self.places = {b.name: (b.memory, b.address) for b in case.buffers.values()}
        self.rings = {}
        top = 0
        for queue in case.queues.values():  # buffers one after the other, in blocks of 32 bytes
            size = -(-queue.nbytes // 32) * 32
            starts = [top + k * size for k in range(max(1, queue.num))]
            top = starts[-1] + size
            if queue.num:
                self.rings[queue.name] = Ring(queue.position, starts)
            else:
                self.places[queue.name] = "UB", starts[0]
        self.walk(case.body)

    def walk(self, body: list[Statement]) -> None:
        for statement in body:
            if isinstance(statement, Instruction):
                self.run(statement)
            elif isinstance(statement, Call):
                self.call(statement)
            elif statement.name:
                self.loop(statement)
            else:
                self.walk(statement.body if self.value(statement.numbers[0]) else statement.other)

    def loop(self, block: Block) -> None:
        outer = self.turn
        for turn in range(*map(self.value, block.numbers)):
            self.names[block.name], self.turn = turn, (*outer, turn)
            self.walk(block.body)
        self.turn = outer

    def value(self, expr: Any) -> int:
        return int(eval(expr.code, {"__builtins__": {}}, self.names))

    def add(self, kind: str, pipe: str, line: int, key: Any = None, **masks: Mask) -> None:
        if pipe in PIPES[self.kind]:
            self.steps.append(Step(self.core, kind, pipe, line, key, self.turn, **masks))

    def run(self, op: Instruction) -> None:
        masks: dict[str, Mask] = {"reads": {}, "writes": {}, "adds": {}}
        for parts, to in ((op.reads, "reads"), (op.writes, "adds" if op.atomic else "writes")):
            for part in parts:
                space, bits = self.bytes(part)
                if space[0] != "GM" and space[1] not in LOCAL[self.kind]:
                    return
                mine = masks["writes" if to == "adds" and space[0] != "GM" else to]
                mine[space] = mine.get(space, 0) | bits
        self.add("run", op.pipe, op.line, **masks)

    def bytes(self, part: Slice) -> tuple[Space, int]:
        first, last = self.value(part.first), self.value(part.last)
        size = last if part.relative else last - first
        stride, count = (self.value(part.stride), self.value(part.count)) if part.stride and part.count else (size, 1)
        bits = 0
        for k in range(count):
            bits |= ((1 << size) - 1) << (first + k * stride)
        if part.name in self.case.arrays:
            return ("GM", part.name), bits
        memory, base = self.places[part.name]
        return (self.core, memory), bits << base

    def call(self, call: Call) -> None:
        numbers = list(map(self.value, call.numbers))
        if call.word in ("set", "wait"):
            first, _, second = call.names[0].partition("_")
            if {first, second} <= set(PIPES[self.kind]):
                key = self.core, call.names[0], numbers[0]
                self.add(call.word, first if call.word == "set" else second, call.line, key)
        elif call.word == "barrier":
            whole = call.names[0] == "ALL"
            self.add("all" if whole else "barrier", "S" if whole else call.names[0], call.line)
        elif call.word == "xset":
            self.report(call.line, call.names[0], numbers[0], numbers[1])
        elif call.word == "xwait":
            self.add("xwait", "S", call.line, (self.core, numbers[0]))
        elif call.word == "sync_all":
            self.add("all", "S", call.line)
            self.report(call.line, "MTE3", 0, 14)
            self.add("xwait", "S", call.line, (self.core, 14))
        else:
            queue, tensor = call.names
            self.rings[queue].call(self, call, tensor)

    def report(self, line: int, pipe: str, mode: int, number: int) -> None:
        group = self.names["block"]
        scope = {0: (0, self.kind), 1: (1, group), 2: (2, group, self.kind)}[mode]
        self.add("xset", pipe, line, (scope, number))


class Ring:
    """A queue written out: who waits for which flag when a buffer is taken, filled, read and given back."""

    def __init__(self, position: str, starts: list[int]) -> None:
        self.fills, self.empties = QUEUES[position]
        self.starts, self.cursor = starts, 0
        self.held = [False] * len(starts)
        self.returned = [False] * len(starts)  # carries a free event
        self.line: deque[int] = deque()
        self.owner: dict[str, int] = {}

    def call(self, walk: Walk, call: Call, tensor: str) -> None:
        core, line, pipes = walk.core, call.line, (self.fills, self.empties)
        if call.word == "alloc":
            free = [k % len(self.held) for k in range(self.cursor, self.cursor + len(self.held))]
            k = next((k for k in free if not self.held[k]), None)
            if k is None:
                walk.add("wait", "S", line, (core, "a free buffer", id(self)))  # which nobody sets
                return
            self.cursor, self.held[k], self.owner[tensor] = (k + 1) % len(self.held), True, k
            if self.returned[k]:
                walk.add("wait", self.fills, line, (core, id(self), k, "back", pipes))
            walk.places[tensor] = "UB", self.starts[k]
        elif call.word == "enque":
            k = self.owner[tensor]
            walk.add("set", self.fills, line, (core, id(self), k, "forth", pipes))
            self.line.append(k)
        elif call.word == "deque":
            k = self.owner[tensor] = self.line.popleft()
            walk.add("wait", self.empties, line, (core, id(self), k, "forth", pipes))
            walk.places[tensor] = "UB", self.starts[k]
        else:
            k = self.owner[tensor]
            walk.add("set", self.empties, line, (core, id(self), k, "back", pipes))
            self.held[k], self.returned[k] = False, True


def unroll(case: Case) -> Program:
    """Every core's steps, and who takes part in which round of reports."""
    kinds = {"aiv": ("aiv",), "aic": ("aic",), "mix": ("aic", "aiv", "aiv")}[case.cores]
    cores = []
    for group in range(case.groups):
        for k, kind in enumerate(kinds):
            sub = max(0, k - 1)
            index = 2 * group + sub if case.cores == "mix" and kind == "aiv" else group
            cores.append((kind, group, {"idx": index, "block": group, "sub": sub, "aic": kind == "aic"}))
    steps = []
    for core, (kind, _, names) in enumerate(cores):
        names["aiv"] = kind == "aiv"
        steps.append(Walk(case, core, dict(names)).steps)
    return Program([(kind, group) for kind, group, _ in cores], steps, case.auto_sync)


class Program:
    """The steps of each core, numbered through, and the pairs of sets with the waits that they let go."""

    def __init__(self, cores: list[tuple[str, int]], steps: list[list[Step]], auto_sync: bool) -> None:
        self.cores, self.steps, self.auto_sync = cores, steps, auto_sync
        self.all = [step for part in steps for step in part]
        counts: dict[Any, int] = defaultdict(int)
        for at, step in enumerate(self.all):
            step.at = at
            if step.kind == "run":
                step.number = counts[step.core, step.pipe]
                counts[step.core, step.pipe] += 1
        self.runs = [step for step in self.all if step.kind == "run"]

    def members(self, scope: tuple[Any, ...]) -> tuple[list[int], list[int]]:
        """The cores that report in a round, and those whose counters it raises."""
        mode, who = scope[0], scope[1]
        if mode == 0:
            same = [core for core, (kind, _) in enumerate(self.cores) if kind == who]
            return same, same
        aic, aiv = ([c for c, (kind, g) in enumerate(self.cores) if g == who and kind == k] for k in ("aic", "aiv"))
        if mode == 1:
            return aiv, aiv
        return (aic, aiv) if scope[2] == "aic" else (aiv, aic)
