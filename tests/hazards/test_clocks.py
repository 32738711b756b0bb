"""Random programs: the machine's clocks, races and deadlocks against two models that share no code with it.

`happens_before` is the explicit graph of issue, begin, end, fire and pass; `runs_through` is a machine of queues and
counters that executes nothing. Both know a program as a list of `Op` and nothing else.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import shake_128
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascsim.hw import current
from ascsim.hw.checks import Checks
from ascsim.hw.device import Device
from ascsim.hw.errors import DeadlockError
from ascsim.hw.events import EVENT_NUMBER
from ascsim.hw.instruction import Plan
from ascsim.hw.memory import Region
from ascsim.hw.record import Entry, before, newest, oldest, replay
from ascsim.hw.soc import soc

PIPES = ("S", "V", "MTE2", "MTE3")
EVENTS = tuple(f"{a}_{b}" for a in PIPES for b in PIPES if a != b)
CELLS = 4  # footprints are subsets of this many columns
ORDERING = {"RAW", "WAR", "WAW", "NO_BARRIER_RAW", "NO_BARRIER_WAR", "NO_BARRIER_WAW"}


@dataclass(frozen=True)
class Op:
    """One line of a program: kind is run, set, wait, barrier, all, xset or xwait."""

    kind: str
    pipe: str = ""  # of run, barrier, xset
    event: str = ""
    id: int = 0
    reads: frozenset[int] = frozenset()
    writes: frozenset[int] = frozenset()
    core: int | None = None  # only this core executes it

    @property
    def queue(self) -> str:
        """The pipe in whose queue it stands."""
        source, _, target = self.event.partition("_")
        return {"set": source, "wait": target, "all": "S", "xwait": "S"}.get(self.kind, self.pipe)


Node = tuple[Any, ...]


def happens_before(program: list[Op], cores: int, help_with: frozenset[str] = frozenset()) -> dict[Node, set[Node]]:
    """Reachability between the nodes (what, core, line), by the rules on issue, start and end.

    `help_with`: the compiler orders pairs within V, and pairs of S and one of these pipes, as if by a flag.
    """
    edges: dict[Node, set[Node]] = defaultdict(set)
    fires: dict[Any, list[Node]] = defaultdict(list)
    passes: dict[Any, list[Node]] = defaultdict(list)
    for core in range(cores):
        lines = [(k, op) for k, op in enumerate(program) if op.core in (None, core)]
        for (i, first), (j, second) in pairs(lines):
            iss_j, one_pipe = ("iss", core, j), first.queue == second.queue
            edges["iss", core, i].add(iss_j)
            ends, starts = ("end", core, i), ("beg", core, j)
            if first.kind == "run" and second.kind == "run" and one_pipe:
                edges["beg", core, i].add(starts)
                if first.pipe == "S":
                    edges[ends].add(starts)
            if second.kind in ("set", "xset") and one_pipe:
                if first.kind == "run":
                    edges[ends].add(("fire", core, j))
                elif first.kind == "wait":
                    edges["pass", core, i].add(("fire", core, j))
            if first.kind in ("wait", "xwait"):
                if second.kind == "run" and one_pipe:
                    edges["pass", core, i].add(starts)
                if first.queue == "S":
                    edges["pass", core, i].add(iss_j)
        for k, op in lines:
            if op.kind == "run":
                edges["iss", core, k].add(("beg", core, k))
                edges["beg", core, k].add(("end", core, k))
            elif op.kind in ("set", "xset"):
                edges["iss", core, k].add(("fire", core, k))
                key = (core, op.event, op.id) if op.kind == "set" else (core, "x")
                fires[key].append(("fire", core, k))
            elif op.kind in ("wait", "xwait"):
                key = (core, op.event, op.id) if op.kind == "wait" else (core, "x")
                passes[key].append(("pass", core, k))
            else:
                for (i, first), (j, second) in pairs(lines):
                    if i < k < j and first.kind == "run":
                        if op.kind == "all":
                            edges["end", core, i].add(("iss", core, j))
                        elif first.pipe == second.queue == op.pipe and second.kind == "run":
                            edges["end", core, i].add(("beg", core, j))
    for key, waits in passes.items():
        for number, wait in enumerate(waits):
            sources = [key] if key[1] != "x" else [(core, "x") for core in range(cores)]
            for source in sources:
                edges[fires[source][number]].add(wait)
    out = closure(edges)
    lines = [(k, op) for k, op in enumerate(program) if op.kind == "run"] if help_with else []
    for (i, first), (j, second) in sorted(pairs(lines), key=lambda pair: pair[1][0]):
        both = {first.pipe, second.pipe}
        helped = both == {"V"} or ("S" in both and both - {"S"} <= help_with)
        if helped and conflict(first, second) and ("beg", 0, j) not in out["end", 0, i]:
            for k, op in lines:
                if k <= i and op.pipe == first.pipe:
                    edges["end", 0, k].add(("beg", 0, j))
                    if second.pipe == "S":
                        edges["end", 0, k].update(("iss", 0, later) for later in range(j + 1, len(program)))
            out = closure(edges)
    return out


def conflict(a: Op, b: Op) -> bool:
    """Whether two instructions touch a common byte and one of them writes it."""
    return bool(a.writes & (b.reads | b.writes) or b.writes & a.reads)


def pairs(lines: list[tuple[int, Op]]) -> Iterator[tuple[tuple[int, Op], tuple[int, Op]]]:
    for at, first in enumerate(lines):
        for second in lines[at + 1 :]:
            yield first, second


def closure(edges: dict[Node, set[Node]]) -> dict[Node, set[Node]]:
    out: dict[Node, set[Node]] = defaultdict(set)
    for start in list(edges):
        seen: set[Node] = set()
        todo = [start]
        while todo:
            for node in edges.get(todo.pop(), ()):
                if node not in seen:
                    seen.add(node)
                    todo.append(node)
        out[start] = seen
    return out


def runs_through(program: list[Op], cores: int) -> bool:
    """Whether every core ends with all queues empty."""
    queues: dict[Any, list[Op]] = defaultdict(list)
    at = [0] * cores
    up: Counter[Any] = Counter()
    reports: Counter[int] = Counter()
    taken: Counter[int] = Counter()

    def step(core: int) -> bool:
        """The scalar unit, or any pipe, does one thing."""
        for pipe in PIPES[1:]:
            queue = queues[core, pipe]
            if queue and not (queue[0].kind == "wait" and not up[core, queue[0].event, queue[0].id]):
                enter(core, queue.pop(0))
                return True
        while at[core] < len(program) and program[at[core]].core not in (None, core):
            at[core] += 1
        if at[core] == len(program):
            return False
        op = program[at[core]]
        if op.kind == "all" and any(queues[core, pipe] for pipe in PIPES[1:]):
            return False
        if op.kind == "wait" and op.queue == "S" and not up[core, op.event, op.id]:
            return False
        if op.kind == "xwait":
            if taken[core] == min(reports[c] for c in range(cores)):
                return False
            taken[core] += 1
        elif op.queue == "S":
            enter(core, op)
        else:
            queues[core, op.queue].append(op)
        at[core] += 1
        return True

    def enter(core: int, op: Op) -> None:
        if op.kind in ("set", "wait"):
            up[core, op.event, op.id] += 1 if op.kind == "set" else -1
        elif op.kind == "xset":
            reports[core] += 1

    while any(step(core) for core in range(cores)):
        pass
    return at == [len(program)] * cores and not any(queues.values())


# ---------------------------------------------------------------------- the machine under test


def launch(program: list[Op], cores: int, auto_sync: bool = False) -> Device:
    """Run a program; every instruction's call site is (name, 100 * core + line)."""
    device = Device(soc("Ascend910B1"), 4, cores, checks=Checks.collect(), record=True, auto_sync=auto_sync)

    def body() -> None:
        core = current.core.get()
        for k, op in enumerate(program):
            if op.core not in (None, core.index):
                continue
            site = ("k", 100 * core.index + k)
            if op.kind == "run":
                reads, writes = (
                    [core.region("UB", ((32 * c, ((4, 32 * CELLS), (32, 1))),), "run", site) for c in sorted(cells)]
                    for cells in (op.reads, op.writes)
                )
                work = partial(mix, k, core.memories["UB"].bytes, reads, writes)
                core.issue(Plan(str(k), core.pipes[op.pipe], reads, writes, work, 1), site)
            elif op.kind == "barrier":
                core.barrier(core.pipes[op.pipe], site)
            elif op.kind == "all":
                core.barrier_all(site)
            elif op.kind == "xset":
                device.cross.set(core, 1, 0, core.pipes[op.pipe], site)
            elif op.kind == "xwait":
                device.cross.wait(core, 1, site)
            else:
                flag = core.flags[EVENT_NUMBER[op.event]][op.id]
                (core.set_flag if op.kind == "set" else core.wait_flag)(flag, site)

    device.run(body)
    return device


