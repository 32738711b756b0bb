"""Launches on a device: compiled and run by pyasc, timed from the host.

The report has the duration of the task alone; what each pipe did is for `msprof` to say, which runs a script as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ascsim.hw.errors import BackendError
from ascsim.report.table import Report

from ..platform import Platform
from ..portable_rules import Verdict
from ..request import Request
from . import availability
from .emission import accepted, checked, remarks_of
from .front_end import front_end
from .pyasc import device_maker
from .rebinding import Rebinding


@dataclass(frozen=True, slots=True)
class DeviceReport(Report):
    """What a launch on a device tells: `task_us`, from the launch to the end of its stream, seen from the host."""

    def __str__(self) -> str:
        rows = [
            ("Op Name", self.name),
            ("Platform", self.platform),
            ("Block Dim", str(self.blocks)),
            ("Task Duration(us)", f"{self.task_us:.3f} (measured on the host, launch included)"),
        ]
        return "\n".join(f"{name:<17}  {value}" for name, value in rows)


def choose(platform: Platform | None, number: int | None) -> Platform:
    """Make pyasc launch on a device and say which chip it is; BackendError for what is missing or another chip."""
    availability.require("set_platform")
    with front_end("set_platform") as asc:
        config, runtime = asc.runtime.config, asc.lib.runtime
        runtime.use_npu()
        actual = Platform(runtime.current_platform())
        if platform is not None and platform is not actual:
            problem = f"the device is {actual.value}"
            raise BackendError(
                "set_platform", problem, operand="soc_version", value=platform.value, nearest=actual.value
            )
        config.set_platform(config.Backend.NPU, config.Platform(actual.value), number)
    return actual


def on_device(request: Request, number: int) -> Report:
    """Run what is asked for on device `number`. Arguments are checked as by the simulator before anything is compiled.

    Raises BackendError for what is missing here, for what pyasc refuses, and for what it would compile to something
    else than the kernel says: a wrong result without a word is no use. The stream of the launch is a label of the
    simulator's; the launch goes to pyasc's current stream and ends before this returns.
    """
    values, named = checked(request, on_device=True)
    wrong = [remark for remark in remarks_of(request) if remark.verdict is Verdict.DIFFERS]
    if wrong:
        raise BackendError(request.name, str(wrong[0]), rule="what pyasc would silently get wrong is not launched")
    availability.require(request.name)
    with front_end(request.name) as asc:
        runtime = asc.lib.runtime
        runtime.use_npu()
        if runtime.current_device() != number:
            runtime.set_device(number)
        actual = runtime.current_platform()
        runtime.set_soc_version(asc.runtime.config.Platform(actual))
        rebinding = Rebinding(asc, device_maker(asc, request.function))
        kernel: Any = accepted(request, rebinding, values, named)
        task_us = kernel.task_us
    return DeviceReport(
        name=request.name,
        platform=actual,
        borrowed_from="",
        blocks=request.blocks,
        simulated=0,
        task_us=task_us,
        core_us={},
        totals={},
        regions=[],
        findings=[],
    )
