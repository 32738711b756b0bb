"""Advice on example 01 with flags taken out or barriers put in: what it says, done to the text, must make it clean."""

from __future__ import annotations

import contextlib
import json
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import ascsim as asc
from ascsim import cli
from ascsim.hw.rerun import rerun

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SOURCE = (EXAMPLES / "01_add/add.py").read_text()
FLAGS = ("LOADED", "ADDED", "INPUTS_FREE", "OUTPUT_FREE")
TILES, TILE = 5, 64


def without(*flags):
    """The example without these flags; a loop that is left empty passes."""
    text = SOURCE
    for flag in flags:
        text = re.sub(rf"^( +)asc\.(set|wait)_flag\({flag}, half\)$", r"\1pass", text, flags=re.M)
    return text


def launched(source, folder, checks=None, blocks=2, **options):
    path = folder / str(len(list(folder.iterdir()))) / "kernel.py"  # the text of a file is read once
    path.parent.mkdir()
    path.write_text(source)
    kernel = runpy.run_path(str(path))["add_kernel"]
    x = np.arange(2 * TILES * TILE, dtype=np.float32)
    z = np.zeros_like(x)
    with asc.settings(checks=checks or asc.Checks.collect(), record=True):
        return kernel[blocks](x, 3 * x, z, TILES, TILE, **options)


def followed(source, lines, head=""):
    """The text (without what was put before it) as advice asks for."""
    text = (head + source).splitlines()
    for line in sorted(lines, key=lambda line: line.order, reverse=True):
        beside = text[line.line - 1]
        indent = " " * (len(beside) - len(beside.lstrip()))
        if line.where in ("instead of", "leave out"):
            text[line.line - 1] = indent + (line.code if line.where == "instead of" else "pass")
            continue
        at = line.last if line.where == "after loop" else line.line if line.where == "after" else line.line - 1
        text.insert(at, indent + line.code)
    return "\n".join(text[head.count("\n") :]) + "\n"


@pytest.mark.parametrize(
    ("flags", "calls"),
    [
        (FLAGS[:1], ["set_flag MTE2_V 0 after", "wait_flag MTE2_V 0 before"]),
        (FLAGS[1:2], ["set_flag V_MTE3 0 after", "wait_flag V_MTE3 0 before"]),
        (
            FLAGS[2:3],
            [
                *("set_flag V_MTE2 0 before loop", "set_flag V_MTE2 1 before loop"),
                *("wait_flag V_MTE2 i % 2 before", "set_flag V_MTE2 i % 2 after"),
                *("wait_flag V_MTE2 0 after loop", "wait_flag V_MTE2 1 after loop"),
            ],
        ),
        (FLAGS, None),
    ],
    ids=["loaded", "added", "inputs free", "all"],
)
def test_a_kernel_is_clean_when_advice_is_followed(flags, calls, tmp_path):
    source = without(*flags)
    report = launched(source, tmp_path)
    assert not report.ok
    advice = report.recording.advice()
    assert (advice.smallest, advice.left, len(advice.repairs)) == (True, (), len(flags))
    if calls is not None:
        form = r"asc\.(\w+)\(asc\.HardEvent\.(\w+), (.*)\)"
        assert [" ".join((*re.match(form, line.code).groups(), line.where)) for line in advice.lines] == calls
    assert launched(followed(source, advice.lines), tmp_path, asc.Checks.strict()).findings == []


SET, WAIT = "        asc.set_flag(LOADED, half)\n", "        asc.wait_flag(LOADED, half)\n"
PRIME, TAKE = "        asc.set_flag(INPUTS_FREE, half)\n", "        asc.wait_flag(INPUTS_FREE, half)\n"


def changed(call, instead, nth=0):
    """The example with the n-th of some calls changed."""
    parts = SOURCE.split(call)
    return call.join(parts[: nth + 1]) + instead + call.join(parts[nth + 1 :])


