"""Whether the machine's verdict on a kernel can be trusted: compared with two machines that share no code with it.

`judge` runs the text of one case on `ascsim.hw` and on `independent` and `rover`, and lists what does not fit:

- the two disagree on a deadlock, on the order of two instructions, or on whether there is a race;
- a pair is reported that does not race (a false alarm), or has no witness;
- two legal orders leave different bytes and nothing is reported (a hazard missed);
- the queues do something that the order forbids.

A *witness* of a reported pair is two legal orders that differ in the order of the pair alone, in which one of the two
reads other bytes or leaves others behind. In the end the bytes may still be equal (what was written is overwritten,
say): the order is free all the same, and the outcome says so.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from random import Random

import cases
from independent import Atoms, Graph, extension, legal, outcome, shows, witness
from notation import read_case
from rover import Rover
from unrolled import Step, unroll

from ascsim.hw.device import Device
from ascsim.hw.record import Chooser, Entry, before, newest, replay

RACES = frozenset("RAW WAR WAW NO_BARRIER_RAW NO_BARRIER_WAR NO_BARRIER_WAW GM_RACE_RW GM_RACE_WW".split())


@dataclass
class Outcome:
    """Of one kernel: its kind (clean, faulty, deadlock), its size, what does not fit, and the reports' witnesses."""

    kind: str
    instructions: int
    pipes: int
    cores: int
    breaches: list[str] = field(default_factory=list)
    reports: int = 0
    changed: int = 0  # reports whose two orders leave different bytes
    equal: int = 0  # reports whose bytes are equal though the order is free
    codes: tuple[str, ...] = ()


def judge(text: str, random: Random, orders: int = 3, roves: int = 1) -> Outcome:
    """Judge one kernel by `orders` sampled legal orders and `roves` free runs of the queues."""
    case = read_case(text, "kernel")
    program = unroll(case)
    graph = Graph(program)
    pipes = {(step.core, step.pipe) for step in program.runs}
    kind = "deadlock" if graph.stuck else "clean"
    out = Outcome(kind, len(program.runs), len({pipe for _, pipe in pipes}), len(program.cores))
    device = cases.launch(case, record=True)
    codes = {finding.code for finding in device.findings}
    out.codes = tuple(sorted(codes & RACES))
    atoms = Atoms(program)
    rovers = [Rover(program, atoms, random) for _ in range(roves)]
    if any(rover.ended is graph.stuck for rover in rovers):
        out.breaches.append("the queues and the graph disagree on a deadlock")
    if ("DEADLOCK" in codes) is not graph.stuck:
        out.breaches.append(f"deadlock: {graph.stuck}, reported: {not graph.stuck}")
    if out.breaches or graph.stuck:
        return out
    races = graph.races()
    out.kind = "faulty" if races else "clean"
    _order(graph, device, out)
    _queues(graph, rovers, out)
    _reports(graph, atoms, races, device, out)
    _bytes(graph, atoms, device, rovers, random, orders, out)
    return out


def steps_of(graph: Graph, device: Device) -> list[tuple[Step, Entry]]:
    """Each instruction as the two machines know it: the k-th of a pipe is the k-th of that pipe."""
    entries: dict[tuple[int, str], list[Entry]] = defaultdict(list)
    for entry in device.record.entries():  # type: ignore[union-attr]
        entries[entry.core.serial, entry.plan.pipe.name].append(entry)
    for queue in entries.values():
        queue.sort(key=lambda entry: entry.n)
    return [(step, entries[step.core, step.pipe][step.number]) for step in graph.program.runs]


def _order(graph: Graph, device: Device, out: Outcome) -> None:
    """The clocks against the graph."""
    if graph.program.auto_sync:  # the compiler orders what conflicts; the clocks may order more of its pipes
        return
    pairs = steps_of(graph, device)
    for a, first in pairs:
        for b, second in pairs:
            if a is not b and before(first, second) is not graph.before(a, b):
                out.breaches.append(f"lines {a.line} {a.turn} and {b.line} {b.turn}: ordered {graph.before(a, b)}")
                return


def _queues(graph: Graph, rovers: list[Rover], out: Outcome) -> None:
    """What the queues did stays inside the order."""
    if graph.program.auto_sync:  # the queues know nothing of the compiler
        return
    for rover in rovers:
        for a in graph.program.runs:
            for b in graph.program.runs:
                if graph.before(a, b) and rover.began[b] < rover.done[a]:
                    out.breaches.append(f"line {b.line} began before line {a.line} had ended")
                    return


def _reports(graph: Graph, atoms: Atoms, races: list[tuple[Step, Step]], device: Device, out: Outcome) -> None:
    """Every report is a race with a witness, and where there is a race there is a report."""
    by_lines: dict[frozenset[int], list[tuple[Step, Step]]] = defaultdict(list)
    for a, b in races:
        by_lines[frozenset((a.line, b.line))].append((a, b))
    for finding in device.findings:
        if finding.code not in RACES:
            continue
        out.reports += 1
        lines = frozenset(site[1] for site in finding.sites if site)
        found = by_lines.get(lines)
        if found is None:
            out.breaches.append(f"false alarm: {finding.text()}")
            continue
        a, b = found[0]
        one, other = witness(graph, a, b)
        if not (legal(graph, one) and legal(graph, other)):
            out.breaches.append(f"no witness: {finding.text()}")
        elif not shows(atoms, one, other, a, b):
            out.breaches.append(f"a witness that shows nothing: {finding.text()}")
        elif outcome(atoms, one) != outcome(atoms, other):
            out.changed += 1
        else:
            out.equal += 1
    if races and not out.reports:
        a, b = races[0]
        out.breaches.append(f"missed: lines {a.line} {a.turn} and {b.line} {b.turn} race")


def _bytes(
    graph: Graph, atoms: Atoms, device: Device, rovers: list[Rover], random: Random, orders: int, out: Outcome
) -> None:
    """Where nothing is reported, every legal order leaves the same bytes: by both machines, and by the queues."""
    if out.reports:
        return
    left = [outcome(atoms, extension(graph, random)) for _ in range(orders)]
    if not graph.program.auto_sync:
        left += [dict(rover.memory) for rover in rovers]
    if any(values != left[0] for values in left):
        out.breaches.append("missed: two legal orders leave different bytes")
    replays = [after(device, choose) for choose in (newest, lambda ready: random.choice(ready))]
    if any(images != after(device, None) for images in replays):
        out.breaches.append("missed: two replays leave different bytes")


def after(device: Device, choose: Chooser | None) -> dict[str, bytes]:
    """What a replay leaves in global memory; without a chooser, what the launch itself left."""
    if choose is not None:
        return replay(device, choose)
    return {array.name: bytes(array.bytes(0, array.nbytes)) for array in device.arena.arrays if array.stores}


def found_pairs(device: Device) -> set[frozenset[int]]:
    """The lines of each ordering fault; one line for an instruction that races itself in another turn or core."""
    return {frozenset(site[1] for site in f.sites if site) for f in device.findings if f.code in RACES}
