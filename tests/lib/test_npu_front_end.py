"""Kernels handed to the real pyasc, as far as it goes without a toolkit: what it makes of them, and what it refuses."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from enum import Enum, IntEnum
from pathlib import Path

import numpy as np
import portable_kernels as kernels
import pytest
from test_portable import line_of

import ascsim as asc
from ascsim import alias, cli
from ascsim.hw.errors import FrontEndError
from ascsim.language.core.struct import Field, Struct, StructField
from ascsim.runtime.config import KernelType
from ascsim.runtime.jit import MockTensor, MockValue

pytestmark = pytest.mark.npu

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*/*.py"))
UB = asc.TPosition.VECIN


def calls(text: str) -> list[str]:
    """The functions of the API that a text calls, in order."""
    return re.findall(r"AscendC::(\w+)(?:<[\w:, ]*>)?\(", text.replace("AscendC::LocalTensor<", "").split("{", 1)[1])


# --- acceptance ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [name for name in kernels.EXPECTED if name not in (*kernels.DIFFERS, *kernels.STALE, *kernels.ALONE)]
)
def test_pyasc_refuses_what_the_rules_name(name):
    kernel = getattr(kernels, name)
    with pytest.raises(FrontEndError) as caught:
        asc.emit(kernel, 1, *kernels.ARGUMENTS.get(name, (5,)))
    assert caught.value.site is not None
    assert caught.value.site[0] == kernels.__file__


@pytest.mark.parametrize("name", kernels.DIFFERS)
def test_pyasc_accepts_what_it_gets_wrong_and_a_warning_says_so(name):
    kernel = getattr(kernels, name)
    with pytest.warns(asc.SimulatorWarning, match=re.escape(kernels.EXPECTED[name]).replace(r"\{\}", r"\d+")) as said:
        asc.emit(kernel, 1, *kernels.ARGUMENTS.get(name, (5,)))
    assert (said[0].filename, said[0].lineno) == (kernels.__file__, line_of(kernel.fn))


def test_pyasc_accepts_what_is_portable():
    assert calls(asc.emit(kernels.portable, 1, 5).text)[0] == "SetFlag"


def test_a_default_value_that_pyasc_leaves_out_is_filled_in():
    assert "void with_default(int32_t v1_n, int32_t v2_m," in asc.emit(kernels.with_default, 1, 5).text


def test_a_refusal_does_not_end_the_process():
    """What pyasc leaves behind after an error ends the process when Python frees it; here it is never freed."""
    code = (
        "import gc, sys; sys.path.insert(0, sys.argv[1])\n"
        "import portable_kernels as kernels, ascsim as asc\n"
        "for name in ('early', 'toggled', 'summed', 'loop_else') * 3:\n"
        "    try: asc.emit(getattr(kernels, name), 1, 5)\n"
        "    except asc.FrontEndError: gc.collect()\n"
        "print('alive')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "alive\n")
    assert "dominate" not in done.stderr


# --- the text --------------------------------------------------------------------------------------------------------


def instructions(text: str) -> list[str]:
    """The calls that a core executes: neither flags nor questions nor queues."""
    other = {"SetFlag", "WaitFlag", "GetBlockIdx", "PipeBarrier"}
    return [call for call in calls(text) if call not in other]


def vendors(name: str) -> str:
    """The vendor's name of an instruction of ours."""
    return "".join(part.capitalize() for part in name.split("_"))


@asc.jit
def halves(t, into, half: asc.ConstExpr[int]):
    asc.adds(into[half * 64 :], t[half * 64 :], 1.0, 64)
    asc.pipe_barrier(asc.PipeID.PIPE_V)
    asc.relu(into[half * 64 :], into[half * 64 :], 64)


