"""Flags, parked pipes, barriers, fences, and the deadlock reports of one core."""

from __future__ import annotations

import pytest
from machine import COLLECT, Kernel, codes, device, run

from ascsim.hw.checks import Checks
from ascsim.hw.device import Device
from ascsim.hw.errors import DeadlockError, SyncError


def launched(body: object, checks: Checks = COLLECT, **options: object) -> Device:
    machine = device(checks=checks, **options)
    machine.argument("x", memoryview(bytearray(range(64))))
    machine.argument("z", memoryview(bytearray(64)))
    run(machine, lambda k: body(k, *machine.arena.arrays))  # type: ignore[operator]
    return machine


def test_a_parked_queue_executes_at_the_set() -> None:
    def body(k: Kernel, x: object, z: object) -> None:
        k.wait(1, "V_MTE3")
        k.store(2, z, 0, 64, 64)  # type: ignore[arg-type]
        k.wait(3, "MTE2_V")
        k.add(4, 64, 0, 64)
        k.set(5, "V_MTE3")
        k.load(6, 0, x, 0, 64)  # type: ignore[arg-type]
        assert k.core.memories["UB"].bytes[64] == 0xFF  # nothing has run
        k.set(7, "MTE2_V")
        assert k.core.memories["UB"].bytes[64] == 1

    machine = launched(body)
    assert machine.findings == []
    assert bytes(machine.arena.arrays[1].data[:64]) == bytes(range(1, 65))


def test_a_loop_turn_is_that_of_the_issue_also_when_parked() -> None:
    turns = []

    def body(k: Kernel, x: object, z: object) -> None:
        k.core.turn = 3
        k.wait(1, "MTE2_V")
        k.add(2, 32, 0, 32)
        k.core.turn = 5
        k.load(3, 0, x, 0, 32)  # type: ignore[arg-type]
        k.set(4, "MTE2_V")
        turns.append(k.core.turn)
        turns.append(k.region(32, 32).cells[0].write[4])

    launched(body)
    assert turns == [5, 3]


def test_a_set_behind_a_wait_carries_what_the_wait_has_brought() -> None:
    """In time as well: neither V nor MTE3 starts before the load has ended, 398 cycles latency and 10 of work."""

    def body(k: Kernel, x: object, z: object) -> None:
        k.load(1, 0, x, 0, 32)  # type: ignore[arg-type]
        k.order(2, "MTE2_V")
        k.order(3, "V_MTE3")
        assert [k.core.pipes[name].free for name in ("V", "MTE3")] == [408, 408]

    launched(body)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            lambda k, x, z: k.wait(1, "MTE2_V"),
            "DEADLOCK (no_set) on aiv 0: the kernel has ended, but V waits MTE2_V id 0 (k:1), whose set was never "
            "issued",
        ),
        (
            lambda k, x, z: k.wait(1, "MTE2_S"),
            "DEADLOCK (scalar) on aiv 0: S waits for MTE2_S id 0 (k:1) before the program has issued its set",
        ),
        (
            lambda k, x, z: [k.wait(1, "MTE2_V"), k.set(2, "V_MTE2"), k.wait(3, "V_MTE2"), k.set(4, "MTE2_V")],
            "DEADLOCK (cycle) on aiv 0: the kernel has ended, but V waits MTE2_V id 0 (k:1) <- MTE2 waits V_MTE2 id 0 "
            "(k:3) <- V; V waits for MTE2_V id 0 (k:1), 1 entry behind it; MTE2 waits for V_MTE2 id 0 (k:3), 1 "
            "entry behind it",
        ),
        (
            lambda k, x, z: [k.wait(1, "MTE2_V"), k.barrier_all(2)],
            "DEADLOCK (scalar) on aiv 0: S waits at k:2 until every pipe has drained, but V waits MTE2_V id 0 (k:1), "
            "whose set was never issued",
        ),
        (
            lambda k, x, z: [k.wait(1, "MTE2_V"), k.set(2, "V_S"), k.wait(3, "V_S")],
            "DEADLOCK (cycle) on aiv 0: S waits for V_S id 0 (k:3), whose set (k:2) is stuck: V waits MTE2_V id 0 "
            "(k:1), whose set was never issued",
        ),
    ],
)
def test_deadlock_reports(body: object, text: str) -> None:
    with pytest.raises(DeadlockError) as caught:
        launched(body, Checks())
    assert str(caught.value).startswith(text)
    assert str(caught.value).endswith("on the device this ends as an AI-core timeout (error 507014 or 507018)")


