"""The record of a launch, and its replay in another order that the clocks allow.

The record is flat: nine slots an instruction, most of them shared objects. Replay executes the recorded plans on
the memories they ran on, reset to the state before the launch. Beside the instructions stand the calls that the
program made (`calls`) and the bytes that the written arguments held before the launch. The other arguments stay where
they are, in the caller's memory; of them there is a digest, and a replay is refused where they have changed since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .calls import Calls
from .entry import Entry, Key, before
from .errors import LaunchError

if TYPE_CHECKING:
    from .core import Core
    from .device import Device
    from .findings import Site
    from .global_memory import GlobalArray
    from .instruction import Plan

__all__ = ["Entry", "Record", "before", "execute", "newest", "oldest", "order", "replay"]

WIDTH = 9
WINDOW = 32  # entries; the published depth of a pipe's queue


class Record:
    """Issued instructions in canonical order."""

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self.calls = Calls()
        self.kept: dict[GlobalArray, bytes] = {}  # arguments that the end of the launch changes, as they were before it
        self.digests: dict[GlobalArray, bytes] = {}  # of the other arguments

    def enter(self, core: Core, plan: Plan, gm: GlobalArray | None, at: int, site: Site) -> None:
        """Append the instruction that has just been issued."""
        pipe = plan.pipe
        self.rows += (core, plan, gm, at, pipe.n, pipe.clock, pipe.known, site, core.turn)

    def keep(self, arrays: Iterable[GlobalArray]) -> None:
        """The launch has run, and has not given its results to the caller yet: save what they will overwrite."""
        written = [array.source for array in arrays if array.stores]
        for array in arrays:
            if array.stores or any(np.may_share_memory(array.source, other) for other in written):
                self.kept[array] = bytes(array.source)
            else:
                self.digests[array] = _digest(array)

    def detach(self) -> None:
        """The results are with the caller: what becomes of them there is no part of the launch."""
        for array, kept in self.kept.items():
            if not array.owned:
                array.data = memoryview(kept)
            array.source = memoryview(kept)

    def initial(self, array: GlobalArray) -> Any:
        """The bytes of an argument before the launch."""
        if array in self.digests and self.digests[array] != _digest(array):
            rule = "a replay starts from the launch's arguments: replay before changing them, or launch with copies"
            raise LaunchError("replay", "has changed since the launch", operand=array.name, rule=rule)
        return array.source

    def __len__(self) -> int:
        return len(self.rows) // WIDTH

    def entries(self) -> list[Entry]:
        """The record as objects."""
        rows = self.rows
        return [Entry(i // WIDTH, rows[i : i + WIDTH]) for i in range(0, len(rows), WIDTH)]


def _digest(array: GlobalArray) -> bytes:
    return blake2b(array.source, digest_size=16).digest()


class Step(Protocol):
    """What a replay executes: an Entry, or a piece of one."""

    def run(self) -> None:
        """Do the work."""


Chooser = Callable[[list[Entry]], Entry]


def oldest(ready: list[Entry]) -> Entry:
    """The canonical order."""
    return min(ready, key=lambda entry: entry.number)


def newest(ready: list[Entry]) -> Entry:
    """As far from the canonical order as it goes."""
    return max(ready, key=lambda entry: entry.number)


def replay(device: Device, choose: Chooser = newest) -> dict[str, bytes]:
    """Execute the record in the order that `choose` picks among the instructions whose predecessors have ended."""
    assert device.record is not None
    return execute(device, order(device.record.entries(), choose))


def execute(device: Device, steps: Iterable[Step]) -> dict[str, bytes]:
    """Execute steps from the state before the launch; the bytes of every array that the launch wrote.

    The launch's own results stay as they are.
    """
    record = device.record
    assert record is not None
    written = [array for array in device.arena.arrays if array.stores]
    initial = {array: record.initial(array) for array in device.arena.arrays}
    results = {array.name: bytes(array.bytes(0, array.nbytes)) for array in written}
    for core in {row.serial: row for row in record.rows[::WIDTH]}.values():
        for memory in core.memories.values():
            memory.bytes[:] = 0xFF
    for array in written:
        array.restore(initial[array])
    with np.errstate(all="ignore"):  # as in a launch
        for step in steps:
            step.run()
    out = {array.name: bytes(array.bytes(0, array.nbytes)) for array in written}
    for array in written:
        array.restore(results[array.name])
    return out


def order(entries: list[Entry], choose: Chooser) -> list[Entry]:
    """A linear extension of "ordered before". Of each pipe the next `WINDOW` instructions are candidates."""
    queues: dict[Key, list[Entry]] = {}
    for entry in entries:
        queues.setdefault(entry.key, []).append(entry)
    pipes = {key: _Ended([entry.n for entry in queue]) for key, queue in queues.items()}
    ready: list[Entry] = []

    def admit(entry: Entry) -> None:
        for key, needed in entry.needs():
            if key in pipes and not pipes[key].reaches(needed):
                pipes[key].waiting.append((needed, entry))
                return
        ready.append(entry)

    for queue in queues.values():
        for entry in queue[:WINDOW]:
            admit(entry)
    out: list[Entry] = []
    while ready:
        entry = choose(ready)
        ready.remove(entry)
        out.append(entry)
        pipe = pipes[entry.key]
        for freed in pipe.enter(entry.n):
            admit(freed)
        position = WINDOW + pipe.count - 1
        if position < len(queues[entry.key]):
            admit(queues[entry.key][position])
    return out


class _Ended:
    """Which instructions of one pipe have run. Numbers that are not recorded belong to reports to other cores."""

    __slots__ = ("count", "done", "front", "numbers", "waiting")

    def __init__(self, numbers: list[int]) -> None:
        self.numbers, self.done, self.front, self.count = numbers, set[int](), 0, 0
        self.waiting: list[tuple[int, Entry]] = []  # entries that need everything up to a number

    def enter(self, n: int) -> list[Entry]:
        """An instruction has run; those that no longer wait for this pipe."""
        self.done.add(n)
        self.count += 1
        while self.front < len(self.numbers) and self.numbers[self.front] in self.done:
            self.done.remove(self.numbers[self.front])
            self.front += 1
        freed = [entry for needed, entry in self.waiting if self.reaches(needed)]
        self.waiting = [pair for pair in self.waiting if not self.reaches(pair[0])]
        return freed

    def reaches(self, n: int) -> bool:
        """Whether everything up to number n has run."""
        return self.front == len(self.numbers) or n < self.numbers[self.front]
