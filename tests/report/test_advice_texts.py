"""Kernels of other shapes than example 01, with a line gone or misplaced: followed to the letter, advice cleans them.

Nested loops that end on one line, device functions, both kinds of cores in one loop, ids from a TPipe, deadlocks in the
middle of the text. What is right is what numpy says, and that a strict launch finds nothing.
"""

from __future__ import annotations

import contextlib
import runpy

import numpy as np
import pytest
from test_advice import followed

import ascsim as asc

HEAD = """
import numpy as np
import ascsim as asc
import ascsim.runtime.config as config
T, E, P = asc.TPosition, asc.HardEvent, asc.PipeID
N = 16
"""
NESTED = """
@asc.jit
def kernel(x, z):
    x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x)
    z_gm.set_global_buffer(z)
    a = asc.LocalTensor(asc.float32, T.VECIN, 0, N)
    c = asc.LocalTensor(asc.float32, T.VECOUT, 128, N)
    asc.set_flag(E.V_MTE2, 0)
    asc.set_flag(E.MTE3_V, 0)
    for i in range(2):
        for j in range(2):
            asc.wait_flag(E.V_MTE2, 0)
            asc.data_copy(a, x_gm[(2 * i + j) * N :], N)
            asc.set_flag(E.MTE2_V, 0)
            asc.wait_flag(E.MTE2_V, 0)
            asc.wait_flag(E.MTE3_V, 0)
            asc.adds(c, a, 5.0, N)
            asc.set_flag(E.V_MTE2, 0)
            asc.set_flag(E.V_MTE3, 0)
            asc.wait_flag(E.V_MTE3, 0)
            asc.data_copy(z_gm[(2 * i + j) * N :], c, N)
            asc.set_flag(E.MTE3_V, 0)
    asc.wait_flag(E.V_MTE2, 0)
    asc.wait_flag(E.MTE3_V, 0)
"""
FUNCTIONS = """
@asc.jit
def load(a, x_gm, at):
    asc.wait_flag(E.V_MTE2, 1)
    asc.data_copy(a, x_gm[at:], N)
    asc.set_flag(E.MTE2_V, 1)

@asc.jit
def work(c, a, odd):
    asc.wait_flag(E.MTE2_V, 1)
    asc.wait_flag(E.MTE3_V, 1)
    if odd == 1:
        asc.adds(c, a, 5.0, N)
    else:
        asc.adds(c, a, 5.0, N)
    asc.set_flag(E.V_MTE2, 1)
    asc.set_flag(E.V_MTE3, 1)

@asc.jit
def store(z_gm, c, at):
    asc.wait_flag(E.V_MTE3, 1)
    asc.data_copy(z_gm[at:], c, N)
    asc.set_flag(E.MTE3_V, 1)

@asc.jit
def kernel(x, z):
    x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x)
    z_gm.set_global_buffer(z)
    a = asc.LocalTensor(asc.float32, T.VECIN, 0, N)
    c = asc.LocalTensor(asc.float32, T.VECOUT, 128, N)
    asc.set_flag(E.V_MTE2, 1)
    asc.set_flag(E.MTE3_V, 1)  # the stores'
    i = 0
    while i < 4:
        load(a, x_gm, i * N)
        work(c, a, i % 2)
        store(z_gm, c, i * N)
        i += 1
    asc.wait_flag(E.V_MTE2, 1)
    asc.wait_flag(E.MTE3_V, 1)  # the stores'
"""
BOTH_KINDS = """
@asc.jit(kernel_type=config.KernelType.MIX_AIC_1_1)
def kernel(x, z):
    x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x)
    z_gm.set_global_buffer(z)
    ub = asc.LocalTensor(asc.float32, T.VECIN, 0, N)
    l1 = asc.LocalTensor(asc.float32, T.A1, 0, N)
    for i in range(4):
        if asc.ascend_is_aic():
            asc.data_copy(l1, x_gm[i * N :], N)
            asc.pipe_barrier(P.PIPE_ALL)
        else:
            asc.data_copy(ub, x_gm[i * N :], N)
            asc.set_flag(E.MTE2_V, 0)
            asc.wait_flag(E.MTE2_V, 0)
            asc.adds(ub, ub, 5.0, N)
            asc.set_flag(E.V_MTE3, 0)
            asc.wait_flag(E.V_MTE3, 0)
            asc.data_copy(z_gm[i * N :], ub, N)
"""
TPIPE = """
@asc.jit
def kernel(x, z):
    x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x)
    z_gm.set_global_buffer(z)
    pipe, room, out = asc.TPipe(), asc.TBuf(T.VECCALC), asc.TBuf(T.VECCALC)
    pipe.init_buffer(room, 16 * N)
    pipe.init_buffer(out, 16 * N)
    a, c = room.get(asc.float32, 4 * N), out.get(asc.float32, 4 * N)
    asc.data_copy(a, x_gm, 4 * N)
    loaded = pipe.fetch_event_id(E.MTE2_V)
    asc.set_flag(E.MTE2_V, loaded)
    asc.wait_flag(E.MTE2_V, loaded)
    asc.adds(c, a, 5.0, 4 * N)
    added = pipe.fetch_event_id(E.V_MTE3)
    asc.set_flag(E.V_MTE3, added)
    asc.wait_flag(E.V_MTE3, added)
    asc.data_copy(z_gm, c, 4 * N)
"""


def launched(source, path, checks):
    path.parent.mkdir(exist_ok=True)
    path.write_text(HEAD + source)
    kernel = runpy.run_path(str(path))["kernel"]
    x, z = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    with asc.settings(checks=checks, record=True, reports=[]) as now, contextlib.suppress(asc.DeadlockError):
        kernel[1](x, z)
    return now.reports[-1], np.array_equal(z, x + 5)


