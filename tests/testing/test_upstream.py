"""The runner of pyasc's own files, on a checkout of small ones.

Every file costs a process that imports ascsim, so each holds several cases.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUNNER = Path(__file__).resolve().parent.parent / "upstream.py"
FILES = {
    # The output has no line end.
    "python/tutorials/good.py": "import asc.lib.runtime as rt\nassert rt.is_model()\nprint('x', end='')\n",
    "python/tutorials/bad.py": "raise SystemExit('no luck')\n",
    "python/test/test_mixed.py": (
        "import pytest\nfrom asc.runtime import config\n"
        "@pytest.mark.parametrize('backend', [config.Backend.NPU])\n"
        "def test_good(backend):\n    config.set_platform(backend)\n"
        "def test_bad():\n    assert 0\n"
        "@pytest.mark.skip(reason='not on that device')\ndef test_marked():\n    pass\n"
    ),
    "test/test_skipped.py": "import pytest\npytest.skip('not here', allow_module_level=True)\n",
    # A warning, and words after pytest's last line: to stderr, and to stdout in the manner of a count.
    "test/test_good.py": (
        "import asc, atexit, os, warnings\n"
        "atexit.register(os.write, 1, b'9 failed\\n')\n"
        "atexit.register(os.write, 2, b'1 failed in 2.00s\\nbye\\n')\n"
        "def test_it():\n    warnings.warn('w', asc.SimulatorWarning)\n"
    ),
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkout")
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def upstream(checkout, *files):
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # no plugin that these files could need
    environment.pop("PYTEST_ADDOPTS", None)
    command = [sys.executable, str(RUNNER), str(checkout), *files]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_rows_counts_and_exit_code(checkout):
    names = ["tutorials/good.py", "tutorials/bad.py", "python/test/test_mixed.py", "test/test_skipped.py"]
    done = upstream(checkout, *names)
    rows = [line for line in done.stdout.splitlines() if not line.startswith("    ")]
    assert rows == [
        "pass  python/tutorials/good.py  (script)",
        "FAIL  python/tutorials/bad.py  (script)",
        "FAIL  python/test/test_mixed.py  (1 failed, 2 passed)",
        "FAIL  test/test_skipped.py  (1 skipped)",
        "1 of 4 pass",
    ]
    assert "    no luck" in done.stdout.splitlines()
    assert done.stderr == ""
    assert done.returncode == 1


def test_all_pass_in_spite_of_warnings_and_of_what_is_written_last(checkout):
    done = upstream(checkout, "test/test_good.py")
    assert done.stdout.splitlines() == ["pass  test/test_good.py  (1 passed)", "1 of 1 pass"]
    assert done.returncode == 0


def test_a_file_that_is_not_there(checkout):
    done = upstream(checkout, "nowhere.py")
    assert done.returncode == 1
    assert "no file 'nowhere.py'" in done.stderr
