"""Runtime library: device memory by hand. Device memory is memory of this process, watched for size and lifetime.

Kernels get their arguments from the launch, not from here.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Any

from ascsim.hw.errors import ArgumentTypeError, BackendError

from . import support

ALIGNMENT = 512  # bytes; the vendor's runtime aligns device memory to it

_lock = threading.Lock()
_blocks: dict[int, ctypes.Array[ctypes.c_char]] = {}  # aligned address: the block around it
_sizes: dict[int, int] = {}  # aligned address: bytes that were asked for


def malloc(
    size: int,
    memory_type: support.MemoryType = support.MemoryType.RT_MEMORY_DEFAULT,
    policy: support.MallocPolicy = support.MallocPolicy.RT_MEMORY_POLICY_NONE,
) -> support.Memory:
    """Device memory of `size` bytes, aligned to 512. Kind and paging policy make no difference here."""
    _positive("malloc", size=size)
    try:
        block = ctypes.create_string_buffer(size + ALIGNMENT)
    except (MemoryError, OverflowError):
        raise BackendError("malloc", "there is not so much memory", operand="size", value=size) from None
    address = -(-ctypes.addressof(block) // ALIGNMENT) * ALIGNMENT
    with _lock:
        _blocks[address], _sizes[address] = block, size
    return support.Memory(address)


def free(mem_handle: support.Memory) -> None:
    """Give device memory back."""
    address = _address("free", "mem_handle", mem_handle)
    with _lock:
        if address not in _blocks:
            raise BackendError("free", "is no device memory (freed already?)", operand="mem_handle", value=hex(address))
        del _blocks[address], _sizes[address]


def free_mem() -> None:
    """Give all device memory back."""
    with _lock:
        _blocks.clear()
        _sizes.clear()


_KIND = support.MemcpyKind
# which sides of a copy are device memory: (destination, source)
_SIDES = {
    _KIND.RT_MEMCPY_HOST_TO_HOST: (False, False),
    _KIND.RT_MEMCPY_HOST_TO_DEVICE: (True, False),
    _KIND.RT_MEMCPY_DEVICE_TO_HOST: (False, True),
    _KIND.RT_MEMCPY_DEVICE_TO_DEVICE: (True, True),
    _KIND.RT_MEMCPY_HOST_TO_DEVICE_EX: (True, False),
    _KIND.RT_MEMCPY_DEVICE_TO_HOST_EX: (False, True),
}


def memcpy(
    mem_dst_handle: support.Memory,
    dst_nbytes: int,
    mem_src_handle: support.Memory,
    src_nbytes: int,
    kind: support.MemcpyKind,
) -> None:
    """Copy `src_nbytes` bytes to a destination of `dst_nbytes`. The extent of host memory cannot be checked."""
    _positive("memcpy", dst_nbytes=dst_nbytes, src_nbytes=src_nbytes)
    if src_nbytes > dst_nbytes:
        rule = f"at most dst_nbytes = {dst_nbytes}"
        raise BackendError("memcpy", operand="src_nbytes", value=src_nbytes, rule=rule, nearest=dst_nbytes)
    if not isinstance(kind, _KIND) or kind not in _SIDES:
        legal = "one of " + ", ".join(known.name for known in _SIDES)
        raise BackendError("memcpy", operand="kind", value=kind, rule=legal)
    destination = _address("memcpy", "mem_dst_handle", mem_dst_handle)
    source = _address("memcpy", "mem_src_handle", mem_src_handle)
    with _lock:
        to_device, from_device = _SIDES[kind]
        if to_device:
            _inside("mem_dst_handle", destination, src_nbytes)
        if from_device:
            _inside("mem_src_handle", source, src_nbytes)
        ctypes.memmove(destination, source, src_nbytes)


def copy_data_to_device(src_mem_handle: support.Memory, nbytes: int) -> support.Memory:
    """New device memory with a copy of host memory."""
    device = malloc(nbytes, support.MemoryType.RT_MEMORY_HBM)
    memcpy(device, nbytes, src_mem_handle, nbytes, support.MemcpyKind.RT_MEMCPY_HOST_TO_DEVICE)
    return device


def copy_data_from_device(mem_dst_handle: support.Memory, mem_src_handle: support.Memory, nbytes: int) -> None:
    """Copy device memory to host memory."""
    memcpy(mem_dst_handle, nbytes, mem_src_handle, nbytes, support.MemcpyKind.RT_MEMCPY_DEVICE_TO_HOST)


def _positive(operation: str, **sizes: Any) -> None:
    for operand, size in sizes.items():
        if not isinstance(size, int) or size <= 0:
            raise BackendError(operation, operand=operand, value=size, rule="an int above 0", nearest=1)


def _address(operation: str, operand: str, handle: Any) -> int:
    try:
        address = ctypes.cast(handle, ctypes.c_void_p).value
    except (TypeError, ctypes.ArgumentError):
        raise ArgumentTypeError(operation, "is no pointer", operand=operand, value=handle) from None
    if not address:
        raise BackendError(operation, "is a null pointer", operand=operand)
    return address


def _inside(operand: str, address: int, nbytes: int) -> None:
    """Refuse a copy that leaves the device memory it names. A pointer into the middle of a block is fine."""
    for start, size in _sizes.items():
        if start <= address < start + size:
            left = start + size - address
            if nbytes > left:
                rule = f"at most {left} bytes lie behind {operand}"
                raise BackendError("memcpy", operand="src_nbytes", value=nbytes, rule=rule, nearest=left)
            return
    raise BackendError("memcpy", "is no device memory (freed already?)", operand=operand, value=hex(address))
