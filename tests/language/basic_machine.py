"""Runs the body of a kernel on a machine of one block, with arrays of the caller in global memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ascsim.hw.checks import Checks
from ascsim.hw.device import Device
from ascsim.hw.soc import soc
from ascsim.language.basic import data_copy, set_flag, wait_flag
from ascsim.language.core import GlobalAddress, GlobalTensor, HardEvent, LocalTensor, TPosition
from ascsim.language.core import dtype as dt
from ascsim.language.core.place import running

KERNEL_TYPE = {"aiv": 0, "aic": 1, "mix_aiv": 4, "mix": 7}
FREE = Checks.off()


def launch(body: Callable[..., Any], *arrays: np.ndarray, kind: str = "aiv", checks: Checks | None = None) -> Device:
    """Run `body(address of each array)`; arrays that it stores to are changed. Raises what the body raised."""
    device = Device(soc("Ascend910B1"), KERNEL_TYPE[kind], 1, checks=checks or Checks())
    addresses = []
    for i, array in enumerate(arrays):
        raw = memoryview(array.reshape(-1).view(np.uint8))
        addresses.append(GlobalAddress(device.argument(f"a{i}", raw), 0, dt.from_numpy(array.dtype)))
    device.run(lambda: body(*addresses))
    device.write_back()
    return device


def at(address: GlobalAddress) -> GlobalTensor:
    """The global tensor that starts at an address."""
    out = GlobalTensor()
    out.set_global_buffer(address)
    return out


def ub(dtype: dt.DataType, start: int = 0, elements: int = 0, position: TPosition = TPosition.VECCALC) -> LocalTensor:
    """A tensor in UB: first byte, and elements (0: to the end of UB)."""
    return LocalTensor(dtype, position, start, elements)


def f(start: int = 0, elements: int = 256) -> LocalTensor:
    """A float32 tensor in UB."""
    return ub(dt.float32, start, elements)


def order(event: HardEvent) -> None:
    """Order the event's second pipe behind its first."""
    set_flag(event, 0)
    wait_flag(event, 0)


def on_image(image: np.ndarray, call: Callable[[], Any], checks: Checks = FREE) -> tuple[np.ndarray, Device]:
    """What is in UB, from byte 0, after `call`, if `image` was there before; and the device."""
    after = np.zeros_like(image)

    def body(source: GlobalAddress, target: GlobalAddress) -> None:
        whole = LocalTensor(dt.uint8, TPosition.VECCALC, 0, image.size)
        data_copy(whole, at(source), image.size)
        order(HardEvent.MTE2_V)
        call()
        order(HardEvent.V_MTE3)
        data_copy(at(target), whole, image.size)

    device = launch(body, image, after, checks=checks)
    return after, device


def whole(name: str, image: np.ndarray, start: int = 0, known: Any = True) -> None:
    """Put bytes into a memory of the running core, as if written long ago; `known`: which of them are defined."""
    core = running("test")
    memory = core.memories[name]
    memory.bytes[start : start + image.size] = image
    memory.defined[start : start + image.size] = known
    memory.high = max(memory.high, start + image.size)
    core.epoch += 1


def codes(device: Device) -> list[str]:
    """What was found, in order, notes left out."""
    return [found.code for found in device.findings if found.severity != "note"]
