"""What a launch on a device needs, looked for part by part: the front end, the toolkit, its programs, a device.

Found missing here rather than in the middle of a launch, where the vendor's own errors name a symptom.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from ascsim.hw.errors import BackendError

from . import front_end

TOOLKIT = "the CANN toolkit; `source set_env.sh` of it"
LIBRARIES = ("libruntime.so", "libmsprofiler.so", "libascendcl.so")  # what pyasc's wrapper is linked with
STILL = "Backend.Model runs the same kernel on the simulator"
STILL_EMITS = STILL + ", and `python -m ascsim emit SCRIPT` writes its Ascend C text"


@dataclass(frozen=True, slots=True)
class Lack:
    """A part that is missing, and what supplies it."""

    part: str
    supply: str

    def __str__(self) -> str:
        return f"{self.part}: {self.supply}"


def lacks() -> list[Lack]:
    """What is missing for a launch on a device. A device is looked for only where all else is there."""
    front = front_end.missing()
    found = [] if not front else [Lack(*front.split(": ", 1))]
    found += _program("compiler", "PYASC_COMPILER", "bisheng") + _program("linker", "PYASC_LINKER", "ld.lld")
    found += _toolkit() + _builder()
    return found or _device()


def _program(part: str, variable: str, usual: str) -> list[Lack]:
    named = os.environ.get(variable)
    if shutil.which(named or usual) is not None:
        return []
    if named:
        return [Lack(f"no {part}", f"{variable} names {named!r}, which is no program")]
    return [Lack(f"no {part} ({usual})", f"{TOOLKIT}, or name the program in {variable}")]


def _toolkit() -> list[Lack]:
    home = os.environ.get("ASCEND_HOME_PATH", "")
    if not home:
        return [Lack("no runtime library (ASCEND_HOME_PATH is not set)", TOOLKIT)]
    folder = Path(home, "lib64")
    absent = [name for name in LIBRARIES if not (folder / name).exists()]
    return [Lack(f"no runtime library ({', '.join(absent)} not in {folder})", TOOLKIT)] if absent else []


def _builder() -> list[Lack]:
    """pyasc compiles its wrapper of the runtime library at first use."""
    named = os.environ.get("CC")
    if any(shutil.which(name) for name in ([named] if named else ["clang++", "g++"])):
        return []
    return [Lack("no C++ compiler", "g++ or clang++, or name one in CC")]


def _device() -> list[Lack]:
    try:
        count = device_count()
    except Exception as error:  # the wrapper does not build or load, or the driver refuses
        return [Lack(f"the runtime library does not load ({type(error).__name__}: {error})", TOOLKIT)]
    return [] if count > 0 else [Lack("no device", "an Atlas A2 or A3 card with its driver; `npu-smi info` lists it")]


def device_count() -> int:
    """How many devices the runtime library finds; raises what it raises."""
    with front_end.front_end("device_count") as asc:
        asc.lib.runtime.use_npu()
        return int(asc.lib.runtime.device_count())


def require(operation: str) -> None:
    """Raise a BackendError that names all that is missing, if anything is."""
    found = lacks()
    if found:
        still = STILL if front_end.missing() else STILL_EMITS
        problem = "cannot launch on a device here: " + "; ".join(map(str, found))
        raise BackendError(operation, problem, operand="backend", value="NPU", rule=f"what still works: {still}")
