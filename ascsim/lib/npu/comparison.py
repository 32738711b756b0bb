"""One launch on the simulator and on a device: the results compared, the durations side by side.

How far two elements may be apart goes by their type: integers not at all, numbers of the floating types by the
rounding of a few operations in that type. NaN equals NaN. A device may add in another order than the simulator, so
equal bytes are not asked for.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

from ascsim.report.table import Report

from ..request import Request
from ..settings import current_settings
from .device import on_device

# relative and absolute difference allowed
TOLERANCE = {"float16": (1e-3, 1e-3), "bfloat16": (8e-3, 8e-3), "float32": (1e-4, 1e-5), "float64": (1e-9, 1e-12)}
REPEATS = 3  # launches on the device that are timed, the best counts: the first one loads the kernel


@dataclass(frozen=True, slots=True)
class Compared:
    """One array argument: how many of its elements are too far apart, and the greatest difference."""

    name: str
    dtype: str
    elements: int
    apart: int
    greatest: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """One launch on both. `str` of it is a table."""

    simulated: Report
    device: Report
    arrays: tuple[Compared, ...]

    @property
    def ok(self) -> bool:
        """Whether every array is close enough."""
        return all(array.apart == 0 for array in self.arrays)

    def __str__(self) -> str:
        lines = [f"{self.simulated.name}: {'equal within tolerance' if self.ok else 'DIFFERENT'}"]
        for array in self.arrays:
            lines.append(
                f"  {array.name} ({array.dtype}): {array.apart} of {array.elements} elements apart, "
                f"greatest difference {array.greatest:g}"
            )
        lines.append(f"  Task Duration(us)  simulated {self.simulated.task_us:.3f}  device {self.device.task_us:.3f}")
        return "\n".join(lines)


def on_the_device_set(request: Request) -> Report:
    """Launch on the device of the settings in force."""
    return on_device(request, current_settings().device)


@dataclass
class Comparing:
    """An observer of launches (`settings(observer=...)`) that gathers a `Comparison` of each."""

    launch: Callable[[Request], Report] = on_the_device_set
    comparisons: list[Comparison] = field(default_factory=list)

    def __call__(self, request: Request, run: Callable[[], Report]) -> Report:
        before = _copied(request)
        trials = [(again := _copied(before), self.launch(again)) for _ in range(REPEATS)]
        report = run()
        device = min((report for _, report in trials), key=lambda report: report.task_us)
        here, there = request.bound().arguments, trials[0][0].bound().arguments
        arrays = tuple(
            compared(name, _numpy(value), _numpy(there[name])) for name, value in here.items() if _is_array(value)
        )
        self.comparisons.append(Comparison(report, device, arrays))
        return report


def compared(name: str, here: np.ndarray[Any, Any], there: np.ndarray[Any, Any]) -> Compared:
    """Compare the results of the simulator and of the device in one array."""
    dtype = here.dtype.name
    if dtype not in TOLERANCE:
        unequal = here != there
        greatest = float(np.abs(here.astype(object) - there.astype(object)).max()) if unequal.any() else 0.0
        return Compared(name, dtype, here.size, int(unequal.sum()), greatest)
    relative, absolute = TOLERANCE[dtype]
    a, b = here.astype(np.float64), there.astype(np.float64)
    close = np.isclose(b, a, rtol=relative, atol=absolute, equal_nan=True)
    with np.errstate(invalid="ignore"):
        distance = np.abs(a - b)
    distance[np.isnan(distance)] = 0.0  # equal infinities, or a NaN, which `close` counts
    return Compared(name, dtype, here.size, int((~close).sum()), float(distance.max(initial=0.0)))


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or hasattr(value, "data_ptr")


def _numpy(value: Any) -> np.ndarray[Any, Any]:
    if isinstance(value, np.ndarray):
        return value
    if str(value.dtype) == "torch.bfloat16":  # numpy has no such type of its own; float32 holds every value of it
        return np.asarray(value.detach().float().numpy().astype(ml_dtypes.bfloat16))
    return np.asarray(value.detach().numpy())


def _copied(request: Request) -> Request:
    """The same launch on copies of its arguments."""
    args, kwargs = copy.deepcopy((tuple(map(_alone, request.args)), dict(request.kwargs)))
    return Request(request.function, request.where, request.defaults, args, kwargs)


def _alone(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value
