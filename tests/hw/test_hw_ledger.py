"""Findings: their words, how equal ones fold, and what the checks make of them."""

from __future__ import annotations

import copy
import pickle
import warnings
from contextlib import nullcontext

import pytest
from machine import Kernel, codes, device, run

from ascsim.hw.checks import Checks
from ascsim.hw.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DeadlockError,
    HazardError,
    MemoryFault,
    SimulatorError,
    SimulatorWarning,
    SyncError,
)
from ascsim.hw.findings import AT_ONCE, ERROR, SEVERITY, Finding, locate, place


def racing(k: Kernel) -> None:
    """Two turns, each with a read of what was just written."""
    for turn in range(2):
        k.core.turn = turn
        k.fill(1, 64 * turn, 32, 1)
        k.add(2, 64 * turn + 32, 64 * turn, 32)


def test_equal_findings_of_turns_and_cores_are_one() -> None:
    machine = device(3)
    (finding,) = run(machine, racing)
    assert (finding.code, finding.count, finding.cores) == ("NO_BARRIER_RAW", 6, ["aiv 0", "aiv 1", "aiv 2"])
    assert finding.text() == (
        "NO_BARRIER_RAW on UB [0:32) (aiv 0): add, k:2 (V) reads what fill, k:1 (V) writes; nothing orders them. Needs "
        "pipe_barrier(PIPE_V) between line 1 and line 2. [6 times, on 3 cores]"
    )


def test_a_pair_is_counted_once_however_many_cells_it_shares() -> None:
    def body(k: Kernel) -> None:
        k.region(8, 8)
        k.region(24, 8)
        k.fill(1, 0, 32, 1)
        k.add(2, 32, 0, 32)

    (finding,) = run(device(), body)
    assert finding.count == 1


def test_faults_raise_at_the_access() -> None:
    machine = device(checks=Checks())
    after = []
    with pytest.raises(HazardError) as caught:
        run(machine, lambda k: [racing(k), after.append(1)])
    assert after == []
    assert caught.value.code == "NO_BARRIER_RAW"
    assert caught.value.finding is machine.findings[0]


@pytest.mark.parametrize("faults", ["warn", "collect"])
def test_faults_can_be_gathered(faults: str) -> None:
    machine = device(checks=Checks(faults=faults))
    with pytest.warns(SimulatorWarning, match="^NO_BARRIER_RAW") if faults == "warn" else nullcontext():
        run(machine, racing)
    assert codes(machine) == ["NO_BARRIER_RAW"]


def test_faults_can_be_switched_off_but_not_those_that_end_a_launch() -> None:
    machine = device(checks=Checks(faults="off"))
    run(machine, racing)
    assert codes(machine) == []
    with pytest.raises(MemoryFault, match="OOB_PHYS"):
        run(device(checks=Checks(faults="off")), lambda k: k.fill(1, 196608, 32, 0))
    with pytest.raises(DeadlockError):
        run(device(checks=Checks.collect()), lambda k: k.wait(1, "MTE2_V"))


def test_warnings_are_given_once_at_the_authors_line() -> None:
    machine = device(checks=Checks())
    with pytest.warns(SimulatorWarning) as caught:
        run(machine, lambda k: k.add(7, 32, 0, 32))
    (warning,) = caught
    assert (warning.filename, warning.lineno) == ("k", 7)
    assert str(warning.message) == "UNINIT_READ: add, k:7 (V) uses undefined bytes [0:32) of UB: never written"


def test_a_warning_made_an_error_does_not_hide_the_kernels_own() -> None:
    def body(k: Kernel) -> None:
        k.add(1, 32, 0, 32)
        raise KeyError("mine")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(KeyError, match="mine"):
            run(device(checks=Checks()), body)


def test_strict_raises_warnings() -> None:
    with pytest.raises(MemoryFault, match="UNINIT_READ"):
        run(device(checks=Checks.strict()), lambda k: k.add(1, 32, 0, 32))


def test_off_looks_at_nothing() -> None:
    machine = device(checks=Checks.off())
    run(machine, lambda k: [racing(k), k.add(3, 128, 512, 32)])
    assert codes(machine) == []


def test_loop_carried_pairs_say_so() -> None:
    def body(k: Kernel) -> None:
        x = k.device.argument("x", memoryview(bytearray(64)))
        for turn in range(2):
            k.core.turn = turn
            k.load(1, 0, x, 32 * turn, 32)
            k.order(2, "MTE2_V")
            k.add(3, 32 + 32 * turn, 0, 32)

    (finding,) = run(device(), body)
    assert finding.text() == (
        "WAR on UB [0:32) (aiv 0): load, k:1 (MTE2) overwrites what add, k:3 (V) reads; nothing orders them. Needs "
        "set_flag(HardEvent.V_MTE2, id) after line 3 and wait_flag before line 1. Loop-carried: turn 0 against turn 1; "
        "the usual cure is the reverse flag, set once before the loop and waited for once after it."
    )