def mix(k: int, memory: np.ndarray, reads: list[Region], writes: list[Region]) -> None:
    """Write bytes that depend on the line and on all bytes read."""
    sources = b"".join(view.tobytes() for region in reads for view in region.views(memory))
    for region in writes:
        for view in region.views(memory):
            view[...] = np.frombuffer(shake_128(bytes((k,)) + sources).digest(view.size), np.uint8).reshape(view.shape)


def entries(device: Device) -> list[tuple[tuple[int, int], Entry]]:
    """The record, with core and line of each entry."""
    return [((e.core.serial, int(e.plan.name)), e) for e in device.record.entries()]  # type: ignore[union-attr]


def found_pairs(device: Device) -> set[frozenset[int]]:
    """The lines of each ordering fault."""
    return {frozenset(site[1] for site in f.sites) for f in device.findings if f.code in ORDERING}


def races(program: list[Op], order: dict[Node, set[Node]]) -> set[frozenset[int]]:
    """Pairs of lines of one core that conflict and are not ordered."""
    out = set()
    for (i, a), (j, b) in pairs([(k, op) for k, op in enumerate(program) if op.kind == "run"]):
        ordered = ("beg", 0, j) in order["end", 0, i] or ("beg", 0, i) in order["end", 0, j]
        if conflict(a, b) and not ordered:
            out.add(frozenset((i, j)))
    return out


