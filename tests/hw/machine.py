"""Small kernels for the tests of the machine: copies and additions on bytes, by address, without any language."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ascsim.hw import current
from ascsim.hw.checks import Checks
from ascsim.hw.core import Core
from ascsim.hw.device import Device
from ascsim.hw.events import EVENT_NUMBER
from ascsim.hw.findings import Finding
from ascsim.hw.global_memory import GlobalArray
from ascsim.hw.instruction import Plan, gm_shape
from ascsim.hw.soc import soc

COLLECT = Checks.collect()
AIV_ONLY, MIX_AIV, MIX_AIC, MIX = 0, 4, 5, 7  # MIX: one cube core and two vector cores


class Kernel:
    """What the body of a test kernel calls. Every call is given its line, which reports then name as `k:LINE`."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.core: Core = current.core.get()

    def region(self, start: int, nbytes: int, memory: str = "UB") -> Any:
        return self.core.region(memory, ((start, ((nbytes, 1),)),), "test", ("k", 0))

    def load(self, line: int, dst: int, array: GlobalArray, at: int, nbytes: int, memory: str = "UB") -> None:
        """MTE2: global memory to local memory."""
        store = self.core.memories[memory]

        def run(gm: GlobalArray, start: int) -> None:
            store.view[dst : dst + nbytes] = gm.data[start : start + nbytes]

        def carry(gm: GlobalArray, start: int) -> None:
            assert gm.defined is not None
            store.defined[dst : dst + nbytes] = gm.defined[start : start + nbytes]

        writes = (self.region(dst, nbytes, memory),)
        plan = Plan("load", self.core.pipes["MTE2"], (), writes, run, 10, gm_shape(nbytes), carry)
        self.core.issue(plan, ("k", line), array, at)

    def store(self, line: int, array: GlobalArray, at: int, src: int, nbytes: int, atomic: str = "") -> None:
        """MTE3: UB to global memory."""
        ub = self.core.memories["UB"]

        def run(gm: GlobalArray, start: int) -> None:
            for k in range(nbytes):
                old = gm.data[start + k] if atomic else 0
                gm.data[start + k] = (old + ub.view[src + k]) % 256

        shape = gm_shape(nbytes, write=True, atomic=atomic)
        plan = Plan("store", self.core.pipes["MTE3"], (self.region(src, nbytes),), (), run, 10, shape)
        self.core.issue(plan, ("k", line), array, at)

    def add(self, line: int, dst: int, src: int, nbytes: int, value: int = 1) -> None:
        """V: dst = src + value, byte by byte."""
        ub = self.core.memories["UB"]

        def run() -> None:
            ub.bytes[dst : dst + nbytes] = ub.bytes[src : src + nbytes] + value

        plan = Plan("add", self.core.pipes["V"], (self.region(src, nbytes),), (self.region(dst, nbytes),), run, 10)
        self.core.issue(plan, ("k", line))

    def fill(self, line: int, dst: int, nbytes: int, value: int) -> None:
        """V: dst = value."""
        ub = self.core.memories["UB"]

        def run() -> None:
            ub.bytes[dst : dst + nbytes] = value

        self.core.issue(Plan("fill", self.core.pipes["V"], (), (self.region(dst, nbytes),), run, 10), ("k", line))

    def set(self, line: int, event: str, number: int = 0) -> None:
        self.core.set_flag(self.core.flags[EVENT_NUMBER[event]][number], ("k", line))  # type: ignore[index]

    def wait(self, line: int, event: str, number: int = 0) -> None:
        self.core.wait_flag(self.core.flags[EVENT_NUMBER[event]][number], ("k", line))  # type: ignore[index]

    def order(self, line: int, event: str, number: int = 0) -> None:
        """A set and its wait."""
        self.set(line, event, number)
        self.wait(line, event, number)

    def barrier_all(self, line: int) -> None:
        self.core.barrier_all(("k", line))

    def xset(self, line: int, number: int, mode: int, pipe: str) -> None:
        self.device.cross.set(self.core, number, mode, self.core.pipes[pipe], ("k", line))

    def xwait(self, line: int, number: int) -> None:
        self.device.cross.wait(self.core, number, ("k", line))


def device(
    blocks: int = 1, kernel_type: int = MIX_AIV, checks: Checks = COLLECT, auto_sync: bool = False, **options: Any
) -> Device:
    return Device(soc("Ascend910B1"), kernel_type, blocks, checks=checks, auto_sync=auto_sync, **options)


def run(machine: Device, body: Callable[[Kernel], None]) -> list[Finding]:
    """Run a kernel; what was found."""
    machine.run(lambda: body(Kernel(machine)))
    return machine.findings


def codes(machine: Device) -> list[str]:
    return [finding.code for finding in machine.findings]
