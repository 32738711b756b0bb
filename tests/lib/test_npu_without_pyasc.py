"""What the NPU backend says and does where it cannot launch: errors with cures, files that are whole, comparisons."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest

import ascsim as asc
from ascsim import alias, commands
from ascsim.hw.errors import BackendError
from ascsim.lib.npu import files, front_end
from ascsim.lib.npu.comparison import Comparing, compared
from ascsim.lib.npu.emission import Emission
from ascsim.report.table import Report
from ascsim.runtime.config import KernelType


def emission(name: str, text: str) -> Emission:
    return Emission(name, text, f"module of {text}", KernelType.AIV_ONLY, ())


@pytest.fixture
def no_pyasc(monkeypatch):
    monkeypatch.setattr(front_end, "pyasc_version", lambda: None)


@asc.jit
def doubles(x: asc.GlobalAddress):
    x_gm = asc.GlobalTensor()
    x_gm.set_global_buffer(x)
    local = asc.LocalTensor(x.dtype, asc.TPosition.VECIN, 0, 64)
    asc.data_copy(local, x_gm, 64)
    asc.set_flag(asc.HardEvent.MTE2_V, 0)
    asc.wait_flag(asc.HardEvent.MTE2_V, 0)
    asc.add(local, local, local, 64)
    asc.set_flag(asc.HardEvent.V_MTE3, 0)
    asc.wait_flag(asc.HardEvent.V_MTE3, 0)
    asc.data_copy(x_gm, local, 64)


def test_without_pyasc_the_cure_is_named(no_pyasc, monkeypatch):
    with pytest.raises(BackendError, match=r"doubles: pyasc is not installed: pip install 'ascsim\[npu\]'"):
        asc.emit(doubles, 1, np.zeros(64, np.float32))
    monkeypatch.setattr(sys, "version_info", (3, 13, 1))
    with pytest.raises(BackendError, match=r"in an environment of Python 3.10 to 3.12 \(this is 3.13\): pip install"):
        asc.emit(doubles, 1, np.zeros(64, np.float32))


def test_who_only_simulates_does_not_load_the_backend():
    wanted = "name.startswith('ascsim.lib.npu.') or name == 'importlib.metadata'"
    code = f"import sys, ascsim; print([name for name in sys.modules if {wanted}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['ascsim.lib.npu.device']\n"


def test_what_is_no_kernel_is_refused():
    with pytest.raises(TypeError, match="emit: kernel = 3: is no jit function"):
        asc.emit(3, 1)


def test_commands_without_pyasc(no_pyasc, capsys):
    def never(module):
        raise AssertionError

    assert commands.emit_script(never, None, False) == 2
    assert commands.compare_script(never) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("pyasc is not installed") == 2


def test_check_portable_by_rule_alone(no_pyasc, capsys):
    def run(module: ModuleType) -> int:
        doubles[1](np.zeros(64, np.float32))
        raise SystemExit(0)

    assert commands.check_portable(run) == 1
    remark, summary = capsys.readouterr().out.splitlines()
    assert remark.startswith(
        f"{__file__}:{doubles.fn.__code__.co_firstlineno + 1}: annotation of x as text: pyasc needs"
    )
    assert summary.startswith("portability: 1 remark, 1 kernel launched; by rule alone: pyasc is not installed")


@pytest.mark.parametrize(("end", "code"), [(None, 0), (3, 3), ("no", 1), (False, 0)])
def test_the_exit_code_of_a_script_that_ends_by_itself(end, code):
    def run(module):
        raise SystemExit(end)

    assert commands.finished(run, ModuleType("__main__")) == code


def test_files_have_a_name_for_each_text(tmp_path):
    made = files.written([emission("add", "a"), emission("add", "a"), emission("add", "b"), emission("mul", "c")], True)
    assert list(made) == ["add.cpp", "add.mlir", "add_2.cpp", "add_2.mlir", "mul.cpp", "mul.mlir"]
    assert (made["add_2.cpp"], made["mul.mlir"]) == ("b", "module of c")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/kept").touch()
    files.write(tmp_path / "out", made)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted([*made, "kept"])
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_files_that_cannot_all_be_written_are_not_written(tmp_path):
    with pytest.raises(OSError, match="no/such"):
        files.write(tmp_path / "out", {"good.cpp": "a", "no/such.cpp": "b"})
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "out/b.cpp").mkdir(parents=True)
    with pytest.raises(IsADirectoryError, match=r"b\.cpp in it is a folder"):
        files.write(tmp_path / "out", {"a.cpp": "a", "b.cpp": "b"})
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["b.cpp"]


def test_the_alias_comes_back_with_its_modules():
    with alias.served():
        import asc as served

        with alias.suspended():
            assert sys.modules.get("asc") is not served
        assert sys.modules["asc"] is served
    with alias.suspended():
        assert not any(type(finder).__module__ == "ascsim.alias" for finder in sys.meta_path)


# --- comparison ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "here", "there", "apart"),
    [
        (np.int32, [1, 2, 3], [1, 2, 4], 1),
        (np.uint8, [0, 255], [0, 255], 0),
        (np.float32, [1.0, 2.0], [1.00005, 2.001], 1),
        (np.float16, [1.0, 2.0], [1.001, 2.01], 1),
        (np.float32, [np.nan, np.inf, -np.inf], [np.nan, np.inf, np.inf], 1),
        (np.float32, [0.0], [9e-6], 0),
    ],
)
def test_how_far_apart_elements_may_be(dtype, here, there, apart):
    assert compared("x", np.array(here, dtype), np.array(there, dtype)).apart == apart


def device(wrong: float):
    """A device that computes 2 x, and `wrong` more in element 5."""

    def launch(request):
        (x,) = request.args
        x *= 2
        x[5] += wrong
        return Report("doubles", "chip", "", request.blocks, 1, 9.5, {}, {}, [], [])

    return launch


@pytest.mark.parametrize(("wrong", "apart"), [(0.0, 0), (0.5, 1)])
def test_a_launch_on_both_is_compared(wrong, apart):
    comparing = Comparing(device(wrong))
    x = np.arange(64, dtype=np.float32)
    with asc.settings(observer=comparing):
        report = doubles[1](x)
    assert x.tolist() == list(range(0, 128, 2))  # the script sees the simulator's result, once
    (comparison,) = comparing.comparisons
    assert comparison.ok is (apart == 0)
    assert comparison.simulated is report
    head, array, times = str(comparison).splitlines()
    assert head == ("doubles: DIFFERENT" if apart else "doubles: equal within tolerance")
    assert array == f"  x (float32): {apart} of 64 elements apart, greatest difference {wrong:g}"
    assert times == f"  Task Duration(us)  simulated {report.task_us:.3f}  device 9.500"
