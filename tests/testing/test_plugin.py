"""The pytest plugin, run on small test files of pyasc's shape in pytests of their own.

All of them run one after the other in one process, which imports ascsim once; each test looks at what one of them said.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
CONFTEST = """\
import pytest
from asc.runtime import config

def pytest_addoption(parser):
    parser.addoption("--backend", default=config.Backend.Model)

@pytest.fixture
def backend(request):
    return request.config.getoption("--backend")
"""
BY_FIXTURE = """\
import asc
import asc.runtime.config as config

def test_it(backend):
    config.set_platform(backend)
    assert asc.__name__ == "ascsim"
"""
BY_PARAMETER = """\
import pytest
from asc.runtime import config

@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("backend", [config.Backend.NPU, config.Backend.Model, "NPU"])
def test_it(size, backend):
    config.set_platform(backend)
    assert config.Backend(backend) is config.Backend.Model

def test_no_parameters():
    pass
"""
NOT_SERVED = """\
import sys

def test_it():
    assert not any("alias" in type(finder).__module__ for finder in sys.meta_path)
    assert not {name.split(".")[0] for name in sys.modules} & {"asc"}
"""
KERNEL = """\
import numpy as np
import pytest

import ascsim as asc

@asc.jit
def copy(x, z, n: asc.ConstExpr, ordered: asc.ConstExpr):
    x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x, n)
    z_gm.set_global_buffer(z, n)
    here = asc.LocalTensor(x.dtype, asc.TPosition.VECIN, 0, n)
    asc.data_copy(here, x_gm, n)  # loads
    if ordered:
        asc.set_flag(asc.HardEvent.MTE2_MTE3, 6 if ordered == "reserved" else 0)
        asc.wait_flag(asc.HardEvent.MTE2_MTE3, 6 if ordered == "reserved" else 0)
    asc.data_copy(z_gm, here, n)  # stores

def launch(ordered):
    return copy[1](np.ones(8, np.float32), np.zeros(8, np.float32), 8, ordered)

def test_reports(ascsim_reports):
    report = launch(True)
    assert ascsim_reports == [report] and report.ok

def test_fault():
    launch(False)

def test_warning():
    launch("reserved")
"""
ENDS = (
    KERNEL.partition("def test_reports")[0]
    + """\
import gc
import weakref

LAUNCHED = []

@asc.jit
def breaks(x, z, n: asc.ConstExpr, ordered: asc.ConstExpr):
    copy(x, z, n, ordered)
    raise ArithmeticError("half way")

@pytest.fixture
def fails_after():
    yield
    raise RuntimeError("after")

def test_twice(fails_after):
    with asc.settings(checks=asc.Checks.collect(), record=True):
        LAUNCHED.extend(weakref.ref(launch(False).recording.device) for _ in range(2))
    raise RuntimeError("in")

def test_reports_go_with_their_test():
    gc.collect()
    assert [launched() for launched in LAUNCHED] == [None, None]

def test_half_way():
    with asc.settings(checks=asc.Checks.collect()):
        breaks[1](np.ones(8, np.float32), np.zeros(8, np.float32), 8, False)

@pytest.mark.filterwarnings("error")
def test_warning_as_error():
    launch("reserved")
"""
)
INNER = """\
import sys
import pytest

PLUGIN = "-p", "ascsim.testing.plugin", "-p", "no:cacheprovider"

def test_a_run_inside(tmp_path):
    (tmp_path / "test_inner.py").write_text("def test_it():\\n    import asc\\n")
    assert pytest.main(["-q", *PLUGIN, "--ascsim-alias", str(tmp_path)]) == 0
    sys.modules.pop("asc", None)
    import asc
"""
# Run by name: files, options. Each run has a folder of its own, and test files are named after it.
RUNS = {
    "not_served": ({"test_{}": NOT_SERVED}, []),
    "alias": ({"conftest": CONFTEST, "test_{}": BY_FIXTURE}, ["--ascsim-alias"]),
    "refused": ({"test_{}": BY_PARAMETER}, ["--ascsim-alias"]),
    "not_served_again": ({"test_{}": NOT_SERVED}, []),
    "replaced": ({"test_{}": BY_PARAMETER}, ["--ascsim-alias", "--ascsim-backend=Model", "-vv"]),
    "checks": ({"test_{}": KERNEL}, []),
    "strict": ({"test_{}": KERNEL}, ["--ascsim-checks=strict"]),
    "off": ({"test_{}": KERNEL}, ["--ascsim-checks=off"]),
    "ends": ({"test_{}": ENDS}, []),
    "inside": ({"test_{}": INNER}, ["--ascsim-alias"]),
    "unknown": ({"test_{}": ""}, ["--ascsim-backend=GPU"]),
    "processes": (
        {"conftest": CONFTEST, "test_{}": BY_PARAMETER, "test_{}_kernel": KERNEL},
        ["--ascsim-alias", "--ascsim-backend=Model", "--ascsim-checks=default", "-p", "xdist.plugin", "-n", "2"],
    ),
}
DRIVER = """\
import contextlib, io, json, sys
import pytest