def gone(source, *calls):
    for call in calls:
        assert call in source
        source = source.replace(call, call[: len(call) - len(call.lstrip())] + "pass", 1)
    return source


def swapped(source, first, second):
    assert f"{first}\n{second}" in source
    return source.replace(f"{first}\n{second}", f"{second}\n{first}")


DEEP, SHALLOW = " " * 12, " " * 4
CASES = {
    "both halves gone, nested": (
        gone(NESTED, *[f"{DEEP}asc.{half}_flag(E.MTE3_V, 0)" for half in ("set", "wait")]),
        None,
    ),
    "first set and last wait gone": (
        gone(
            NESTED.replace("    asc.wait_flag(E.V_MTE2, 0)\n    asc.wait_flag(E.MTE3_V, 0)\n", "    pass\n" * 2),
            "    asc.set_flag(E.V_MTE2, 0)",
            "    asc.set_flag(E.MTE3_V, 0)",
        ),
        None,
    ),
    "last wait gone, nested": (
        NESTED.replace(
            "    asc.wait_flag(E.V_MTE2, 0)\n    asc.wait_flag(E.MTE3_V, 0)\n", "    asc.wait_flag(E.V_MTE2, 0)\n"
        ),
        ["after loop asc.wait_flag(asc.HardEvent.MTE3_V, 0)"],
    ),
    "wait a line too late": (
        swapped(NESTED, DEEP + "asc.wait_flag(E.MTE3_V, 0)", DEEP + "asc.adds(c, a, 5.0, N)"),
        ["before asc.wait_flag(E.MTE3_V, 0)", "leave out asc.wait_flag(E.MTE3_V, 0)"],
    ),
    "set a line too early": (
        swapped(NESTED, DEEP + "asc.adds(c, a, 5.0, N)", DEEP + "asc.set_flag(E.V_MTE2, 0)"),
        ["leave out asc.set_flag(E.V_MTE2, 0)", "after asc.set_flag(E.V_MTE2, 0)"],
    ),
    "first set gone, wait in a function": (
        gone(FUNCTIONS, "    asc.set_flag(E.MTE3_V, 1)  # the stores'"),
        ["before loop asc.set_flag(asc.HardEvent.MTE3_V, 1)"],
    ),
    "last wait gone, set in a function": (
        gone(FUNCTIONS, "    asc.wait_flag(E.MTE3_V, 1)  # the stores'"),
        ["after loop asc.wait_flag(asc.HardEvent.MTE3_V, 1)"],
    ),
    "set gone behind a branch": (
        gone(FUNCTIONS, "    asc.set_flag(E.V_MTE3, 1)"),
        ["after asc.set_flag(asc.HardEvent.V_MTE3, 1)"],
    ),
    "reverse pair gone, in functions": (
        gone(
            FUNCTIONS,
            "    asc.set_flag(E.MTE3_V, 1)  # the stores'",
            "    asc.wait_flag(E.MTE3_V, 1)  # the stores'",
            "    asc.wait_flag(E.MTE3_V, 1)",
            "    asc.set_flag(E.MTE3_V, 1)",
        ),
        None,
    ),
    "reverse flag outside the branches of two kinds": (
        BOTH_KINDS,
        [
            "before loop if asc.ascend_is_aiv(): asc.set_flag(asc.HardEvent.MTE3_MTE2, 0)",
            "before asc.wait_flag(asc.HardEvent.MTE3_MTE2, 0)",
            "after asc.set_flag(asc.HardEvent.MTE3_MTE2, 0)",
            "after loop if asc.ascend_is_aiv(): asc.wait_flag(asc.HardEvent.MTE3_MTE2, 0)",
        ],
    ),
    "set gone, its id comes from a TPipe": (
        gone(TPIPE, "    asc.set_flag(E.V_MTE3, added)"),
        ["before asc.set_flag(E.V_MTE3, added)"],
    ),
}


@pytest.mark.parametrize(("source", "advised"), CASES.values(), ids=CASES)
def test_followed_to_the_letter_advice_makes_a_kernel_clean(source, advised, tmp_path):
    report, _ = launched(source, tmp_path / "faulty.py", asc.Checks.collect())
    assert not report.ok
    advice = report.recording.advice()
    if advised is not None:
        assert [f"{line.where} {line.code}" for line in advice.lines] == advised
    assert (advice.left, advice.others, advice.cures, advice.halted) == ((), (), (), "")
    again, right = launched(followed(source, advice.lines, HEAD), tmp_path / "cured.py", asc.Checks.strict())
    assert again.findings == []
    assert right


def test_where_a_deadlock_ends_the_text_advice_goes_as_far_as_it_came(tmp_path):
    """What the scalar unit waits for in the first turn hides all later ones: advice is followed until none is left."""
    source = gone(NESTED, "    asc.set_flag(E.V_MTE2, 0)", "    asc.set_flag(E.MTE3_V, 0)")
    source = source.replace(DEEP + "asc.adds", f"{DEEP}asc.pipe_barrier(P.PIPE_ALL)\n{DEEP}asc.adds")
    texts = []
    for turn in range(3):
        report, right = launched(source, tmp_path / f"{turn}.py", asc.Checks.collect())
        if not [finding for finding in report.findings if finding.severity == "fault"]:
            break
        advice = report.recording.advice()
        texts.append(str(advice).partition("\n")[0])
        assert advice.halted == advice.data()["halted"] == "DEADLOCK"
        source = followed(source, advice.lines, HEAD)
    assert right
    assert texts == ["Advice: the fewest calls that put it in order, as far as it came (DEADLOCK ended it)"] * len(
        texts
    )
    assert texts