@asc.jit
def unrolled(x: asc.GlobalAddress, z: asc.GlobalAddress):
    x_gm = asc.GlobalTensor()
    z_gm = asc.GlobalTensor()
    x_gm.set_global_buffer(x)
    z_gm.set_global_buffer(z)
    pipe = asc.TPipe()
    filled = asc.TQue(asc.TPosition.VECIN, 1)
    done = asc.TQue(asc.TPosition.VECOUT, 1)
    pipe.init_buffer(filled, 1, 512)
    pipe.init_buffer(done, 1, 512)
    a = filled.alloc_tensor(x.dtype)
    asc.data_copy(a, x_gm, 128)
    filled.enque(a)
    a = filled.deque(x.dtype)
    b = done.alloc_tensor(x.dtype)
    for half in asc.static_range(2):
        asc.muls(b[half * 64 :], a[half * 64 :], 3.0, 64)
        asc.pipe_barrier(asc.PipeID.PIPE_V)
    if WIDTH == 96:
        halves(b, a, 1)
    asc.pipe_barrier(asc.PipeID.PIPE_V)
    asc.max(b, a, b, 128)
    done.enque(b)
    b = done.deque(x.dtype)
    asc.data_copy(z_gm, b, 128)
    done.free_tensor(b)
    filled.free_tensor(a)


@asc.jit(kernel_type=KernelType.AIC_ONLY)
def product(a: asc.GlobalAddress, b: asc.GlobalAddress, c: asc.GlobalAddress):
    a_gm = asc.GlobalTensor()
    b_gm = asc.GlobalTensor()
    c_gm = asc.GlobalTensor()
    a_gm.set_global_buffer(a)
    b_gm.set_global_buffer(b)
    c_gm.set_global_buffer(c)
    a1 = asc.LocalTensor(a.dtype, asc.TPosition.A1, 0, 256)
    b1 = asc.LocalTensor(b.dtype, asc.TPosition.B1, 512, 256)
    a2 = asc.LocalTensor(a.dtype, asc.TPosition.A2, 0, 256)
    b2 = asc.LocalTensor(b.dtype, asc.TPosition.B2, 0, 256)
    c0 = asc.LocalTensor(asc.float32, asc.TPosition.CO1, 0, 256)
    asc.data_copy(a1, a_gm, asc.Nd2NzParams(1, 16, 16, 0, 16, 16, 1, 0))
    asc.data_copy(b1, b_gm, asc.Nd2NzParams(1, 16, 16, 0, 16, 16, 1, 0))
    asc.set_flag(asc.HardEvent.MTE2_MTE1, 0)
    asc.wait_flag(asc.HardEvent.MTE2_MTE1, 0)
    asc.load_data(a2, a1, asc.LoadData2DParams(0, 1, 1, 0, 0, False, 0))
    asc.load_data(b2, b1, asc.LoadData2DParams(0, 1, 1, 0, 0, True, 0))
    asc.set_flag(asc.HardEvent.MTE1_M, 0)
    asc.wait_flag(asc.HardEvent.MTE1_M, 0)
    how = asc.MmadParams(m=16, n=16, k=16, unit_flag=0, cmatrix_source=False, cmatrix_init_val=True)
    asc.mmad(c0, a2, b2, how)
    asc.set_flag(asc.HardEvent.M_FIX, 0)
    asc.wait_flag(asc.HardEvent.M_FIX, 0)
    asc.fixpipe(c_gm, c0, asc.FixpipeParamsV220(16, 16, 16, 16, quant_pre=asc.QuantModes.F322F16))


@asc.jit
def straight(x: asc.GlobalAddress, z: asc.GlobalAddress):
    x_gm = asc.GlobalTensor()
    z_gm = asc.GlobalTensor()
    x_gm.set_global_buffer(x)
    z_gm.set_global_buffer(z)
    a = asc.LocalTensor(x.dtype, UB, 0, 64)
    b = asc.LocalTensor(x.dtype, UB, 1024, 64)
    asc.data_copy(a, x_gm, 64)
    asc.set_flag(asc.HardEvent.MTE2_V, 0)
    asc.wait_flag(asc.HardEvent.MTE2_V, 0)
    asc.duplicate(b, 2.0, 64)
    asc.mul(b, a, b, 64)
    asc.exp(b, b, 64)
    asc.sub(b, b, a, 64)
    asc.set_flag(asc.HardEvent.V_MTE3, 1)
    asc.wait_flag(asc.HardEvent.V_MTE3, 1)
    asc.data_copy(z_gm, b, 64)


