"""Flags and meetings between cores."""

from __future__ import annotations

import pytest
from machine import AIV_ONLY, COLLECT, MIX, MIX_AIC, MIX_AIV, Kernel, codes, device, run

from ascsim.hw.checks import Checks
from ascsim.hw.device import Device
from ascsim.hw.errors import DeadlockError, SyncError


def launched(body: object, blocks: int = 2, kernel_type: int = MIX_AIV, checks: Checks = COLLECT) -> Device:
    machine = device(blocks, kernel_type, checks)
    machine.argument("w", memoryview(bytearray(64 * 16)))
    run(machine, body)  # type: ignore[arg-type]
    return machine


@pytest.mark.parametrize(
    ("kind", "mode", "expected"),
    [
        ("aiv 0", 0, ["aiv 0", "aiv 1", "aiv 2", "aiv 3"]),
        ("aic 1", 0, ["aic 0", "aic 1"]),
        ("aiv 3", 1, ["aiv 2", "aiv 3"]),
        ("aic 1", 2, ["aiv 2", "aiv 3"]),
        ("aiv 2", 2, ["aic 1"]),
    ],
)
def test_whom_a_report_raises(kind: str, mode: int, expected: list[str]) -> None:
    targets = []

    def body(k: Kernel) -> None:
        if k.core.name == kind:
            targets.extend(k.device.core_name(serial) for serial in k.device.cross.members(k.core, mode)[2])

    launched(body, kernel_type=MIX)
    assert targets == expected


def test_a_wait_takes_one_token_and_follows_all_reporters() -> None:
    def body(k: Kernel) -> None:
        (w,) = k.device.arena.arrays
        k.fill(1, 0, 32, k.core.index + 1)
        k.order(2, "V_MTE3")
        k.store(3, w, 32 * k.core.index, 0, 32)
        k.xset(4, 5, 0, "MTE3")
        k.xwait(5, 5)
        k.load(6, 64, w, 0, 64)

    machine = launched(body)
    assert machine.findings == []
    assert bytes(machine.arena.arrays[0].bytes(0, 64)) == b"\x01" * 32 + b"\x02" * 32


def test_a_report_waits_for_its_parked_pipe() -> None:
    """Core 0 may go on only when core 1's parked store has run."""
    order = []

    def body(k: Kernel) -> None:
        (w,) = k.device.arena.arrays
        if k.core.index == 1:
            k.fill(1, 0, 32, 9)
            k.wait(2, "V_MTE3")
            k.store(3, w, 0, 0, 32)
            k.xset(4, 1, 0, "MTE3")
            order.append("reported")
            k.set(5, "V_MTE3")
            order.append("stored")
            k.xwait(6, 1)
        else:
            k.xset(7, 1, 0, "MTE3")
            k.xwait(8, 1)
            order.append(bytes(w.bytes(0, 1)))

    assert launched(body).findings == []
    assert order == ["reported", "stored", b"\x09"]


def test_a_deadlock_names_every_waiting_core_and_who_has_not_reported() -> None:
    def body(k: Kernel) -> None:
        if k.core.kind == "aic":
            k.xwait(1, 3)
        elif k.core.sub == 0:
            k.xset(2, 3, 2, "MTE3")

    with pytest.raises(DeadlockError) as caught:
        launched(body, 1, MIX, Checks())
    assert str(caught.value) == (
        "DEADLOCK (cross_core): aic 0 waits for flag 3 (k:1) [round among cube and vector cores of a group: aiv 0 "
        "reported, aiv 1 did not]; ended before: aiv 0, aiv 1; on the device this ends as an AI-core timeout (error "
        "507014 or 507018)"
    )


def test_a_deadlock_of_cores_has_the_places_at_which_they_wait() -> None:
    def body(k: Kernel) -> None:
        k.xwait(1 + k.core.index, 3)

    with pytest.raises(DeadlockError) as caught:
        launched(body, 3, checks=Checks())
    assert caught.value.finding.core == "aiv 0"
    assert caught.value.finding.sites == (("k", 3), ("k", 2), ("k", 1))  # that of the core it is told of last


