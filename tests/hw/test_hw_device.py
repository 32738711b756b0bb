"""A launch: where its cores stand, in which order they run, and what is left of it."""

from __future__ import annotations

import threading

import pytest
from machine import MIX, MIX_AIV, Kernel, codes, device, run

from ascsim.hw import current
from ascsim.hw.checks import Checks
from ascsim.hw.device import Device, Place
from ascsim.hw.errors import ArgumentValueError, MemoryFault
from ascsim.hw.soc import soc


def test_where_cores_stand() -> None:
    assert device(2, MIX).places == [
        Place(0, "aic", 0, 0, 0),
        Place(1, "aiv", 0, 0, 0),
        Place(2, "aiv", 0, 1, 1),
        Place(3, "aic", 1, 0, 1),
        Place(4, "aiv", 1, 0, 2),
        Place(5, "aiv", 1, 1, 3),
    ]
    assert device(2, MIX_AIV).places == [Place(0, "aiv", 0, 0, 0), Place(1, "aiv", 1, 0, 1)]
    assert device(3, 6).places[3:] == [
        Place(3, "aiv", 1, 0, 1),
        Place(4, "aic", 2, 0, 2),
        Place(5, "aiv", 2, 0, 2),
    ]


def test_some_blocks_alone() -> None:
    names = []
    machine = device(4, MIX_AIV, only=[3, 1])
    run(machine, lambda k: names.append(k.core.name))
    assert names == ["aiv 3", "aiv 1"]
    assert [machine.core_name(p.serial) for p in machine.places] == ["aiv 3", "aiv 1"]
    with pytest.raises(ArgumentValueError, match="blocks to run = 4; rule: 0 <= block < 4"):
        device(4, only=[4])
    with pytest.raises(ArgumentValueError, match="each block once"):
        device(4, only=[1, 1])


def test_cores_run_in_order_and_give_up_their_turn_only_to_wait() -> None:
    log = []

    def body(k: Kernel) -> None:
        log.append(f"{k.core.index} begins")
        k.xset(1, 1, 0, "V")
        k.xwait(2, 1)
        log.append(f"{k.core.index} ends")

    run(device(3), body)
    assert log == ["0 begins", "1 begins", "2 begins", "2 ends", "0 ends", "1 ends"]


def test_a_core_that_is_used_again_starts_clean() -> None:
    """One core object serves all blocks that never wait; no bytes, flags, clocks or stretches are left over."""
    objects = set()

    def body(k: Kernel) -> None:
        objects.add(id(k.core))
        (x,) = k.device.arena.arrays
        assert bytes(k.core.memories["UB"].bytes[:32]) == b"\xff" * 32
        assert [pipe.n for pipe in k.core.slots] == [0, 0, 0, 0]
        k.load(1, 0, x, 32 * k.core.index, 32)
        k.order(2, "MTE2_V")
        k.add(3, 32, 0, 32)

    machine = device(4)
    machine.argument("x", memoryview(bytearray(128)))
    assert run(machine, body) == []
    assert len(objects) == 1


def test_totals_are_kept_in_core_order() -> None:
    machine = device(2)
    machine.argument("x", memoryview(bytearray(128)))
    machine.argument("z", memoryview(bytearray(128)))

    def body(k: Kernel) -> None:
        x, z = k.device.arena.arrays
        k.load(1, 0, x, 0, 32)
        k.order(2, "MTE2_MTE3")
        if k.core.index:
            k.store(3, z, 0, 0, 32)

    run(machine, body)
    assert [(t.kind, t.index, t.block, t.gm_read, t.gm_written) for t in machine.totals()] == [
        ("aiv", 0, 0, 32, 0),
        ("aiv", 1, 1, 32, 32),
    ]


def test_two_threads_launch_at_once() -> None:
    """Each sees its own core, and cores that wait do not disturb the other launch."""
    meet = threading.Barrier(2, timeout=30)
    results: dict[int, bytes] = {}

    def launch(number: int) -> None:
        machine = device(2)
        z = machine.argument("z", memoryview(bytearray(64)))

        def body(k: Kernel) -> None:
            if k.core.index == 0:
                meet.wait()
            k.xset(1, 1, 0, "V")
            k.xwait(2, 1)
            assert current.core.get() is k.core
            assert k.core.device is machine
            k.fill(3, 0, 32, 10 * number + k.core.index)
            k.order(4, "V_MTE3")
            k.store(5, z, 32 * k.core.index, 0, 32)

        assert run(machine, body) == []
        results[number] = bytes(z.bytes(0, 64))

    threads = [threading.Thread(target=launch, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: bytes([10 * n] * 32 + [10 * n + 1] * 32) for n in (1, 2)}
    assert current.core.get() is None


def test_an_exception_ends_the_launch_and_the_cores_that_wait() -> None:
    log = []

    def body(k: Kernel) -> None:
        if k.core.index < 2:
            try:
                k.xwait(1, 1)
            finally:
                log.append(k.core.index)
        raise KeyError(k.core.index)

    before = threading.active_count()
    with pytest.raises(KeyError) as caught:
        run(device(3), body)
    assert caught.value.args == (2,)
    assert sorted(log) == [0, 1]
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and thread.daemon:
            thread.join(5)
    assert threading.active_count() <= before


def test_an_access_past_a_memory_says_by_how_much() -> None:
    with pytest.raises(MemoryFault) as caught:
        run(device(), lambda k: k.fill(1, 196352, 512, 0))
    assert str(caught.value) == (
        "OOB_PHYS: test touches UB bytes [196352:196864), 256 bytes past the end of UB (196608 bytes)"
    )


def test_recorded_and_unchecked_launches_compute_the_same() -> None:
    results = set()
    for checks in (Checks(), Checks.off()):
        for record in (False, True):
            machine = Device(soc("Ascend910B1"), MIX_AIV, 2, checks=checks, record=record)
            x, z = (machine.argument(n, memoryview(bytearray(range(64)))) for n in "xz")

            def body(k: Kernel, x: object = x, z: object = z) -> None:
                k.wait(1, "MTE2_V")
                k.add(2, 32, 0, 32)
                k.order(3, "V_MTE3")
                k.load(4, 0, x, 32 * k.core.index, 32)  # type: ignore[arg-type]
                k.set(5, "MTE2_V")
                k.store(6, z, 32 * k.core.index, 32, 32)  # type: ignore[arg-type]

            run(machine, body)
            assert codes(machine) == []
            results.add(bytes(z.bytes(0, 64)))
    assert results == {bytes(range(1, 65))}
