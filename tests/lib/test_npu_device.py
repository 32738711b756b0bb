"""The way to a device, end to end without one: stand-ins for the compiler, the linker and the runtime library.

The compiler and the linker are programs that write down their arguments and an empty object file. The runtime library
stands behind pyasc's own calls: its memory is host memory, so that the argument block and every copy can be read. Its
launch adds 1 to every element of the last array, whatever the kernel says.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ascsim as asc
from ascsim import cli
from ascsim.hw.errors import BackendError
from ascsim.language.core.struct import Field, Struct
from ascsim.lib.npu import availability
from ascsim.lib.npu.front_end import front_end
from ascsim.runtime.config import Backend, Platform, set_platform

pytestmark = pytest.mark.npu

PROGRAM = """\
#!{python}
import sys
with open({log!r}, "a") as log:
    print({name!r}, *sys.argv[1:], file=log)
if "-o" in sys.argv:
    open(sys.argv[sys.argv.index("-o") + 1], "ab").write(b"object")
"""
SCALE = 3
FFTS = 0x1000  # what the stand-in gives as the address of the cross-core flags


class Runtime:
    """In place of pyasc's RuntimeInterface: keeps every call, and memory."""

    log: list[tuple]  # name and the arguments that are told
    memory: dict[int, ctypes.Array]

    def __init__(self, is_model, soc):
        assert not is_model
        self.lib = None

    def call(self, name, *args):
        told = getattr(self, name.removesuffix("Wrapper"), lambda *_: ())(*args)
        Runtime.log.append((name.removesuffix("Wrapper"), *told))

    def GetSocVersion(self, text, size):
        ctypes.memmove(text, b"Ascend910B3\0", 12)
        return ()

    def SetDevice(self, number):
        return (number.value,)

    def GetDeviceCount(self, count):
        ctypes.c_int32.from_address(count.value).value = 1
        return ()

    def StreamCreate(self, stream, priority):
        ctypes.c_void_p.from_address(stream.value).value = 0x77
        return ()

    def DevBinaryRegister(self, binary, handle):
        ctypes.c_void_p.from_address(handle.value).value = 0x99
        return (hex(ctypes.c_uint32.from_address(binary.value).value),)

    def FunctionRegister(self, kernel, stub, name, info, mode):
        return (name.value.decode(),)

    def Malloc(self, pointer, size, kind, module):
        block = ctypes.create_string_buffer(size.value)
        Runtime.memory[ctypes.addressof(block)] = block
        ctypes.c_void_p.from_address(pointer.value).value = ctypes.addressof(block)
        return (size.value,)

    def Memcpy(self, target, room, source, size, kind):
        ctypes.memmove(target, source, size.value)
        return size.value, {1: "to device", 2: "from device"}[kind]

    def GetC2cCtrlAddr(self, address, length):
        address[0] = FFTS
        return ()

    def KernelLaunch(self, stub, blocks, arguments, size, sm, stream):
        words = (ctypes.c_uint64 * (size.value // 8)).from_address(arguments.value)
        last = ctypes.cast(words[1], ctypes.POINTER(ctypes.c_float))
        for i in range(4):
            last[i] += 1
        return blocks.value, list(words)


class Profiler:
    """In place of pyasc's NPUUtils."""

    def __init__(self, is_model, soc):
        self.msprof_sys_cycle_time = lambda: 0
        self.msprof_report_compact_info = self.msprof_report_api = lambda *_: None


@pytest.fixture
def stand_ins(tmp_path, monkeypatch):
    """The stand-ins in their places; the value is the log of the two programs."""
    log = tmp_path / "programs.log"
    log.touch()
    for variable, name in (("PYASC_COMPILER", "bisheng"), ("PYASC_LINKER", "ld.lld"), ("CC", "g++")):
        program = tmp_path / name
        program.write_text(PROGRAM.format(python=sys.executable, log=str(log), name=name))
        program.chmod(0o755)
        monkeypatch.setenv(variable, str(program))
    (tmp_path / "cann/lib64").mkdir(parents=True)
    for name in availability.LIBRARIES:
        (tmp_path / "cann/lib64" / name).touch()
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path / "cann"))
    monkeypatch.setenv("HOME", str(tmp_path))
    with front_end("test") as real:
        import asc.lib.runtime.interface as interface
        import asc.lib.runtime.state as state
        import asc.lib.utils as utils
        import asc.runtime.cache as cache

        utils.get_ascend_path.cache_clear()
        monkeypatch.setattr(state, "RuntimeInterface", Runtime)
        monkeypatch.setattr(state, "NPUUtils", Profiler)
        for name, value in (("lib", None), ("npu_utils", None), ("device_id", None), ("streams", {}), ("allocs", {})):
            monkeypatch.setattr(state, name, value)
        monkeypatch.setattr(interface.atexit, "register", lambda *_: None)
        monkeypatch.setattr(interface.signal, "signal", lambda *_: None)
        monkeypatch.setattr(cache, "cache_options", cache.CacheOptions(dir=str(tmp_path / "cache")))
        assert real.lib.runtime.state is state
    Runtime.log, Runtime.memory = [], {}
    with asc.settings(backend=Backend.Model):
        yield log
    utils.get_ascend_path.cache_clear()


