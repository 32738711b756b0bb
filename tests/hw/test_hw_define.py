"""Definedness: copies carry it, uses report it, races explain it."""

from __future__ import annotations

import pytest
from machine import COLLECT, Kernel, codes, device, run

from ascsim.hw.checks import Checks
from ascsim.hw.device import Device
from ascsim.hw.errors import MemoryFault
from ascsim.hw.instruction import Plan


def launched(body: object, checks: Checks = COLLECT, defined: bool = True) -> Device:
    machine = device(checks=checks)
    machine.argument("x", memoryview(bytearray(256)), defined)
    machine.argument("z", memoryview(bytearray(256)), defined)
    run(machine, lambda k: body(k, *machine.arena.arrays))  # type: ignore[operator]
    return machine


def test_the_report_names_the_bytes_and_the_nearest_write() -> None:
    def body(k: Kernel, x: object, z: object) -> None:
        k.load(1, 0, x, 0, 200)  # type: ignore[arg-type]
        k.order(2, "MTE2_V")
        k.add(3, 256, 0, 256)

    (finding,) = launched(body).findings
    assert finding.text() == (
        "UNINIT_READ: add, k:3 (V) uses undefined bytes [200:256) of UB: "
        "the nearest write before it is load, k:1, bytes [0:200)"
    )
    with pytest.raises(MemoryFault, match=r"undefined bytes \[0:32\) of UB: never written"):
        launched(lambda k, x, z: k.add(3, 256, 0, 32), Checks.strict())


def test_undefined_bytes_of_an_array_are_carried_and_reported_at_their_use() -> None:
    def body(k: Kernel, x: object, z: object) -> None:
        k.load(1, 0, x, 0, 64)  # type: ignore[arg-type]
        k.order(2, "MTE2_V")
        if x.name == "x":  # type: ignore[attr-defined]
            k.add(3, 64, 0, 64)

    assert codes(launched(body, defined=False)) == ["UNINIT_READ"]
    assert codes(launched(body, defined=True)) == []


def test_what_a_kernel_has_stored_is_defined() -> None:
    def body(k: Kernel, x: object, z: object) -> None:
        k.fill(1, 0, 64, 1)
        k.order(2, "V_MTE3")
        k.store(3, z, 0, 0, 64)  # type: ignore[arg-type]
        k.order(4, "MTE3_MTE2")
        k.load(5, 64, z, 0, 64)  # type: ignore[arg-type]
        k.order(6, "MTE2_V")
        k.add(7, 128, 64, 64)

    assert codes(launched(body, defined=False)) == []


def test_a_use_is_seen_again_by_the_same_plan_at_another_line() -> None:
    """A plan that used undefined bytes is not proved: the second line is reported as well."""

    def body(k: Kernel, x: object, z: object) -> None:
        plan = Plan("add", k.core.pipes["V"], (k.region(0, 32),), (k.region(32, 32),), lambda: None, 1)
        k.core.issue(plan, ("k", 1))
        k.barrier_all(2)
        k.core.issue(plan, ("k", 3))

    assert [f.sites for f in launched(body).findings if f.code == "UNINIT_READ"] == [(("k", 1),), (("k", 3),)]


def test_padding_without_a_value_becomes_undefined_again() -> None:
    def body(k: Kernel, x: object, z: object) -> None:
        k.fill(1, 0, 64, 1)
        writes, voids = (k.region(0, 64),), k.region(48, 16)
        k.core.issue(Plan("pad", k.core.pipes["V"], (), writes, lambda: None, 1, voids=voids), ("k", 2))
        k.barrier_all(3)
        k.add(4, 64, 0, 48)
        k.barrier_all(5)
        k.add(6, 64, 0, 64)

    found = [f for f in launched(body).findings if f.code == "UNINIT_READ"]
    assert [f.text() for f in found] == [
        "UNINIT_READ: add, k:6 (V) uses undefined bytes [48:64) of UB: "
        "the nearest write before it is pad, k:2, bytes [0:64)"
    ]


def test_a_race_explains_the_bytes_that_it_touches_and_no_others() -> None:
    def body(k: Kernel, x: object, z: object) -> None:
        k.add(1, 256, 0, 64)
        k.load(2, 0, x, 0, 32)  # type: ignore[arg-type]

    findings = launched(body).findings
    assert [f.code for f in findings] == ["WAR", "UNINIT_READ"]
    assert "undefined bytes [32:64) of UB" in findings[1].text()


def test_a_race_of_the_load_explains_what_it_brought() -> None:
    """Core 0 loads what core 1 stores without order: the race alone."""
    machine = device(2)
    w = machine.argument("w", memoryview(bytearray(32)), defined=False)

    def body(k: Kernel) -> None:
        if k.core.index == 0:
            k.load(1, 0, w, 0, 32)
            k.order(2, "MTE2_V")
            k.add(3, 32, 0, 32)
        else:
            k.fill(4, 0, 32, 1)
            k.order(5, "V_MTE3")
            k.store(6, w, 0, 0, 32)

    run(machine, body)
    assert codes(machine) == ["GM_RACE_RW"]


def test_uses_found_before_an_exception_are_kept() -> None:
    machine = device()

    def body(k: Kernel) -> None:
        k.add(1, 32, 0, 32)
        raise KeyError

    with pytest.raises(KeyError):
        run(machine, body)
    assert codes(machine) == ["UNINIT_READ"]
