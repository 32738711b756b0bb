"""The witness of a race: the two accesses in either order, and what that does to the results.

One order is the launch's own. In the other the later access, with what it needs, runs just before the earlier one, and
the rest as before. Both are legal; the bytes may still agree (equal values, bytes that nobody reads).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .entry import Entry, before
from .findings import Finding, place
from .ledger import Name
from .memory import overlap
from .record import execute

if TYPE_CHECKING:
    from .device import Device

SHOWN = 8  # bytes of a difference


@dataclass(frozen=True)
class Difference:
    """The first bytes at which two runs differ: `first` and `second` are what they hold from byte `at` on."""

    array: str
    at: int
    first: bytes
    second: bytes

    def __str__(self) -> str:
        end = self.at + len(self.first)
        return f"{self.array}[{self.at}:{end}) is {self.first.hex(' ')} or {self.second.hex(' ')}"


@dataclass(frozen=True)
class Witness:
    """Two legal orders in which the two accesses of a race come one way round and the other.

    `accesses` are the two in words, in the order in which they were found; `orders` are the numbers of the recorded
    instructions; `difference` is None where the results are the same.
    """

    accesses: tuple[str, str]
    orders: tuple[tuple[int, ...], tuple[int, ...]]
    difference: Difference | None

    def __str__(self) -> str:
        first, second = self.accesses
        if self.difference is None:
            return f"{first} may come before or after {second}; the results are the same either way"
        return f"{first} may come before or after {second}: {self.difference}"


def compare(first: Mapping[str, bytes], second: Mapping[str, bytes]) -> Difference | None:
    """The first bytes of the first array that differ in two results of one launch."""
    for array, mine in first.items():
        other = second[array]
        if mine != other:
            at = next(k for k, (a, b) in enumerate(zip(mine, other, strict=True)) if a != b)
            at -= at % 4
            return Difference(array, at, mine[at : at + SHOWN], other[at : at + SHOWN])
    return None


def words(entry: Entry) -> str:
    """`add, kernel.py:24 (aiv 0 V)`."""
    return f"{entry.plan.name}, {place(entry.site)} ({entry.core.name} {entry.plan.pipe.name})"


def pair(device: Device, finding: Finding) -> tuple[Entry, Entry] | None:
    """The two recorded instructions that a finding is about, the last pair that was seen; None if it names none.

    A store that only a data cache has seen is no instruction of its own.
    """
    assert device.record is not None
    names = device.seen.get(finding.key)
    if names is None:
        return None
    entries = {_name(entry): entry for entry in device.record.entries()}
    first, second = entries.get(names[0]), entries.get(names[1])
    return (first, second) if first is not None and second is not None else None


def _name(entry: Entry) -> Name:
    return entry.core.serial, entry.plan.pipe.slot, entry.n


def witness(device: Device, first: Entry, second: Entry) -> Witness:
    """Run a recorded launch with two instructions in either order; nothing may order them."""
    assert device.record is not None
    entries = device.record.entries()
    between = entries[first.number + 1 : second.number]
    needed = [entry for entry in between if before(entry, second)]
    others = [entry for entry in between if not before(entry, second)]
    swapped = [*needed, entries[second.number], entries[first.number], *others]
    ways = (entries, [*entries[: first.number], *swapped, *entries[second.number + 1 :]])
    results = [_results(device, way, (first, second)) for way in ways]
    orders = tuple(entry.number for entry in ways[0]), tuple(entry.number for entry in ways[1])
    return Witness((words(first), words(second)), orders, compare(*results))


def _results(device: Device, way: list[Entry], pair: tuple[Entry, Entry]) -> dict[str, bytes]:
    """What the launch wrote, and what the scalar unit read in one of the two: the text took that as recorded."""
    looks = {entry.number: _Look(entry) for entry in pair if not entry.plan.pipe.slot and entry.plan.reads}
    results = execute(device, [looks.get(entry.number, entry) for entry in way])
    return results | {f"what {look.entry.plan.name} reads": look.seen for look in looks.values()}


class _Look:
    """An instruction of the scalar unit, and the local bytes that it finds."""

    def __init__(self, entry: Entry) -> None:
        self.entry, self.seen = entry, b""

    def run(self) -> None:
        self.seen = b"".join(
            view.tobytes() for region in self.entry.plan.reads for view in region.views(region.memory.bytes)
        )
        self.entry.run()


def common(first: Entry, second: Entry) -> list[tuple[str, int, int]]:
    """The bytes that both touch, one of them writing: memory or argument, first byte, last byte + 1."""
    found: set[tuple[str, int, int]] = set()
    for mine, others in ((first, second), (second, first)):
        for region in mine.plan.writes:
            for other in (*others.plan.reads, *others.plan.writes):
                if other.memory is region.memory:
                    found |= {(region.memory.name, a, b) for a, b in overlap(region, other)}
    mine_gm, other_gm = first.plan.gm, second.plan.gm
    if first.gm is not None and first.gm is second.gm and mine_gm and other_gm and (mine_gm.write or other_gm.write):
        name = first.gm.name
        found |= {(name, a, b) for a, b in _meet(mine_gm.runs(first.at), other_gm.runs(second.at))}
    return sorted(found)


def _meet(mine: list[tuple[int, int]], others: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The common bytes of two lists of runs, both in order."""
    i = k = 0
    while i < len(mine) and k < len(others):
        (a, b), (c, d) = mine[i], others[k]
        if max(a, c) < min(b, d):
            yield max(a, c), min(b, d)
        i, k = (i + 1, k) if b < d else (i, k + 1)
