"""The pytest plugin, run on small test files of pyasc's shape in a pytest of their own."""

from __future__ import annotations

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


@pytest.fixture
def pytest_run(tmp_path):
    def run(files, *options):
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        environment.pop("PYTEST_ADDOPTS", None)
        plugin = ["-p", "ascsim.testing.plugin", "-p", "no:cacheprovider"]
        command = [sys.executable, "-m", "pytest", "-q", *plugin, *options, str(tmp_path)]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    return run


def test_alias_reaches_conftest_and_test_files(pytest_run):
    code, output = pytest_run({"conftest.py": CONFTEST, "test_a.py": BY_FIXTURE}, "--ascsim-alias")
    assert code == 0, output
    assert "1 passed" in output


def test_without_the_option_nothing_is_served(pytest_run):
    text = "import sys\ndef test_it():\n    assert not any('alias' in type(f).__module__ for f in sys.meta_path)\n"
    code, output = pytest_run({"test_a.py": text})
    assert code == 0, output


def test_model_stands_in_for_the_npu(pytest_run):
    code, output = pytest_run({"test_a.py": BY_PARAMETER}, "--ascsim-alias", "--ascsim-backend=Model", "-vv")
    assert code == 0, output
    assert "7 passed" in output
    assert "Backend.NPU" in output  # the identifier keeps the author's word


def test_without_the_option_the_npu_is_refused(pytest_run):
    code, output = pytest_run({"test_a.py": BY_PARAMETER}, "--ascsim-alias")
    assert code == 1
    assert "4 failed, 3 passed" in output
    assert "the NPU backend is not built yet" in output


def test_on_several_processes(pytest_run):
    pytest.importorskip("xdist")
    code, output = pytest_run(
        {"conftest.py": CONFTEST, "test_a.py": BY_PARAMETER}, "--ascsim-alias", "--ascsim-backend=Model", "-n", "2"
    )
    assert code == 0, output
    assert "7 passed" in output


def test_an_unknown_backend_is_refused(pytest_run):
    code, output = pytest_run({"test_a.py": ""}, "--ascsim-backend=GPU")
    assert code == 4
    assert re.search(r"invalid choice: '?GPU", output)
