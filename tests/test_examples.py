"""The examples: stored output, refused options, and every way of breaking the flags of example 01.

A broken kernel is made from the source text of the example, in a file of its own, so that its line numbers are real.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

import ascsim as asc

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = sorted((ROOT / "examples").glob("*/*.py"))
ADD = ROOT / "examples/01_add/add.py"
BLOCKS, TILES, TILE = 2, 4, 256

# Each line of the kernel that touches a buffer, by the text it begins with.
LINES = {
    "load x": "asc.data_copy(x_tile,",
    "add": "asc.add(",
    "store": "asc.data_copy(z_gm",
}
CALL = {"load x": "data_copy", "add": "add", "store": "data_copy"}
PIPE = {"load x": "MTE2", "add": "V", "store": "MTE3"}
# Pair of flags -> code, buffer, the later access and what it does, the earlier one and what it did, the cure.
# The buffers hold two tiles of 1024 bytes each; the first tile is the first to clash.
FAULTS = {
    "LOADED": ("RAW", "x_ub", "add", "reads", "load x", "writes", "MTE2_V"),
    "ADDED": ("RAW", "z_ub", "store", "reads", "add", "writes", "V_MTE3"),
    "INPUTS_FREE": ("WAR", "x_ub", "load x", "overwrites", "add", "reads", "V_MTE2"),
    "OUTPUT_FREE": ("WAR", "z_ub", "add", "overwrites", "store", "reads", "MTE3_V"),
}
CARRIED = {"INPUTS_FREE", "OUTPUT_FREE"}  # between turns of the loop


def run_script(script, *options):
    command = [sys.executable, str(script), *options]
    return subprocess.run(command, cwd=ROOT, env=_environment(), capture_output=True, text=True, check=False)


def _environment():
    import os

    return {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}


@pytest.fixture
def broken(tmp_path):
    """Write a kernel file; give its path and its lines."""

    def write(source):
        path = tmp_path / "kernel.py"
        path.write_text(source)
        return path

    return write


def launch(path, **settings):
    """Launch the kernel of a file; the sums must be right, whatever else is not."""
    spec = importlib.util.spec_from_file_location("kernel", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    x = np.arange(BLOCKS * TILES * TILE, dtype=np.float32)
    z = np.zeros_like(x)
    with asc.settings(checks=asc.Checks(), **settings) as now:
        assert now.checks == settings.get("checks", asc.Checks())
        report = module.add_kernel[BLOCKS](x, x, z, TILES, TILE)
    np.testing.assert_array_equal(z, 2 * x)
    return report