@pytest.mark.parametrize(
    ("source", "advised"),
    [
        (changed(WAIT, ""), ["before add wait_flag(LOADED, half)"]),
        (changed(SET, ""), ["after data_copy set_flag(LOADED, half)"]),
        (changed(TAKE, ""), ["before data_copy wait_flag(INPUTS_FREE, half)"]),
        (changed(PRIME, "", 1), ["after add set_flag(INPUTS_FREE, half)"]),
        (changed(PRIME, "        pass\n"), [f"before loop for set_flag(asc.HardEvent.V_MTE2, {k})" for k in (0, 1)]),
        (changed(TAKE, "", 1), [f"after loop for wait_flag(asc.HardEvent.V_MTE2, {k})" for k in (0, 1)]),
        (changed(WAIT, WAIT.replace("LOADED", "ADDED")), ["instead of wait_flag wait_flag(LOADED, half)"]),
        (changed(SET, SET.replace("half", "5")), ["instead of set_flag set_flag(LOADED, half)"]),
        (changed(SET, SET + SET.replace("half", "4 + half")), ["leave out set_flag set_flag(LOADED, 4 + half)"]),
        (
            changed(WAIT, "").replace(TAKE, "", 1),
            ["before data_copy wait_flag(INPUTS_FREE, half)", "before add wait_flag(LOADED, half)"],
        ),
    ],
    ids="wait set reverse_wait reverse_set prime drain event id surplus two_waits".split(),
)
def test_half_a_flag_is_completed_by_the_other_half(source, advised, tmp_path):
    """A second pair would not take down the flag that stays up, nor let the wait go on."""
    with asc.settings(reports=[]) as now, contextlib.suppress(asc.DeadlockError):
        launched(source, tmp_path)
    (report,) = now.reports
    assert not report.ok
    advice = report.recording.advice()
    text = source.splitlines()
    beside = [re.match(r"\s*(?:asc\.)?(\w+)", text[line.line - 1])[1] for line in advice.lines]
    assert [
        f"{line.where} {call} {line.code.removeprefix('asc.')}" for line, call in zip(advice.lines, beside, strict=True)
    ] == advised
    assert (advice.smallest, advice.left, advice.others, advice.redundant) == (True, (), (), ())
    assert launched(followed(source, advice.lines), tmp_path, asc.Checks.strict()).findings == []


FREED = """
import ascsim as asc

@asc.jit
def add_kernel(x, y, z, tiles, tile: asc.ConstExpr):
    x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x)
    z_gm.set_global_buffer(z)
    pipe, inputs = asc.TPipe(), asc.TBuf(asc.TPosition.VECCALC)
    pipe.init_buffer(inputs, 4 * tile)
    x_ub = inputs.get(asc.float32, tile)
    for i in range(tiles):
        asc.data_copy(x_ub, x_gm[i * tile :], tile)
        asc.data_copy(z_gm[i * tile :], x_ub, tile)
"""


def test_under_a_tpipe_the_ids_are_the_pipes(tmp_path):
    """A TPipe owns the ids: literal ones would be warned of."""
    report = launched(FREED, tmp_path, blocks=1)
    assert [finding.code for finding in report.findings] == ["RAW", "WAR"]
    lines = report.recording.advice().lines
    back, forth = (f"asc.HardEvent.{event}, {event.lower()}_0" for event in ("MTE3_MTE2", "MTE2_MTE3"))
    assert [line.code for line in lines] == [
        f"mte3_mte2_0 = pipe.alloc_event_id(asc.HardEvent.MTE3_MTE2); asc.set_flag({back})",
        f"asc.wait_flag({back})",
        f"mte2_mte3_0 = pipe.alloc_event_id(asc.HardEvent.MTE2_MTE3); asc.set_flag({forth})",
        f"asc.wait_flag({forth}); pipe.release_event_id(mte2_mte3_0, asc.HardEvent.MTE2_MTE3)",
        f"asc.set_flag({back})",
        f"asc.wait_flag({back}); pipe.release_event_id(mte3_mte2_0, asc.HardEvent.MTE3_MTE2)",
    ]
    assert launched(followed(FREED, lines), tmp_path, asc.Checks.strict(), blocks=1).findings == []


def test_what_is_no_matter_of_one_core_is_told_and_not_tried(tmp_path):
    """Both cores store the same place: no flag of a core orders that."""
    report = launched(FREED, tmp_path)
    advice = report.recording.advice()
    assert advice.others == ("GM_RACE_WW",)
    assert [cure.code for cure in advice.cures] == ["GM_RACE_WW"]
    assert "Advice: for GM_RACE_WW, not tried: bytes of its own for each core at line 14, or turns: " in str(advice)
    assert advice.data()["cures"][0]["code"] == "GM_RACE_WW"


def test_a_launch_that_an_error_ends_is_looked_at_as_far_as_it_came(tmp_path):
    with asc.settings(reports=[]) as now, pytest.raises(asc.HazardError):
        launched(without("LOADED", "ADDED"), tmp_path, asc.Checks())
    advice = now.reports[0].recording.advice()
    assert str(advice).startswith("Advice: the fewest calls that put it in order, as far as it came (RAW ended it)\n")
    assert [line.code for line in advice.lines] == [
        f"asc.{half}_flag(asc.HardEvent.MTE2_V, 0)" for half in ("set", "wait")
    ]