def test_a_deadlock_reports_parked_pipes_of_waiting_cores() -> None:
    def body(k: Kernel) -> None:
        k.wait(1, "MTE2_MTE3")
        k.xset(2, 1, 0, "MTE3")
        k.xwait(3, 1)

    with pytest.raises(DeadlockError, match=r"aiv 0 waits for flag 1 \(k:3\); MTE3 waits for MTE2_MTE3 id 0 \(k:1\)"):
        launched(body, 1, checks=Checks())


def test_the_kernel_of_an_abandoned_core_cannot_catch_its_end() -> None:
    caught = []

    def body(k: Kernel) -> None:
        try:
            k.xwait(1, 3)
        except Exception as error:
            caught.append(type(error))
            raise

    with pytest.raises(DeadlockError):
        launched(body, 3, checks=Checks())
    assert caught == [DeadlockError]  # one core raises, the others unwind silently


@pytest.mark.parametrize(
    ("kernel_type", "mode", "found"),
    [
        (AIV_ONLY, 0, ["XFLAG_KERNEL_TYPE"]),
        (MIX_AIV, 0, []),
        (MIX_AIV, 1, ["XFLAG_KERNEL_TYPE"]),
        (MIX_AIC, 2, ["XFLAG_KERNEL_TYPE"]),  # there is no vector core whose counter could be left up
        (MIX, 1, []),
    ],
)
def test_modes_need_kernel_types(kernel_type: int, mode: int, found: list[str]) -> None:
    def body(k: Kernel) -> None:
        if mode == 1 and k.core.kind == "aic":
            return
        k.xset(1, 1, mode, "MTE3")
        if mode != 2:
            k.xwait(2, 1)

    assert codes(launched(body, 1, kernel_type)) == found


def test_sync_all_in_a_kernel_type_without_scheduler() -> None:
    with pytest.raises(SyncError) as caught:
        launched(lambda k: k.device.cross.sync_all(k.core, ("k", 1)), 1, AIV_ONLY, Checks())
    what = "sync_all: mode 0 on aiv 0, k:1, needs a MIX kernel type; this launch is AIV_ONLY"
    assert str(caught.value) == f"XFLAG_KERNEL_TYPE: {what}"


@pytest.mark.parametrize(("blocks", "found"), [(48, []), (49, ["XFLAG_TOO_MANY_BLOCKS"])])
def test_more_blocks_than_cores(blocks: int, found: list[str]) -> None:
    assert codes(launched(lambda k: k.device.cross.sync_all(k.core, ("k", 1)), blocks)) == found


def test_the_whole_form_of_sync_all_joins_both_kinds() -> None:
    def body(k: Kernel) -> None:
        (w,) = k.device.arena.arrays
        if k.core.kind == "aiv":
            k.fill(1, 0, 32, 1)
            k.order(2, "V_MTE3")
            k.store(3, w, 32 * k.core.index, 0, 32)
        k.device.cross.sync_all(k.core, ("k", 4), whole=True)
        if k.core.kind == "aic":
            k.load(5, 0, w, 0, 128, "L1")

    machine = launched(body, 2, MIX)
    assert machine.findings == []


def test_the_vector_only_form_does_not_join_cube_cores() -> None:
    def body(k: Kernel) -> None:
        (w,) = k.device.arena.arrays
        if k.core.kind == "aiv":
            k.fill(1, 0, 32, 1)
            k.order(2, "V_MTE3")
            k.store(3, w, 32 * k.core.index, 0, 32)
        k.device.cross.sync_all(k.core, ("k", 4))
        if k.core.kind == "aic":
            k.load(5, 0, w, 0, 128, "L1")

    assert set(codes(launched(body, 2, MIX))) == {"GM_RACE_RW"}