@pytest.fixture
def devices(monkeypatch):
    """The devices of the launches, which a launch otherwise lets go."""
    kept: list[object] = []
    of = asc.Report.of
    monkeypatch.setattr(asc.Report, "of", lambda device, name: kept.append(device) or of(device, name))
    return kept


def test_the_text_has_the_calls_of_a_straight_kernel_in_order(devices):
    x = np.ones(64, np.float32)
    emission = asc.emit(straight, 1, x, x)
    with asc.settings(record=True):
        straight[1](x, np.zeros_like(x))
    issued = [entry.plan.name for entry in devices[0].record.entries()]
    assert instructions(emission.text) == ["DataCopy", "Duplicate", "Mul", "Exp", "Sub", "DataCopy"]
    assert instructions(emission.text) == [vendors(name) for name in issued]
    assert calls(emission.text) == ("DataCopy SetFlag WaitFlag Duplicate Mul Exp Sub SetFlag WaitFlag DataCopy".split())
    assert (emission.name, emission.kernel_type, str(emission)) == ("straight", KernelType.AIV_ONLY, emission.text)
    assert "ascendc.mul" in emission.intermediate or "mul_l2" in emission.intermediate


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (unrolled, "DataCopy Muls Muls Adds Relu Max DataCopy"),
        (product, "DataCopy DataCopy LoadData LoadData Mmad Fixpipe"),
    ],
    ids=["unrolled", "product"],
)
def test_the_text_has_the_instructions_that_the_simulator_issues(kernel, expected, devices):
    arrays = [np.ones(256, np.float16) for _ in kernel.signature.parameters]
    with asc.settings(record=True):
        kernel[1](*arrays)
    issued = [entry.plan.name for entry in devices[0].record.entries()]
    assert " ".join(map(vendors, issued)) == expected
    queues = ("AllocTensor", "EnQue", "DeQue", "FreeTensor", "InitBuffer")
    text = asc.emit(kernel, 1, *arrays).text
    assert [call for call in instructions(text) if call not in queues] == expected.split()


class Inner(Struct):
    count = Field(dtype=asc.int32, default=3)


class Tiling(Struct):
    tiles = Field(dtype=asc.int32)
    scale = Field(dtype=asc.float32, default=0.5)
    inner = StructField(Inner)


@dataclass(frozen=True)
class Config:
    dtype: asc.DataType = asc.float16
    events: tuple[asc.HardEvent, ...] = (asc.HardEvent.MTE2_V,)


CONFIG = Config()
WIDTH = asc.ConstExpr(96)


class Names:
    POSITION = asc.TPosition.VECOUT

    @staticmethod
    @asc.jit
    def more(count):
        return count + 9


class Place(Enum):
    SECOND = asc.TPosition.VECOUT


class Times(IntEnum):
    FIVE = 5


@asc.jit
def fill(tensor, value: asc.ConstExpr[float], count):
    asc.duplicate(tensor, value, count)


@asc.jit(kernel_type=KernelType.MIX_AIC_1_1)
def everything(x, tiling, kind: asc.ConstExpr[asc.DataType], n, wide):
    local = asc.LocalTensor(CONFIG.dtype, Names.POSITION, 0, WIDTH)
    fill(local, 1.5, tiling.tiles + tiling.inner.count)
    asc.set_flag(CONFIG.events[0], 0)
    asc.wait_flag(asc.HardEvent.MTE2_V, 0)
    other = asc.LocalTensor(kind, UB, 1024, 64)
    asc.duplicate(other, 2, Names.more(n) * Times.FIVE)
    last = asc.LocalTensor(kind, Place.SECOND.value, 2048, 64)
    asc.duplicate(last, 2, n)


