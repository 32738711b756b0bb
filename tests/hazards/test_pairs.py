"""Every fault of the fault list: what it does by default and under strict checks, what it says, and its clean twin.

In kernels of vector cores alone, of cube cores alone, and of both, wherever the fault can occur.
"""

from __future__ import annotations

import re
import runpy
import warnings
from pathlib import Path
from typing import Any

import cube_pairs
import mix_pairs
import numpy as np
import pytest
from pairs import Pair, fault

import ascsim as asc

VECTOR: list[Pair] = [row for group in mix_pairs.GROUPS for row in group if row.cores == "vector"]
ROWS: list[Pair] = [*VECTOR, *cube_pairs.ROWS, *mix_pairs.ROWS]

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
""".split()
KINDS = "no_set cycle scalar queue_full held_set alloc cross_core rendezvous unitflag".split()

# Where a fault cannot occur, though it can elsewhere, and why.
NOT_THERE = {
    # What only the vector unit and UB have: operands that overlap, masks, repeats of an operand, scratch in UB. The
    # soft sync_all keeps its slots by way of UB, and cube cores return from it at once.
    "cube": "OVERLAP_PARTIAL OVERLAP_REPEAT BAD_MASK BAD_REPEAT RESERVED_MEM SYNC_WORKSPACE XFLAG_MODE_MIX",
    # L0C has the unit flags. Modes 1 and 2 of a flag need cores of both kinds, and mode 0 is then the only one.
    "vector": "UNITFLAG_MISMATCH XFLAG_MODE_MIX",
    "mix": "",
}
SEVERITY = {"raise": "fault", "warn": "warn", "note": "note"}


def run(file: Path, row: Pair, faulty: bool, *chosen: asc.Checks) -> list[tuple[str, list[Any]]]:
    """Launch one kernel under each of some checks: what it did (raise, warn, note, nothing), and what was found."""
    file.parent.mkdir(parents=True, exist_ok=True)  # Python keeps the source of a file that it has seen
    file.write_text(row.text(faulty))
    kernel, dtype, out = runpy.run_path(str(file))["kernel"], np.dtype(row.dtype), []
    for checks in chosen:
        a, b = np.ones(256, dtype), np.zeros(row.bytes // 4, dtype)
        with warnings.catch_warnings(record=True) as given, asc.settings(checks=checks, record=row.record):
            warnings.simplefilter("always")
            try:
                findings = kernel[row.blocks](a, b).findings
            except asc.FoundError as error:
                out.append(("raise", [error.finding]))
                continue
        warned = any(issubclass(w.category, asc.SimulatorWarning) for w in given)
        noted = any(finding.severity == "note" for finding in findings)
        out.append(("warn" if warned else "note" if noted else "nothing", findings))
    return out


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.cores}-{k:03}-{row.code}" for k, row in enumerate(ROWS)])
def test_a_fault_and_its_twin(row: Pair, tmp_path: Path) -> None:
    extra: dict[str, Any] = dict(row.checks)
    default, strict = asc.Checks(**extra), asc.Checks(warnings="raise", gm_races="always", **extra)
    faulty = run(tmp_path / "faulty/pair.py", row, True, default, strict)
    for (did, found), expected in zip(faulty, (row.default, row.strict), strict=True):
        mine = [finding for finding in found if finding.code == row.code]
        assert (did, bool(mine)) == (expected, True), [finding.text() for finding in found]
        text = mine[0].text()
        for fact in row.facts():
            assert fact in text
        assert mine[0].core[:3] in ("aic", "aiv"), "the report names the core"
        assert not re.search(r"\b1 (?!us\b|is\b)[a-z]+(?<!s)s\b", text), "one thing is no plural"
    assert {finding.severity for finding in faulty[0][1] if finding.code == row.code} == {SEVERITY[row.default]}
    ((did, found),) = run(tmp_path / "clean/pair.py", row, False, strict)
    assert did in ("nothing", "note"), [finding.text() for finding in found]
    assert row.code not in {finding.code for finding in found}


def test_each_fault_has_a_row_wherever_it_can_occur() -> None:
    there = {cores: {row.code for row in ROWS if row.cores == cores} for cores in ("vector", "cube", "mix")}
    for cores, codes in there.items():
        assert set(LIST) - codes == set(NOT_THERE[cores].split()), cores
        assert codes <= set(LIST)
    assert {kind for kind in KINDS for row in ROWS if f"DEADLOCK ({kind})" in row.says[0]} == set(KINDS)


def test_twins_are_one_line_apart() -> None:
    """One line is missing, one too many, or one another: what is between the common first and last lines."""
    for row in ROWS:
        one, other = (row.text(faulty).splitlines() for faulty in (True, False))
        while one and other and one[0] == other[0]:
            del one[0], other[0]
        while one and other and one[-1] == other[-1]:
            del one[-1], other[-1]
        assert max(len(one), len(other)) == 1, row.code


def test_a_row_says_something() -> None:
    with pytest.raises(ValueError, match="what does the report say"):
        fault("RAW", "", "")
    assert all(row.says and all(row.says) for row in ROWS)
