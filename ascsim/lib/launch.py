"""One launch: check and describe the arguments, build the device, run the body on every core, copy results back.

A launch is synchronous whatever its stream. Nothing is kept from one launch to the next, and nothing is copied back
unless every core has ended well. The NPU backend is not built yet.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from ascsim.hw import current
from ascsim.hw.device import Device
from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError, BackendError, FoundError, LaunchError
from ascsim.hw.soc import soc
from ascsim.language.core.address import GlobalAddress
from ascsim.language.names import namer
from ascsim.report.table import Report

from .arguments import Array, PerCore, argument, arranged, constant, mapped
from .function import Facts, Function
from .options import COMPILING, LAUNCHING, CompileOptions, LaunchOptions, check_options, compile_options
from .platform import Backend, KernelType
from .settings import NPU_MISSING, current_settings

# The compile-time arguments of the first call of each device function, in the launch that this core belongs to.
first_constants: ContextVar[dict[Any, Any] | None] = ContextVar("ascsim_first_constants", default=None)


def kernel_type(options: CompileOptions, facts: Facts) -> KernelType:
    """Which cores run a kernel: as its options name them, else as its matmul objects ask for."""
    if options.kernel_type is not None:
        return options.kernel_type
    if not facts.matmul:
        return KernelType.AIV_ONLY
    return KernelType.AIC_ONLY if options.matmul_cube_only else KernelType.MIX_AIC_1_2


def launch(
    function: Function,
    where: LaunchOptions,
    defaults: Mapping[str, Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> Report:
    """Run `function[where.core_num, where.stream](*args, **kwargs)`; `defaults` are the options of its decorator."""
    name = function.fn.__name__
    now = current_settings()
    if current.core.get() is not None:
        raise LaunchError(name, "a kernel cannot launch a kernel; call a jit function without [...] from a kernel")
    if now.backend is Backend.NPU:
        raise BackendError(name, NPU_MISSING, operand="backend", value="NPU")
    blocks = _block_count(name, where.core_num, now.blocks)

    given = {key: value for key, value in kwargs.items() if key in COMPILING | LAUNCHING}
    check_options(given)
    options = compile_options({**defaults, **given})
    types = function.constants
    own = {key: value for key, value in kwargs.items() if key not in given}
    bound = arranged(function.fn, function.signature, args, own)
    positional, named = mapped(
        bound,
        lambda parameter, label, value: (
            constant(label, value, types[parameter]) if parameter in types else argument(label, value)
        ),
    )

    facts = function.facts
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
    )
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
    except FoundError:
        if now.reports is not None:
            if device.record is not None:
                device.record.detach(device.arena.arrays)
            now.reports.append(Report.of(device, name))
        raise
    finally:
        if not now.record:  # what a launch leaves behind goes with its last cycle of objects; its arrays go now
            for array in device.arena.arrays:
                array.release()


def _block_count(name: str, core_num: Any, only: tuple[int, ...] | None) -> int:
    try:
        blocks = operator.index(core_num)
    except TypeError:
        raise ArgumentTypeError(name, "is not an int", operand="core_num", value=core_num) from None
    if blocks <= 0:
        raise ArgumentValueError(name, operand="core_num", value=blocks, rule="1 or more blocks", nearest=1)
    if only is not None and only[-1] >= blocks:
        rule = f"numbers below {blocks}, the blocks of this launch"
        raise ArgumentValueError(name, operand="settings(blocks=)", value=only, rule=rule, nearest=blocks - 1)
    return blocks


def _placed(device: Device, value: Any) -> Any:
    """An argument with its bytes in the device's global memory."""
    if value.__class__ is not Array:
        return value
    return GlobalAddress(device.argument(value.name, value.data), 0, value.dtype)


def _private(value: Any) -> Any:
    return value.struct._copy() if value.__class__ is PerCore else value
