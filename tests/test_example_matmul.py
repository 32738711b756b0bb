"""Examples 03, 04 and 05: no finding as they are, and what they say of themselves holds."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ascsim as asc
import ascsim.runtime.config as config

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = [
    ROOT / f"examples/{folder}/{folder[3:]}.py"
    for folder in ("03_matmul_mix", "04_matmul_cube_only", "05_matmul_leakyrelu")
]
MIX, CUBE, LEAKY = (script.read_text() for script in SCRIPTS)


def loaded(source: str, folder: Path, *changes: tuple[str, str]) -> dict[str, Any]:
    """The names of an example whose text has been changed."""
    for old, new in changes:
        assert source.count(old) == 1
        source = source.replace(old, new)
    path = folder / "changed.py"
    path.write_text(source)
    config.set_platform(config.Backend.Model, config.Platform.Ascend910B1)
    return runpy.run_path(str(path))


def operands(names: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A, B, a bias, room for C, and the workspace."""
    m, n, k = names["M"], names["N"], names["K"]
    random = np.random.default_rng(0)
    a, b = (random.integers(-3, 4, shape).astype(np.float16) for shape in ((m, k), (k, n)))
    bias, c = random.integers(-3, 4, n).astype(np.float32), np.zeros((m, n), np.float32)
    return a, b, bias, c, np.zeros(16 << 20, np.uint8)


def product(a: np.ndarray, b: np.ndarray) -> Any:
    return a.astype(np.float32) @ b.astype(np.float32)


SMALL = (("M, N, K = 300, 600, 256", "M, N, K = 120, 200, 64"), ("CORES = 8", "CORES = 4"))


def mix(folder: Path, *changes: tuple[str, str], checks: asc.Checks) -> asc.Report:
    names = loaded(MIX, folder, *SMALL, *changes)
    a, b, _, c, workspace = operands(names)
    with asc.settings(checks=checks):
        report = names["matmul_kernel"][2](a, b, c, names["make_tiling"](), workspace)
    np.testing.assert_array_equal(c, product(a, b))
    return report


def test_mix_has_no_finding(tmp_path):
    assert mix(tmp_path, checks=asc.Checks.strict()).findings == []


def test_mix_needs_the_tails(tmp_path):
    """A part that reaches past the last row or column of C is as large as the others without set_tail."""
    with pytest.raises(asc.FoundError) as caught:
        mix(tmp_path, ("mm.set_tail(height, width)", "pass"), checks=asc.Checks())
    assert caught.value.code in ("OOB_GM", "GM_RACE_WW")


def test_mix_needs_no_tail_where_the_launch_has_more_cores_than_parts(tmp_path):
    """Vector cores without a part ask for nothing: with the `if` gone they would read past A and B."""
    more = ("matmul_kernel[CORES // 2]", "matmul_kernel[CORES]")
    names = loaded(MIX, tmp_path, *SMALL, more)
    a, b, _, c, workspace = operands(names)
    names["matmul_kernel"][4](a, b, c, names["make_tiling"](), workspace)
    np.testing.assert_array_equal(c, product(a, b))


def test_cube_only_has_no_finding_and_longer_copies_take_less_time(tmp_path):
    names = loaded(CUBE, tmp_path)
    a, b, bias, c, workspace = operands(names)
    times = []
    for multi_data_load in (False, True):
        c[:] = 0
        with asc.settings(checks=asc.Checks.strict()):
            report = names["matmul_kernel"][4](a, b, bias, c, names["make_tiling"](), workspace, multi_data_load)
        np.testing.assert_array_equal(c, product(a, b) + bias)
        assert report.findings == []
        times.append(float(str(report).split("aic_mte2_time(us)")[1].split()[0]))
    assert times[1] < 0.8 * times[0]


def leaky(folder: Path, *changes: tuple[str, str]) -> asc.Report:
    names = loaded(LEAKY, folder, ("M, N, K = 512, 512, 128", "M, N, K = 256, 256, 32"), *changes)
    a, b, bias, c, workspace = operands(names)
    with asc.settings(checks=asc.Checks.strict()):
        report = names["leakyrelu_kernel"][2](a, b, bias, c, 0.125, names["make_tiling"](), workspace)
    sums = product(a, b) + bias
    np.testing.assert_array_equal(c, np.where(sums < 0, sums / 8, sums))
    return report


def test_leakyrelu_has_no_finding(tmp_path):
    assert leaky(tmp_path).findings == []


def test_leakyrelu_needs_the_queue_between_v_and_the_store(tmp_path):
    with pytest.raises(asc.HazardError, match=r"^RAW on UB .* data_copy.* \(MTE3\) reads what leaky_relu"):
        leaky(tmp_path, ("blocks.enque(block)", "pass"), ("block = blocks.deque(c.dtype)", "pass"))


def test_leakyrelu_needs_rows_side_by_side(tmp_path):
    """Otherwise the rows of a block are a row of C apart, and the tensor does not hold them."""
    with pytest.raises(asc.FoundError):
        leaky(tmp_path, ("en_sequential_write=True", "en_sequential_write=False"))


@pytest.mark.npu
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_pyasc_accepts_the_kernel(script):
    command = [sys.executable, "-m", "ascsim", "check", "--portable", str(script)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "portability: 0 remarks, 1 kernel launched" in done.stdout + done.stderr
    assert "accepts 1" in done.stdout + done.stderr
