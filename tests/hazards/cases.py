"""Runs cases (see `notation`) on the machine of `ascsim.hw` and compares the codes found with the verdicts.

    python tests/hazards/cases.py FILE.md

prints one row a case and `N of M verdicts agree`. Exit status: 0 if all agree, 1 if one differs, 2 if the file
cannot be read. What is found is collected with strict severities, notes left out; only the faults after which no
byte would mean anything end a launch.

Every instruction writes bytes that depend on itself and on every byte it reads.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from hashlib import shake_128
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # a checkout works without being installed

from notation import BUILT_IN, Block, Call, Case, CaseError, Expr, Instruction, Slice, Statement, read_cases
from queues import Queues

from ascsim.hw import cache, current
from ascsim.hw.checks import Checks
from ascsim.hw.core import Core
from ascsim.hw.device import Device
from ascsim.hw.errors import FoundError, SimulatorError
from ascsim.hw.events import EVENT_NUMBER, IDS
from ascsim.hw.global_memory import GlobalArray
from ascsim.hw.instruction import GmShape, Plan, gm_shape
from ascsim.hw.memory import Piece, Region
from ascsim.hw.soc import soc
from ascsim.language.basic import block_sync

KERNEL_TYPE = {"aiv": 4, "aic": 5, "mix": 7}  # MIX_AIV_1_0, MIX_AIC_1_0, MIX_AIC_1_2: cross-core flags work
GM_PIPES = {"MTE2": (True, False), "MTE3": (False, True), "FIX": (False, True)}  # may read, may write global memory
COPIES = ("MTE1", "MTE2", "MTE3", "FIX")  # between local memories they carry undefined bytes along
CYCLES = 10  # of every instruction; times decide no verdict

Run = tuple[int, int, int, int]  # first byte, bytes a piece, stride, pieces


def bytes_of(*parts: Any) -> Callable[[int], bytes]:
    """A stream of bytes that depends on all parts."""
    return shake_128(repr(parts).encode()).digest


class Kernel:
    """Executes the text of a case on one core."""

    def __init__(self, case: Case, core: Core, arrays: dict[str, GlobalArray]) -> None:
        self.case, self.core, self.arrays = case, core, arrays
        values = (core.index, core.group, core.sub, core.kind == "aic", core.kind == "aiv")
        self.names = dict(zip(BUILT_IN, map(int, values), strict=True))
        self.local = {b.name: (b.memory, b.address, b.nbytes) for b in case.buffers.values()}
        self.count = 0
        self.queues = Queues(case, core, self.site) if case.queues else None

    def site(self, line: int) -> tuple[str, int]:
        return self.case.file, line

    def body(self, statements: list[Statement]) -> None:
        for statement in statements:
            if isinstance(statement, Instruction):
                self.instruction(statement)
            elif isinstance(statement, Call):
                try:
                    getattr(self, f"do_{statement.word}")(statement, *statement.names, *self.numbers(statement))
                except SimulatorError as error:
                    if isinstance(error, FoundError):
                        raise
                    raise CaseError(self.case.file, statement.line, str(error)) from None
            elif statement.name:
                outer = self.core.turn
                for turn in range(*self.numbers(statement)):
                    self.names[statement.name] = self.core.turn = turn
                    self.body(statement.body)
                self.core.turn = outer
            else:
                self.body(statement.body if self.numbers(statement)[0] else statement.other)

    def numbers(self, statement: Call | Block) -> list[int]:
        return [self.value(expr, statement.line) for expr in statement.numbers]

    def value(self, expr: Expr, line: int) -> int:
        try:
            return int(eval(expr.code, {"__builtins__": {}}, self.names))
        except (NameError, ArithmeticError, ValueError) as error:
            raise CaseError(self.case.file, line, f"{expr.text}: {error}") from None

    # ------------------------------------------------------------------ instructions

    def run_of(self, part: Slice, line: int) -> Run:
        first, last = self.value(part.first, line), self.value(part.last, line)
        size = last if part.relative else last - first
        stride, count = (
            (self.value(part.stride, line), self.value(part.count, line)) if part.stride and part.count else (size, 1)
        )
        if size <= 0 or count <= 0 or stride < size:
            raise CaseError(self.case.file, line, f"{part.name}: {count} pieces of {size} bytes, {stride} bytes apart")
        return (first, size * count, size * count, 1) if stride == size else (first, size, stride, count)

    def regions(self, part: Slice, op: Instruction) -> list[Region]:
        """The bytes of a local slice that lie in its buffer; what strays is reported."""
        assert self.queues is not None or part.name in self.local
        found = self.local.get(part.name)
        memory, base, size = found if found else self.queues.bytes_of(part.name, op.line)  # type: ignore[union-attr]
        first, block, stride, count = self.run_of(part, op.line)
        end = first + (count - 1) * stride + block
        site = self.site(op.line)
        if first < 0 or end > size:
            if first + base < 0 or end + base > self.core.memories[memory].size:
                self.core.region(memory, (strided(base + first, block, stride, count),), op.pipe, site)
            text = f"{op.pipe} touches bytes [{first}:{end}) of {part.name}, which has {size}"
            self.core.report("OOB_BUF", text, site, operation=op.pipe)
            starts = [first + k * stride for k in range(count)]
            runs = [(max(0, a), min(size, a + block)) for a in starts if a < size and a + block > 0]
            pieces = tuple(strided(base + a, b - a, b - a, 1) for a, b in runs)
        else:
            pieces = (strided(base + first, block, stride, count),)
        return [self.core.region(memory, pieces, op.pipe, site)] if pieces else []

    def memory_of(self, name: str, line: int) -> str:
        return self.local[name][0] if name in self.local else self.queues.memory_of(name, line)  # type: ignore[union-attr]

    def instruction(self, op: Instruction) -> None:
        core, site = self.core, self.site(op.line)
        local = [part.name for part in (*op.writes, *op.reads) if part.name not in self.arrays]
        if op.pipe not in core.pipes or any(self.memory_of(name, op.line) not in core.memories for name in local):
            if not core.device.mix:
                core.report("WRONG_CORE", f"{op.pipe} does nothing on {core.kind} cores", site, operation=op.pipe)
            return
        reads = [region for part in op.reads if part.name not in self.arrays for region in self.regions(part, op)]
        writes = [region for part in op.writes if part.name not in self.arrays for region in self.regions(part, op)]
        loads = [(self.arrays[p.name], *self.run_of(p, op.line)) for p in op.reads if p.name in self.arrays]
        stores = [(self.arrays[p.name], *self.run_of(p, op.line)) for p in op.writes if p.name in self.arrays]
        self.count += 1
        work = Work(self.case.file, op.line, core.serial, self.count, reads, writes)
        if op.pipe == "S":
            self.scalar(op, work, loads, stores)
            return
        may_read, may_write = GM_PIPES.get(op.pipe, (False, False))
        if (loads and not may_read) or (stores and not may_write):
            core.report("BAD_POSITION", f"{op.pipe} has no such path to global memory", site, operation=op.pipe)
        pipe = core.pipes[op.pipe]
        copies = op.pipe in COPIES
        if not loads and not stores:
            carry = work.carry if copies else None
            core.issue(Plan(op.pipe, pipe, reads, writes, work.finish, CYCLES, None, carry), site)
        # Several slices of global memory: one instruction for each, the last load writes.
        loads.sort(key=lambda load: load[0].defined is not None)
        for k, (array, first, block, stride, count) in enumerate(loads, 1):
            last = k == len(loads)
            shape = gm_shape(block, stride, count)
            run, carry = partial(work.load, shape, last), partial(work.carry, shape)
            mine = (reads, writes) if last else ((), ())
            core.issue(Plan(op.pipe, pipe, *mine, run, CYCLES, shape, carry if copies else None), site, array, first)
        for array, first, block, stride, count in stores:
            shape = gm_shape(block, stride, count, True, "add" if op.atomic else "")
            run = partial(work.store, shape, op.atomic)
            core.issue(Plan(op.pipe, pipe, reads, writes, run, CYCLES, shape), site, array, first)

    def scalar(self, op: Instruction, work: Work, loads: list[Any], stores: list[Any]) -> None:
        """Single elements: global memory through the data cache, slice by slice."""
        core, site = self.core, self.site(op.line)
        for array, first, block, stride, count in loads:
            for k in range(count):
                work.gathered.append(cache.load(core, array, first + k * stride, block, site))
        if work.reads or work.writes:
            core.issue(Plan("S", core.scalar, work.reads, work.writes, work.finish, CYCLES), site)
        stream = work.stream()
        for array, first, block, stride, count in stores:
            for k in range(count):
                cache.store(core, array, first + k * stride, stream(block), site)

    # ------------------------------------------------------------------ synchronisation

    def do_set(self, call: Call, event: str, number: int) -> None:
        self._flag(call, event, number, self.core.set_flag)

    def do_wait(self, call: Call, event: str, number: int) -> None:
        self._flag(call, event, number, self.core.wait_flag)

    def _flag(self, call: Call, event: str, number: int, act: Callable[..., None]) -> None:
        if event not in EVENT_NUMBER:
            raise CaseError(self.case.file, call.line, f"no event {event}")
        operation, site = f"{call.word}_flag", self.site(call.line)
        row = self.core.flags[EVENT_NUMBER[event]]
        if row is None or not 0 <= number < IDS:
            block_sync._no_flag(EVENT_NUMBER[event], number, operation, site)
            return
        flag = row[number]
        if flag.guard:
            block_sync._guarded(self.core, flag, operation, site)
        act(flag, site)

    def do_barrier(self, call: Call, pipe: str) -> None:
        site = self.site(call.line)
        if pipe == "ALL":
            self.core.barrier_all(site)
        elif pipe == "S":
            self.core.report("BAD_PIPE", "pipe_barrier(PIPE_S) does not exist", site, operation="pipe_barrier")
        elif pipe in self.core.pipes:
            self.core.barrier(self.core.pipes[pipe], site)

    def do_xset(self, call: Call, pipe: str, mode: int, number: int) -> None:
        core, site = self.core, self.site(call.line)
        if mode not in (0, 1, 2):
            raise CaseError(self.case.file, call.line, f"no mode {mode}")
        if pipe in ("S", "ALL"):
            core.report("BAD_PIPE", f"no report from {pipe}", site, operation="cross_core_set_flag")
        elif pipe in core.pipes:
            core.device.cross.set(core, number, mode, core.pipes[pipe], site)
        else:
            core.report("WRONG_CORE", f"{core.kind} cores have no pipe {pipe}", site, operation="cross_core_set_flag")

    def do_xwait(self, call: Call, number: int) -> None:
        self.core.device.cross.wait(self.core, number, self.site(call.line))

    def do_sync_all(self, call: Call) -> None:
        self.core.device.cross.sync_all(self.core, self.site(call.line))

    # ------------------------------------------------------------------ queues

    def do_alloc(self, call: Call, queue: str, tensor: str) -> None:
        self.queues.alloc(call.line, queue, tensor)  # type: ignore[union-attr]

    def do_deque(self, call: Call, queue: str, tensor: str) -> None:
        self.queues.deque(call.line, queue, tensor)  # type: ignore[union-attr]

    def do_enque(self, call: Call, queue: str, tensor: str) -> None:
        self.queues.enque(call.line, queue, tensor)  # type: ignore[union-attr]

    def do_free(self, call: Call, queue: str, tensor: str) -> None:
        self.queues.free(call.line, queue, tensor)  # type: ignore[union-attr]


class Work:
    """What one instruction does to bytes."""

    def __init__(
        self, file: str, line: int, serial: int, count: int, reads: list[Region], writes: list[Region]
    ) -> None:
        self.who = (file, line, serial, count)
        self.reads, self.writes = reads, writes
        self.gathered: list[bytes] = []  # sources in global memory
        self.local: list[bytes] = []  # and in local memories
        self.defined: list[np.ndarray] = []  # and which of their bytes are defined, where that is kept

    def stream(self) -> Callable[[int], bytes]:
        return bytes_of(*self.who, *self.gathered, *self.local)

    def finish(self) -> None:
        """Read the local sources, write the local destinations."""
        self.local = [view.tobytes() for region in self.reads for view in region.views(region.memory.bytes)]
        views = [view for region in self.writes for view in region.views(region.memory.bytes)]
        raw = np.frombuffer(self.stream()(sum(view.size for view in views)), np.uint8)
        for view in views:
            view[...] = raw[: view.size].reshape(view.shape)
            raw = raw[view.size :]

    def load(self, shape: GmShape, last: bool, array: GlobalArray, at: int) -> None:
        """Read one slice of global memory; after the last one write."""
        self.gathered += [bytes(array.data[a:b]) for a, b in shape.runs(at)]
        if last:
            self.finish()
            self.gathered = []  # a replay gathers anew

    def store(self, shape: GmShape, atomic: bool, array: GlobalArray, at: int) -> None:
        """Read the local sources, write or update one slice of global memory."""
        sources = [view.tobytes() for region in self.reads for view in region.views(region.memory.bytes)]
        raw = np.frombuffer(bytes_of(*self.who, at, *sources)(shape.nbytes), np.uint8)
        for k, (a, b) in enumerate(shape.runs(at)):
            new = raw[k * shape.block : (k + 1) * shape.block]
            array.data[a:b] = (new + np.frombuffer(array.data[a:b], np.uint8) if atomic else new).tobytes()

    def carry(self, shape: GmShape | None = None, array: GlobalArray | None = None, at: int = 0) -> None:
        """Copy definedness: byte by byte where as many bytes are written as read, else all or nothing."""
        if shape is not None and array is not None and array.defined is not None:
            self.defined += [array.defined[a:b] for a, b in shape.runs(at)]
        parts = self.defined + [view.ravel() for region in self.reads for view in region.views(region.memory.defined)]
        source = np.concatenate(parts) if parts else np.ones(1, np.bool_)
        views = [view for region in self.writes for view in region.views(region.memory.defined)]
        total = sum(view.size for view in views)
        if total != source.size:
            source = np.full(total, source.all())
        for view in views:
            view[...] = source[: view.size].reshape(view.shape)
            source = source[view.size :]


def strided(first: int, block: int, stride: int, count: int) -> Piece:
    """A footprint of a local memory."""
    return (first, ((block, 1),)) if count == 1 else (first, ((count, stride), (block, 1)))


def launch(case: Case, **options: Any) -> Device:
    """Run a case; the device that it ran on, findings included. A launch that a fault has ended is no error."""
    checks = replace(Checks.collect(), queue_depth=case.depth)
    device = Device(
        soc("Ascend910B1"), KERNEL_TYPE[case.cores], case.groups, checks=checks, auto_sync=case.auto_sync, **options
    )
    arrays = {}
    for array in case.arrays.values():
        raw = bytearray(array.nbytes) if array.blank else bytearray(bytes_of(array.name)(array.nbytes))
        arrays[array.name] = device.argument(array.name, memoryview(raw), not array.blank)

    def body() -> None:
        kernel = Kernel(case, current.core.get(), arrays)
        kernel.body(case.body)

    try:
        device.run(body)
    except FoundError as error:
        if error.finding not in device.findings:
            raise
    return device


def found(case: Case) -> frozenset[str]:
    """The codes that the machine finds, notes left out."""
    return frozenset(finding.code for finding in launch(case).findings if finding.severity != "note")


def show(codes: frozenset[str]) -> str:
    """As a verdict is written."""
    return ", ".join(sorted(codes)) or "clean"


def main(arguments: list[str]) -> int:
    """The command line."""
    if len(arguments) != 1:
        print("usage: python tests/hazards/cases.py FILE.md", file=sys.stderr)
        return 2
    try:
        cases = read_cases(Path(arguments[0]))
        rows = [(case, found(case)) for case in cases]
    except (CaseError, SimulatorError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    wide = max(len(case.name) for case in cases)
    agreed = 0
    for case, codes in rows:
        agree = codes == case.expected
        agreed += agree
        verdict = "agree" if agree else "DIFFER"
        print(f"{case.name:{wide}}  expected {show(case.expected):28}  found {show(codes):28}  {verdict}")
    print(f"{agreed} of {len(cases)} verdicts agree")
    return 0 if agreed == len(cases) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
