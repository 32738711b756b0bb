"""Runs the body of a kernel on a machine of one core, and issues loads and stores without global memory."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ascsim.hw.checks import Checks
from ascsim.hw.core import Core
from ascsim.hw.current import core as current
from ascsim.hw.device import Device
from ascsim.hw.instruction import Plan
from ascsim.hw.soc import soc
from ascsim.language.fwk import TPipe, TQue, TQueBind

KERNEL_TYPE = {"aiv": 0, "aic": 1, "mix": 7}


def run(body: Callable[[], Any], kind: str = "aiv", checks: Checks | None = None, machine: type[Core] = Core) -> Device:
    """The device after a launch of one block; raises what the kernel raised."""
    device = Device(soc("Ascend910B1"), KERNEL_TYPE[kind], 1, checks=checks or Checks())
    device.machine = machine
    device.run(body)
    return device


def codes(device: Device) -> list[str]:
    """What was found, in order, notes left out."""
    return [found.code for found in device.findings if found.severity != "note"]


def collected(body: Callable[[], Any], kind: str = "aiv") -> list[str]:
    """Codes of a launch that gathers its findings."""
    return codes(run(body, kind, Checks.collect()))


def made(*arguments: Any, num: int = 1, nbytes: int = 256, bind: bool = False) -> tuple[TPipe, TQueBind]:
    """A pipe and a queue with its buffers."""
    pipe = TPipe()
    queue = TQueBind(*arguments) if bind else TQue(*arguments)
    pipe.init_buffer(queue, num, nbytes)
    return pipe, queue


def touch(pipe: str, *, writes: Any = None, reads: Any = None) -> None:
    """An instruction of a pipe that does nothing but access the whole of some tensors."""
    core = current.get()

    def regions(tensors: Any) -> list[Any]:
        places = [tensor.place for tensor in tensors or ()]
        return [core.region(p.memory.name, ((p.start, ((p.nbytes, 1),)),), pipe, ("k.py", 1)) for p in places]

    core.issue(Plan(pipe, core.pipes[pipe], regions(reads), regions(writes), lambda: None, 1), ("k.py", 1))


def line_of(mark: str, file: str) -> str:
    """`test_file.py:12`: where a comment `# mark` stands, as reports write it."""
    lines = Path(file).read_text(encoding="utf-8").splitlines()
    (number,) = [i for i, line in enumerate(lines, 1) if re.search(rf"# {mark}$", line)]
    return f"{Path(file).name}:{number}"