said = {}
for name, arguments in json.load(sys.stdin).items():
    with contextlib.redirect_stdout(io.StringIO()) as text, contextlib.redirect_stderr(text):
        code = pytest.main(arguments)
    said[name] = [int(code), text.getvalue()]
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """Exit code and output of every run."""
    arguments = {}
    for name, (files, options) in RUNS.items():
        if "xdist.plugin" in options and importlib.util.find_spec("xdist") is None:
            continue
        folder = tmp_path_factory.mktemp(name)
        for file, text in files.items():
            (folder / f"{file.format(name)}.py").write_text(text)
        plugin = ["-p", "ascsim.testing.plugin", "-p", "no:cacheprovider"]
        arguments[name] = ["-q", f"--rootdir={folder}", *plugin, *options, str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(
        [sys.executable, "-c", DRIVER],
        env=environment,
        cwd=tmp_path_factory.getbasetemp(),
        input=json.dumps(arguments),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_alias_reaches_conftest_and_test_files(said):
    code, output = said["alias"]
    assert code == 0, output
    assert "1 passed" in output


@pytest.mark.parametrize("name", ["not_served", "not_served_again"])
def test_without_the_option_nothing_is_served(said, name):
    code, output = said[name]
    assert code == 0, output
    assert "1 passed" in output


def test_model_stands_in_for_the_npu(said):
    code, output = said["replaced"]
    assert code == 0, output
    assert "7 passed" in output
    assert "Backend.NPU" in output  # the identifier keeps the author's word


def test_without_the_option_the_npu_is_refused(said):
    code, output = said["refused"]
    assert code == 1
    assert "4 failed, 3 passed" in output
    assert "cannot launch on a device here" in output


def test_on_several_processes(said):
    pytest.importorskip("xdist")
    code, output = said["processes"]
    assert code == 1, output
    assert "1 failed, 9 passed" in output  # the failed one is the kernel with a fault


def test_an_unknown_backend_is_refused(said):
    code, output = said["unknown"]
    assert code == 4
    assert re.search(r"invalid choice: '?GPU", output)


def faults(output):
    """The lines of the summary's section of faults."""
    return output.partition("kernel faults ==")[2].partition("\n===")[0].splitlines()[1:]


@pytest.mark.parametrize("name", ["checks", "processes"])
def test_a_fault_is_in_the_summary_with_both_source_lines(said, name):
    if name not in said:
        pytest.skip("xdist is not installed")
    code, output = said[name]
    assert code == 1
    assert "FLAG_RESERVED_ID" in output.partition("warnings summary")[2]
    node, text, first, second = faults(output)
    assert node.endswith(".py::test_fault")
    assert text.startswith("  RAW on UB here[0:32) (aiv 0): data_copy, test_")
    assert first.split("  ")[-2:] == ["asc.data_copy(here, x_gm, n)", "# loads"]
    assert second.split("  ")[-2:] == ["asc.data_copy(z_gm, here, n)", "# stores"]


def test_strict_checks_make_a_warning_fail(said):
    code, output = said["strict"]
    assert code == 1
    assert "2 failed, 1 passed" in output
    assert any("FLAG_RESERVED_ID" in line for line in faults(output))


def test_checks_off(said):
    code, output = said["off"]
    assert code == 0, output
    assert "3 passed" in output
    assert "kernel faults" not in output


def test_a_fault_is_told_once_a_test_whatever_ended_it(said):
    """Launched twice, failed in its call and after it; broken off by an error of its own; a warning made an error."""
    code, output = said["ends"]
    assert (code, "3 failed, 1 passed, 1 error" in output) == (1, True), output
    told = [line.rpartition("::")[2].split()[0] for line in faults(output) if not line.startswith("    ")]
    assert told == ["test_twice", "RAW", "test_half_way", "RAW", "test_warning_as_error", "FLAG_RESERVED_ID:"]


def test_a_run_inside_a_run_leaves_the_alias(said):
    code, output = said["inside"]
    assert code == 0, output