def test_values_stand_for_pyascs_of_the_same_name():
    text = asc.emit(
        everything, 2, MockTensor(asc.int8), Tiling(tiles=7), asc.int16, MockValue(asc.int64), np.int64(5)
    ).text
    assert "AscendC::LocalTensor<half>(AscendC::TPosition::VECOUT" in text
    assert "AscendC::LocalTensor<int16_t>(AscendC::TPosition::VECIN" in text
    assert "AscendC::LocalTensor<int16_t>(AscendC::TPosition::VECOUT" in text
    assert re.search(r"= v\d+_n \+ c9_i\w+;\n\s*\w+ \w+ = \w+ \* c5_i", text)
    assert re.search(r"struct __attribute__.*|struct Tiling", text)
    assert re.search(r"void everything\(__gm__ int8_t\* \w+, __gm__ Tiling\* \w+, int64_t \w+, int64_t \w+", text)
    assert "constexpr uint32_t v" in text
    assert " = 96;" in text


def test_the_users_own_objects_are_not_touched():
    names = dict(globals())
    asc.emit(everything, 2, MockTensor(asc.int8), Tiling(tiles=7), asc.int16, 3, 5)
    assert {name: value for name, value in globals().items() if value is not names.get(name)} == {}
    assert Config() == CONFIG
    assert Names.POSITION is asc.TPosition.VECOUT


def test_the_kernel_type_is_the_options():
    assert asc.emit(everything, 2, MockTensor(asc.int8), Tiling(tiles=7), asc.int16, 3, 5).kernel_type is (
        KernelType.MIX_AIC_1_1
    )


def test_a_module_of_the_users_is_seen_through():
    source = (
        "import asc\nimport portable_kernels as there\n"
        "@asc.jit\ndef kernel(n):\n    asc.set_flag(there.FLAG, there.helper(n) * there.TILE)\n"
    )
    text = emitted(source)
    assert re.search(r"= v1_n \+ c1_i32;", text)
    assert re.search(r"= \w+ \* c64_i32;", text)
    assert "AscendC::SetFlag<AscendC::HardEvent::MTE2_V>" in text


def emitted(source: str) -> str:
    """The text of the kernel `kernel(n)` of a module in which `asc` is served."""
    import linecache

    space: dict[str, object] = {"__name__": "served"}
    lines = source.splitlines(keepends=True)
    linecache.cache["<served>"] = (len(source), None, lines, "<served>")
    with alias.served():
        exec(compile(source, "<served>", "exec"), space)
        text = asc.emit(space["kernel"], 1, 5).text
        assert sys.modules["asc"].__name__ == "ascsim"
    return text


def test_an_object_that_pyasc_makes_in_kernels_alone_is_named():
    with pytest.raises(FrontEndError, match=r"pyasc .* has no a DataCopyParams made outside a kernel"):
        asc.emit(params_outside, 1, MockTensor(asc.float32))


PARAMS = asc.DataCopyParams(1, 2)


@asc.jit
def params_outside(x):
    x_gm = asc.GlobalTensor()
    x_gm.set_global_buffer(x)
    asc.data_copy(asc.LocalTensor(x.dtype, UB, 0, 64), x_gm, PARAMS)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((0, np.zeros(8, np.float32), np.zeros(8, np.float32)), ValueError, "1 to 65535 blocks"),
        ((1, np.zeros((8, 8), np.float32)[:, 1], np.zeros(8, np.float32)), ValueError, "not C-contiguous"),
        ((1, np.zeros(8, np.float32)), TypeError, "missing a required argument"),
        ((1, "text", np.zeros(8, np.float32)), TypeError, "not supported"),
    ],
)
def test_wrong_arguments_are_refused_before_pyasc_sees_them(arguments, error, words):
    with pytest.raises(error, match=words):
        asc.emit(straight, *arguments)


# --- examples, commands ----------------------------------------------------------------------------------------------


