"""The runner of pyasc's own files, on a checkout of two small ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

RUNNER = Path(__file__).resolve().parent.parent / "upstream.py"
FILES = {
    "python/tutorials/good.py": "import asc.lib.runtime as rt\nassert rt.is_model()\n",
    "python/tutorials/bad.py": "raise SystemExit('no luck')\n",
    "python/test/test_mixed.py": (
        "import pytest\nfrom asc.runtime import config\n"
        "@pytest.mark.parametrize('backend', [config.Backend.NPU])\n"
        "def test_good(backend):\n    config.set_platform(backend)\n"
        "def test_bad():\n    assert 0\n"
    ),
    "test/test_skipped.py": "import pytest\npytest.skip('not here', allow_module_level=True)\n",
    "test/test_good.py": "import asc, warnings\ndef test_it():\n    warnings.warn('w', asc.SimulatorWarning)\n",
}


def upstream(checkout, *files):
    for name, text in FILES.items():
        path = checkout / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    command = [sys.executable, str(RUNNER), str(checkout), *files]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_rows_counts_and_exit_code(tmp_path):
    names = ["tutorials/good.py", "tutorials/bad.py", "test/test_mixed.py", "test/test_skipped.py"]
    done = upstream(tmp_path, *names)
    rows = [line for line in done.stdout.splitlines() if not line.startswith("    ")]
    assert rows == [
        "pass  python/tutorials/good.py  (script)",
        "FAIL  python/tutorials/bad.py  (script)",
        "FAIL  python/test/test_mixed.py  (1 failed, 1 passed)",
        "FAIL  test/test_skipped.py  (1 skipped)",
        "1 of 4 pass",
    ]
    assert "    no luck" in done.stdout.splitlines()
    assert done.returncode == 1


def test_all_pass_in_spite_of_warnings(tmp_path):
    done = upstream(tmp_path, "python/tutorials/good.py", "test/test_good.py")
    assert done.stdout.splitlines()[-1] == "2 of 2 pass"
    assert done.returncode == 0


def test_a_file_that_is_not_there(tmp_path):
    done = upstream(tmp_path, "nowhere.py")
    assert done.returncode == 1
    assert "no file 'nowhere.py'" in done.stderr