def test_overflow_is_judged_by_order_and_not_by_the_run() -> None:
    """Half of the waits happen before the last sets in this run, but nothing makes them."""

    def body(k: Kernel) -> None:
        if k.core.kind == "aiv":
            k.xset(1, 5, 2, "V")  # says nothing of the waits that follow
        for turn in range(16):
            if k.core.kind == "aiv":
                k.xwait(2, 3)
                continue
            k.xset(3, 3, 2, "FIX")
            if turn == 7:
                k.xwait(4, 5)
                assert k.device.cross.counter(1, 3).waits == 8

    assert codes(launched(body, 1, MIX)) == ["XFLAG_OVERFLOW"]


def exchange(k: Kernel, ordered: bool) -> None:
    """Core 0 stores, core 1 loads; ordered by a mailbox or not."""
    (w,) = k.device.arena.arrays
    cross = k.device.cross
    if k.core.index == 0:
        k.fill(1, 0, 32, 1)
        k.order(2, "V_MTE3")
        k.store(3, w, 0, 0, 32)
        k.barrier_all(4)
        if ordered:
            cross.post("box", k.core, "ib_set", ("k", 5))
    else:
        if ordered:
            cross.take("box", k.core, "ib_wait", ("k", 6))
        k.load(7, 0, w, 0, 32)


@pytest.mark.parametrize(("ordered", "found"), [(True, []), (False, ["GM_RACE_RW"])])
def test_a_mailbox_orders_its_ends(ordered: bool, found: list[str]) -> None:
    assert codes(launched(lambda k: exchange(k, ordered))) == found


def test_a_second_letter_follows_the_first_being_taken() -> None:
    """Core 1 loads before it takes, core 0 overwrites after its second post."""

    def body(k: Kernel) -> None:
        (w,) = k.device.arena.arrays
        cross = k.device.cross
        if k.core.index == 0:
            cross.post("box", k.core, "ib_set", ("k", 1))
            cross.post("box", k.core, "ib_set", ("k", 2))
            k.fill(3, 0, 32, 1)
            k.order(4, "V_MTE3")
            k.store(5, w, 0, 0, 32)
        else:
            k.load(6, 0, w, 0, 32)
            k.barrier_all(7)
            cross.take("box", k.core, "ib_wait", ("k", 8))
            cross.take("box", k.core, "ib_wait", ("k", 9))

    assert launched(body).findings == []


def test_a_letter_nobody_takes_and_one_nobody_sends() -> None:
    machine = launched(lambda k: k.device.cross.post("box", k.core, "ib_set", ("k", 1)), 1)
    assert [f.text() for f in machine.findings] == [
        "XFLAG_LEFT_SET: the slot set by aiv 0, k:1 is never waited for; its workspace is not back to zero, the next "
        "kernel would start with it set"
    ]
    with pytest.raises(DeadlockError, match=r"DEADLOCK \(rendezvous\): aiv 0 waits in ib_wait \(k:1\)"):
        launched(lambda k: k.device.cross.take("box", k.core, "ib_wait", ("k", 1)), 1, checks=Checks())


@pytest.mark.parametrize(("meets", "found"), [(True, set()), (False, {"GM_RACE_RW"})])
def test_a_meeting_orders_everyone(meets: bool, found: set[str]) -> None:
    def body(k: Kernel) -> None:
        (w,) = k.device.arena.arrays
        k.fill(1, 0, 32, 1)
        k.order(2, "V_MTE3")
        k.store(3, w, 32 * k.core.index, 0, 32)
        for _ in range(2):
            k.barrier_all(4)
            if meets:
                k.device.cross.meet("soft", k.core, 3, "sync_all", ("k", 5))
        k.load(6, 64, w, 32 * ((k.core.index + 1) % 3), 32)

    assert set(codes(launched(body, 3))) == found


def test_a_meeting_that_one_core_misses() -> None:
    def body(k: Kernel) -> None:
        if k.core.index < 2:
            k.device.cross.meet("soft", k.core, 3, "sync_all", ("k", 5))

    with pytest.raises(DeadlockError) as caught:
        launched(body, 3, checks=Checks())
    assert str(caught.value).startswith(
        "DEADLOCK (rendezvous): aiv 0 waits in sync_all, 2 of 3 cores (k:5); aiv 1 waits in sync_all, 2 of 3 cores "
        "(k:5); ended before: aiv 2; "
    )
