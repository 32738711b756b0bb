"""Each call of `front_end_table` is accepted here if and only if pyasc's front end accepts it.

Here a call runs in a kernel on zeros, and is refused by any error; there it is compiled to Ascend C text, without
toolkit or device. What a call says of types and addresses beyond what pyasc looks at is no matter of these tests.
"""

from __future__ import annotations

import json
import subprocess
import sys
from inspect import isfunction
from pathlib import Path
from types import CodeType

import front_end_calls  # noqa: F401  # fills the table
import front_end_methods  # noqa: F401  # fills the table
import front_end_table as table
import numpy as np
import pytest
from basic_machine import launch, whole

import ascsim as asc
from ascsim.hw.errors import SimulatorError
from ascsim.language.core.place import running
from ascsim.lib.support import sections

NAMES = json.loads((Path(__file__).parent / "api_names.json").read_text())
# Functions without a row, and classes whose methods are called on the host, each with its reason.
ELSEWHERE = {"jit": "is no call of a kernel"}
ON_THE_HOST: tuple[str, ...] = (
    "lib.host.",
    "ConstExpr.",
    "adv.SoftmaxTiling.",
    "adv.RmsNormTiling.",
    "adv.TCubeTiling.",
)
ON_THE_HOST += ("adv.MatmulApiStaticTiling.", "ShapeInfo.from_ir", "ShapeInfo.to_ir")
# Calls that pyasc compiles and this package refuses, and what it says.
REFUSED_HERE = {
    "scatter(f0, f1, u2, 0, 64)": "Ascend910B1 has no such instruction",
    "scatter(f0, f1, u2, 0, [1, 0], 1, 8)": "Ascend910B1 has no such instruction",
    "mrg_sort4(f0, lists, merging)": "this chip has no such instruction",
    "rp_sort16(h0, h1, 1)": "this chip has no such instruction",
    "proposal_concat(h0, h1, 1, 1)": "this chip has no such instruction",
    "proposal_extract(h0, h1, 1, 1)": "this chip has no such instruction",
    "trap()": "the kernel stopped itself",
    "inline('text')": "raw C++ text runs on the device only",
    "adv.get_mm_config('x')": "is no part of one",  # pyasc never looks at the arguments
    "adv.get_mm_config(no_such=1)": "is no part of one",
    "TBuf.get_tensor_count_in_que()": "depth = 0: not available",
    "TBuf.has_idle_buffer()": "depth = 0: not available",
    "TBuf.has_tensor_in_que()": "depth = 0: not available",
    "TBuf.vacant_in_que()": "depth = 0: not available",
}
# Calls that pyasc refuses and this package takes, and what pyasc says.
TAKEN_HERE = {
    # its own binding is broken: the vendor's pages have the call
    "LocalTensor.to_file('name')": "incompatible function arguments",
    "LocalTensorAuto.to_file('name')": "incompatible function arguments",
    "TQue.free_all_event()": "no attribute 'create_asc_FreeAllEventOp'",
    "TQueBind.free_all_event()": "no attribute 'create_asc_FreeAllEventOp'",
    "TPipe.init_buffer(bind, 2, 64)": "Registered candidates",
    # the two names of the length of a TBuf, of which each of its classes takes another
    "TPipe.init_buffer(room, len=64)": "Registered candidates",
    "TBufPool.init_buffer(room, num=64)": "Registered candidates",
    # defaults of the vendor's page; a check of portability speaks of it
    "cross_core_wait_flag(0)": "missing 2 required positional arguments",
    "cross_core_wait_flag(0, 0)": "missing 1 required positional argument",
    # its own default fails
    "adv.get_matmul_api_tiling(asc.adv.MatmulConfig(), half, half, single, single)": "unexpected keyword argument",
    # a TBufHandle cannot be made in pyasc, here its address stands for it
    "TQue.init_start_buf_handle(3, 1, 64)": "'int' object has no attribute 'to_ir'",
}
NEVER_REFUSED = {"adv.get_mm_config": "pyasc never looks at its arguments"}
HERE = "<a call>"
ZEROS = np.zeros(180 << 10, np.uint8)


def functions() -> set[str]:
    places = (("", asc, NAMES["asc"]), ("adv.", asc.adv, NAMES["asc.adv"]))
    return {f"{prefix}{n}" for prefix, at, names in places for n in names if isfunction(getattr(at, n, None))}


def methods() -> set[str]:
    """The methods of the support table that are called in kernels."""
    names = (entry.name for _, entries in sections() for entry in entries if "(" in "".join(entry.forms))
    return {n for n in names if "." in n.removeprefix("adv.") and not n.startswith(ON_THE_HOST)}


def names_of(calls: dict[str, str]) -> set[str]:
    return {call[: call.index("(")] for call in calls}


def test_every_function_has_accepted_and_refused_calls() -> None:
    """A name that lacks one of them stands in a list above."""
    there = functions() | methods()
    assert there - set(table.ACCEPTED) == set(ELSEWHERE)
    lacking = {name for name in table.ACCEPTED if not table.ACCEPTED[name]}
    assert lacking - names_of(REFUSED_HERE) - names_of(TAKEN_HERE) == {"TBuf.free_all_event"}  # neither side has it
    assert {name for name in table.REFUSED if not table.REFUSED[name]} == set(NEVER_REFUSED)


