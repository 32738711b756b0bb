"""What the next launch runs on and how it is watched: one frozen value in one context variable.

`set_platform` and `settings` are the only ways to change it. A context variable belongs to its thread (or task):
a new thread starts from the defaults, which a command or a test run may replace (`settings_of_all_threads`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import Any, TypeVar

from ascsim.hw.checks import Checks
from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError, BackendError, OptionError, SimulatorWarning

from .npu import device
from .platform import Backend, Platform

E = TypeVar("E", bound=Enum)


def member(kind: type[E], value: Any, operation: str, operand: str) -> E:
    """`value` as a member of `kind`, given the member, its value or its name."""
    if isinstance(value, kind):
        return value
    for candidate in kind:
        if isinstance(value, (str, int)) and value in (candidate.value, candidate.name):
            return candidate
    legal = "one of " + ", ".join(str(candidate.value) for candidate in kind)
    raise ArgumentValueError(operation, f"no such {kind.__name__}", operand=operand, value=value, rule=legal)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings in force.

    backend   Backend.Model simulates; Backend.NPU launches through an installed pyasc.
    platform  whose sizes, core counts and rates are simulated.
    checks    what is checked and what a finding does (`Checks`).
    record    keep the full list of issued instructions, for traces and replay.
    blocks    numbers of the blocks to simulate; None simulates all.
    device    device number that the runtime library answers; a label.
    reports   a list to which every launch appends its report, one that an exception ended too; None for none. A `with`
              block's list hands its reports on to the list outside when it ends.
    observer  called with every simulated launch, as observer(request, run), in its place: it calls run() for the report
              and gives it back (`ascsim.lib.request.Request`); None for none.
    """

    backend: Backend = Backend.Model
    platform: Platform = Platform.Ascend910B1
    checks: Checks = field(default_factory=Checks)
    record: bool = False
    blocks: tuple[int, ...] | None = None
    device: int = 0
    reports: list[Any] | None = field(default=None, compare=False)
    observer: Callable[[Any, Callable[[], Any]], Any] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        store = object.__setattr__
        store(self, "backend", member(Backend, self.backend, "settings", "backend"))
        store(self, "platform", member(Platform, self.platform, "settings", "platform"))
        if not isinstance(self.checks, Checks):
            raise ArgumentTypeError("settings", operand="checks", value=self.checks, rule="an instance of Checks")
        if not isinstance(self.record, bool):
            raise ArgumentTypeError("settings", operand="record", value=self.record, rule="True or False")
        if self.blocks is not None:
            store(self, "blocks", _block_numbers(self.blocks))
        if not isinstance(self.device, int) or self.device < 0:
            raise BackendError("settings", operand="device", value=self.device, rule="an int of 0 or more")
        if self.observer is not None and not callable(self.observer):
            raise ArgumentTypeError("settings", operand="observer", value=self.observer, rule="callable, or None")
        if self.reports is not None and not isinstance(self.reports, list):
            raise ArgumentTypeError("settings", operand="reports", value=self.reports, rule="a list, or None")


def _block_numbers(blocks: Any) -> tuple[int, ...]:
    try:
        numbers = (blocks,) if isinstance(blocks, str) else tuple(blocks)
    except TypeError:  # arrays of no axis have an iterator too, which says so when it is asked
        numbers = (blocks,)
    if not numbers or not all(type(number) is int and number >= 0 for number in numbers):
        rule = "a non-empty list of block numbers of 0 or more, or None for all"
        raise ArgumentValueError("settings", operand="blocks", value=blocks, rule=rule)
    return tuple(sorted(set(numbers)))


DEFAULTS = Settings()
_NAMES = tuple(setting.name for setting in fields(Settings))
_settings: ContextVar[Settings] = ContextVar("ascsim_settings")
_of_new_threads = [DEFAULTS]  # the last one holds


def current_settings() -> Settings:
    """The settings that the next launch of this thread takes."""
    return _settings.get(_of_new_threads[-1])


def change(**changes: Any) -> None:
    """Change some settings of this thread for good."""
    _settings.set(replace(current_settings(), **changes))


class settings:
    """Change some settings for the launches of a `with` block, in its thread alone; see `Settings` for the names.

    with settings(checks=Checks.strict(), record=True, blocks=[0]) as now:
        kernel[8](x, y)
    """

    def __init__(self, **changes: Any) -> None:
        unknown = [name for name in changes if name not in _NAMES]
        if unknown:
            raise OptionError("settings", "no such setting", operand=unknown[0], rule="one of " + ", ".join(_NAMES))
        self._changes = changes
        self._entered: list[tuple[Token[Settings], Settings, int]] = []
        Settings(**changes)  # a wrong value is refused where it is written, not where it is entered

    def __enter__(self) -> Settings:
        outer = current_settings()
        now = replace(outer, **self._changes)
        self._entered.append((_settings.set(now), outer, len(now.reports or ())))
        return now

    def __exit__(self, *exception: object) -> None:
        token, outer, before = self._entered.pop()
        _settings.reset(token)
        inner = self._changes.get("reports")
        if inner is not None and outer.reports is not None and outer.reports is not inner:
            outer.reports.extend(inner[before:])


@contextmanager
def settings_of_all_threads(**changes: Any) -> Iterator[Settings]:
    """Change some settings for a `with` block, for this thread and for those that start from the defaults."""
    with settings(**changes) as now:
        _of_new_threads.append(replace(_of_new_threads[-1], **changes))
        try:
            yield now
        finally:
            _of_new_threads.pop()


def set_platform(
    backend: Backend | str,
    soc_version: Platform | None = None,
    device_id: int | None = None,
    check: bool = True,
) -> None:
    """Choose what launches of this thread run on from now on; another thread chooses for itself.

    `check` refuses a backend that is missing at once instead of at the launch. On a device the platform
    is the device's: another one is refused.
    """
    if not isinstance(check, bool):
        raise ArgumentTypeError("set_platform", operand="check", value=check, rule="True or False")
    backend = member(Backend, backend, "set_platform", "backend")
    wanted = None if soc_version is None else member(Platform, soc_version, "set_platform", "soc_version")
    platform = wanted or Platform.Ascend910B1
    if check and backend is Backend.NPU:
        platform = device.choose(wanted, device_id)
    if platform is Platform.Ascend910B2C:
        text = "Ascend910B2C: nothing is published about this chip; it takes the values of Ascend910B2"
        warnings.warn(text, SimulatorWarning, stacklevel=2)
    change(backend=backend, platform=platform, **({} if device_id is None else {"device": device_id}))
