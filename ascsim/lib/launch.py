"""One launch: check and describe the arguments, build the device, run the body on every core, copy results back.

A launch is synchronous whatever its stream. Nothing of its state is left for the next one, and nothing is copied back
unless every core has ended well. Launches on a device are in `ascsim.lib.npu`.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from ascsim.hw import current
from ascsim.hw.device import Device
from ascsim.hw.errors import ArgumentValueError, FoundError, LaunchError, SimulatorWarning
from ascsim.hw.soc import soc
from ascsim.language.core.address import GlobalAddress
from ascsim.language.core.dtype import DataType
from ascsim.language.core.ir_value import PlainValue
from ascsim.language.names import namer
from ascsim.report.table import Report

from .arguments import Array, PerCore, argument, constant, mapped
from .function import Facts
from .npu.device import on_device
from .options import CompileOptions, compile_options
from .platform import Backend, KernelType
from .request import Request
from .settings import Settings, current_settings

# The compile-time arguments of the first call of each device function, in the launch that this core belongs to.
first_constants: ContextVar[dict[Any, Any] | None] = ContextVar("ascsim_first_constants", default=None)


def kernel_type(options: CompileOptions, facts: Facts) -> KernelType:
    """Which cores run a kernel: as its options name them, else as its matmul objects ask for."""
    if options.kernel_type is not None:
        return options.kernel_type
    if not facts.matmul:
        return KernelType.AIV_ONLY
    return KernelType.AIC_ONLY if options.matmul_cube_only else KernelType.MIX_AIC_1_2


def launch(request: Request) -> Report:
    """Run what is asked for on the backend in force, in the hands of the observer if there is one."""
    now = current_settings()
    if current.core.get() is not None:
        problem = "a kernel cannot launch a kernel; call a jit function without [...] from a kernel"
        raise LaunchError(request.name, problem)
    if now.backend is Backend.NPU:
        return on_device(request, now.device)
    if now.observer is not None:
        return now.observer(request, lambda: simulate(request, now))
    return simulate(request, now)


def simulate(request: Request, now: Settings) -> Report:
    """Run what is asked for on the simulator."""
    function, name, blocks = request.function, request.name, request.blocks
    _check_picked(name, blocks, now.blocks)
    options = compile_options(request.options)
    types = function.constants
    positional, named = mapped(
        request.bound(),
        lambda parameter, label, value: (
            constant(label, value, types[parameter]) if parameter in types else argument(label, value)
        ),
    )

    facts = function.facts
    kinds = [_kind(value) for value in (*positional, *named.values())]
    device = Device(
        soc(now.platform.value),
        kernel_type(options, facts).value,
        blocks,
        checks=now.checks,
        record=now.record,
        auto_sync=bool(options.auto_sync),
        insert_sync=facts.auto_tensors if options.insert_sync is None else options.insert_sync,
        only=None if now.blocks is None else list(now.blocks),
        namer=namer,
        like=None if None in kinds else (function, *kinds),
    )
    device.cube_only = options.matmul_cube_only
    positional = tuple(_placed(device, value) for value in positional)
    named = {key: _placed(device, value) for key, value in named.items()}
    body = function.body
    firsts: dict[Any, Any] = {}

    def run() -> None:
        token = first_constants.set(firsts)
        try:
            body(*map(_private, positional), **{key: _private(value) for key, value in named.items()})
        finally:
            first_constants.reset(token)

    try:
        device.run(run)
        device.write_back()
        report = Report.of(device, name)
        if now.reports is not None:
            now.reports.append(report)
        return report
    except BaseException as error:
        if now.reports is not None:
            if not isinstance(error, (FoundError, SimulatorWarning)):
                device.record = None  # advice on a launch that broke off is none
            if device.record is not None:
                device.record.keep(device.arena.arrays)
                device.record.detach()
            now.reports.append(Report.of(device, name))
        raise
    finally:
        if not now.record:  # what a launch leaves behind goes with its last cycle of objects; its arrays go now
            for array in device.arena.arrays:
                array.release()


def _check_picked(name: str, blocks: int, only: tuple[int, ...] | None) -> None:
    if only is not None and only[-1] >= blocks:
        rule = f"numbers below {blocks}, the blocks of this launch"
        raise ArgumentValueError(name, operand="settings(blocks=)", value=only, rule=rule, nearest=blocks - 1)


def _kind(value: Any) -> Any:
    """What launches that are alike have in common in an argument; None where nothing is sure to be."""
    if value.__class__ is Array:
        return value.dtype, value.data.nbytes
    if value.__class__ is PerCore:
        return value.struct.__class__, value.struct.pack()
    if isinstance(value, (PlainValue, int, float, str, DataType)):
        return value.__class__, str(value)
    return None


def _placed(device: Device, value: Any) -> Any:
    """An argument with its bytes in the device's global memory."""
    if value.__class__ is not Array:
        return value
    return GlobalAddress(device.argument(value.name, value.data), 0, value.dtype)


def _private(value: Any) -> Any:
    return value.struct._copy() if value.__class__ is PerCore else value