def verdict(name: str, call: str) -> str:
    """What is said against a call in a kernel of its own: nothing if it is accepted."""
    code = compile("\n".join(table.body(name, [call])), HERE, "exec")

    def body(x: object, y: object, z: object, w: object, code: CodeType = code) -> None:
        if running("test").kind == "aiv":
            whole("UB", ZEROS)
        exec(code, {"asc": asc, "x": x, "y": y, "z": z, "w": w})

    x, y, z = np.zeros(4096, np.float32), np.zeros(4096, np.int32), np.zeros(4096, np.uint64)
    z[:4] = 24, 1, 64, x.ctypes.data  # a ListTensorDesc of one array of one dimension
    try:
        launch(body, x, y, z, np.zeros(400 << 10, np.uint8), kind=table.KIND.get(name, "aiv"))
    except SimulatorError as error:
        return f"{type(error).__name__}: {error}"
    except TypeError as error:
        if not _of_the_call(error):
            raise
        return str(error)
    return ""


def _of_the_call(error: TypeError) -> bool:
    """Whether it is Python's own, of a call that does not fit the signature."""
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    return step is not None and step.tb_frame.f_code.co_filename == HERE


def split(text: str) -> tuple[str, str]:
    name, _, call = text[:-1].partition("(")
    return name, call


@pytest.mark.filterwarnings("ignore")
def test_calls_are_accepted_and_refused_as_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # to_file writes where it is told
    wrong = [
        f"{name}({c}): {said}" for name in table.ACCEPTED for c in table.ACCEPTED[name] if (said := verdict(name, c))
    ]
    wrong += [f"{name}({c}) is accepted" for name in table.REFUSED for c in table.REFUSED[name] if not verdict(name, c)]
    assert wrong == []
    for call, due in REFUSED_HERE.items():
        assert due in verdict(*split(call)), call
    assert [call for call in TAKEN_HERE if verdict(*split(call))] == []


COMPILE = """\
import inspect, json, runpy, sys
from unittest.mock import patch
import asc, asc.lib.runtime, asc.runtime.config as config
from asc.runtime.jit import JITFunction, MockTensor
config.set_platform(config.Backend.Model, check=False)
said = []
nothing = lambda *arguments: None
lines = open(sys.argv[1]).readlines()
starts = [i for i, line in enumerate(lines) if line.startswith("@")]
sources = {start + 1: lines[start : end - 1] for start, end in zip(starts, [*starts[1:], len(lines)])}
def source(function):
    # A kernel without the line that keeps it; the standard library reads token by token: a third of the time
    start = inspect.unwrap(function).__code__.co_firstlineno
    return sources[start], start
inspect.getsourcelines = source
with patch.object(JITFunction, "_run_compiler", nothing), patch.object(JITFunction, "_run_launcher", nothing):
    for kernel in runpy.run_path(sys.argv[1])["KERNELS"]:
        try:
            kernel[1](*map(MockTensor, (asc.float32, asc.int32, asc.uint64, asc.uint8)), always_compile=True)
            said.append("")
        except Exception as error:
            said.append(f"{type(error).__name__}: {error}")
print(json.dumps(said))
"""


def refused_there(jobs: list[tuple[str, list[str]]], folder: Path) -> list[str]:
    """What pyasc says against kernels of calls of one function each; nothing if it accepts all of a kernel's calls."""
    lines = ["import asc", "KERNELS = []"]
    arguments = ", ".join(f"{name}: asc.GlobalAddress" for name in "xyzw")
    for name, calls in jobs:
        lines += ["@asc.jit", f"def kernel({arguments}):"]
        lines += [f"    {line}" for line in table.body(name, calls, here=False)]
        lines.append("KERNELS.append(kernel)")
    (folder / "kernels.py").write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-c", COMPILE, str(folder / "kernels.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.npu
def test_the_real_front_end_agrees(tmp_path: Path) -> None:
    accepted = [(name, calls) for name, calls in table.ACCEPTED.items() if calls]
    accepted += [(name, [call]) for name, call in map(split, REFUSED_HERE)]
    refused = [(name, [call]) for name, calls in table.REFUSED.items() for call in calls]
    said = refused_there([*accepted, *refused], tmp_path)
    wrong = [f"{name}: {text}" for (name, _), text in zip(accepted, said, strict=False) if text]
    for (name, [call]), text in zip(refused, said[len(accepted) :], strict=True):
        wrong += [] if text else [f"{name}({call}) is accepted"]
    assert wrong == []


@pytest.mark.npu
@pytest.mark.filterwarnings("ignore")
def test_the_real_front_end_refuses_no_spoilt_call_that_is_taken_here(tmp_path: Path) -> None:
    """One thing wrong at a time with the first call of each row; what is taken all the same stands in `TAKEN_HERE`."""
    spoilt = [
        (name, [bad])
        for name in table.FIRST
        for call in table.ACCEPTED[name][:1]
        for bad in table.mutants(call)
        if call and bad not in table.REFUSED[name]  # without arguments there is nothing else to spoil
    ]
    listed = [(name, [call]) for name, call in map(split, TAKEN_HERE)]
    said = refused_there([*listed, *spoilt], tmp_path)
    for (call, due), text in zip(TAKEN_HERE.items(), said, strict=False):
        assert due in text, call
    taken = []
    for (name, [call]), text in zip(spoilt, said[len(listed) :], strict=True):
        if text and f"{name}({call})" not in TAKEN_HERE and not verdict(name, call):
            taken.append(f"{name}({call})")
    assert taken == []