cells = st.frozensets(st.integers(0, CELLS - 1), max_size=2)


@st.composite
def programs(draw: st.DrawFn, cross: bool = False, parks: bool = True) -> list[Op]:
    """Some ten lines: instructions, barriers, and pairs of set and wait; with `parks` the wait may come first."""
    out: list[Op] = []
    for _ in range(draw(st.integers(2, 7))):
        at = draw(st.integers(0, len(out)))
        core = draw(st.sampled_from((None, None, 0, 1))) if cross else None
        kind = draw(
            st.sampled_from(("run", "run", "run", "flag", "flag", "barrier", "all", *(["x", "x"] if cross else [])))
        )
        if kind == "run":
            reads, writes = draw(cells), draw(cells)
            out.insert(at, Op("run", draw(st.sampled_from(PIPES)), reads=reads, writes=writes, core=core))
        elif kind == "barrier":
            out.insert(at, Op("barrier", draw(st.sampled_from(PIPES[1:])), core=core))
        elif kind == "all":
            out.insert(at, Op("all", core=core))
        elif kind == "x":
            out.insert(at, Op("xset", draw(st.sampled_from(PIPES[1:]))))
            out.insert(draw(st.integers(at + 1, len(out))), Op("xwait"))
        else:
            event, number = draw(st.sampled_from(EVENTS)), draw(st.integers(0, 1))
            out.insert(at, Op("set", event=event, id=number, core=core))
            later = draw(st.integers(at + 1, len(out)))
            where = draw(st.sampled_from((later, later, later, at))) if parks else later
            out.insert(where, Op("wait", event=event, id=number, core=core))
    return out


tries = settings(max_examples=80, deadline=None, derandomize=True, database=None)