def test_pipes_without_an_event_need_a_barrier_for_all() -> None:
    def body(k: Kernel) -> None:
        from ascsim.hw.instruction import Plan

        c = k.region(0, 64, "L0C")
        k.core.issue(Plan("mmad", k.core.pipes["M"], (), (c,), lambda: None, 1), ("k", 1))
        k.core.issue(Plan("copy", k.core.pipes["MTE3"], (c,), (), lambda: None, 1), ("k", 2))

    machine = device(kernel_type=5)
    run(machine, body)
    (finding,) = machine.findings
    assert finding.text().endswith("Needs pipe_barrier(PIPE_ALL) between line 1 and line 2.")


@pytest.mark.parametrize(("both", "found"), [(True, []), (False, ["NO_BARRIER_RAW"])])
def test_chained_instructions_follow_each_other(both: bool, found: list[str]) -> None:
    """Multiplies that accumulate into a large block need no barrier."""

    def body(k: Kernel) -> None:
        from ascsim.hw.instruction import Plan

        c, pipe = k.region(0, 64, "L0C"), k.core.pipes["M"]
        k.core.issue(Plan("mmad", pipe, (), (c,), lambda: None, 1, chained=True), ("k", 1))
        k.core.issue(Plan("mmad", pipe, (c,), (c,), lambda: None, 1, chained=both), ("k", 2))

    machine = device(kernel_type=5)
    run(machine, body)
    assert codes(machine) == found


def test_every_code_has_a_class_and_a_severity() -> None:
    assert set(SEVERITY) == set(ERROR)
    assert set(SEVERITY.values()) == {"fault", "warn", "note"}
    assert set(AT_ONCE) <= set(SEVERITY)
    assert (ERROR["RAW"], ERROR["DEADLOCK"], ERROR["FLAG_BAD_ID"]) == (HazardError, DeadlockError, SyncError)
    assert {"RAW", "WAR", "GM_RACE_RW", "FLAG_DOUBLE_SET", "UNINIT_READ"} & AT_ONCE == set()
    assert {"DEADLOCK", "OOB_PHYS", "FLAG_BAD_ID", "QUE_EMPTY", "BAD_MASK", "WRONG_CORE", "MEM_OVERFLOW"} <= AT_ONCE


def test_sites_are_lines_of_code_objects_or_of_files() -> None:
    def kernel() -> int:
        return 1

    code = kernel.__code__
    line = code.co_firstlineno
    offset = next(start for start, _, at in code.co_lines() if at == line + 1)
    assert locate((code, offset)) == (__file__, line + 1)
    assert place((code, offset)) == f"test_hw_ledger.py:{line + 1}"
    assert place(("C:\\work\\k.py", 12)) == "k.py:12"
    assert place(None) == "?:0"


def test_errors_are_built_from_values() -> None:
    error = ArgumentValueError("call", "is odd", operand="n", value=3, rule="even", nearest=4)
    assert str(error) == "call: n = 3: is odd; rule: even; nearest legal value: 4"
    assert isinstance(error, ValueError)
    assert isinstance(error, SimulatorError)
    assert str(Finding("RAW", "text", "aiv 0", "add").error()) == "RAW: text"


def test_checks_refuse_what_they_do_not_know() -> None:
    with pytest.raises(ArgumentValueError) as caught:
        Checks(faults="shout")
    assert str(caught.value) == "Checks: faults = 'shout'; rule: one of 'raise', 'warn', 'collect', 'off'"
    with pytest.raises(ArgumentValueError, match="gm_races"):
        Checks(gm_races="never")
    for wrong in ({"queue_depth": 0}, {"queue_depth": "x"}, {"hold_sets": True, "hazards": False}):
        with pytest.raises(ArgumentValueError, match=next(iter(wrong))):
            Checks(**wrong)  # type: ignore[arg-type]
    for wrong in ({"hazards": 5}, {"hold_sets": None}):
        with pytest.raises(ArgumentTypeError, match=next(iter(wrong))):
            Checks(**wrong)  # type: ignore[arg-type]
    assert Checks.strict() == Checks(warnings="raise", gm_races="always")


def test_an_error_survives_a_pickle() -> None:
    error = Finding("RAW", "text", "aiv 0", "add", ((test_an_error_survives_a_pickle.__code__, 0),)).error()
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == "RAW: text"
    assert again.finding.key == error.finding.key
    assert again.finding.sites[0][0] == __file__
    assert copy.copy(error).finding is error.finding
    refused = pickle.loads(pickle.dumps(ArgumentValueError("call", operand="n", value=3, nearest=4)))
    assert (str(refused), refused.nearest) == ("call: n = 3; nearest legal value: 4", 4)
