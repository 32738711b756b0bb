"""Advice on races of cores: what it says, done to the text, must make the launch clean."""

from __future__ import annotations

import runpy

import numpy as np
import pytest
from test_advice import followed

import ascsim as asc

HEAD = """
import ascsim as asc
import ascsim.runtime.config as config
T, E = asc.TPosition, asc.HardEvent
N = 16

@asc.jit({options})
def kernel(x, w, z{more}):
    x_gm, w_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x)
    w_gm.set_global_buffer(w)
    z_gm.set_global_buffer(z)
    me = asc.get_block_idx()
    other = asc.get_block_num() - 1 - me
    ub = asc.LocalTensor(asc.float32, T.VECIN, 0, N)
"""
NEIGHBOURS = """
    asc.data_copy(ub, x_gm[me * N:], N)
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)
    asc.data_copy(w_gm[me * N:], ub, N)
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)
    asc.data_copy(ub, w_gm[other * N:], N)
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)
    asc.data_copy(z_gm[me * N:], ub, N)
"""
PHASES = """
    for i in range(4):
        asc.data_copy(ub, x_gm[(4 * me + i) * N:], N)
        asc.pipe_barrier(asc.PipeID.PIPE_ALL)
        asc.data_copy(w_gm[(4 * me + i) * N:], ub, N)
        asc.pipe_barrier(asc.PipeID.PIPE_ALL)
    for i in range(4):
        asc.data_copy(ub, w_gm[(4 * other + i) * N:], N)
        asc.pipe_barrier(asc.PipeID.PIPE_ALL)
        asc.data_copy(z_gm[(4 * me + i) * N:], ub, N)
        asc.pipe_barrier(asc.PipeID.PIPE_ALL)
"""
HANDED_ON = """
    l1 = asc.LocalTensor(asc.float32, T.A1, 0, N)
    for i in range(4):
        if asc.ascend_is_aic():
            asc.data_copy(l1, x_gm[i * N:], N)
            asc.pipe_barrier(asc.PipeID.PIPE_ALL)
            asc.data_copy(w_gm, l1, N)
            asc.pipe_barrier(asc.PipeID.PIPE_ALL)
        if asc.ascend_is_aiv():
            asc.data_copy(ub, w_gm, N)
            asc.pipe_barrier(asc.PipeID.PIPE_ALL)
            asc.data_copy(z_gm[(2 * i + asc.get_sub_block_idx()) * N:], ub, N)
            asc.pipe_barrier(asc.PipeID.PIPE_ALL)
"""
NEVER_GIVEN_BACK = HANDED_ON.replace("(w_gm, l1, N)\n", "(w_gm, l1, N)\n            {}\n").replace(
    "            asc.data_copy(ub, w_gm, N)", "            {}\n            asc.data_copy(ub, w_gm, N)"
)
NEVER_GIVEN_BACK = NEVER_GIVEN_BACK.format(
    "asc.cross_core_set_flag(3, 2, asc.PipeID.PIPE_MTE3)", "asc.cross_core_wait_flag(3)"
)
ONE_EACH = """
    if me == 0:
        asc.duplicate(ub, 7.0, N)
        asc.pipe_barrier(asc.PipeID.PIPE_ALL)
        asc.data_copy(w_gm, ub, N)
    if me == 1:
        asc.data_copy(ub, w_gm, N)
        asc.pipe_barrier(asc.PipeID.PIPE_ALL)
        asc.data_copy(z_gm, ub, N)
"""
SAME_LINE = """
    asc.duplicate(ub, 1.0 + me, N)
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)
    asc.data_copy(w_gm, ub, N)
"""


def launched(source, path, blocks, checks=None, options="", more=""):
    """The kernel of a source, launched; with soft meetings its workspaces are made."""
    text = HEAD.format(options=options, more=more) + source if "import" not in source else source
    path.write_text(text)
    kernel = runpy.run_path(str(path))["kernel"]
    x = np.arange(8 * 16, dtype=np.float32)
    arguments = [x, np.zeros_like(x), np.zeros_like(x)]
    if "gm_workspace" in text:
        arguments.append(np.zeros(8 * blocks, np.int32))
    with asc.settings(checks=checks or asc.Checks.collect(), record=True):
        return kernel[blocks](*arguments), text, arguments


