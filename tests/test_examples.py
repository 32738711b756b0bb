"""The examples: stored output, refused options, and every way of breaking the flags of example 01.

A broken kernel is made from the source text of the example, in a file of its own, so that its line numbers are real.
"""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

import ascsim as asc

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = sorted((ROOT / "examples").glob("*/*.py"))
ADDS = [script for script in SCRIPTS if script.parent.name in ("01_add", "02_add_framework")]
SOURCE = (ROOT / "examples/01_add/add.py").read_text()
BLOCKS, TILES, TILE = 2, 4, 256

# A line of the kernel that uses a buffer: how it begins, its call, its pipe.
LINE = {
    "load": ("asc.data_copy(x_tile,", "data_copy", "MTE2"),
    "add": ("asc.add(", "add", "V"),
    "store": ("asc.data_copy(z_gm", "data_copy", "MTE3"),
}
# Pair of flags: code, buffer, later line, what it does, earlier line, what it did, the event that orders them,
# whether the two are turns of the loop.
FAULT = {
    "LOADED": ("RAW", "x_ub", "add", "reads", "load", "writes", "MTE2_V", False),
    "ADDED": ("RAW", "z_ub", "store", "reads", "add", "writes", "V_MTE3", False),
    "INPUTS_FREE": ("WAR", "x_ub", "load", "overwrites", "add", "reads", "V_MTE2", True),
    "OUTPUT_FREE": ("WAR", "z_ub", "add", "overwrites", "store", "reads", "MTE3_V", True),
}
# Pair of flags: an event with another destination, and ids of it that the kernel does not use.
ASTRAY = {
    "LOADED": ("MTE2_MTE3", "half"),
    "ADDED": ("V_MTE2", "half + 2"),
    "INPUTS_FREE": ("V_MTE3", "half + 2"),
    "OUTPUT_FREE": ("MTE3_MTE2", "half"),
}
CALL = re.compile(r"^( +)asc\.(set_flag|wait_flag)\((\w+), half\)$", re.M)
LOOP = SOURCE[SOURCE.index("for i in range(tiles)") : SOURCE.index("# The last tiles have left")]


def run_script(script: Path, *options: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "1000"}  # argparse wraps at the terminal's width
    command = [sys.executable, "-W", "error", str(script), *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def launch(source: str, folder: Path, checks: asc.Checks) -> asc.Report:
    """Launch the kernel of a source text; it sees to it that the sums are right."""
    path = folder / "kernel.py"
    path.write_text(source)
    kernel = runpy.run_path(str(path))["add_kernel"]
    x = np.arange(BLOCKS * TILES * TILE, dtype=np.float32)
    z = np.zeros_like(x)
    with asc.settings(checks=checks):
        report = kernel[BLOCKS](x, x, z, TILES, TILE)
    np.testing.assert_array_equal(z, 2 * x)
    return report


def line_of(source: str, start: str) -> int:
    (line,) = (n for n, text in enumerate(source.splitlines(), 1) if text.strip().startswith(start))
    return line


def assert_hazard(source: str, folder: Path, pair: str) -> None:
    """The launch stops at the author's line, and the error names both accesses and what would have ordered them."""
    code, buffer, later, does, earlier, did, event, carried = FAULT[pair]
    (at_b, call_b, pipe_b), (at_a, call_a, pipe_a) = LINE[later], LINE[earlier]
    a, b = line_of(source, at_a), line_of(source, at_b)
    with pytest.raises(asc.HazardError) as caught:
        launch(source, folder, asc.Checks())
    expected = (
        f"{code} on UB {buffer}[0:1024) (aiv 0): {call_b}, kernel.py:{b} ({pipe_b}) {does} what {call_a}, "
        f"kernel.py:{a} ({pipe_a}) {did}; nothing orders them. Needs set_flag(HardEvent.{event}, id) after line {a} "
        f"and wait_flag before line {b}."
    )
    text = str(caught.value)
    assert text.startswith(expected)
    assert ("Loop-carried: turn 0 against turn 2" in text) == carried
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.lineno) == (str(folder / "kernel.py"), b)


# --- as they are -----------------------------------------------------------------------------------------------------


def test_two_examples_add():
    assert [script.stem for script in ADDS] == ["add", "add_framework"]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.parent.name)
def test_output_is_the_stored_one(script):
    done = run_script(script)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (script.parent / "expected_output.txt").read_text()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.parent.name)
def test_another_platform(script):
    done = run_script(script, "-r", "Model", "-v", "Ascend910B4-1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Platform   Ascend910B4-1\n" in done.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.parent.name)
@pytest.mark.parametrize(
    ("option", "value", "legal"),
    [
        ("-r", "GPU", ["Model", "NPU"]),
        ("-v", "Ascend310", ["Ascend910B1", "Ascend910B4-1", "Ascend910_9392"]),
    ],
)
def test_a_bad_option_is_refused_with_the_legal_set(script, option, value, legal):
    done = run_script(script, option, value)
    assert done.returncode == 2
    assert f"argument {option}: invalid choice: '{value}'" in done.stderr
    choices = done.stderr[done.stderr.index("choose from") :]
    assert all(name in choices for name in legal)


