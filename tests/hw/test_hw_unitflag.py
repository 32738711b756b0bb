"""Unit flags order mmad and fixpipe block by block."""

from __future__ import annotations

import gc

import pytest
from machine import MIX_AIC, Kernel, device, run

from ascsim.hw import unitflag
from ascsim.hw.checks import Checks
from ascsim.hw.device import Device
from ascsim.hw.errors import DeadlockError
from ascsim.hw.instruction import Plan
from ascsim.hw.memory import Memory


def launched(*steps: tuple[str, int, int], checks: Checks | None = None) -> Device:
    """Steps are (mmad or fixpipe, unit flag, bytes of L0C from 0 on), at lines 1, 2, ..."""

    def body(k: Kernel) -> None:
        for line, (name, value, nbytes) in enumerate(steps, 1):
            c, l1 = k.region(0, nbytes, "L0C"), k.region(0, nbytes, "L1")
            if name == "mmad":
                plan = Plan(name, k.core.pipes["M"], (), (c,), lambda: None, 10, chained=True)
            else:
                plan = Plan(name, k.core.pipes["FIX"], (c,), (l1,), lambda: None, 10)
            if value:
                unitflag.issue(k.core, plan, value, ("k", line))
            else:
                unitflag.plain(k.core, plan, ("k", line))
                k.core.issue(plan, ("k", line))
            k.core.barrier(k.core.pipes["FIX"], ("k", line))

    machine = device(kernel_type=MIX_AIC, **({"checks": checks} if checks else {}))
    run(machine, body)
    return machine


def codes(machine: Device) -> list[str]:
    """Without notes: results that nobody takes are no matter here."""
    return [finding.code for finding in machine.findings if finding.severity != "note"]


def test_an_accumulation_and_its_write_out() -> None:
    chain = (("mmad", 2, 1024), ("mmad", 3, 1024), ("fixpipe", 3, 1024))
    assert codes(launched(*chain, *chain)) == []


def test_a_write_out_in_front_of_its_multiply_waits_for_it() -> None:
    assert codes(launched(("fixpipe", 3, 512), ("mmad", 3, 512))) == []


def test_a_second_result_waits_until_the_first_is_taken() -> None:
    assert codes(launched(("mmad", 3, 512), ("mmad", 3, 512), ("fixpipe", 3, 512), ("fixpipe", 3, 512))) == []


def test_a_launch_leaves_no_memory_alive() -> None:
    def alive() -> int:
        gc.collect()
        return sum(isinstance(thing, Memory) for thing in gc.get_objects())

    before = alive()
    launched(("mmad", 3, 1536), ("fixpipe", 3, 1536))
    assert alive() == before


def test_the_two_overlap_in_time() -> None:
    """Without unit flag the fixpipe would start at 60 at the earliest; with it, it ends with the multiply at 60."""

    def body(k: Kernel) -> None:
        c, l1 = k.region(0, 1024, "L0C"), k.region(0, 1024, "L1")
        fill = Plan("mmad", k.core.pipes["M"], (), (c,), lambda: None, 60)
        take = Plan("fixpipe", k.core.pipes["FIX"], (c,), (l1,), lambda: None, 20)
        k.core.pipes["M"].cold = 0
        for plan in (fill, take, fill):
            unitflag.issue(k.core, plan, 3, ("k", 1))
            ends.append(plan.pipe.free)
        unitflag.issue(k.core, take, 3, ("k", 2))

    ends: list[int] = []
    run(device(kernel_type=MIX_AIC), body)
    assert ends == [60, 60, 120]


def test_without_flags_the_pair_is_a_race() -> None:
    assert codes(launched(("mmad", 0, 512), ("fixpipe", 0, 512))) == ["RAW"]


def test_one_side_without_flags() -> None:
    machine = launched(("mmad", 3, 512), ("fixpipe", 0, 512))
    assert codes(machine) == ["UNITFLAG_MISMATCH", "RAW"]
    assert machine.findings[0].text() == (
        "UNITFLAG_MISMATCH: fixpipe, k:2 (FIX) on aic 0 touches L0C block 0 without unit flag, but mmad, k:1 uses it; "
        "needs a unit flag in both or in neither"
    )


def test_a_block_left_at_one() -> None:
    machine = launched(("mmad", 3, 1024), ("fixpipe", 3, 512))
    assert [f.text() for f in machine.findings] == [
        "UNITFLAG_MISMATCH: L0C block 1 on aic 0 is left at 1 (mmad, k:1): no fixpipe with unit flag 3 takes it; the "
        "next mmad there would hang"
    ]


def test_a_fixpipe_that_waits_for_ever() -> None:
    with pytest.raises(DeadlockError) as caught:
        launched(("mmad", 2, 512), ("fixpipe", 3, 512), checks=Checks())
    assert str(caught.value).startswith(
        "DEADLOCK (unitflag) on aic 0: the kernel has ended, but FIX waits the unit flag of L0C block 0 (k:2), which "
        "no mmad with value 3 sets; "
    )