def test_a_full_queue_stalls_the_scalar_unit() -> None:
    def body(k: Kernel, x: object, z: object) -> None:
        k.wait(1, "MTE2_V")
        k.fill(2, 0, 32, 1)
        k.core.barrier(k.core.pipes["V"], ("k", 3))
        k.fill(4, 32, 32, 1)
        k.set(5, "MTE2_V")

    text = (
        "DEADLOCK (queue_full) on aiv 0: S stalls at k:4: the queue of V holds its 3 entries behind the wait for "
        "MTE2_V id 0 (k:1)"
    )
    with pytest.raises(DeadlockError) as caught:
        launched(body, Checks(queue_depth=3))
    assert str(caught.value).startswith(text)
    assert launched(body, Checks(queue_depth=4)).findings == []


def test_waits_of_the_scalar_unit_take_no_place_in_a_parked_queue() -> None:
    def body(k: Kernel, x: object, z: object) -> None:
        k.wait(1, "MTE2_V")
        for _ in range(8):
            k.order(2, "MTE3_S")
        k.fill(3, 0, 32, 1)
        k.set(4, "MTE2_V")

    assert launched(body, Checks(queue_depth=2)).findings == []


def test_sets_that_are_held() -> None:
    def body(k: Kernel, x: object, z: object) -> None:
        k.set(1, "MTE2_V", 0)
        k.wait(2, "MTE2_V", 1)
        k.wait(3, "MTE2_V", 0)
        k.set(4, "MTE2_V", 0)
        k.set(5, "MTE2_V", 1)
        k.wait(6, "MTE2_V", 0)

    assert launched(body, Checks()).findings == []
    with pytest.raises(DeadlockError, match=r"DEADLOCK \(held_set\)"):
        launched(body, Checks(hold_sets=True))


def test_a_double_set_names_both_lines() -> None:
    def body(k: Kernel, x: object, z: object) -> None:
        k.set(1, "MTE2_V")
        k.set(2, "MTE2_V")

    with pytest.raises(SyncError) as caught:
        launched(body, Checks())
    assert str(caught.value) == (
        "FLAG_DOUBLE_SET: set_flag(MTE2_V id 0) on aiv 0, k:2: the set at k:1 is still outstanding; a second set "
        "without a wait between is undefined on the device"
    )


def test_a_wait_issued_before_its_set_makes_no_double_set() -> None:
    def body(k: Kernel, x: object, z: object) -> None:
        k.wait(1, "MTE2_V")
        k.set(2, "MTE2_V")
        k.set(3, "MTE2_V")
        k.wait(4, "MTE2_V")

    assert launched(body).findings == []


@pytest.mark.parametrize(
    ("memories", "found"),
    [((), ["RAW"]), (("UB",), ["RAW"]), (("GM",), []), (("GM", "UB"), [])],
)
def test_a_data_sync_barrier_orders_accesses_to_its_memory(memories: tuple[str, ...], found: list[str]) -> None:
    def body(k: Kernel, x: object, z: object) -> None:
        k.fill(1, 0, 32, 1)
        k.order(2, "V_MTE3")
        k.store(3, z, 0, 0, 32)  # type: ignore[arg-type]
        k.core.fence(memories, ("k", 4))
        k.load(5, 32, z, 0, 32)  # type: ignore[arg-type]

    assert codes(launched(body)) == found


def test_a_data_sync_barrier_for_global_memory_says_nothing_of_ub() -> None:
    def body(k: Kernel, x: object, z: object) -> None:
        k.load(1, 0, x, 0, 32)  # type: ignore[arg-type]
        k.core.fence(("GM",), ("k", 2))
        k.add(3, 32, 0, 32)

    assert codes(launched(body)) == ["RAW"]


def test_what_a_data_sync_barrier_has_ended_is_known_to_other_cores() -> None:
    machine = device(2)
    w = machine.argument("w", memoryview(bytearray(32)))

    def body(k: Kernel) -> None:
        if k.core.index == 0:
            k.fill(1, 0, 32, 1)
            k.order(2, "V_MTE3")
            k.store(3, w, 0, 0, 32)
            k.core.fence(("GM",), ("k", 4))
        k.xset(5, 1, 0, "V")
        k.xwait(6, 1)
        if k.core.index == 1:
            k.load(7, 0, w, 0, 32)

    assert run(machine, body) == []
