"""Advice on example 01 with flags taken out or barriers put in: what it says, done to the text, must make it clean."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import ascsim as asc
from ascsim import cli

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


def launched(source, folder, checks=None, **options):
    path = folder / str(len(list(folder.iterdir()))) / "kernel.py"  # the text of a file is read once
    path.parent.mkdir()
    path.write_text(source)
    kernel = runpy.run_path(str(path))["add_kernel"]
    x = np.arange(2 * TILES * TILE, dtype=np.float32)
    z = np.zeros_like(x)
    with asc.settings(checks=checks or asc.Checks.collect(), record=True):
        return kernel[2](x, 3 * x, z, TILES, TILE, **options)


def followed(source, lines):
    """The text with the lines of code that advice asks for."""
    text = source.splitlines()
    for line in sorted(lines, key=lambda line: (line.line, line.where.startswith("after")), reverse=True):
        at = line.line if line.where.startswith("after") else line.line - 1
        beside = text[line.line - 1]
        indent = len(beside) - len(beside.lstrip())
        if line.where == "after loop":
            indent -= 4
        text.insert(at, " " * indent + line.code)
    return "\n".join(text) + "\n"


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


def test_flags_that_are_left_up_are_not_called_no_matter_of_the_core(tmp_path):
    """A wait is gone: its flag stays up, whatever else is put in."""
    lines = SOURCE.replace("        asc.wait_flag(LOADED, half)\n", "")
    advice = launched(lines, tmp_path).recording.advice()
    assert advice.data()["others"] == ["FLAG_DOUBLE_SET", "FLAG_LEFT_SET"]
    assert str(advice).endswith("\n  (this does not mend FLAG_DOUBLE_SET, FLAG_LEFT_SET)")
    left = launched(followed(lines, advice.lines), tmp_path).findings
    assert [finding.code for finding in left] == ["FLAG_DOUBLE_SET", "FLAG_LEFT_SET"]


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
