"""Every fault of the fault list: what it does by default and under strict checks, what it says, and its clean twin."""

from __future__ import annotations

import re
import runpy
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

import cube_pairs
import flag_pairs
import memory_pairs
import numpy as np
import pairs
import pytest
from pairs import Pair

import ascsim as asc

GROUPS = (
    *(pairs.ORDER, flag_pairs.FLAGS, flag_pairs.DEADLOCKS),
    *(memory_pairs.MEMORY, memory_pairs.OPERANDS, memory_pairs.QUEUES),
)
ROWS: list[Pair] = [row for group in GROUPS for row in group]

# The fault list of the specification of order, section by section.
LIST = """
RAW WAR WAW NO_BARRIER_RAW NO_BARRIER_WAW NO_BARRIER_WAR GM_RACE_RW GM_RACE_WW GM_TAIL CACHE_NOT_FLUSHED CACHE_STALE
CACHE_LINE_SHARED ATOMIC_ORDER UNITFLAG_MISMATCH
FLAG_LEFT_SET FLAG_DOUBLE_SET FLAG_BAD_ID FLAG_RESERVED_ID FLAG_BAD_PAIR FLAG_ID_CONFLICT EVENT_EXHAUSTED SYNC_REDUNDANT
XFLAG_LEFT_SET XFLAG_OVERFLOW XFLAG_BAD_ID XFLAG_RESERVED_ID XFLAG_MODE_MIX XFLAG_AMBIGUOUS XFLAG_KERNEL_TYPE
XFLAG_TOO_MANY_BLOCKS SYNC_WORKSPACE DEADLOCK
OOB_GM OOB_BUF OOB_PHYS MISALIGNED_ADDR MISALIGNED_LEN UNINIT_READ USE_AFTER_FREE MEM_OVERFLOW RESERVED_MEM
OVERLAP_PARTIAL OVERLAP_REPEAT DEAD_STORE
BAD_POSITION BAD_DTYPE WRONG_CORE BAD_REPEAT BAD_STRIDE BAD_MASK ZERO_LENGTH QUE_DOUBLE_FREE QUE_EMPTY QUE_FULL
QUE_STATE QUE_WRONG_TENSOR QUE_POSITION QUE_NOT_INIT QUE_LEAK QUE_NOT_DEQUED BUF_LIMIT POOL_OVERLAP PIPE_TWICE
"""
KINDS = "no_set cycle scalar queue_full held_set alloc cross_core rendezvous unitflag".split()
NAMES = [f"{k:02}_{row.code}" for k, row in enumerate(ROWS)]


@lru_cache(maxsize=1)
def load(folder: Path, text: str) -> Any:
    """The kernel of a source text. Each has a folder of its own: Python keeps the source of a file it has seen."""
    file = folder / str(len(list(folder.iterdir()))) / "pair.py"
    file.parent.mkdir()
    file.write_text(text)
    return runpy.run_path(str(file))["kernel"]


def run(folder: Path, row: Pair, faulty: bool, checks: asc.Checks) -> tuple[str, list[str], list[Any]]:
    """Launch one kernel: what it did (raise, warn, note, nothing), the texts, and all findings."""
    kernel = load(folder, row.text(faulty))
    dtype = np.dtype(row.dtype)
    a, b = np.ones(256, dtype), np.zeros(row.bytes // 4, dtype)
    with warnings.catch_warnings(record=True) as given, asc.settings(checks=checks, record=row.record):
        warnings.simplefilter("always")
        try:
            report = kernel[row.blocks](a, b)
        except asc.SimulatorError as error:
            return "raise", [str(error)], []
    warned = [str(w.message) for w in given if issubclass(w.category, asc.SimulatorWarning)]
    notes = [f.text() for f in report.findings if f.severity == "note"]
    return ("warn", warned, report.findings) if warned else ("note" if notes else "nothing", notes, report.findings)


def finds(row: Pair, folder: Path) -> None:
    """Run the faulty kernel of a row by default and under strict checks."""
    extra = dict(row.checks)
    for checks, expected in (
        (asc.Checks(**extra), row.default),  # type: ignore[arg-type]
        (asc.Checks(warnings="raise", gm_races="always", **extra), row.strict),  # type: ignore[arg-type]
    ):
        did, texts, _ = run(folder, row, True, checks)
        mine = [text for text in texts if text.startswith(row.code)]
        assert (did, bool(mine)) == (expected, True), texts
        lines = row.text(True).splitlines()
        places = [f"pair.py:{k}" for k, line in enumerate(lines, 1) if "#" in line]
        for part in (*row.says, *(places if row.code in PLACED else ())):
            assert part in mine[0]
        assert not re.search(r"\b1 (?!us\b|is\b)[a-z]+(?<!s)s\b", mine[0]), "one thing is no plural"


def finds_nothing(row: Pair, folder: Path) -> None:
    """Run the twin under strict checks."""
    strict = asc.Checks(warnings="raise", gm_races="always", **dict(row.checks))  # type: ignore[arg-type]
    did, texts, findings = run(folder, row, False, strict)
    assert did in ("nothing", "note"), texts
    assert row.code not in {finding.code for finding in findings}


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_finds(row: Pair, tmp_path: Path) -> None:
    finds(row, tmp_path)


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_no_fault_in_its_twin(row: Pair, tmp_path: Path) -> None:
    finds_nothing(row, tmp_path)


@pytest.mark.parametrize("row", cube_pairs.ROWS, ids=[f"{k:02}_{row.code}" for k, row in enumerate(cube_pairs.ROWS)])
def test_on_a_cube_core(row: Pair, tmp_path: Path) -> None:
    finds(row, tmp_path)
    finds_nothing(row, tmp_path)


def test_every_fault_that_a_cube_core_can_have_has_a_row_there() -> None:
    """What is left is of the vector unit and of UB, or of a call that cube cores pass over."""
    there = {row.code for row in (*ROWS, *cube_pairs.ROWS) if row.kind == "aic" or "AIC" in row.options}
    assert set(LIST.split()) - there == set(
        "NO_BARRIER_WAR OVERLAP_PARTIAL OVERLAP_REPEAT BAD_MASK BAD_REPEAT RESERVED_MEM SYNC_WORKSPACE".split()
    )


def test_the_twins_differ_by_one_change() -> None:
    """Lines that are only in one of the two make one change: the order, the number or the call that matters."""
    for row in (*ROWS, *cube_pairs.ROWS):
        only = [line for line in row.body.splitlines() if line[4:5] in "+-" and line.strip()]
        assert 1 <= len(only) <= 4, row.code


def test_no_code_is_forgotten() -> None:
    assert sorted({row.code for row in ROWS}) == sorted(LIST.split())
    assert {kind for kind in KINDS for row in ROWS if f"DEADLOCK ({kind})" in row.says} == set(KINDS)


# Their reports name the lines of both accesses, or the one that is at fault.
PLACED = {
    *"RAW WAR WAW NO_BARRIER_RAW NO_BARRIER_WAW NO_BARRIER_WAR GM_RACE_RW GM_RACE_WW CACHE_NOT_FLUSHED".split(),
    *"CACHE_STALE CACHE_LINE_SHARED ATOMIC_ORDER UNITFLAG_MISMATCH FLAG_LEFT_SET FLAG_DOUBLE_SET".split(),
    *"XFLAG_OVERFLOW XFLAG_LEFT_SET XFLAG_MODE_MIX XFLAG_AMBIGUOUS XFLAG_RESERVED_ID DEAD_STORE".split(),
}
