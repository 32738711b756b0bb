"""What a user reads: one line a fault however often it happens, and the same lines in every run."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path
from random import Random

import cases
import numpy as np
import pytest
from generated import kernel
from notation import read_case

import ascsim as asc
from ascsim.runtime.config import KernelType

HERE = Path(__file__).parent
SEEDS = range(6)


def texts() -> str:
    """All that is found in some random kernels."""
    found = []
    for seed in SEEDS:
        device = cases.launch(read_case(kernel(Random(seed)), "kernel"))
        found += [finding.text() for finding in device.findings]
    return "\n".join(found)


def test_the_same_kernels_give_the_same_lines_in_another_process() -> None:
    """Hashes of strings differ there, and with them the order of sets."""
    code = f"import sys; sys.path.insert(0, {str(HERE)!r}); import test_reports; print(test_reports.texts())"
    environment = {**os.environ, "PYTHONHASHSEED": "77"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.rstrip("\n") == texts()
    assert done.stdout.count("\n") > 4


def test_one_line_for_all_cores_and_turns() -> None:
    launched = asc.jit(auto_sync=False)(_races)
    with asc.settings(checks=asc.Checks.collect()):
        report = launched[8](4)
    (finding,) = report.findings
    assert (finding.code, finding.count, len(finding.cores)) == ("NO_BARRIER_RAW", 32, 8)
    assert finding.text().endswith("[32 times, on 8 cores]")


def _races(turns: int) -> None:
    x, y = (asc.LocalTensor(asc.float32, asc.TPosition.VECCALC, at, 64) for at in (0, 256))
    for _ in range(turns):
        asc.set_flag(asc.HardEvent.V_S, 0)
        asc.wait_flag(asc.HardEvent.V_S, 0)
        asc.duplicate(x, 1.0, 64)
        asc.adds(y, x, 1.0, 64)


@asc.jit
def _load(x: asc.LocalTensor, x_gm: asc.GlobalTensor, ordered: bool) -> None:
    asc.data_copy(x, x_gm, 64)
    if ordered:
        asc.set_flag(asc.HardEvent.MTE2_V, 0)
        asc.wait_flag(asc.HardEvent.MTE2_V, 0)


@asc.jit
def _whole(w: asc.GlobalAddress, inlined: bool, ordered: bool) -> None:
    w_gm = asc.GlobalTensor()
    w_gm.set_global_buffer(w)
    x = asc.LocalTensor(asc.int32, asc.TPosition.VECIN, 0, 64)
    if inlined:
        asc.data_copy(x, w_gm, 64)
        if ordered:
            asc.set_flag(asc.HardEvent.MTE2_V, 0)
            asc.wait_flag(asc.HardEvent.MTE2_V, 0)
    else:
        _load(x, w_gm, ordered)
    asc.adds(x, x, 1, 64)


@pytest.mark.parametrize("ordered", [False, True])
def test_inlining_a_function_changes_nothing(ordered: bool) -> None:
    for inlined in (False, True):
        with asc.settings(checks=asc.Checks.collect()):
            report = _whole[1](np.zeros(64, np.int32), inlined, ordered)
        assert [finding.code for finding in report.findings] == ([] if ordered else ["RAW"])


@asc.jit
def _once(w: asc.GlobalAddress, writer: int, polls: bool) -> None:
    w_gm = asc.GlobalTensor()
    w_gm.set_global_buffer(w)
    if asc.get_block_idx() == writer:
        w_gm.set_value(0, 1)
        asc.data_cache_clean_and_invalid(asc.CacheLine.SINGLE_CACHE_LINE, w_gm)
    elif polls:
        while w_gm.get_value(0) == 0:
            asc.data_cache_clean_and_invalid(asc.CacheLine.SINGLE_CACHE_LINE, w_gm)
    else:
        w_gm.get_value(0)


@pytest.mark.parametrize("polls", [False, True])
@pytest.mark.parametrize("writer", [0, 1])
def test_a_word_read_once_is_a_race_whichever_core_comes_first_and_a_polled_one_is_none(
    writer: int, polls: bool
) -> None:
    with asc.settings(checks=asc.Checks.collect()):
        report = _once[2](np.zeros(16, np.int32), writer, polls)
    assert [finding.code for finding in report.findings] == ([] if polls else ["GM_RACE_RW"])


@asc.jit(kernel_type=KernelType.MIX_AIV_1_0)
def _reports(waits: bool) -> None:
    asc.cross_core_set_flag(1, 0, asc.PipeID.PIPE_MTE3)
    if waits:
        asc.cross_core_wait_flag(1)
    asc.cross_core_set_flag(1, 0, asc.PipeID.PIPE_V)
    if not waits:
        asc.cross_core_wait_flag(1)
    asc.cross_core_wait_flag(1)


@pytest.mark.parametrize("waits", [False, True])
def test_a_core_that_has_waited_for_its_own_report_knows_which_came_first(waits: bool) -> None:
    with asc.settings(checks=asc.Checks.collect()):
        report = _reports[2](waits)
    assert [finding.code for finding in report.findings] == ([] if waits else ["XFLAG_AMBIGUOUS"])


def test_a_warning_of_a_published_kernel_can_be_counted() -> None:
    """`tests/upstream.py --silent` fails a file whose output has one."""
    warnings_of = runpy.run_path(str(HERE.parent / "upstream.py"))["warnings_of"]
    lines = ["k.py:3: SimulatorWarning: UNINIT_READ: add uses undefined bytes", "k.py:4: UserWarning: other"]
    assert warnings_of("\n".join(lines)) == lines[:1]