class Limits(Struct):
    low = Field(dtype=asc.int16)
    high = Field(dtype=asc.int64)


@asc.jit
def kernel(n, x: asc.GlobalAddress, s, limits, width: asc.ConstExpr[int]):
    x_gm = asc.GlobalTensor()
    x_gm.set_global_buffer(x)
    local = asc.LocalTensor(x.dtype, asc.TPosition.VECIN, 0, width)
    asc.duplicate(local, s, n + limits.low + SCALE)


def names() -> list[str]:
    return [entry[0] for entry in Runtime.log]


def test_a_launch_end_to_end(stand_ins):
    set_platform(Backend.NPU)
    assert asc.lib.runtime.current_platform() == "Ascend910B3"
    x = np.arange(4, dtype=np.float32)
    Runtime.log.clear()
    report = kernel[3](7, x, 0.5, Limits(low=2, high=-1), 64)
    assert x.tolist() == [1, 2, 3, 4]
    assert (report.name, report.platform, report.blocks, report.findings) == ("kernel", "Ascend910B3", 3, [])
    assert report.task_us > 0
    assert "Task Duration(us)  " in str(report)

    assert [name for name in names() if not name.startswith("Get")] == [
        *("SetDevice", "StreamCreate", "DevBinaryRegister", "FunctionRegister"),
        *("Malloc", "Memcpy") * 3,
        *("KernelLaunch", "StreamSynchronize", "StreamSynchronize"),
        *("Memcpy", "Free") * 3,
        "DevBinaryUnRegister",
    ]
    told = {entry[0]: entry[1:] for entry in Runtime.log}
    assert told["DevBinaryRegister"] == ("0x41415246",)  # a vector kernel
    assert told["FunctionRegister"] == ("kernel",)
    blocks, words = told["KernelLaunch"]
    assert blocks == 3
    n, array, scalar, struct, flags = words  # an int in a slot of 4 bytes, filled up to the pointer behind it
    assert n == 7
    assert scalar == int.from_bytes(np.float32(0.5).tobytes(), "little")
    assert array % 512 == struct % 512 == flags % 512 == 0
    sizes = [entry[1] for entry in Runtime.log if entry[0] == "Malloc"]
    assert sizes == [16 + 512, 16 + 512, 8 + 512]  # the array, the struct with its padding, the address of the flags

    compiler, linker = [line.split() for line in stand_ins.read_text().splitlines()]
    assert compiler[:5] == ["bisheng", "-c", "-x", "cce", "-O3"]
    assert "--cce-aicore-arch=dav-c220-vec" in compiler
    assert "--cce-auto-sync" in compiler
    assert linker[:4] == ["ld.lld", "-m", "aicorelinux", "-Ttext=0"]


def test_a_compiled_kernel_is_kept_until_a_global_changes(stand_ins, monkeypatch):
    set_platform(Backend.NPU)

    def compiled() -> int:
        kernel[1](7, np.zeros(4, np.float32), 0.5, Limits(low=2, high=-1), 64)
        return stand_ins.read_text().count("bisheng ")

    assert [compiled(), compiled()] == [1, 1]
    monkeypatch.setitem(globals(), "SCALE", 4)
    assert [compiled(), compiled()] == [2, 2]


def test_the_device_that_is_set_runs_the_launch(stand_ins):
    set_platform(Backend.NPU, device_id=1)
    rt = asc.lib.runtime
    assert (rt.is_model(), rt.is_available(), rt.device_count(), rt.current_device()) == (False, True, 1, 1)
    rt.set_device(2)
    kernel[1](7, np.zeros(4, np.float32), 0.5, Limits(low=2, high=-1), 64)
    assert [entry[1:] for entry in Runtime.log if entry[0] == "SetDevice"] == [(1,), (2,)]


