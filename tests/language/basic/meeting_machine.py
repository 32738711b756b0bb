"""Launches of several cores over int32 arrays, and what the tests of meetings do between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from basic_machine import at, ub

from ascsim.hw.checks import Checks
from ascsim.hw.device import Device
from ascsim.hw.soc import soc
from ascsim.language.basic import data_copy, duplicate, pipe_barrier
from ascsim.language.core import GlobalAddress, PipeID
from ascsim.language.core import dtype as dt

AIV_ONLY, AIC_ONLY, MIX_AIV, MIX_1_1, MIX_1_2 = 0, 1, 4, 6, 7
COLLECT = Checks.collect()


def launch(
    body: Callable[..., Any],
    *arrays: np.ndarray,
    blocks: int = 2,
    kind: int = AIV_ONLY,
    checks: Checks = COLLECT,
    only: list[int] | None = None,
) -> Device:
    """Run `body(address of each int32 array)` on every core."""
    device = Device(soc("Ascend910B1"), kind, blocks, checks=checks, only=only)
    addresses = [
        GlobalAddress(device.argument(f"a{i}", memoryview(array.view(np.uint8))), 0, dt.int32)
        for i, array in enumerate(arrays)
    ]
    device.run(lambda: body(*addresses))
    device.write_back()
    return device


def put(address: GlobalAddress, block: int, value: int) -> None:
    """Store eight equal words as block `block` of an array."""
    tensor = ub(dt.int32, 0, 8)
    duplicate(tensor, value, 8)
    pipe_barrier(PipeID.PIPE_ALL)
    data_copy(at(address)[block * 8 :], tensor, 8)


def pass_on(source: GlobalAddress, block: int, target: GlobalAddress, to: int) -> None:
    """Copy a block of one array to another."""
    tensor = ub(dt.int32, 32, 8)
    pipe_barrier(PipeID.PIPE_ALL)
    data_copy(tensor, at(source)[block * 8 :], 8)
    pipe_barrier(PipeID.PIPE_ALL)
    data_copy(at(target)[to * 8 :], tensor, 8)


def zeros(blocks: int) -> np.ndarray:
    return np.zeros(blocks * 8, np.int32)
