"""`python -m ascsim run` and `check`: a script as main program, its arguments, exit code, tracebacks and output."""

from __future__ import annotations

import json
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
    done = ascsim("run", path.name, cwd=path.parent)
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


KERNEL = """\
import numpy as np, asc

@asc.jit
def copy(x, z):
    x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x, 8)
    z_gm.set_global_buffer(z, 8)
    here = asc.LocalTensor(x.dtype, asc.TPosition.VECIN, 0, 8)
    asc.data_copy(here, x_gm, 8)
    asc.data_copy(z_gm, here, 8)

def launch():
    copy[1](np.ones(8, np.float32), np.zeros(8, np.float32))
"""


def test_check_for_tools_prints_one_document_whatever_the_script_does(script):
    """It launches in a thread and under settings of its own, prints by all ways, and is interrupted."""
    path = script(
        KERNEL + "import atexit, os, sys, threading\n"
        "atexit.register(print, 'at exit')\n"
        "print('plain')\n"
        "sys.__stdout__.write('around\\n')\n"
        "os.write(1, b'below\\n')\n"
        "os.system('echo child')\n"
        "thread = threading.Thread(target=launch)\n"
        "thread.start()\n"
        "thread.join()\n"
        "with asc.settings(reports=[]):\n"
        "    launch()\n"
        "raise KeyboardInterrupt\n"
    )
    done = ascsim("check", "--json", path)
    told = json.loads(done.stdout)
    assert [[found["code"] for found in launch["findings"]] for launch in told["launches"]] == [["RAW"], ["RAW"]]
    assert told["summary"] == {"faults": 2, "warnings": 0, "notes": 0}
    assert told["exit"] == done.returncode == 1
    words = done.stderr.split()
    assert {"plain", "around", "below", "child", "exit", "KeyboardInterrupt"} <= set(words)
    assert "cli.py" not in done.stderr


def test_check_speaks_after_a_script_that_closed_its_output(script):
    path = script(
        KERNEL + "import os, sys\n"
        "os.chdir('/')\n"
        "print(os.path.isabs(__file__), sys.argv[0])\n"
        "launch()\n"
        "sys.stdout.close()\n"
        "sys.exit(('no', 3))\n",
        "sk\xe4lig.py",
    )
    done = subprocess.run(
        [sys.executable, "-m", "ascsim", "check", path.name],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii:backslashreplace"},
        cwd=path.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == "('no', 3)\n"
    lines = done.stdout.splitlines()
    assert lines[0] == "True sk\\xe4lig.py"
    assert lines[1].startswith("copy: 1 block on ")
    assert lines[2].startswith("  fault: RAW on UB here[0:32) (aiv 0): data_copy, sk\\xe4lig.py:10 (MTE3)")
    assert lines[-1] == "1 launch: 1 fault, no warnings, no notes"


def test_check_into_a_pipe_that_is_closed(script):
    command = [sys.executable, "-m", "ascsim", "check", str(script(KERNEL + "launch()\n"))]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")
