"""The record of a launch, and its replay in other orders."""

from __future__ import annotations

import pytest
from machine import COLLECT, MIX_AIV, Kernel, device, run

from ascsim.hw.record import newest, oldest, replay

X = bytes(range(128))


def launched(*, ordered: bool, blocks: int = 1, reverse: bool = True) -> object:
    """Each core adds 1 to its 64 bytes of x, twice 32 through one buffer."""
    machine = device(blocks, MIX_AIV, COLLECT, record=True)
    gx = machine.argument("x", memoryview(X))
    gz = machine.argument("z", memoryview(bytearray(128)))

    def body(k: Kernel) -> None:
        if reverse:
            k.set(1, "V_MTE2")
            k.set(1, "MTE3_V")
        for turn in range(2):
            at = 64 * k.core.index + 32 * turn
            if reverse:
                k.wait(2, "V_MTE2")
            k.load(3, 0, gx, at, 32)
            if ordered:
                k.order(4, "MTE2_V")
            if reverse:
                k.wait(5, "MTE3_V")
            k.add(6, 32, 0, 32)
            if reverse:
                k.set(7, "V_MTE2")
            k.order(8, "V_MTE3")
            k.store(9, gz, at, 32, 32)
            if reverse:
                k.set(10, "MTE3_V")
        if reverse:
            k.wait(11, "V_MTE2")
            k.wait(11, "MTE3_V")

    run(machine, body)
    return machine


@pytest.mark.parametrize("blocks", [1, 2])
def test_a_clean_kernel_gives_its_bytes_in_every_order(blocks: int) -> None:
    machine = launched(ordered=True, blocks=blocks)
    assert machine.findings == []  # type: ignore[attr-defined]
    expected = bytes(k + 1 for k in X[: 64 * blocks]) + bytes(128 - 64 * blocks)
    assert replay(machine, oldest) == {"z": expected}  # type: ignore[arg-type]
    assert replay(machine, newest) == {"z": expected}  # type: ignore[arg-type]


@pytest.mark.parametrize(("ordered", "reverse", "code"), [(False, True, "RAW"), (True, False, "WAR")])
def test_a_racing_kernel_gives_others(ordered: bool, reverse: bool, code: str) -> None:
    machine = launched(ordered=ordered, reverse=reverse)
    assert code in [finding.code for finding in machine.findings]  # type: ignore[attr-defined]
    expected = bytes(k + 1 for k in X[:64]) + bytes(64)
    assert replay(machine, oldest) == {"z": expected}  # type: ignore[arg-type]
    assert replay(machine, newest) != {"z": expected}  # type: ignore[arg-type]


def test_replay_leaves_the_results_alone_and_works_after_they_are_given_back() -> None:
    machine = launched(ordered=True)
    expected = bytes(k + 1 for k in X[:64]) + bytes(64)
    (z,) = [array for array in machine.arena.arrays if array.name == "z"]  # type: ignore[attr-defined]
    given = z.source
    machine.write_back()  # type: ignore[attr-defined]
    assert bytes(given) == expected
    given[:] = bytes(128)  # the caller's memory is the caller's again
    assert replay(machine, newest) == {"z": expected}  # type: ignore[arg-type]
    assert bytes(z.data[:128]) == expected
    assert bytes(given) == bytes(128)


def test_a_parked_kernel_is_recorded_in_the_order_of_its_execution() -> None:
    machine = device(record=True)
    gx, gz = machine.argument("x", memoryview(X)), machine.argument("z", memoryview(bytearray(32)))

    def body(k: Kernel) -> None:
        k.wait(1, "MTE2_MTE3")
        k.store(2, gz, 0, 0, 32)
        k.load(3, 0, gx, 0, 32)
        k.set(4, "MTE2_MTE3")

    assert run(machine, body) == []
    assert [entry.plan.name for entry in machine.record.entries()] == ["load", "store"]  # type: ignore[union-attr]
    assert replay(machine, newest) == {"z": X[:32]}


def test_reports_to_other_cores_are_no_instructions() -> None:
    """Three cores in a chain of counted flags: replay keeps their order although reports are numbered too."""
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
    assert len(machine.record) == 9  # type: ignore[arg-type]
    assert replay(machine, newest) == replay(machine, oldest) == {"w": b"\x03" * 32}