@pytest.mark.parametrize("script", ADDS, ids=lambda script: script.parent.name)
def test_no_finding_under_strict_checks(script, tmp_path):
    report = launch(script.read_text(), tmp_path, asc.Checks.strict())
    assert report.findings == []


# --- example 01, broken ----------------------------------------------------------------------------------------------


def test_the_source_has_the_flags_that_the_tests_break():
    calls = [match[3] for match in CALL.finditer(SOURCE)]
    assert {pair: calls.count(pair) for pair in FAULT} == {"LOADED": 2, "ADDED": 2, "INPUTS_FREE": 4, "OUTPUT_FREE": 4}
    assert [match[3] for match in CALL.finditer(LOOP)].count("INPUTS_FREE") == 2


@pytest.mark.parametrize("pair", FAULT)
def test_finds_a_deleted_pair(pair, tmp_path):
    source = CALL.sub(lambda match: "" if match[3] == pair else match[0], SOURCE)
    assert source.count(f"({pair},") == 0
    assert_hazard(source, tmp_path, pair)


def gone_astray(text: str, pair: str) -> str:
    event, ids = ASTRAY[pair]
    other = rf"\1asc.\2(asc.HardEvent.{event}, {ids})"
    return re.sub(CALL.pattern.replace(r"(\w+)", pair), other, text, flags=re.M)


@pytest.mark.parametrize("pair", FAULT)
def test_finds_a_pair_with_another_destination(pair, tmp_path):
    assert_hazard(gone_astray(SOURCE, pair), tmp_path, pair)


@pytest.mark.parametrize("pair", ["LOADED", "ADDED", "INPUTS_FREE"])
def test_finds_a_pair_with_another_destination_in_the_loop_alone(pair, tmp_path):
    assert_hazard(SOURCE.replace(LOOP, gone_astray(LOOP, pair)), tmp_path, pair)


def test_no_hazard_in_a_pair_that_orders_more_than_it_should(tmp_path):
    """Never primed, it makes MTE2 wait for each store before it loads the next tile: slow, but in order."""
    source = SOURCE.replace(LOOP, gone_astray(LOOP, "OUTPUT_FREE"))
    assert source != SOURCE
    assert launch(source, tmp_path, asc.Checks.strict()).findings == []


@pytest.mark.parametrize("number", range(6))
def test_finds_a_wait_without_its_set(number, tmp_path):
    match = [match for match in CALL.finditer(SOURCE) if match[2] == "set_flag"][number]
    source = SOURCE[: match.start()] + SOURCE[match.end() :]
    with pytest.raises(asc.DeadlockError) as caught:
        launch(source, tmp_path, asc.Checks())
    event = FAULT[match[3]][6]
    waits = [n for n, text in enumerate(source.splitlines(), 1) if text.strip() == f"asc.wait_flag({match[3]}, half)"]
    assert any(f"waits {event} id 0 (kernel.py:{line})" in str(caught.value) for line in waits)


@pytest.mark.parametrize("pair", ["INPUTS_FREE", "OUTPUT_FREE"])
def test_finds_a_set_without_its_wait(pair, tmp_path):
    *_, drain = (match for match in CALL.finditer(SOURCE) if match[3] == pair)
    source = SOURCE[: drain.start()] + SOURCE[drain.end() :]
    lines = [n for n, text in enumerate(source.splitlines(), 1) if text.strip() == f"asc.set_flag({pair}, half)"]
    with pytest.raises(asc.SyncError) as caught:
        launch(source, tmp_path, asc.Checks())
    assert caught.value.code == "FLAG_LEFT_SET"
    assert f"{FAULT[pair][6]} id 0 on aiv 0, set at kernel.py:{lines[-1]}, is never waited for" in str(caught.value)


@pytest.mark.parametrize("pair", ["INPUTS_FREE", "OUTPUT_FREE"])
def test_finds_a_set_over_a_flag_that_is_up(pair, tmp_path):
    _, wait, *_ = (match for match in CALL.finditer(SOURCE) if match[3] == pair)
    source = SOURCE[: wait.start()] + SOURCE[wait.end() :]
    with pytest.raises(asc.SyncError) as caught:
        launch(source, tmp_path, asc.Checks())
    assert caught.value.code == "FLAG_DOUBLE_SET"


@pytest.mark.parametrize("pair", ["LOADED", "ADDED"])
def test_finds_a_set_before_its_lost_wait(pair, tmp_path):
    """The wait alone is gone: what it protected is found first."""
    _, wait = (match for match in CALL.finditer(SOURCE) if match[3] == pair)
    assert_hazard(SOURCE[: wait.start()] + SOURCE[wait.end() :], tmp_path, pair)
