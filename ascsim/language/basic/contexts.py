"""Pointers into global memory that a kernel keeps for the libraries below it: system workspace, contexts of HCCL.

Pages: GetSysWorkSpacePtr, SetSysWorkspace, GetHcclContext, SetHcclContext. What HCCL does with its contexts, messages
between devices, is not simulated.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...hw.core import Core
from ...hw.errors import ArgumentTypeError, ArgumentValueError
from ...hw.global_memory import GlobalArray
from ..core.address import GlobalAddress
from ..core.dtype import uint8
from ..core.place import index as plain
from ..core.place import running

WORKSPACE = "system workspace"  # its name in reports; no parameter can have it
WORKSPACE_BYTES = 16 << 20
DOMAINS = (0, 1)  # of communication


def _address(given: Any, operation: str, operand: str) -> GlobalAddress:
    if not isinstance(given, GlobalAddress):
        raise ArgumentTypeError(
            operation, "is no GlobalAddress", operand=operand, value=given, rule="a kernel's array argument"
        )
    return GlobalAddress(given.array, given.offset, uint8)


def set_sys_workspace(workspace: Any) -> None:
    """Give this core its system workspace. The first one given stays, as on the device. Page: SetSysWorkspace."""
    core = running("set_sys_workspace")
    core.state.setdefault("sys_workspace", _address(workspace, "set_sys_workspace", "workspace"))


def get_sys_workspace() -> GlobalAddress:
    """The system workspace, as bytes: the one given, else the launch's own 16 MiB, whose bytes are undefined.

    All cores share the launch's own. Page: GetSysWorkSpacePtr.
    """
    core = running("get_sys_workspace")
    given: GlobalAddress | None = core.state.get("sys_workspace")
    return given or GlobalAddress(_own(core), 0, uint8)


def _own(core: Core) -> GlobalArray:
    device = core.device
    for array in device.arena.arrays:
        if array.name == WORKSPACE:
            return array
    return device.argument(WORKSPACE, memoryview(np.empty(WORKSPACE_BYTES, np.uint8)), defined=False)  # type: ignore[arg-type]


def _domain(given: Any, operation: str) -> int:
    number = plain(given, operation, "index")
    if number not in DOMAINS:
        nearest = min(max(number, DOMAINS[0]), DOMAINS[-1])
        raise ArgumentValueError(
            operation, operand="index", value=number, rule="0 or 1, there are two domains", nearest=nearest
        )
    return number


def set_hccl_context(index: Any, context: Any) -> None:
    """Keep the context of communication domain 0 or 1. Page: SetHcclContext."""
    core = running("set_hccl_context")
    number = _domain(index, "set_hccl_context")
    core.state[f"hccl_context {number}"] = _address(context, "set_hccl_context", "context")


def get_hccl_context(index: Any) -> GlobalAddress:
    """The context that set_hccl_context kept for a domain, as bytes. Page: GetHcclContext."""
    core = running("get_hccl_context")
    number = _domain(index, "get_hccl_context")
    context: GlobalAddress | None = core.state.get(f"hccl_context {number}")
    if context is None:
        raise ArgumentValueError(
            "get_hccl_context",
            "has no context yet: the simulated launch brings none",
            operand="index",
            value=number,
            rule="call set_hccl_context first",
        )
    return context


__all__ = ["get_hccl_context", "get_sys_workspace", "set_hccl_context", "set_sys_workspace"]
