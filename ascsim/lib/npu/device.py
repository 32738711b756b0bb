"""The ways into the backend from the rest of the package. Each loads the part that does it when it is first called:
a program that only simulates does not pay for them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ascsim.report.table import Report

from ..platform import Platform
from ..request import Request

if TYPE_CHECKING:
    from .emission import Emission


def _part(name: str) -> Any:
    return importlib.import_module(f"{__package__}.{name}")


def emit(kernel: Any, blocks: int, /, *args: Any, **kwargs: Any) -> Emission:
    """The Ascend C text that pyasc makes of `kernel[blocks](*args, **kwargs)`. Nothing is launched.

    Needs an installed pyasc (extra `npu`), and neither toolkit nor device. `MockTensor(dtype)` and `MockValue(dtype)`
    may stand for arguments. Raises BackendError where pyasc is missing, and FrontEndError, which is one too, where it
    refuses the kernel; warns of what it is known to compile to something else than the kernel says.
    """
    emission: Emission = _part("emission").emit(kernel, blocks, *args, **kwargs)
    return emission


def choose(platform: Platform | None, number: int | None) -> Platform:
    """Make pyasc launch on a device and say which chip it is; BackendError for what is missing or another chip."""
    chosen: Platform = _part("launching").choose(platform, number)
    return chosen


def on_device(request: Request, number: int) -> Report:
    """Run what is asked for on device `number`."""
    report: Report = _part("launching").on_device(request, number)
    return report


def lacks() -> list[Any]:
    """What is missing for a launch on a device; empty if nothing is."""
    missing: list[Any] = _part("availability").lacks()
    return missing


def device_count(operation: str) -> int:
    """How many devices there are; BackendError on behalf of `operation` for what is missing."""
    availability = _part("availability")
    availability.require(operation)
    return int(availability.device_count())
