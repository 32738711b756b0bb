"""A second machine for cases: the rules on order as an explicit graph, and the bytes that legal orders leave.

It is written from the rules alone and shares no code with `ascsim`: order is reachability in a graph of the moments of
each step (`unrolled`), and a legal order is any linear extension of "ordered before". `Graph` says which step ends
before which one starts, `outcome` gives the bytes that an order leaves. `rover` runs the same steps on queues, without
the graph.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from random import Random
from typing import Any

from unrolled import Program, Space, Step, conflict

HELPED = ("V", "MTE2", "MTE3")  # what the compiler orders with S on a vector core


# ---------------------------------------------------------------------- the graph


class Graph:
    """The moments of each step, and which comes before which.

    Moments: iss, and of a run beg and end, of a set fire, of a wait pass. `stuck` says that some step never happens."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.edges: dict[int, list[int]] = defaultdict(list)
        self.stuck = False
        self.helped: list[tuple[Step, Step]] = []  # pairs that the compiler has ordered
        for steps in program.steps:
            self.one_core(steps)
        self.flags()
        self.rounds()
        self.close()
        if program.auto_sync and not self.stuck:
            self.help()

    def edge(self, a: int, b: int) -> None:
        self.edges[a].append(b)

    def one_core(self, steps: list[Step]) -> None:
        edge = self.edge
        for step in steps:  # 1: a step happens after its issue
            for moment in (beg(step), end(step)):
                edge(iss(step), moment)
            edge(beg(step), end(step))
        for i, a in enumerate(steps):
            if i + 1 < len(steps):
                edge(iss(a), iss(steps[i + 1]))
                if a.kind in ("wait", "xwait") and a.pipe == "S":  # 5, 7: S has waited
                    edge(end(a), iss(steps[i + 1]))
            barrier = a.pipe == "S"  # 3: the scalar unit needs none
            for b in steps[i + 1 :]:
                if b.kind == "all" and a.kind in ("run", "wait"):  # 6: S waits until every pipe has drained
                    edge(end(a), iss(b))
                    break  # the rest follows by way of iss
                if b.pipe != a.pipe:
                    continue
                if a.kind == "run":
                    barrier |= b.kind == "barrier"
                    if b.kind == "run":
                        edge(end(a) if barrier else beg(a), beg(b))  # 6, 2
                    elif b.kind in ("set", "xset"):
                        edge(end(a), end(b))  # 4, 7
                elif a.kind == "wait":
                    edge(end(a), beg(b) if b.kind in ("run", "wait") else end(b))  # 4, 5; waits pass in order

    def flags(self) -> None:
        """The k-th wait of a flag takes the k-th set (5)."""
        sets, waits = (self._by_key(kind) for kind in ("set", "wait"))
        for key, row in waits.items():
            for k, wait in enumerate(row):
                if k < len(sets.get(key, ())):
                    self.edge(end(sets[key][k]), end(wait))
                else:
                    self.edge(end(wait), end(wait))  # never

    def rounds(self) -> None:
        """The k-th round of reports is complete when all members have made their k-th (7)."""
        reports: dict[Any, dict[int, list[Step]]] = defaultdict(lambda: defaultdict(list))
        for step in self.program.all:
            if step.kind == "xset":
                reports[step.key][step.core].append(step)
        tokens: dict[tuple[int, int], list[list[Step]]] = defaultdict(list)
        for (scope, number), rows in reports.items():
            members, targets = self.program.members(scope)
            for k in range(min(len(rows[core]) for core in members)):
                for core in targets:
                    tokens[core, number].append([rows[member][k] for member in members])
        for key, row in self._by_key("xwait").items():
            for k, wait in enumerate(row):
                if k < len(tokens[key]):
                    for report in tokens[key][k]:
                        self.edge(end(report), end(wait))
                else:
                    self.edge(end(wait), end(wait))

    def _by_key(self, kind: str) -> dict[Any, list[Step]]:
        out: dict[Any, list[Step]] = defaultdict(list)
        for step in self.program.all:
            if step.kind == kind:
                out[step.key].append(step)
        return out

    def close(self) -> None:
        """Reachability, as one integer a moment; a ring, or a wait for nothing, can never happen."""
        before: dict[int, int] = defaultdict(int)
        for row in self.edges.values():
            for b in row:
                before[b] += 1
        ready = [moment for moment in self.edges if not before[moment]]
        order = []
        while ready:
            moment = ready.pop()
            order.append(moment)
            for b in self.edges.get(moment, ()):
                before[b] -= 1
                if not before[b]:
                    ready.append(b)
        self.stuck = any(before.values())
        self.reach: dict[int, int] = defaultdict(int)
        for moment in reversed(order):
            bits = 0
            for b in self.edges.get(moment, ()):
                bits |= 1 << b | self.reach[b]
            self.reach[moment] = bits

    def before(self, a: Step, b: Step) -> bool:
        """Whether a has ended when b starts."""
        return bool(self.reach[end(a)] >> beg(b) & 1)

    def help(self) -> None:
        """10: the compiler orders V with V, and S with V and the copies, where they conflict."""
        for b in self.program.runs:
            for a in self.program.runs[: self.program.runs.index(b)]:
                pair = {a.pipe, b.pipe}
                helped = pair == {"V"} or ("S" in pair and pair - {"S"} <= set(HELPED))
                if a.core != b.core or self.program.cores[a.core][0] != "aiv" or not helped:
                    continue
                if conflict(a, b) and not self.before(a, b):
                    self.helped.append((a, b))
                    mine = self.program.steps[a.core]
                    for step in mine:  # as by a flag: all of the pipe up to a
                        if step.kind == "run" and step.pipe == a.pipe and step.at <= a.at:
                            self.edge(end(step), beg(b))
                            if b.pipe == "S":
                                for later in mine:
                                    if later.at > b.at:
                                        self.edge(end(step), iss(later))
                    self.close()

    def races(self) -> list[tuple[Step, Step]]:
        """Pairs that conflict with no order between them, in the order of the text."""
        runs = self.program.runs
        return [
            (a, b)
            for i, a in enumerate(runs)
            for b in runs[i + 1 :]
            if conflict(a, b) and not self.before(a, b) and not self.before(b, a)
        ]


