"""Every kernel of tests/kernels goes through pyasc's front end; those that it refuses are listed here, with the reason.

The kernels are emitted as they are launched, by the tests that launch them (plugin `emitting`).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.npu

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

# File and kernel: what pyasc 1.1.1 says. Some lack a name; the others misuse kernel Python, which is their purpose.
REFUSED = {
    "test_adv_kernels.py gated_norm": "has no asc.adv.swiglu",
    "test_adv_kernels.py online": "has no asc.adv.SoftMaxShapeInfo",
    "test_author_line.py no_such_slice": "TypeError: slice indices must be integers",
    "test_author_line.py prints": "NameError: print is not defined",
    "test_author_line.py stops": "NameError: breakpoint is not defined",
    "test_loops_and_blocks.py second_block_stores_what_it_loads": "does not dominate this use",
    "test_loud_refusals.py indexed": "'GlobalAddress' object has no attribute '__",
    "test_loud_refusals.py keep": "AttributeError: 'NoneType' object has no attribute 'startswith'",
    "test_loud_refusals.py kernel": "Unsupported function referenced: <function <lambda>",
    "test_loud_refusals.py leaves_behind": "AttributeError: 'NoneType' object has no attribute 'startswith'",
    "test_loud_refusals.py read": "has no a GlobalTensor made outside a kernel",
    "test_loud_refusals.py store": "Unsupported function referenced: <function tensors",
    "test_loud_refusals.py use": "has no a GlobalTensor made outside a kernel",
    "test_loud_refusals.py write": "has no a GlobalTensor made outside a kernel",
    "test_matmul_kernels.py chain": "Unsupported function referenced: <function gm",
    "test_matmul_kernels.py everyone": "Unsupported function referenced: <function registered",
    "test_matmul_kernels.py everywhere": "Unsupported function referenced: <function registered",
    "test_matmul_kernels.py ordered": "Unsupported function referenced: <function registered",
    "test_matmul_kernels.py stuck": "Unsupported function referenced: <function registered",
    "test_wrong_arguments.py <lambda>": "AttributeError: 'NoneType' object has no attribute 'start'",
    "test_wrong_arguments.py kernel": "Unsupported function referenced: <function load",
    "test_wrong_arguments.py twice": "Unsupported function referenced: <function <lambda>",
}


def test_every_kernel_is_accepted_or_refused_for_a_known_reason(tmp_path):
    paths = [str(HERE), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "ASCSIM_FATES": str(tmp_path / "fates")}
    environment.pop("PYTEST_ADDOPTS", None)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "emitting", "-p", "no:cacheprovider", "tests/kernels"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr  # some are about tracebacks, which the observer is in
    fates = dict(line.split("\t") for line in (tmp_path / "fates").read_text().splitlines())
    assert len(fates) - len(REFUSED) >= 12
    refused = {name: fate for name, fate in fates.items() if fate != "accepted"}
    assert sorted(refused) == sorted(REFUSED), refused
    for name, fate in refused.items():
        assert REFUSED[name] in fate
