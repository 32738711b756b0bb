"""`python -m ascsim run`: a script as main program, its arguments, exit code and tracebacks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def ascsim(*arguments, cwd=None):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "ascsim", *map(str, arguments)]
    return subprocess.run(command, env=environment, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture
def script(tmp_path):
    def write(text, name="script.py"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_the_script_is_the_main_program(script):
    script("value = 'beside it'\n", "neighbour.py")
    path = script(
        "import sys, asc, neighbour\n"
        "import asc.lib.runtime as rt\n"
        "print(__name__, sys.argv[1:], neighbour.value, asc.__name__, rt.current_platform())\n"
        "print(sys.modules['__main__'].__file__ == sys.argv[0] == __file__)\n"
    )
    done = ascsim("run", path, "-r", "Model", "--help")
    assert done.stderr == ""
    assert done.stdout == "__main__ ['-r', 'Model', '--help'] beside it ascsim Ascend910B1\nTrue\n"
    assert done.returncode == 0


def test_a_script_is_compiled_under_its_own_future_statements(script):
    path = script("def f(x: int): ...\nprint(f.__annotations__)\n")
    assert ascsim("run", path).stdout == "{'x': <class 'int'>}\n"


def test_the_module_paths_need_no_import_of_their_own(script):
    path = script(
        "import asc\nprint(asc.runtime.config.Backend.Model, asc.lib.runtime.use_model, asc.codegen.errors)\n"
    )
    done = ascsim("run", path)
    assert done.stdout.startswith("Backend.Model <function use_model")
    assert "<module 'ascsim.codegen.errors'" in done.stdout


def test_a_kernel_in_a_script_is_rewritten(script):
    path = script(
        "import asc\n"
        "from asc.runtime.jit import jit\n"
        "@jit\n"
        "def kernel(n):\n"
        "    for i in range(n):\n"
        "        print(type(i).__name__, i)\n"
        "kernel[1](2)\n"
    )
    assert ascsim("run", path).stdout == "Int32 0\nInt32 1\n"


@pytest.mark.parametrize(("end", "code"), [("sys.exit(3)", 3), ("sys.exit()", 0), ("sys.exit('no')", 1), ("pass", 0)])
def test_the_exit_code_is_the_scripts(script, end, code):
    assert ascsim("run", script(f"import sys\n{end}\n")).returncode == code


def test_a_traceback_begins_and_ends_in_the_script(script):
    path = script("def inner():\n    raise ValueError('mine')\n\ninner()\n")
    done = ascsim("run", path)
    assert done.returncode == 1
    files = [line.split('"')[1] for line in done.stderr.splitlines() if line.startswith("  File")]
    assert files == [str(path), str(path)]
    assert done.stderr.splitlines()[-1] == "ValueError: mine"


def test_a_script_that_does_not_compile(script):
    done = ascsim("run", script("x = = 1\n"))
    assert done.returncode == 1
    assert "SyntaxError" in done.stderr
    assert "cli.py" not in done.stderr


def test_a_script_that_is_not_there(tmp_path):
    done = ascsim("run", "nowhere.py", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "ascsim: cannot read 'nowhere.py': No such file or directory\n")


def test_help_and_wrong_use():
    assert "run a pyasc script on the simulator" in ascsim("--help").stdout
    assert "import asc" in ascsim("run", "--help").stdout
    assert ascsim("--version").stdout.startswith("ascsim ")
    assert ascsim().returncode == 2
    assert ascsim("fly").returncode == 2
