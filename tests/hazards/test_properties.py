"""Properties of the verdicts on order, on random kernels, against two machines that share no code with `ascsim`.

The same as `benchmarks/soundness.py` does at length, and what must not change a verdict: other ids, places and orders
of cores, loops unrolled, queues and compiler help written out, instructions split.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

import cases
import generated
import judge as judging
import pytest
from generated import kernel
from hypothesis import given, settings
from hypothesis import strategies as st
from independent import Atoms, Graph
from judge import RACES, after, found_pairs, judge, steps_of
from notation import Case, read_case
from unrolled import Step, meet, unroll

from ascsim.hw.device import Device
from ascsim.hw.record import before, newest, oldest, replay

seeds = st.integers(0, 1 << 32)


def tries(examples: int) -> Callable[..., object]:
    return settings(max_examples=examples, deadline=None)


def text_of(family: Callable[..., tuple[list[str], list[str]]], random: Random, spoilt: float = 0.5) -> str:
    head, body = family(random)
    if random.random() < spoilt:
        generated.spoil(random, body)
    return "\n".join([*head, *body]) + "\n"


def run(text: str) -> Device:
    return cases.launch(read_case(text, "kernel"), record=True)


def graph_of(text: str) -> Graph:
    return Graph(unroll(read_case(text, "kernel")))


def codes(device: Device) -> list[str]:
    return sorted({f.code for f in device.findings if f.code in RACES or f.code == "DEADLOCK"})


def instances(graph: Graph, pairs: list[tuple[Step, Step]]) -> set[tuple[object, ...]]:
    """Pairs of instructions by core, pipe and number, which survive a change of lines."""
    return {(a.core, a.pipe, a.number, b.core, b.pipe, b.number) for a, b in pairs}


@tries(40)
@given(seeds)
def test_every_verdict_is_that_of_the_independent_machines(seed: int) -> None:
    """Order, races, deadlock, witnesses, and equal bytes in every order of a clean kernel, torn transfers included."""
    random = Random(seed)
    text = kernel(random)
    outcome = judge(text, random)
    assert outcome.breaches == [], text
    assert outcome.changed + outcome.equal == outcome.reports


def test_kernels_are_of_every_kind() -> None:
    """A property of kernels that are all alike would say little."""
    outcomes = [judge(kernel(Random(seed)), Random(seed), orders=0, roves=0) for seed in range(30)]
    kinds = [outcome.kind for outcome in outcomes]
    assert min(kinds.count("clean"), kinds.count("faulty")) >= 9
    assert {outcome.cores for outcome in outcomes} == {1, 2}
    assert min(outcome.pipes for outcome in outcomes) >= 3
    assert sum(outcome.changed for outcome in outcomes) > 0.7 * sum(outcome.reports for outcome in outcomes)


@tries(14)
@given(seeds)
def test_which_pairs_are_reported(seed: int) -> None:
    """Of each byte: a read against the last write; a write against the reads since, else against the last write."""
    text = text_of(Random(seed).choice((generated.flat, generated.cube, generated.loop)), Random(seed), 1)
    text = text.replace("auto_sync: on", "auto_sync: off").replace("+:", ":")
    graph = graph_of(text)
    if graph.stuck:
        return
    device = run(text)
    real = {frozenset((a, b)) for a, b in graph.races()}
    last: dict[object, Step] = {}
    since: dict[object, dict[str, Step]] = {}  # the last read of each pipe
    against: set[frozenset[Step]] = set()
    atoms = Atoms(graph.program)
    for step, _ in sorted(steps_of(graph, device), key=lambda pair: pair[1].number):
        reads, writes, _ = atoms.of[step]
        for atom in reads:
            if atom in last:
                against.add(frozenset((last[atom], step)))
            since.setdefault(atom, {})[step.pipe] = step
        for atom in writes:
            readers = since.pop(atom, {})
            others = readers.values() if readers else [last[atom]] if atom in last else []
            against |= {frozenset((other, step)) for other in others}
            last[atom] = step
    expected = {frozenset(step.line for step in pair) for pair in against & real}
    assert found_pairs(device) == expected


@tries(15)
@given(seeds)
def test_a_deadlock_does_not_depend_on_the_schedule(seed: int) -> None:
    random = Random(seed)
    text = text_of(random.choice((generated.flat, generated.two_cores, generated.cube)), random, 1)
    lone = [k for k, line in enumerate(text.splitlines()) if re.match("set |xset ", line)]
    lines = text.splitlines()
    if lone:
        del lines[random.choice(lone)]
    outcome = judge("\n".join(lines), random, orders=0, roves=4)
    assert outcome.breaches == []


@tries(15)
@given(seeds)
def test_the_canonical_replay_gives_the_bytes_of_the_run(seed: int) -> None:
    device = run(kernel(Random(seed)))
    assert replay(device, oldest) == after(device, None)


@tries(9)
@given(seeds)
def test_a_barrier_for_all_adds_no_fault(seed: int) -> None:
    random = Random(seed)
    head, body = random.choice((generated.flat, generated.cube))(random)
    generated.spoil(random, body)
    old, at = graph_of("\n".join([*head, *body])), random.randint(0, len(body))
    more = "\n".join([*head, *body[:at], "barrier ALL", *body[at:]])
    new = graph_of(more)
    if not new.stuck:
        assert instances(new, new.races()) <= instances(old, old.races())
        assert bool(found_pairs(run(more))) is bool(new.races())


@tries(10)
@given(seeds)
def test_barriers_for_all_leave_no_fault(seed: int) -> None:
    head, body = generated.flat(Random(seed))
    body = [line for line in body if not line.startswith(("set", "wait", "barrier"))]
    assert codes(run("\n".join([*head, *(part for line in body for part in (line, "barrier ALL"))]))) == []


@tries(9)
@given(seeds)
def test_a_flag_pair_less_makes_no_fault_go_away(seed: int) -> None:
    random = Random(seed)
    text = text_of(random.choice((generated.flat, generated.cube)), random, 0)
    lines = text.splitlines()
    sets = [k for k, line in enumerate(lines) if line.startswith("set ")]
    if not sets:
        return
    at = random.choice(sets)
    wait = "wait" + lines[at][3:]
    after_it = [k for k in range(at, len(lines)) if lines[k] == wait]
    if not after_it:
        return  # it stands before its set
    fewer = [line for k, line in enumerate(lines) if k not in (at, after_it[0])]
    old, new = graph_of(text), graph_of("\n".join(fewer))
    assert instances(old, old.races()) <= instances(new, new.races())
    assert bool(found_pairs(run("\n".join(fewer)))) is bool(new.races())


@tries(9)
@given(seeds)
def test_other_ids_places_and_orders_of_cores_change_nothing(seed: int) -> None:
    random = Random(seed)
    text = text_of(random.choice((generated.flat, generated.two_cores)), random)
    shift = random.randint(1, 5)
    other = re.sub(r"^(set|wait) (\w+) (\d)$", lambda m: f"{m[1]} {m[2]} {(int(m[3]) + shift) % 6}", text, flags=re.M)
    other = re.sub(r"^ub (\w) @(\d+) (\d+)$", lambda m: f"ub {m[1]} @{8192 - int(m[2])} {m[3]}", other, flags=re.M)
    other = re.sub(r"id=(\d+)", lambda m: f"id={9 - int(m[1])}", other)
    assert found_pairs(run(other)) == found_pairs(run(text))
    assert codes(run(other.replace("idx", "(1-idx)").replace("(1-(1-idx))", "idx"))) == codes(run(text))


@tries(10)
@given(seeds)
def test_unrolling_a_loop_changes_nothing(seed: int) -> None:
    text = text_of(generated.loop, Random(seed))
    lines = text.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("for"))
    turns = int(lines[start].rstrip(":").rpartition("..")[2])
    inside = [k for k in range(start + 1, len(lines)) if lines[k].startswith("  ")]
    assert inside == list(range(start + 1, inside[-1] + 1))
    body = [re.sub(r"\bi\b", str(i), lines[k].strip()) for i in range(turns) for k in inside]
    flat = "\n".join([*lines[:start], *body, *lines[inside[-1] + 1 :]])
    assert codes(run(flat)) == codes(run(text))
    rolled, straight = graph_of(text), graph_of(flat)
    assert rolled.stuck == straight.stuck
    if not rolled.stuck:
        assert instances(rolled, rolled.races()) == instances(straight, straight.races())


@tries(9)
@given(seeds)
def test_compiler_help_written_out_changes_nothing(seed: int) -> None:
    """Where the compiler orders a conflicting pair, a flag or a barrier by hand does the same."""
    head, body = generated.flat(Random(seed))
    if seed % 3:
        generated.spoil(Random(seed), body)
    head[1] = "auto_sync: on"
    text = "\n".join([*head, *body])
    graph = graph_of(text)
    if graph.stuck or _parks(body):
        return
    by_line: dict[int, list[str]] = {}
    for a, b in graph.helped:
        event = f"{a.pipe}_{b.pipe}"
        by_line.setdefault(b.line, []).extend(
            ["barrier V"] if a.pipe == b.pipe else [f"set {event} 7", f"wait {event} 7"]
        )
    head[1] = "auto_sync: off"
    written, number = list(head), {}
    for k, line in enumerate(body, len(head) + 1):
        written += by_line.get(k, [])
        written.append(line)
        number[len(written)] = k
    by_hand = {frozenset(number[line] for line in pair) for pair in found_pairs(run("\n".join(written)))}
    assert by_hand == found_pairs(run(text))


def _parks(body: list[str]) -> bool:
    up: dict[str, int] = {}
    for line in body:
        word, _, flag = line.partition(" ")
        if word in ("set", "wait"):
            up[flag] = up.get(flag, 0) + (1 if word == "set" else -1)
            if up[flag] < 0:
                return True
    return False


@tries(10)
@given(seeds)
def test_a_queue_is_its_flags_written_out(seed: int) -> None:
    text = text_of(generated.queues, Random(seed), 0.3)
    case = read_case(text, "kernel")
    device = cases.launch(case, record=True)
    program = unroll(case)
    head = [line for line in text.splitlines() if line.startswith(("cores", "auto_sync", "gm"))]
    flags = "\n".join([*head, "ub m @0 4096", *map(_written, program.steps[0])])
    by_hand = cases.launch(read_case(flags, "kernel"), record=True)
    assert codes(by_hand) == codes(device)
    pairs, others = steps_of(Graph(program), device), steps_of(graph_of(flags), by_hand)
    assert len(pairs) == len(others)
    for (_, a), (_, a2) in zip(pairs, others, strict=True):
        for (_, b), (_, b2) in zip(pairs, others, strict=True):
            assert a is b or before(a, b) is before(a2, b2)


def _written(step: Step) -> str:
    """A step as a line: the id of a queue's flag is the number of its buffer."""
    if step.kind in ("set", "wait"):
        _, _, buffer, way, (fills, empties) = step.key
        event = f"{fills}_{empties}" if way == "forth" else f"{empties}_{fills}"
        return f"{step.kind} {event} {buffer}"
    if step.kind == "barrier":
        return f"barrier {step.pipe}"
    reads, writes = (
        ", ".join(
            f"{'m' if space[0] != 'GM' else space[1]}[{low}:{bits.bit_length()}]"
            for space, bits in masks.items()
            for low in [(bits & -bits).bit_length() - 1]
        )
        for masks in (step.reads, step.writes)
    )
    return f"{step.pipe}: {writes or '_'} <- {reads or '0'}"


