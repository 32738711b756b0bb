"""Each call of `front_end_calls` is accepted here if and only if pyasc's front end accepts it.

Here a call runs in a kernel on zeros, and is refused by any error; there it is compiled to Ascend C text, without
toolkit or device. What a call says of types and addresses beyond what pyasc looks at is no matter of these tests.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from inspect import isfunction
from pathlib import Path

import front_end_calls as table
import numpy as np
import pytest
from basic_machine import launch, whole

import ascsim as asc
from ascsim.hw.errors import SimulatorError
from ascsim.language.core.place import running

NAMES = json.loads((Path(__file__).parent / "api_names.json").read_text())
# Functions without a row, each with its reason.
ELSEWHERE = {
    "jit": "is no call of a kernel",
    "adv.register_matmul": "wants a TPipe, a workspace and a mix kernel: the examples that use Matmul are compiled",
    "adv.get_matmul_api_tiling": "wants a Matmul",
}
GLOBALS = {"gf": "x", "gi": "y", "gq": "z"}  # operands that lie in an argument
BEFORE = {  # calls that set a register or flag which a call needs
    "cast_deq": "set_deq_scale(1.0)",
    "add_deq_relu": "set_deq_scale(1.0)",
    "get_cmp_mask": "set_cmp_mask(asc.LocalTensor(asc.uint8, asc.TPosition.VECCALC, 0, 128))",
    "wait_flag": "set_flag(asc.HardEvent.V_MTE3, 0)",
}
AFTER = {"set_flag": "wait_flag(asc.HardEvent.V_MTE3, 0)"}
# Calls that pyasc refuses and this package takes, each with its reason.
TAKEN_HERE: dict[str, str] = {}


def functions() -> set[str]:
    places = (("", asc, NAMES["asc"]), ("adv.", asc.adv, NAMES["asc.adv"]))
    return {f"{prefix}{n}" for prefix, at, names in places for n in names if isfunction(getattr(at, n, None))}


def test_every_function_has_calls() -> None:
    assert functions() - set(table.ACCEPTED) == set(ELSEWHERE)
    assert set(table.ACCEPTED) - functions() == set()


def accepted_here(name: str, calls: list[str]) -> list[bool]:
    """Which calls of one function pass, all in one kernel."""
    out = []

    def one(call: str, x: object, y: object, z: object) -> None:
        asc.pipe_barrier(asc.PipeID.PIPE_ALL)
        space = {"asc": asc, "x": x, "y": y, "z": z}
        for operand, line in table.needed(call).items():
            space[operand] = eval(line, space)
            if operand in GLOBALS:
                space[operand].set_global_buffer(space[GLOBALS[operand]], 4096)
        if name in BEFORE:
            eval(f"asc.{BEFORE[name]}", space)
        eval(f"asc.{name}({call})", space)
        if name in AFTER:
            eval(f"asc.{AFTER[name]}", space)

    def body(*addresses: object) -> None:
        if running("test").kind == "aiv":
            whole("UB", np.zeros(180 << 10, np.uint8))
        for call in calls:
            try:
                one(call, *addresses)
                out.append(True)
            except SimulatorError:
                out.append(False)
            except TypeError as error:
                if not _of_the_call(error):
                    raise
                out.append(False)
            if name == "wait_flag" and not out[-1]:
                asc.wait_flag(asc.HardEvent.V_MTE3, 0)

    arrays = np.zeros(4096, np.float32), np.zeros(4096, np.int32), np.zeros(4096, np.uint64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        launch(body, *arrays, kind="aic" if name in table.CUBE else "aiv")
    return out


def _of_the_call(error: TypeError) -> bool:
    """Whether it is Python's own, of a call that does not fit the signature."""
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    return step is not None and step.tb_frame.f_code.co_filename == "<string>"


def test_calls_are_accepted_and_refused_as_listed() -> None:
    wrong = []
    for name in table.ACCEPTED:
        calls = [(call, True) for call in table.ACCEPTED[name]] + [(call, False) for call in table.REFUSED[name]]
        verdicts = accepted_here(name, [call for call, _ in calls])
        wrong += [f"{name}({c}): {v}" for (c, due), v in zip(calls, verdicts, strict=True) if v is not due]
    assert wrong == []


COMPILE = """\
import json, runpy, sys
from unittest.mock import patch
import asc, asc.lib.runtime, asc.runtime.config as config
from asc.runtime.jit import JITFunction, MockTensor
config.set_platform(config.Backend.Model, check=False)
said = []
nothing = lambda *arguments: None
with patch.object(JITFunction, "_run_compiler", nothing), patch.object(JITFunction, "_run_launcher", nothing):
    for kernel in runpy.run_path(sys.argv[1])["KERNELS"]:
        try:
            kernel[1](*map(MockTensor, (asc.float32, asc.int32, asc.uint64)), always_compile=True)
            said.append("")
        except Exception as error:
            said.append(f"{type(error).__name__}: {error}")
print(json.dumps(said))
"""


def refused_there(jobs: list[tuple[str, list[str]]], folder: Path) -> list[str]:
    """What pyasc says against kernels of calls of one function each; nothing if it accepts all of a kernel's calls."""
    lines = ["import asc", "KERNELS = []"]
    for name, calls in jobs:
        lines += ["@asc.jit", "def kernel(x: asc.GlobalAddress, y: asc.GlobalAddress, z: asc.GlobalAddress):"]
        operands = {key: line for call in calls for key, line in table.needed(call).items()}
        for operand in table.OPERANDS:
            if operand in operands:
                lines.append(f"    {operand} = {operands[operand]}")
                if operand in GLOBALS:
                    lines.append(f"    {operand}.set_global_buffer({GLOBALS[operand]}, 4096)")
        lines += [*(f"    asc.{name}({call})" for call in calls), "KERNELS.append(kernel)"]
    (folder / "kernels.py").write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-c", COMPILE, str(folder / "kernels.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.npu
def test_the_real_front_end_agrees(tmp_path: Path) -> None:
    accepted = [(name, calls) for name, calls in table.ACCEPTED.items() if calls]
    refused = [(name, [call]) for name, calls in table.REFUSED.items() for call in calls]
    broken = [
        (name, [mutant]) for name in table.FIRST for call in table.ACCEPTED[name][:1] for mutant in table.mutants(call)
    ]
    said = refused_there([*accepted, *refused, *broken], tmp_path)
    wrong = [f"{name}: {text}" for (name, _), text in zip(accepted, said, strict=False) if text]
    wrong += [
        f"{name}({call}) is accepted"
        for (name, [call]), text in zip(refused, said[len(accepted) :], strict=False)
        if not text
    ]
    unlike = []
    for (name, [call]), text in zip(broken, said[len(accepted) + len(refused) :], strict=True):
        if text and accepted_here(name, [call]) == [True]:
            unlike.append(f"{name}({call})")
    assert wrong == []
    assert unlike == list(TAKEN_HERE)
