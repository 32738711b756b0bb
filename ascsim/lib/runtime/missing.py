"""Runtime library: the calls that a simulator without binaries, firmware and device clock cannot answer.

Each raises `NotSimulatedError` with its reason, whatever it is given.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from ascsim.hw.errors import NotSimulatedError

from . import support

_BINARY = "kernels are run from their source; there is no device binary. Launch with kernel[core_num](...)"
_PROFILER = "there is no device profiler; a launch returns its Report, with msprof's columns"
_ACL = "there is no device driver to set up"
_PRINT = "printf and dump output is written as the kernel runs; there is no buffer to unpack afterwards"
_CLOCK = "time passes inside a launch only; its Report has the times"
_ADDRESS = "flags between cores are not memory of the simulated device"


def _refuse(operation: str, reason: str) -> NoReturn:
    raise NotSimulatedError(operation, reason)


def register_device_binary_kernel(kernel_binary: bytes, core_type_id: int) -> support.Kernel:
    """Not simulated: there are no device binaries."""
    _refuse("register_device_binary_kernel", _BINARY)


def unregister_device_binary_kernel(kernel_handle: support.Kernel) -> None:
    """Not simulated: there are no device binaries."""
    _refuse("unregister_device_binary_kernel", _BINARY)


def register_function(kernel_handle: support.Kernel, fn_name: str, mode: int) -> support.Function:
    """Not simulated: there are no device binaries."""
    _refuse("register_function", _BINARY)


def launch_kernel(
    fn_handle: support.Function,
    block_num: int,
    args: Iterable[Any],
    num_args: int | None = None,
    sm_desc: Any = None,
    stream_handle: support.Stream | None = None,
) -> None:
    """Not simulated: there are no device binaries."""
    _refuse("launch_kernel", _BINARY)


def c2c_ctrl_addr() -> int:
    """Not simulated: flags between cores have no address."""
    _refuse("c2c_ctrl_addr", _ADDRESS)


def set_pro_switch(
    command_type: support.ProfilingCommandHandle.Type, device_id: int | None = None, conf: int = 31
) -> None:
    """Not simulated: there is no device profiler."""
    _refuse("set_pro_switch", _PROFILER)


def current_tick() -> int | None:
    """Not simulated: no clock runs between launches."""
    _refuse("current_tick", _CLOCK)


def acl_init() -> None:
    """Not simulated: there is no driver."""
    _refuse("acl_init", _ACL)


def acl_finalize() -> None:
    """Not simulated: there is no driver."""
    _refuse("acl_finalize", _ACL)


def npu_utils() -> Any:
    """Not simulated: there is no device profiler."""
    _refuse("npu_utils", _PROFILER)


def call_print_interface(*args: Any) -> None:
    """Not simulated: output is written as the kernel runs."""
    _refuse("call_print_interface", _PRINT)
