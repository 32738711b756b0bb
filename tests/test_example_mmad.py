"""Example 06: no finding as it is, every flag pair is needed, and the second half of the buffers hides the loads."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ascsim as asc

SCRIPT = Path(__file__).resolve().parent.parent / "examples/06_mmad/mmad.py"
SOURCE = SCRIPT.read_text()
SIZES = 1, 128, 128, 256, 64  # columns of cores, m, n, k, step: four parts
CALL = re.compile(r"^( +)asc\.(set_flag|wait_flag)\((\w+), \w+\)$", re.M)
# Pair of flags: code, what clashes with what, and the event that would order them.
FAULT = {
    "IN_L1": ("RAW", "load_data", "data_copy", "MTE2_MTE1"),
    "IN_L0": ("RAW", "mmad", "load_data", "MTE1_M"),
    "SUMMED": ("RAW", "fixpipe", "mmad", "M_FIX"),
    "L1_FREE": ("WAR", "data_copy", "load_data", "MTE1_MTE2"),
    "L0_FREE": ("WAR", "load_data", "mmad", "M_MTE1"),
}


def launch(source: str, folder: Path, halves: int, checks: asc.Checks) -> asc.Report:
    """Launch the kernel of a source text on two cores; it sees to it that the product is right."""
    path = folder / "kernel.py"
    path.write_text(source)
    kernel = runpy.run_path(str(path))["mmad_kernel"]
    random = np.random.default_rng(1)
    a = random.integers(-2, 3, (256, 256)).astype(np.float16)
    b = random.integers(-2, 3, (256, 128)).astype(np.float16)
    c = np.zeros((256, 128), np.float16)
    with asc.settings(checks=checks):
        report = kernel[2](a, b, c, *SIZES, halves)
    np.testing.assert_array_equal(c, (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16))
    return report


def test_no_finding_and_the_halves_overlap(tmp_path):
    one, two = (launch(SOURCE, tmp_path, halves, asc.Checks.strict()) for halves in (1, 2))
    assert one.findings == two.findings == []
    lines = [dict(line.split()[:2] for line in str(report).splitlines() if "(us)" in line) for report in (one, two)]
    time, cube = ([float(found[name]) for found in lines] for name in ("aicore_time(us)", "aic_mac_time(us)"))
    assert cube[0] == cube[1]
    assert time[1] < 0.75 * time[0]


@pytest.mark.parametrize("pair", FAULT)
def test_finds_a_deleted_pair(pair, tmp_path):
    source = CALL.sub(lambda match: f"{match[1]}pass" if match[3] == pair else match[0], SOURCE)
    assert source.count(f"({pair},") == 0
    code, later, earlier, event = FAULT[pair]
    with pytest.raises(asc.HazardError) as caught:
        launch(source, tmp_path, 2, asc.Checks())
    text = str(caught.value)
    assert re.match(rf"{code} on .*: {later}, kernel.py:\d+ .* what {earlier}, kernel.py:\d+ ", text)
    assert f"Needs set_flag(HardEvent.{event}, id)" in text


EMIT = """\
import runpy, sys
from unittest.mock import patch
import asc, asc.lib.runtime, asc.runtime.config as config
from asc.runtime.jit import JITFunction, MockTensor
sys.modules.update({"ascsim" + name[3:]: module for name, module in sys.modules.items() if name.split(".")[0] == "asc"})
config.set_platform(config.Backend.Model, check=False)
kernel = runpy.run_path(sys.argv[1])["mmad_kernel"]
texts = []
with patch.object(JITFunction, "_run_compiler", lambda self, module, options: texts.append(str(module))), \\
        patch.object(JITFunction, "_run_launcher", lambda *arguments: None):
    kernel[4](*[MockTensor(asc.float16)] * 3, 2, 128, 128, 512, 64, 2, always_compile=True)
assert len(texts) == 1 and "mmad_kernel" in texts[0], texts
print("accepted")
"""


@pytest.mark.npu
def test_the_real_front_end_accepts_the_kernel():
    done = subprocess.run([sys.executable, "-c", EMIT, str(SCRIPT)], capture_output=True, text=True, check=False)
    assert done.stdout == "accepted\n", done.stderr