@tries(15)
@given(seeds)
def test_footprints_meet_where_their_bytes_do(seed: int) -> None:
    straight = generated.Straight(Random(seed), generated.AIV)
    (first, a), (second, b) = straight.slice("x"), straight.slice("x")
    text = f"cores: aiv 1\ngm X 512\nub x @0 512\nub z @512 512\nMTE2: {first} <- X[0:32]\nV: z[0:32] <- {second}\n"
    assert codes(run(text)) == (["RAW"] if a & b else [])
    text = (
        f"cores: aiv 2\ngm x 512\nub z @0 512\nif idx:\n  MTE3: {first} <- z[0:32]\nelse:\n  MTE3: {second} <- z[0:32]"
    )
    assert codes(run(text)) == (["GM_RACE_WW"] if a & b else [])


@tries(10)
@given(seeds)
def test_an_instruction_in_two_halves_keeps_the_verdict(seed: int) -> None:
    random = Random(seed)
    text = text_of(generated.flat, random)
    lines = text.splitlines()
    case: Case = read_case(text, "kernel")
    whole = {
        step.line
        for step in unroll(case).runs
        if not meet(step.reads, step.writes) and re.match(r"\w+: \w\[\d+:\+\d+\]", lines[step.line - 1])
    }
    if not whole:
        return
    at = random.choice(sorted(whole)) - 1
    match = re.match(r"(\w+: \w\[)(\d+):\+(\d+)(\].*)", lines[at])
    assert match
    start, half = int(match[2]), int(match[3]) // 2
    parts = [f"{match[1]}{k}:+{half}{match[4]}" for k in (start, start + half)]
    assert bool(codes(run("\n".join([*lines[:at], *parts, *lines[at + 1 :]])))) is bool(codes(run(text)))


@tries(5)
@given(seeds)
def test_the_same_kernel_gives_the_same_text(seed: int) -> None:
    text = kernel(Random(seed))
    assert [f.text() for f in run(text).findings] == [f.text() for f in run(text).findings]


def test_a_racing_kernel_leaves_other_bytes_in_another_order() -> None:
    device = run(
        "cores: aiv 1\ngm X 32\ngm Z 32 blank\nub x @0 32\nMTE2: x[0:32] <- X[0:32]\nMTE3: Z[0:32] <- x[0:32]\n"
    )
    assert replay(device, newest) != after(device, None)


def test_a_judge_that_is_told_a_lie_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison itself can fail: here a graph that knows no flags."""
    text = "\n".join(("cores: aiv 1", "gm X 32", "ub x @0 32", "MTE2: x[0:32] <- X[0:32]", "set MTE2_V 0"))
    text += "\nwait MTE2_V 0\nV: x[0:32] <- x[0:32]\n"
    assert judge(text, Random(0)).breaches == []
    monkeypatch.setattr(judging, "Graph", type("Blind", (Graph,), {"flags": lambda self: None}))
    assert judge(text, Random(0)).breaches != []
