"""System variables of the running core.

Pages: GetBlockIdx, GetBlockNum, GetSubBlockIdx, GetSubBlockNum, GetTaskRatio, GetSystemCycle, GetProgramCounter,
GetArchVersion, GetDataBlockSizeInBytes, Trap.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from ...hw.core import Core
from ..core.ir_value import Int32, Int64, PlainValue, UInt64
from ..core.place import index, report, running

BLOCK_BYTES = 32
ARCH_VERSION = 2201


def get_block_idx() -> PlainValue:
    """Number of this core's block (int32); on vector cores of a 1:2 kernel 2 * group + sub-block. Page: GetBlockIdx."""
    return Int32.pack(running("get_block_idx").index)


def get_block_num() -> PlainValue:
    """Blocks of the launch (int32). Page: GetBlockNum."""
    return Int32.pack(running("get_block_num").device.blocks)


def get_sub_block_idx() -> PlainValue:
    """Number of this vector core in its group (int64), 0 elsewhere. Page: GetSubBlockIdx."""
    return Int64.pack(running("get_sub_block_idx").sub)


def _vector_cores() -> int:
    core = running("get_sub_block_num")
    return core.device.ratio if core.kind == "aiv" else 1


def get_sub_block_num() -> PlainValue:
    """Vector cores of a group (uint64); 1 on a cube core. Page: GetSubBlockNum."""
    return UInt64.pack(_vector_cores())


def get_task_ratio() -> PlainValue:
    """Ratio of vector cores to cube cores (int64), as seen by this core; 1 on a cube core. Page: GetTaskRatio."""
    return Int64.pack(_vector_cores())


def get_data_block_size_in_bytes() -> PlainValue:
    """Bytes of a data block, 32 (int32). Page: GetDataBlockSizeInBytes."""
    running("get_data_block_size_in_bytes")
    return Int32.pack(BLOCK_BYTES)


def get_system_cycle() -> PlainValue:
    """Simulated time of the scalar unit in 50 MHz ticks of 20 ns (int64). Page: GetSystemCycle."""
    return Int64.pack(ticks(running("get_system_cycle")))


def ticks(core: Core) -> int:
    """The time of the scalar unit in ticks."""
    soc = core.device.soc
    return core.now * soc.tick_mhz // soc.clock_mhz


def get_program_counter() -> PlainValue:
    """Address of the running instruction (int64): here the offset in the author's compiled function, times 4.

    Only differences within one function mean anything. Page: GetProgramCounter.
    """
    running("get_program_counter")
    return Int64.pack(program_counter(sys._getframe(1)))


def program_counter(frame: FrameType) -> int:
    """The address that stands for the place where an author's function is."""
    return frame.f_lasti * 4


def get_arch_version(core_version: Any) -> PlainValue:
    """Number of the architecture, 2201 (int64). The argument is the vendor's out-parameter. Page: GetArchVersion."""
    running("get_arch_version")
    index(core_version, "get_arch_version", "core_version")
    return Int64.pack(ARCH_VERSION)


def trap() -> None:
    """Stop the kernel with an error, at this line. Page: Trap."""
    frame = sys._getframe(1)
    report(running("trap"), "TRAP", "the kernel stopped itself", (frame.f_code, frame.f_lasti), "trap")


__all__ = [
    "get_arch_version",
    "get_block_idx",
    "get_block_num",
    "get_data_block_size_in_bytes",
    "get_program_counter",
    "get_sub_block_idx",
    "get_sub_block_num",
    "get_system_cycle",
    "get_task_ratio",
    "trap",
]