def iss(step: Step) -> int:
    return 3 * step.at


def beg(step: Step) -> int:
    return 3 * step.at + 1


def end(step: Step) -> int:
    """The end of a run, the firing of a set, the passing of a wait."""
    return 3 * step.at + 2


# ---------------------------------------------------------------------- orders and what they leave


class Atoms:
    """The bytes of a program in the coarsest pieces that every footprint holds whole or not at all."""

    def __init__(self, program: Program) -> None:
        pieces: dict[Space, list[int]] = {}
        for step in program.runs:
            for masks in (step.reads, step.writes, step.adds):
                for space, bits in masks.items():
                    old = pieces.get(space, [])
                    rest = bits
                    for piece in old:
                        rest &= ~piece
                    new = [part for piece in old for part in (piece & bits, piece & ~bits) if part]
                    pieces[space] = new + [rest] * bool(rest)
        self.of = {
            step: tuple(
                [(space, k) for space, bits in masks.items() for k, piece in enumerate(pieces[space]) if piece & bits]
                for masks in (step.reads, step.writes, step.adds)
            )
            for step in program.runs
        }


Values = dict[tuple[Space, int], int]


def value_of(step: Step, read: list[int]) -> int:
    """What a step writes depends on the step and on all that it reads."""
    return hash((step.at, *read))


def outcome(atoms: Atoms, order: Sequence[Step], seen: dict[Step, list[int]] | None = None) -> Values:
    """What memory holds when the steps have run one after the other; `seen` takes what each of them has read."""
    memory: Values = defaultdict(int)
    for step in order:
        reads, writes, adds = atoms.of[step]
        read = [memory[atom] for atom in reads]
        value = value_of(step, read)
        if seen is not None:
            seen[step] = read
        for atom in writes:
            memory[atom] = hash((value, atom[1]))
        for atom in adds:
            memory[atom] += hash((value, atom[1]))
    return dict(memory)


def extension(graph: Graph, random: Random) -> list[Step]:
    """A random linear extension of "ordered before"."""
    runs = graph.program.runs
    needs = {b: sum(graph.before(a, b) for a in runs if a is not b) for b in runs}
    ready = [step for step in runs if not needs[step]]
    out = []
    while ready:
        step = ready.pop(random.randrange(len(ready)))
        out.append(step)
        for b in runs:
            if graph.before(step, b):
                needs[b] -= 1
                if not needs[b]:
                    ready.append(b)
    return out


def witness(graph: Graph, a: Step, b: Step) -> tuple[list[Step], list[Step]]:
    """Two legal orders that differ in the order of a racing pair and in nothing else."""
    runs = graph.program.runs
    first = [step for step in runs if graph.before(step, a) or graph.before(step, b)]
    rest = [step for step in runs if step not in (a, b) and step not in first]
    return [*sort(graph, first), a, b, *sort(graph, rest)], [*sort(graph, first), b, a, *sort(graph, rest)]


def shows(atoms: Atoms, one: Sequence[Step], other: Sequence[Step], a: Step, b: Step) -> bool:
    """Whether a witness shows: one of the pair reads something else, or leaves something else behind the two."""
    found = []
    for order in (one, other):
        seen: dict[Step, list[int]] = {}
        last = max(order.index(a), order.index(b)) + 1
        found.append((outcome(atoms, order[:last], seen), seen[a], seen[b]))
    return found[0] != found[1]


def sort(graph: Graph, steps: list[Step]) -> list[Step]:
    """These steps in a legal order."""
    return sorted(steps, key=lambda step: (sum(graph.before(other, step) for other in steps), step.at))


def legal(graph: Graph, order: Sequence[Step]) -> bool:
    """Whether no step stands before one that it must follow."""
    return not any(graph.before(b, a) for i, a in enumerate(order) for b in order[i + 1 :])