def command(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-W", "ignore", "-m", "ascsim", *map(str, arguments)]
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_an_example_emits(script, tmp_path):
    done = command("emit", script, "-o", "out", "--intermediate", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    texts = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert texts
    for path in (tmp_path / "out").glob("*.cpp"):
        assert path.read_text().startswith(('#include "kernel_operator.h"', "#define ASCENDC_CUBE_ONLY"))
        assert f"{path.stem}.mlir" in texts


def test_the_lessons_on_hazards_emit_but_one(tmp_path, capsys):
    """Faulty and cured kernel of each. pyasc 1.1.1 gives no memory to the TQueBind that cures lesson 9."""
    lessons = sorted((ROOT / "examples/hazards").glob("*/lesson.py"))
    codes = {
        path.parent.name: cli.main(["emit", str(path), "-o", str(tmp_path / path.parent.name)]) for path in lessons
    }
    assert [name for name, code in codes.items() if code] == ["09_queue_position"]
    assert "cured: pyasc 1.1.1 refuses it: lesson.py:47" in capsys.readouterr().err
    texts = {folder.name: len(list(folder.glob("*.cpp"))) for folder in tmp_path.iterdir()}
    assert texts == {name: 2 for name, code in codes.items() if not code}


TWO = (
    "import asc\n"
    "@asc.jit\ndef good(n):\n    asc.pipe_barrier(asc.PipeID.PIPE_ALL)\n"
    "@asc.jit\ndef bad(n):\n    m = min(n, 3)\n"
    "good[1](5)\n"
    "print('between')\n"
)


def test_emission_that_fails_midway_leaves_nothing(tmp_path):
    (tmp_path / "two.py").write_text(TWO + "bad[1](5)\n")
    done = command("emit", "two.py", "-o", "out", cwd=tmp_path)
    assert done.returncode == 1
    assert "two.py:7: NameError: min is not defined" in done.stderr
    assert "ascsim: emit: nothing is written" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["two.py"]


def test_what_a_script_launches_goes_to_standard_output(tmp_path, capsys):
    (tmp_path / "two.py").write_text(TWO)
    assert cli.main(["emit", str(tmp_path / "two.py")]) == 0
    out, err = capsys.readouterr()
    assert "void good(int32_t" in out
    assert "between" not in out
    assert err == "between\n"


def test_a_refusal_that_the_script_catches_is_told_all_the_same(tmp_path, capsys):
    (tmp_path / "two.py").write_text(TWO + "try:\n    bad[1](5)\nexcept asc.FrontEndError:\n    pass\n")
    assert cli.main(["emit", str(tmp_path / "two.py"), "-o", str(tmp_path / "out")]) == 1
    told = capsys.readouterr().err.splitlines()
    assert re.match(r"ascsim: emit: bad: pyasc .* two.py:7: NameError: min is not defined", told[1])
    assert told[2] == "ascsim: emit: nothing is written"
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_there_and_words_for_the_script(tmp_path):
    (tmp_path / "one.py").write_text(TWO.replace("good[1](5)", "import sys; sys.argv[2:] == ['-x'] and good[1](5)"))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "kept").touch()
    words = ["emit", str(tmp_path / "one.py"), "-o", str(tmp_path / "out")]
    assert cli.main([*words, "--", "word", "-x"]) == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["good.cpp", "kept"]
    assert cli.main(words) == 1  # nothing is launched


def test_pyasc_refuses_a_member_that_a_parameter_has_made_a_number():
    with pytest.raises(FrontEndError, match=r"(?s)create_asc_SetFlagOp.*HardEvent from a parameter of a device"):
        asc.emit(kernels.passes_members, 1, 5)


def test_what_no_rule_names_is_told_in_one_line_without_addresses(tmp_path):
    """pyasc takes no number for an event; ours is what the launch gives."""
    (tmp_path / "odd.py").write_text(
        "import asc\n@asc.jit\ndef odd(n):\n    asc.set_flag(n, 0)\n    asc.wait_flag(n, 0)\nodd[1](4)\n"
    )
    line, _ = command("check", "--portable", "odd.py", cwd=tmp_path).stdout.splitlines()
    assert re.search(r"TypeError: create_asc_SetFlagOp\(\): incompatible function arguments\.; see the line", line)


def test_check_portable_tells_what_pyasc_confirms(tmp_path):
    (tmp_path / "two.py").write_text(TWO + "bad[1](5)\n")
    done = command("check", "--portable", "two.py", cwd=tmp_path)
    assert done.returncode == 1
    line, last = done.stdout.splitlines()
    assert re.match(r"\S*two\.py:7: min: .* \[pyasc \S+ refuses it\]$", line)
    assert re.match(r"portability: 1 remark, 2 kernels launched; pyasc \S+ accepts 1$", last)