def test_where_no_advice_can_be_given_the_reason_is(tmp_path, monkeypatch):
    outside = FREED.replace("x_gm[i * tile :]", "x_gm[1 << 20 :]")
    with asc.settings(reports=[]) as now, pytest.raises(asc.MemoryFault):
        launched(outside, tmp_path)
    assert str(now.reports[0].recording.advice()) == ("Advice: not given: OOB_GM ended the launch before its last call")
    monkeypatch.setattr("ascsim.report.advice.CALLS", 10)
    assert str(launched(SOURCE, tmp_path).recording.advice()) == "Advice: not given: more than 10 calls"


def small(source, name):
    """Lesson 5, or what has become of it, on two vector cores with two blocks each: the kernel, launched."""
    sizes = {"M, N, K = 512, 512, 128": "M, N, K = 64, 64, 32", "CORES = 4": "CORES = 2", "64, 128  # a": "32, 32  # a"}
    for before, after in sizes.items():
        assert before in source
        source = source.replace(before, after)
    Path(name).write_text(source)
    module = runpy.run_path(name)
    a, b, bias, c = (
        np.ones((64, 32), np.float16),
        np.ones((32, 64), np.float16),
        np.ones(64, np.float32),
        np.zeros(4096),
    )
    arguments = a, b, bias, c.astype(np.float32), 0.125, module["make_tiling"](), np.zeros(16 << 20, np.uint8)
    with asc.settings(checks=asc.Checks.collect(), record=True):
        return module["leakyrelu_kernel"][1](*arguments)


LESSON = (EXAMPLES / "05_matmul_leakyrelu/matmul_leakyrelu.py").read_text()
QUEUE = {  # one buffer without a queue, ordered by nothing
    "    blocks = asc.TQue(asc.TPosition.VECOUT, 1)\n": "    block_of_c = asc.TBuf(UB)\n",
    "    pipe.init_buffer(que=blocks, num=2, len=elements * c.dtype.sizeof())\n": (
        "    pipe.init_buffer(block_of_c, elements * 4)\n    block = block_of_c.get(c.dtype)\n"
    ),
    "        block = blocks.alloc_tensor(c.dtype)\n": "",
    "        blocks.enque(block)\n": "",
    "        block = blocks.deque(c.dtype)\n": "",
    "        blocks.free_tensor(block)\n": "",
}


def test_advice_where_cube_cores_serve_a_matmul(tmp_path):
    """Their work is made again too, in the turn of the vector core that asks for it."""
    plain = small(LESSON, tmp_path / "plain.py")
    again = rerun(plain.recording.device)
    assert again.findings == []
    assert [(t.kind, t.index, t.end, t.busy) for t in again.totals] == [
        (t.kind, t.index, t.end, t.busy) for t in plain.recording.device.totals()
    ]
    assert str(plain.recording.advice()) == "Advice: none needed"
    source = LESSON
    for before, after in QUEUE.items():
        assert before in source
        source = source.replace(before, after)
    report = small(source, tmp_path / "faulty.py")
    assert [finding.code for finding in report.findings] == ["RAW"]
    advice = report.recording.advice()
    flag = "asc.HardEvent.V_MTE3, v_mte3_0"
    assert [(line.where, line.code) for line in advice.lines] == [
        ("after", f"v_mte3_0 = pipe.alloc_event_id(asc.HardEvent.V_MTE3); asc.set_flag({flag})"),
        ("before", f"asc.wait_flag({flag}); pipe.release_event_id(v_mte3_0, asc.HardEvent.V_MTE3)"),
    ]
    assert small(followed(source, advice.lines), tmp_path / "cured.py").findings == []


def test_barriers_that_do_nothing_are_named_with_what_they_cost(tmp_path):
    add = "        asc.add(z_tile, x_tile, y_tile, tile)\n"
    barrier = "        asc.pipe_barrier(asc.PipeID.PIPE_{})\n"
    source = SOURCE.replace(add, barrier.format("ALL") + add)
    assert launched(SOURCE, tmp_path).recording.advice().redundant == ()
    slower, plain = launched(source, tmp_path), launched(SOURCE, tmp_path)
    (item,) = launched(source, tmp_path).recording.advice().redundant
    assert [source.splitlines()[line - 1].strip() for _, line in item.lines] == [barrier.format("ALL").strip()]
    assert item.microseconds == pytest.approx(slower.task_us - plain.task_us)
    assert item.microseconds > 0.1


