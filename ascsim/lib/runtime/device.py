"""Runtime library: backend and device queries, streams.

The simulated machine answers from the settings in force. A device number is a label: whatever its number, it is the
same machine. A launch ends before its call returns, so a stream has nothing to wait for; its handle is still checked.
Handles belong to the process, as those of the vendor's library do.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections.abc import Mapping
from typing import Any

from ascsim.hw.errors import ArgumentTypeError, BackendError, NotSimulatedError
from ascsim.hw.soc import soc

from ..npu import device as npu
from ..platform import Backend, Platform
from ..settings import change, current_settings
from . import support

_lock = threading.Lock()
_numbers = itertools.count(1)
_created: set[int] = set()  # streams made by create_stream
_current: dict[int, support.Stream] = {}  # device number: its default stream


def use_model(custom_lib_prefix: str | None = None) -> None:
    """Launch on the simulator. There is no library to load, so the prefix means nothing."""
    change(backend=Backend.Model)


def use_npu(custom_lib_prefix: str | None = None) -> None:
    """Launch on a device, through pyasc; a launch raises a BackendError for what it lacks."""
    change(backend=Backend.NPU)


def is_model() -> bool:
    """Whether launches are simulated."""
    return current_settings().backend is Backend.Model


def is_initialized() -> bool:
    """Whether the backend is ready; the simulator always is."""
    return is_available()


def is_available() -> bool:
    """Whether the backend can be used."""
    return is_model() or not npu.lacks()


def set_soc_version(soc_verison: Platform) -> None:
    """Choose the platform (the parameter is spelt as in pyasc)."""
    change(platform=soc_verison)


def get_soc_version() -> Platform:
    """The platform in force."""
    return current_settings().platform


def current_platform() -> str:
    """Name of the platform in force."""
    return current_settings().platform.value


def magic_elf_value(core_type: support.CoreType) -> int:
    """The number that marks a binary for cores of a type."""
    return _by_core_type("magic_elf_value", _MAGIC, core_type)


def msprof_task_type(core_type: support.CoreType) -> int:
    """The number under which the profiler files a task of cores of a type."""
    return _by_core_type("msprof_task_type", _TASK, core_type)


_CORE, _MAGIC_ELF, _TYPE = support.CoreType, support.MagicElf, support.MsprofTaskType
_MAGIC = {
    _CORE.AiCore: _MAGIC_ELF.RT_DEV_BINARY_MAGIC_ELF,
    _CORE.VectorCore: _MAGIC_ELF.RT_DEV_BINARY_MAGIC_ELF_AIVEC,
    _CORE.CubeCore: _MAGIC_ELF.RT_DEV_BINARY_MAGIC_ELF_AICUBE,
    _CORE.AiCpu: _MAGIC_ELF.RT_DEV_BINARY_MAGIC_ELF_AICPU,
}
_TASK = {
    _CORE.AiCore: _TYPE.MSPROF_TASK_TYPE_AI_CORE,
    _CORE.VectorCore: _TYPE.MSPROF_TASK_TYPE_AIV,
    _CORE.CubeCore: _TYPE.MSPROF_TASK_TYPE_AI_CORE,
    _CORE.AiCpu: _TYPE.MSPROF_TASK_TYPE_AI_CPU,
}


def _by_core_type(operation: str, table: Mapping[support.CoreType, Any], core_type: Any) -> int:
    if not isinstance(core_type, support.CoreType):
        legal = "a member of CoreType: " + ", ".join(kind.name for kind in support.CoreType)
        raise BackendError(operation, operand="core_type", value=core_type, rule=legal)
    return int(table[core_type].value)


# --- devices -------------------------------------------------------------------------------------------------------


def check_device_handle(device_id: int) -> None:
    """Refuse what is no device number."""
    if not isinstance(device_id, int) or device_id < 0:
        raise BackendError("check_device_handle", operand="device_id", value=device_id, rule="an int of 0 or more")


def default_device() -> int:
    """The device used where none is set."""
    return 0


def current_device() -> int:
    """The device set last."""
    return current_settings().device


def set_device(device_id: int) -> None:
    """Use a device; the streams of the one used before end."""
    check_device_handle(device_id)
    reset_device()
    change(device=device_id)


def reset_device(device_id: int | None = None) -> None:
    """End the default stream of a device (of the current one if none is named)."""
    with _lock:
        _current.pop(_device(device_id), None)


def device_count() -> int:
    """How many devices there are: one machine is simulated, or those that the vendor's library finds."""
    if is_model():
        return 1
    return npu.device_count("device_count")


def device_info(
    module_type: support.DeviceModuleType, info_type: support.DeviceInfoType, device_id: int | None = None
) -> int:
    """A number of the platform in force: the counts of its vector and cube cores."""
    _device(device_id)
    for operand, value, kind in (
        ("module_type", module_type, support.DeviceModuleType),
        ("info_type", info_type, support.DeviceInfoType),
    ):
        if not isinstance(value, kind):
            raise ArgumentTypeError("device_info", operand=operand, value=value, rule=f"a member of {kind.__name__}")
    field = _INFO.get((module_type, info_type))
    if field is None:
        known = ", ".join(f"{module.name} with {info.name}" for module, info in _INFO)
        asked = f"{module_type.name} with {info_type.name}"
        raise NotSimulatedError("device_info", f"{asked} describes no simulated part", rule=f"simulated: {known}")
    return int(getattr(soc(current_platform()), field))


_MODULE, _INFO_TYPE = support.DeviceModuleType, support.DeviceInfoType
_INFO = {
    (_MODULE.RT_MODULE_TYPE_AICORE, _INFO_TYPE.INFO_TYPE_CORE_NUM): "aic",
    (_MODULE.RT_MODULE_TYPE_VECTOR_CORE, _INFO_TYPE.INFO_TYPE_CORE_NUM): "aiv",
}


def _device(device_id: int | None) -> int:
    if device_id is None:
        return current_device()
    check_device_handle(device_id)
    return device_id


# --- streams -------------------------------------------------------------------------------------------------------


def current_stream(device_id: int | None = None) -> support.Stream:
    """The default stream of a device, made at the first call."""
    with _lock:
        device = _device(device_id)
        if device not in _current:
            _current[device] = support.Stream(next(_numbers))
        return _current[device]


def create_stream(priority: int = 0) -> support.Stream:
    """A new stream. Launches are synchronous, so priorities change nothing."""
    with _lock:
        stream = support.Stream(next(_numbers))
        _created.add(_value("create_stream", stream))
        return stream


def destroy_stream(stream_handle: support.Stream | None) -> None:
    """End a stream made by `create_stream`; None is ignored."""
    if stream_handle is None:
        return
    with _lock:
        value = _value("destroy_stream", stream_handle)
        if value not in _created:
            raise BackendError("destroy_stream", "no such stream", operand="stream_handle", value=value)
        _created.remove(value)


def synchronize(stream_handle: support.Stream | None = None, timeout: int = 0) -> None:
    """Wait until a stream is idle: it is, since a launch ends before its call returns."""
    if stream_handle is None:
        return
    value = _value("synchronize", stream_handle)
    with _lock:
        if value not in _created and value not in {stream.value for stream in _current.values()}:
            raise BackendError("synchronize", "no such stream", operand="stream_handle", value=value)


def synchronize_device() -> None:
    """Wait until the device is idle: it is, since a launch ends before its call returns."""


def _value(operation: str, stream: Any) -> int:
    if not isinstance(stream, ctypes.c_void_p):
        raise ArgumentTypeError(operation, operand="stream_handle", value=stream, rule="a Stream (ctypes.c_void_p)")
    return stream.value or 0
