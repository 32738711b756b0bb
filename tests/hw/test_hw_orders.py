"""Named legal orders, torn transfers, the witness of a race, and a launch made again with other calls."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from machine import COLLECT, MIX_AIV, Kernel, device, run

from ascsim.hw.device import Device
from ascsim.hw.instruction import Plan
from ascsim.hw.orders import Piece, halves, late, legal_orders, torn
from ascsim.hw.record import before, execute
from ascsim.hw.rerun import rerun
from ascsim.hw.witness import Difference, common, compare, pair, witness

X = bytes(range(128))


def copied(*lines: str, nbytes: int = 128, checks: object = COLLECT) -> Device:
    """x + 1 in z, with the flags named; "twice" stores it twice, "cross" hands it from core to core."""
    machine = device(record=True, checks=checks)  # type: ignore[arg-type]
    gx = machine.argument("x", memoryview(X))
    gz = machine.argument("z", memoryview(bytearray(128)))

    def body(k: Kernel) -> None:
        k.load(1, 0, gx, 0, nbytes)
        if "loaded" in lines:
            k.order(2, "MTE2_V")
        k.add(3, 128, 0, nbytes)
        if "added" in lines:
            k.order(4, "V_MTE3")
        k.store(5, gz, 0, 128, nbytes)
        if "spare" in lines:
            k.order(6, "MTE3_MTE2")
            k.barrier_all(7)

    run(machine, body)
    return machine


def names(steps: object) -> list[str]:
    return [step.plan.name for step in steps]  # type: ignore[attr-defined]


def test_each_order_is_hostile_in_its_way() -> None:
    machine = copied()
    assert machine.record is not None
    orders = legal_orders(machine.record.entries(), [5])
    got = {name: names(make()) for name, make in orders.items() if "torn" not in name and "random" not in name}
    assert got == {
        "canonical": ["load", "add", "store"],
        "early": ["load", "add", "store"],
        "late": ["store", "add", "load"],
        "reverse": ["store", "add", "load"],
        "slow MTE2": ["add", "store", "load"],
        "slow V": ["load", "store", "add"],
        "slow MTE3": ["load", "add", "store"],
    }
    assert set(orders) - set(got) == {"random 5", "torn", "torn reverse"}


def test_late_runs_what_a_scalar_read_needs_and_no_more() -> None:
    machine = device(record=True)
    gx = machine.argument("x", memoryview(X))

    def body(k: Kernel) -> None:
        k.load(1, 0, gx, 0, 32)
        k.load(2, 32, gx, 32, 32)
        k.set(3, "MTE2_S")
        k.load(4, 64, gx, 64, 32)
        k.wait(5, "MTE2_S")
        k.core.issue(_read(k), ("k", 6))

    assert run(machine, body) == []
    assert machine.record is not None
    entries = machine.record.entries()
    assert [entry.number for entry in entries if entry.plan.name == "read"] == [3]
    assert [entry.number for entry in late(entries)] == [1, 0, 3, 2]


def _read(k: Kernel) -> object:
    return Plan("read", k.core.scalar, (k.region(0, 4),), (), lambda: None, 1)


def test_every_order_keeps_what_the_clocks_order() -> None:
    machine = copied("loaded", "added")
    assert machine.findings == []
    assert machine.record is not None
    entries = machine.record.entries()
    assert [(before(a, b)) for a in entries for b in entries] == [False, True, True, False, False, True] + [False] * 3
    expected = {"z": bytes(k + 1 for k in X)}
    for make in legal_orders(entries).values():
        assert execute(machine, make()) == expected


def test_a_transfer_is_torn_between_blocks_of_32_bytes() -> None:
    machine = copied()
    assert machine.record is not None
    load, add, store = machine.record.entries()
    steps = torn([load, add, store])
    assert [step.entry.plan.name for step in steps if isinstance(step, Piece)] == ["load", "add", "store"] * 2
    halved = execute(machine, [halves(load)[0], add, store])["z"]  # type: ignore[index]
    assert halved[:64] == bytes(k + 1 for k in X[:64])
    assert halved[64:] == bytes(64)  # 0xFF + 1: what the buffer held
    stored = execute(machine, [load, add, halves(store)[1]])["z"]  # type: ignore[index]
    assert stored == bytes(64) + bytes(k + 1 for k in X[64:])


def test_small_and_in_place_instructions_are_not_torn() -> None:
    small = copied(nbytes=32)
    assert small.record is not None
    assert [halves(entry) for entry in small.record.entries()] == [None] * 3
    machine = device(record=True)
    run(machine, lambda k: k.add(1, 64, 0, 128))
    assert machine.record is not None
    assert halves(machine.record.entries()[0]) is None


@pytest.mark.parametrize("lines", [("added",), ("loaded",)])
def test_a_witness_swaps_the_pair_and_shows_the_bytes(lines: tuple[str, ...]) -> None:
    machine = copied(*lines)
    (race,) = machine.findings
    found = pair(machine, race)
    assert found is not None
    told = witness(machine, *found)
    first, second = (entry.number for entry in found)
    assert told.orders[0] == (0, 1, 2)
    assert told.orders[1].index(second) < told.orders[1].index(first)
    assert sorted(told.orders[1]) == [0, 1, 2]
    wrong = {"added": bytes(8), "loaded": b"\xff" * 8}[lines[0]]  # add of 0xFF, or a store of 0xFF
    assert told.difference == Difference("z", 0, bytes(range(1, 9)), wrong)
    assert common(*found) == [("UB", 0, 128) if lines == ("added",) else ("UB", 128, 256)]


def test_a_race_without_effect_is_said_to_have_none() -> None:
    machine = device(record=True)
    gx = machine.argument("x", memoryview(X))

    def body(k: Kernel) -> None:
        k.load(1, 0, gx, 0, 32)
        k.load(2, 0, gx, 0, 32)

    (race,) = run(machine, body)
    told = witness(machine, *pair(machine, race))  # type: ignore[misc]
    assert told.difference is None
    assert str(told).endswith("k:2 (aiv 0 MTE2); the results are the same either way")


def test_compare_starts_at_a_word() -> None:
    assert compare({"a": b"same", "b": bytes(20)}, {"a": b"same", "b": bytes(19) + b"\x01"}) == Difference(
        "b", 16, bytes(4), b"\x00\x00\x00\x01"
    )
    assert compare({"a": b"same"}, {"a": b"same"}) is None


# --- made again ------------------------------------------------------------------------------------------------------


def test_a_launch_made_again_finds_and_lasts_the_same() -> None:
    for lines in [(), ("added",), ("loaded", "added", "spare")]:
        machine = copied(*lines)
        for _ in range(2):  # it leaves no trace
            again = rerun(machine)
            assert [f.key for f in again.findings] == [f.key for f in machine.findings]
            assert again.totals == list(machine.totals())
        assert machine.record is not None
        steps = legal_orders(machine.record.entries())["canonical"]()
        assert execute(machine, steps) == {"z": bytes(k + 1 for k in X)}


def test_without_a_flag_its_race_is_found_and_without_a_spare_one_time_is_saved() -> None:
    machine = copied("loaded", "added", "spare")
    for line, code in ((2, ["RAW"]), (4, ["RAW"]), (6, []), (7, [])):
        again = rerun(machine, lambda calls, line=line: [c for c in calls if c.site != ("k", line)])  # type: ignore[misc]
        assert [finding.code for finding in again.findings] == code
        assert again.cycles <= rerun(machine).cycles


def test_what_the_compiler_orders_is_found_without_it() -> None:
    machine = device(record=True, auto_sync=True)

    def body(k: Kernel) -> None:
        k.fill(1, 0, 32, 7)
        k.add(2, 32, 0, 32)
        k.add(3, 32, 32, 32)

    assert run(machine, body) == []
    found = rerun(machine, compiler=False).findings
    assert [(f.code, [site[1] for site in f.sites if site]) for f in found] == [
        ("NO_BARRIER_RAW", [1, 2]),
        ("NO_BARRIER_RAW", [2, 3]),
    ]
    assert rerun(machine).findings == []


def test_cores_that_wait_for_each_other_are_made_again_together() -> None:
    machine = device(3, MIX_AIV, COLLECT, record=True)
    gw = machine.argument("w", memoryview(bytearray(32)))

    def body(k: Kernel) -> None:
        for turn in range(3):
            if k.core.index == turn:
                k.load(1, 0, gw, 0, 32)
                k.order(2, "MTE2_V")
                k.add(3, 32, 0, 32)
                k.order(4, "V_MTE3")
                k.store(5, gw, 0, 32, 32)
            k.xset(6, 1, 0, "MTE3")
            k.xwait(7, 1)

    assert run(machine, body) == []
    assert rerun(machine).findings == []
    silent = rerun(machine, lambda calls: [c for c in calls if c.site not in (("k", 6), ("k", 7))])
    # Each core's own load stands between its store and the store before, so that only loads meet stores.
    assert {finding.code for finding in silent.findings} == {"GM_RACE_RW"}


# --- kernels drawn at random -----------------------------------------------------------------------------------------

EVENTS = ("MTE2_V", "V_MTE2", "V_MTE3", "MTE3_V", "MTE2_MTE3", "MTE3_MTE2")


def drawn(seed: int) -> Device:
    """Some transfers of 64 or 128 bytes between six places of 64, and now and then a flag or a barrier."""
    random = Random(seed)
    calls = random.choices(
        ("load", "add", "store", "order", "all"), (5, 5, 4, 3, 10 * (seed % 3)), k=random.randrange(4, 12)
    )
    program = [(call, random.randrange(6) * 64, random.randrange(6) * 64, random.choice((64, 128))) for call in calls]
    machine = device(record=True, auto_sync=random.random() < 0.5)
    gx = machine.argument("x", memoryview(random.randbytes(512)))
    gz = machine.argument("z", memoryview(bytearray(512)))

    def body(k: Kernel) -> None:
        for line, (call, a, b, nbytes) in enumerate(program, 1):
            if call == "load":
                k.load(line, a, gx, b, nbytes)
            elif call == "add":
                k.add(line, a, b, nbytes, line)
            elif call == "store":
                k.store(line, gz, a, b, nbytes)
            elif call == "order":
                k.order(line, EVENTS[(a + b) // 64 % 6])
            else:
                k.barrier_all(line)

    run(machine, body)
    return machine


def test_kernels_drawn_at_random() -> None:
    verdicts = Counter[str]()
    for seed in range(24):
        machine = drawn(seed)
        assert machine.record is not None
        entries = machine.record.entries()
        before_all = {(a.number, b.number) for a in entries for b in entries if a is not b and before(a, b)}
        again = rerun(machine)
        assert [finding.key for finding in again.findings] == [finding.key for finding in machine.findings]
        assert again.totals == list(machine.totals())

        results = execute(machine, entries)
        races = [finding for finding in machine.findings if pair(machine, finding)]
        for make in legal_orders(entries, [seed]).values():
            places: dict[int, list[int]] = {}
            steps = make()
            for place, step in enumerate(steps):
                places.setdefault(getattr(step, "entry", step).number, []).append(place)
            assert len(places) == len(entries)
            assert all(max(places[a]) < min(places[b]) for a, b in before_all)
            if not races:
                assert execute(machine, steps) == results
        for race in races[:2]:
            order = witness(machine, *pair(machine, race)).orders[1]  # type: ignore[misc]
            assert all(order.index(a) < order.index(b) for a, b in before_all)
        verdicts["races" if races else "none"] += 1
    assert min(verdicts.values()) >= 6, verdicts
