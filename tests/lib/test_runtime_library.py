"""The runtime library on the Model backend: memory, streams, queries, and what is refused."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import ascsim.lib.runtime as rt
from ascsim.hw.errors import ArgumentTypeError, BackendError, NotSimulatedError
from ascsim.lib.platform import Platform
from ascsim.lib.runtime import support
from ascsim.lib.settings import settings

INFO, MODULE = support.DeviceInfoType, support.DeviceModuleType


@pytest.fixture(autouse=True)
def _defaults():
    with settings():
        yield
    rt.free_mem()


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


def test_memory_round_trip():
    source = np.arange(16, dtype=np.int32)
    target = np.zeros(16, np.int32)
    device = rt.copy_data_to_device(pointer(source), 64)
    assert isinstance(device, ctypes.c_void_p)
    assert device.value % 512 == 0
    source[:] = -1
    rt.copy_data_from_device(pointer(target), device, 64)
    assert target.tolist() == list(range(16))
    rt.free(device)


def test_copy_from_the_middle_of_device_memory():
    source = np.arange(8, dtype=np.uint8)
    target = np.zeros(4, np.uint8)
    device = rt.copy_data_to_device(pointer(source), 8)
    middle = ctypes.c_void_p(device.value + 4)
    rt.copy_data_from_device(pointer(target), middle, 4)
    assert target.tolist() == [4, 5, 6, 7]
    with pytest.raises(BackendError, match=r"src_nbytes = 5.*at most 4 bytes"):
        rt.copy_data_from_device(pointer(np.zeros(5, np.uint8)), middle, 5)


def test_double_free_and_use_after_free():
    device = rt.malloc(8)
    rt.free(device)
    with pytest.raises(BackendError, match="freed already"):
        rt.free(device)
    with pytest.raises(BackendError, match="no device memory"):
        rt.copy_data_from_device(pointer(np.zeros(8, np.uint8)), device, 8)


def test_free_mem_frees_all():
    device = rt.malloc(8)
    rt.free_mem()
    with pytest.raises(BackendError):
        rt.free(device)


def test_wrong_sizes_and_pointers():
    for size in (0, -4, 1.5):
        with pytest.raises(RuntimeError, match="malloc"):
            rt.malloc(size)
    device = rt.malloc(8)
    host = np.zeros(8, np.uint8)
    kind = support.MemcpyKind
    with pytest.raises(BackendError, match="at most dst_nbytes = 4"):
        rt.memcpy(device, 4, pointer(host), 8, kind.RT_MEMCPY_HOST_TO_DEVICE)
    with pytest.raises(BackendError, match="null pointer"):
        rt.memcpy(device, 8, ctypes.c_void_p(), 8, kind.RT_MEMCPY_HOST_TO_DEVICE)
    with pytest.raises(ArgumentTypeError, match="mem_dst_handle"):
        rt.memcpy(3.5, 8, pointer(host), 8, kind.RT_MEMCPY_HOST_TO_DEVICE)
    with pytest.raises(BackendError, match="kind"):
        rt.memcpy(device, 8, pointer(host), 8, kind.RT_MEMCPY_RESERVED)
    with pytest.raises(BackendError, match="mem_src_handle"):  # the kind says device, the pointer is the host's
        rt.memcpy(device, 8, pointer(host), 8, kind.RT_MEMCPY_DEVICE_TO_DEVICE)


def test_streams():
    current = rt.current_stream()
    assert isinstance(current, ctypes.c_void_p)
    assert rt.current_stream().value == current.value
    assert rt.current_stream(1).value != current.value
    created = rt.create_stream()
    for stream in (None, current, created):
        rt.synchronize(stream)
    rt.synchronize_device()
    rt.destroy_stream(None)
    rt.destroy_stream(created)
    for wrong in (rt.destroy_stream, rt.synchronize):
        with pytest.raises(BackendError, match="no such stream"):
            wrong(created)
    with pytest.raises(ArgumentTypeError, match="Stream"):
        rt.synchronize(3.5)


def test_setting_a_device_ends_the_stream_of_the_one_before():
    before = rt.current_stream()
    rt.set_device(1)
    assert rt.current_device() == 1
    with pytest.raises(BackendError):
        rt.synchronize(before)


def test_queries_answer_from_the_platform_in_force():
    assert (rt.is_model(), rt.is_initialized(), rt.is_available()) == (True, True, True)
    assert (rt.default_device(), rt.current_device(), rt.device_count()) == (0, 0, 1)
    with settings(platform=Platform.Ascend910B1):
        assert rt.current_platform() == "Ascend910B1"
        assert rt.device_info(MODULE.RT_MODULE_TYPE_AICORE, INFO.INFO_TYPE_CORE_NUM) == 24
        assert rt.device_info(MODULE.RT_MODULE_TYPE_VECTOR_CORE, INFO.INFO_TYPE_CORE_NUM) == 48
    with settings(platform=Platform.Ascend910B4):
        assert rt.device_info(MODULE.RT_MODULE_TYPE_VECTOR_CORE, INFO.INFO_TYPE_CORE_NUM) == 40
    rt.set_soc_version(Platform.Ascend910B3)
    assert rt.get_soc_version() is Platform.Ascend910B3


def test_backend_choice():
    rt.use_npu()
    assert (rt.is_model(), rt.is_available()) == (False, False)
    rt.use_model()
    assert rt.is_model()


def test_wrong_queries():
    with pytest.raises(NotSimulatedError, match="RT_MODULE_TYPE_PCIE with INFO_TYPE_IP"):
        rt.device_info(MODULE.RT_MODULE_TYPE_PCIE, INFO.INFO_TYPE_IP)
    with pytest.raises(ArgumentTypeError, match="module_type = 4"):
        rt.device_info(4, INFO.INFO_TYPE_CORE_NUM)
    for wrong in (-1, "0", None):
        with pytest.raises(RuntimeError, match="check_device_handle"):
            rt.check_device_handle(wrong)


def test_numbers_of_core_types():
    kinds = rt.CoreType
    assert [rt.magic_elf_value(kind) for kind in kinds] == [1129660997, 1094799942, 1095320387, 1094799939]
    assert [rt.msprof_task_type(kind) for kind in kinds] == [0, 2, 0, 1]
    with pytest.raises(RuntimeError, match="core_type = 'AiCore'"):
        rt.magic_elf_value("AiCore")


@pytest.mark.parametrize(
    ("call", "arguments", "reason"),
    [
        (rt.register_device_binary_kernel, (b"", 0), "no device binary"),
        (rt.unregister_device_binary_kernel, (None,), "no device binary"),
        (rt.register_function, (None, "f", 0), "no device binary"),
        (rt.launch_kernel, (None, 1, []), "no device binary"),
        (rt.set_pro_switch, (None,), "no device profiler"),
        (rt.npu_utils, (), "no device profiler"),
        (rt.acl_init, (), "no device driver"),
        (rt.acl_finalize, (), "no device driver"),
        (rt.current_tick, (), "inside a launch"),
        (rt.c2c_ctrl_addr, (), "not memory"),
        (rt.call_print_interface, (1, 2), "as the kernel runs"),
    ],
)
def test_what_is_not_simulated_says_why(call, arguments, reason):
    with pytest.raises(NotSimulatedError, match=reason):
        call(*arguments)


def test_structures():
    # eight 32-bit words, one 64-device list, then the parameters: sizes as C lays them out
    assert ctypes.sizeof(support.ProfilingCommandHandle.Params) == 12 + 1024 + 4096
    assert ctypes.sizeof(support.ProfilingCommandHandle) == 8 + 8 + 4 + 256 + 12 + 5132 + 4
    assert support.DeviceInfoType.INFO_TYPE_CUBE_NUM.value == 2002410074
    assert rt.MemorySizes(*range(12)).bank_group_num == 11


def test_star_import_gives_every_name():
    space: dict[str, object] = {}
    exec("from ascsim.lib.runtime import *", space)
    assert {"Stream", "free_mem", "malloc", "DeviceInfoType", "MsprofTaskType"} <= set(space)