MORE = """\
import numpy as np
import asc

@asc.jit
def more(n, x):
    x_gm = asc.GlobalTensor()
    x_gm.set_global_buffer(x)
    local = asc.LocalTensor(x.dtype, asc.TPosition.VECIN, 0, 8)
    asc.data_copy(local, x_gm, 8)
    asc.set_flag(asc.HardEvent.MTE2_V, 0)
    asc.wait_flag(asc.HardEvent.MTE2_V, 0)
    asc.adds(local, local, {by}, 4)
    asc.set_flag(asc.HardEvent.V_MTE3, 0)
    asc.wait_flag(asc.HardEvent.V_MTE3, 0)
    asc.data_copy(x_gm, local, 8)

more[1](7, np.zeros(8, np.float32))
"""


@pytest.mark.parametrize(("by", "code", "words"), [(1.0, 0, "equal within tolerance"), (2.0, 1, "DIFFERENT")])
def test_run_compare(stand_ins, tmp_path, capsys, by, code, words):
    (tmp_path / "more.py").write_text(MORE.format(by=by))
    assert cli.main(["run", "--compare", str(tmp_path / "more.py")]) == code
    head, array, times = capsys.readouterr().out.splitlines()
    assert head == f"more: {words}"
    assert array.startswith(f"  x (float32): {4 * code} of 8 elements apart, greatest difference {code}")
    assert re.match(r"  Task Duration\(us\)  simulated \d+\.\d{3}  device \d+\.\d{3}$", times)
    assert names().count("KernelLaunch") == 3


@asc.jit
def empty_params(x):
    asc.MmadParams(16, 16, 16)


def test_what_pyasc_gets_wrong_is_not_launched(stand_ins):
    set_platform(Backend.NPU)
    Runtime.log.clear()
    with pytest.raises(BackendError, match="MmadParams with a part of its values: pyasc makes an empty object"):
        empty_params[1](np.zeros(4, np.float32))
    assert Runtime.log == []


def test_a_platform_that_is_not_the_devices(stand_ins):
    set_platform(Backend.NPU, Platform.Ascend910B3)
    with pytest.raises(BackendError, match=r"the device is Ascend910B3; nearest legal value: Ascend910B3"):
        set_platform(Backend.NPU, Platform.Ascend910B1)


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("PYASC_COMPILER", "nowhere", "no compiler: PYASC_COMPILER names 'nowhere'"),
        ("PYASC_LINKER", "nowhere", "no linker: PYASC_LINKER names 'nowhere'"),
        ("CC", "nowhere", "no C\\+\\+ compiler: g\\+\\+ or clang"),
        ("ASCEND_HOME_PATH", "", "no runtime library \\(ASCEND_HOME_PATH is not set\\): the CANN toolkit"),
        ("ASCEND_HOME_PATH", os.sep + "nowhere", "libruntime.so, libmsprofiler.so, libascendcl.so not in"),
    ],
)
def test_what_is_missing_is_named_with_what_supplies_it(stand_ins, monkeypatch, variable, value, words):
    monkeypatch.setenv(variable, value)
    with pytest.raises(BackendError, match=f"set_platform: .*{words}.*what still works: .*ascsim emit"):
        set_platform(Backend.NPU)


def test_no_device(stand_ins, monkeypatch):
    monkeypatch.setattr(Runtime, "GetDeviceCount", lambda self, count: ())
    with pytest.raises(BackendError, match="no device: an Atlas A2 or A3 card"):
        set_platform(Backend.NPU)


def test_a_library_that_does_not_load(stand_ins, monkeypatch):
    def fails(self, is_model, soc):
        raise OSError("libruntime.so: wrong ELF class")

    monkeypatch.setattr(Runtime, "__init__", fails)
    with pytest.raises(BackendError, match=r"does not load \(OSError: libruntime.so: wrong ELF class\)"):
        set_platform(Backend.NPU)


def test_a_compiler_that_refuses(stand_ins, tmp_path):
    set_platform(Backend.NPU)
    (tmp_path / "bisheng").write_text(f"#!{sys.executable}\nimport sys\nsys.exit('no such instruction')\n")
    x = np.zeros(4, np.float32)
    with pytest.raises(BackendError, match=r"(?s)kernel: pyasc .*compile failed!.*no such instruction"):
        kernel[1](7, x, 0.5, Limits(low=2, high=-1), 64)
    assert x.tolist() == [0, 0, 0, 0]


ROOT = Path(__file__).resolve().parents[2]


def test_the_examples_say_what_is_missing():
    script = ROOT / "examples/01_add/add.py"
    environment = {name: value for name, value in os.environ.items() if name != "ASCEND_HOME_PATH"}
    command = [sys.executable, str(script), "-r", "NPU"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "BackendError: set_platform: backend = 'NPU': cannot launch on a device here: " in done.stderr
    assert "ASCEND_HOME_PATH is not set" in done.stderr