@pytest.mark.parametrize(
    ("source", "options", "blocks", "advised"),
    [
        (NEIGHBOURS, "kernel_type=config.KernelType.MIX_AIV_1_0", 2, ["before sync_all()"]),
        (ONE_EACH, "kernel_type=config.KernelType.MIX_AIV_1_0", 2, ["before sync_all()"]),
        (ONE_EACH, "kernel_type=config.KernelType.MIX_AIV_1_0", 3, ["before sync_all()"]),
        (PHASES, "kernel_type=config.KernelType.MIX_AIV_1_0", 2, ["before sync_all()"]),
        (
            HANDED_ON,
            "kernel_type=config.KernelType.MIX_AIC_1_2",
            1,
            [
                "before loop if ascend_is_aiv(): cross_core_set_flag(1, 2, PipeID.PIPE_MTE2)",
                "before cross_core_wait_flag(1)",
                "after cross_core_set_flag(0, 2, PipeID.PIPE_MTE3)",
                "before cross_core_wait_flag(0)",
                "after cross_core_set_flag(1, 2, PipeID.PIPE_MTE2)",
                "after loop if ascend_is_aic(): cross_core_wait_flag(1)",
            ],
        ),
        (
            NEVER_GIVEN_BACK,
            "kernel_type=config.KernelType.MIX_AIC_1_2",
            1,
            [
                "before loop if ascend_is_aiv(): cross_core_set_flag(0, 2, PipeID.PIPE_MTE2)",
                "before cross_core_wait_flag(0)",
                "after cross_core_set_flag(0, 2, PipeID.PIPE_MTE2)",
                "after loop if ascend_is_aic(): cross_core_wait_flag(0)",
            ],
        ),
    ],
    ids=["neighbours", "one each", "a core that calls nothing", "phases", "handed on", "never given back"],
)
def test_races_end_when_advice_is_followed(source, options, blocks, advised, tmp_path):
    report, text, _ = launched(source, tmp_path / "faulty.py", blocks, options=options)
    assert {finding.code for finding in report.findings} == {"GM_RACE_RW"}
    advice = report.recording.advice()
    assert [f"{line.where} {line.code}".replace("asc.", "") for line in advice.lines] == advised
    assert (advice.left, advice.others, advice.cures) == ((), (), ())
    text = followed(text, advice.lines)
    again, _, (x, _, z) = launched(text, tmp_path / "cured.py", blocks, asc.Checks.strict())
    assert again.findings == []
    if source in (HANDED_ON, NEVER_GIVEN_BACK):
        np.testing.assert_array_equal(z.reshape(4, 2, 16)[:, 1], x[:64].reshape(4, 16))
    elif source == ONE_EACH:
        np.testing.assert_array_equal(z[:16], np.full(16, 7.0))
    else:
        half = 64 if source == PHASES else 16
        np.testing.assert_array_equal(z[: 2 * half], np.roll(x[: 2 * half], half))


def test_vector_cores_alone_meet_through_workspaces(tmp_path):
    report, text, _ = launched(NEIGHBOURS, tmp_path / "faulty.py", 2)
    (line,) = report.recording.advice().lines
    assert line.code.startswith(
        "asc.sync_all(gm_workspace, ub_workspace)  # int32 workspaces of 32 bytes a core each, "
    )
    room = "    gm_workspace, ub_workspace = asc.GlobalTensor(), asc.LocalTensor(asc.int32, T.VECIN, 1024, 16)\n"
    given = "    gm_workspace.set_global_buffer(work)\n"
    text = followed(text, [line]).replace("    me = ", room + given + "    me = ").replace("x, w, z)", "x, w, z, work)")
    again, _, (x, _, z, _) = launched(text, tmp_path / "cured.py", 2, asc.Checks.strict())
    assert again.findings == []
    np.testing.assert_array_equal(z[:32], np.roll(x[:32], 16))


def test_a_cross_core_flag_that_nobody_waits_for_gets_its_wait(tmp_path):
    first = "            asc.data_copy(w_gm, l1, N)\n"
    second = "            asc.data_copy(ub, w_gm, N)\n"
    raised = "            asc.cross_core_set_flag({}, 2, asc.PipeID.PIPE_{})\n"
    taken = "            asc.cross_core_wait_flag({})\n"
    source = HANDED_ON.replace(first, taken.format(5) + first + raised.format(4, "MTE3"))
    source = source.replace(second, second + raised.format(5, "MTE2"))
    for call, kind, at in ((raised.format(5, "MTE2"), "aiv", "    for i"), (taken.format(5), "aic", "")):
        branch = f"    if asc.ascend_is_{kind}():\n    {call[4:]}"
        source = source.replace(at, branch + at, 1) if at else source + branch
    options = "kernel_type=config.KernelType.MIX_AIC_1_2"
    report, text, _ = launched(source, tmp_path / "faulty.py", 1, options=options)
    assert {finding.code for finding in report.findings} == {"GM_RACE_RW", "XFLAG_LEFT_SET"}
    advice = report.recording.advice()
    assert [f"{line.where} {line.code}" for line in advice.lines] == ["before asc.cross_core_wait_flag(4)"]
    assert (advice.left, advice.others, advice.cures) == ((), (), ())
    again, _, (x, _, z) = launched(followed(text, advice.lines), tmp_path / "cured.py", 1, asc.Checks.strict())
    assert again.findings == []
    np.testing.assert_array_equal(z.reshape(4, 2, 16)[:, 1], x[:64].reshape(4, 16))


def test_no_order_ends_a_race_of_a_line_with_itself(tmp_path):
    report, _, _ = launched(SAME_LINE, tmp_path / "faulty.py", 2)
    advice = report.recording.advice()
    assert (advice.repairs, advice.others) == ((), ())
    assert [cure.code for cure in advice.cures] == ["GM_RACE_WW"]
    assert advice.silent == "no call of a flag or barrier mends GM_RACE_WW"