def test_a_flag_that_another_makes_needless_is_named_with_all_its_calls(tmp_path):
    """The scalar unit is made to wait for the loads, and so is V then; the flag for V goes as a whole."""
    wait = "        asc.wait_flag(LOADED, half)\n"
    both = "        asc.set_flag(asc.HardEvent.MTE2_V, 5)\n        asc.wait_flag(asc.HardEvent.MTE2_V, 5)\n"
    source = SOURCE.replace(wait, wait + both)
    (item,) = launched(source, tmp_path).recording.advice().redundant
    text = source.splitlines()
    calls = [text[line - 1].strip() for _, line in item.lines]
    assert len(calls) == 2
    assert [call.partition("(")[0] for call in calls] == ["asc.set_flag", "asc.wait_flag"]
    assert item.microseconds == 0


def test_where_the_kernel_leans_on_the_compiler(tmp_path):
    add = "        asc.add(z_tile, x_tile, y_tile, tile)\n"
    source = SOURCE.replace(add, add + "        asc.adds(z_tile, z_tile, 1, tile)\n")
    line = source.splitlines().index(add[:-1]) + 1
    report = launched(source, tmp_path)
    assert report.findings == []
    (lean,) = report.recording.advice().leans
    assert str(lean) == f"kernel.py:{line + 1} follows kernel.py:{line} only by auto_sync (NO_BARRIER_RAW without it)"
    report = launched(source, tmp_path, auto_sync=False)
    assert [finding.code for finding in report.findings] == ["NO_BARRIER_RAW"]
    advice = report.recording.advice()
    assert [str(line).split(maxsplit=2) for line in advice.lines] == [
        ["before", f"kernel.py:{line + 1}", "asc.pipe_barrier(asc.PipeID.PIPE_V)"]
    ]
    assert advice.leans == ()


def test_queues_are_left_alone(tmp_path):
    report = launched((EXAMPLES / "02_add_framework/add_framework.py").read_text(), tmp_path)
    assert str(report.recording.advice()) == "Advice: none needed"


def test_a_launch_that_is_not_recorded_has_no_recording(tmp_path):
    kernel = runpy.run_path(str(EXAMPLES / "01_add/add.py"))["add_kernel"]
    x = np.zeros(64, np.float32)
    assert kernel[1](x, x, x.copy(), 1, 64).recording is None


def test_replay_refuses_an_order_that_it_does_not_know(tmp_path):
    recording = launched(SOURCE, tmp_path).recording
    assert len(recording) == 2 * TILES * 4
    assert {"late", "early", "reverse", "slow MTE3", "torn", "random 2"} <= set(recording.orders())
    assert recording.replay("random 77") == recording.replay()
    with pytest.raises(asc.SimulatorError, match=r"order = 'slow M'.*one of .*slow MTE2"):
        recording.replay("slow M")


# --- the command -----------------------------------------------------------------------------------------------------


def check(capsys, path, *options):
    code = cli.main(["check", *options, str(path)])
    return code, capsys.readouterr().out


def test_check_prints_faults_witness_advice_and_summary(capsys, tmp_path):
    path = tmp_path / "kernel.py"
    path.write_text(without("ADDED").replace("BLOCKS = 8", "BLOCKS = 1"))
    code, out = check(capsys, path)
    assert code == 1
    lines = [line.strip() for line in out.splitlines()]
    (start,) = (k for k, line in enumerate(lines) if line.startswith("add_kernel: 1 block on Ascend910B1, "))
    assert lines[start + 1].startswith("fault: RAW on UB z_ub[0:8192) (aiv 0): data_copy, kernel.py:")
    assert "(aiv 0 MTE3): z[" in lines[start + 2]
    assert lines[start + 3] == "Advice: the fewest calls that put it in order"
    assert lines[start + 4].endswith("asc.set_flag(asc.HardEvent.V_MTE3, 0)")
    assert lines[-1] == "1 launch: 1 fault, no warnings, no notes"


def test_check_for_tools(capsys, tmp_path):
    path = tmp_path / "kernel.py"
    path.write_text(SOURCE.replace("BLOCKS = 8", "BLOCKS = 1") + "    raise SystemExit(3)\n")
    code, out = check(capsys, path, "--json")
    said = json.loads(out)
    assert (code, said["exit"]) == (3, 3)
    (launch,) = said["launches"]
    assert (launch["name"], launch["findings"]) == ("add_kernel", [])
    assert launch["advice"]["repairs"] == launch["advice"]["redundant"] == []


def test_check_tells_of_a_launch_that_could_not_go_on(capsys, tmp_path):
    path = tmp_path / "kernel.py"
    text = SOURCE.replace("BLOCKS = 8", "BLOCKS = 1").replace("        asc.set_flag(LOADED, half)\n", "")
    path.write_text(text)
    code, out = check(capsys, path)
    assert code == 1
    assert "fault: DEADLOCK" in out
    assert out.endswith("1 launch: 1 fault, no warnings, no notes\n")