@tries
@given(programs())
def test_one_core(program: list[Op]) -> None:
    if not runs_through(program, 1):
        with pytest.raises(DeadlockError):
            launch(program, 1)
        return
    device = launch(program, 1)
    order = happens_before(program, 1)
    rows = entries(device)
    for (_, i), a in rows:
        for (_, j), b in rows:
            if i != j:
                assert before(a, b) == (("beg", 0, j) in order["end", 0, i]), (i, j)
    found = {frozenset(site[1] for site in finding.sites) for finding in device.findings if finding.code in ORDERING}
    real = races(program, order)
    assert found <= real
    assert bool(found) == bool(real)


@tries
@given(programs(cross=True))
def test_two_cores(program: list[Op]) -> None:
    if not runs_through(program, 2):
        with pytest.raises(DeadlockError):
            launch(program, 2)
        return
    order = happens_before(program, 2)
    rows = entries(launch(program, 2))
    for (core_i, i), a in rows:
        for (core_j, j), b in rows:
            if (core_i, i) != (core_j, j):
                assert before(a, b) == (("beg", core_j, j) in order["end", core_i, i]), (core_i, i, core_j, j)


@tries
@given(programs())
def test_which_pairs_are_reported(program: list[Op]) -> None:
    """Per byte: a read against the last write; a write against the reads since, else against the last write."""
    if not runs_through(program, 1):
        return
    device = launch(program, 1)
    real = races(program, happens_before(program, 1))
    expected = set()
    for cell in range(CELLS):
        last: int | None = None
        since: dict[str, int] = {}  # the last read of each pipe
        for _, j in (row[0] for row in entries(device)):
            op = program[j]
            against = set()
            if cell in op.writes:
                against |= set(since.values())
            if last is not None and (cell in op.reads or (cell in op.writes and not since)):
                against.add(last)
            expected |= {frozenset((i, j)) for i in against} & real
            if cell in op.writes:
                last, since = j, {}
            elif cell in op.reads:
                since[op.pipe] = j
    assert found_pairs(device) == expected


@tries
@given(programs())
def test_clean_programs_leave_the_same_bytes_in_every_order(program: list[Op]) -> None:
    if not runs_through(program, 1):
        return
    device = launch(program, 1)
    if not len(device.record):  # type: ignore[arg-type]
        return
    memory = entries(device)[0][1].core.memories["UB"].bytes
    expected = memory.tobytes()
    replay(device, oldest)
    assert memory.tobytes() == expected
    if not found_pairs(device):
        replay(device, newest)
        assert memory.tobytes() == expected


def test_a_racing_program_leaves_other_bytes_in_another_order() -> None:
    one, two = frozenset((0,)), frozenset((1,))
    program = [Op("run", "MTE2", writes=one), Op("run", "V", reads=one, writes=two)]
    device = launch(program, 1)
    memory = entries(device)[0][1].core.memories["UB"].bytes
    expected = memory.tobytes()
    replay(device, newest)
    assert memory.tobytes() != expected


@tries
@given(programs(parks=False))
def test_compiler_help(program: list[Op]) -> None:
    """auto_sync is the same as its barriers and flags written out."""
    real = races(program, happens_before(program, 1, frozenset(("V", "MTE2", "MTE3"))))
    found = found_pairs(launch(program, 1, auto_sync=True))
    assert found <= real
    assert bool(found) == bool(real)


@tries
@given(programs(), st.integers(0, 10))
def test_a_barrier_for_all_adds_no_fault(program: list[Op], at: int) -> None:
    more = [*program[:at], Op("all"), *program[at:]]
    if runs_through(more, 1):
        assert races(more, happens_before(more, 1)) <= shifted(races(program, happens_before(program, 1)), at)
        found = {f.code for f in launch(more, 1).findings if f.code in ORDERING}
        assert bool(found) == bool(races(more, happens_before(more, 1)))


def shifted(found: set[frozenset[int]], at: int) -> set[frozenset[int]]:
    return {frozenset(k + (k >= at) for k in pair) for pair in found}
