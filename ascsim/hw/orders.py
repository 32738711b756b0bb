"""Legal orders of a record: linear extensions of "ordered before", each as hostile as it can be in its own way.

canonical     as the launch ran
late          only what is demanded, by a scalar read and then by the end of the launch, and what that needs; of several
              the most recently issued (finds missing waits)
early         loads as soon as they may (finds missing reverse flags)
reverse       of what may run the most recently issued
slow P        pipe P last
random N      drawn with seed N
torn ...      every transfer in two halves, the second of them as late as it may: a real one is not done at once
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from .entry import Entry, Key, before
from .memory import Region
from .record import Chooser, Step, newest, oldest, order

HALF = 32  # bytes; a transfer is torn between two of these
SEEDS = range(3)
ALWAYS = ("canonical", "late", "early", "reverse", "torn", "torn reverse")  # of every launch, whatever its pipes


def early(ready: list[Entry]) -> Entry:
    """Loads first, the rest in canonical order."""
    return min(ready, key=lambda entry: (entry.plan.pipe.name != "MTE2", entry.number))


def slow(pipe: str) -> Chooser:
    """One pipe last, the rest in canonical order."""
    return lambda ready: min(ready, key=lambda entry: (entry.plan.pipe.name == pipe, entry.number))


def shuffled(seed: int) -> Chooser:
    """Any that may run."""
    return random.Random(seed).choice


def late(entries: list[Entry]) -> list[Entry]:
    """Only what is demanded, as late as it may."""
    pipes: dict[Key, _Undone] = {}
    for entry in entries:
        pipes.setdefault(entry.key, _Undone()).add(entry)
    out: list[Entry] = []
    done: set[int] = set()
    scalar = [entry for entry in entries if not entry.plan.pipe.slot]
    rest = [entry for entry in reversed(entries) if entry.plan.pipe.slot]
    for demanded in scalar + rest:
        stack = [demanded]
        while stack:
            entry = stack[-1]
            if entry.number in done:
                stack.pop()
                continue
            needed = [pipes[key].last(n) for key, n in entry.needs() if key in pipes]
            latest = max((other for other in needed if other is not None), key=lambda e: e.number, default=None)
            if latest is not None:
                stack.append(latest)
            else:
                pipes[entry.key].remove(entry)
                done.add(entry.number)
                out.append(stack.pop())
    return out


class _Undone:
    """The instructions of one pipe that have not run: the last of them up to a number, in nearly constant time."""

    __slots__ = ("below", "entries", "numbers")

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.numbers: list[int] = []
        self.below = [0]  # place -> itself while undone, else a lower place; 0 is before the first

    def add(self, entry: Entry) -> None:
        self.entries.append(entry)
        self.numbers.append(entry.n)
        self.below.append(len(self.entries))

    def last(self, n: int) -> Entry | None:
        place = self._find(bisect_right(self.numbers, n))
        return self.entries[place - 1] if place else None

    def remove(self, entry: Entry) -> None:
        place = bisect_right(self.numbers, entry.n)
        self.below[place] = place - 1

    def _find(self, place: int) -> int:
        root = place
        while self.below[root] != root:
            root = self.below[root]
        while self.below[place] != root:
            self.below[place], place = root, self.below[place]
        return root


# ------------------------------------------------------------------ torn transfers


class Piece:
    """One half of an instruction: the bytes that it writes in the other half stay as they are.

    Each half reads when it runs. That is what a transfer under way does, as long as it does not read what it writes.
    """

    __slots__ = ("entry", "others")

    def __init__(self, entry: Entry, others: list[tuple[Callable[[], np.ndarray], np.ndarray]]) -> None:
        self.entry = entry
        self.others = others  # memory, and the numbers of its bytes that belong to the other half

    def run(self) -> None:
        """Do this half of the work."""
        kept = [(memory(), others, memory()[others]) for memory, others in self.others]
        self.entry.run()
        for memory, others, old in kept:
            memory[others] = old


def halves(entry: Entry) -> tuple[Piece, Piece] | None:
    """An instruction in two pieces; None for one that is too small, or that reads what it writes."""
    plan = entry.plan
    if not plan.pipe.slot or any(read.meets(write) for read in plan.reads for write in plan.writes):
        return None
    first: list[tuple[Callable[[], np.ndarray], np.ndarray]] = []
    second: list[tuple[Callable[[], np.ndarray], np.ndarray]] = []
    for memory, numbers in _written(entry):
        cut = numbers.size // (2 * HALF) * HALF
        if not cut:
            return None
        first.append((memory, numbers[cut:]))
        second.append((memory, numbers[:cut]))
    return (Piece(entry, first), Piece(entry, second)) if first else None


def _written(entry: Entry) -> list[tuple[Callable[[], np.ndarray], np.ndarray]]:
    """The memories that an instruction writes, and the numbers of the bytes."""
    gm = entry.gm
    if gm is not None and entry.plan.gm is not None and entry.plan.gm.write:
        runs = [np.arange(a, b) for a, b in entry.plan.gm.runs(entry.at)]
        return [(lambda: np.asarray(gm.data), np.concatenate(runs))]
    by_memory: dict[str, list[Region]] = {}
    for region in entry.plan.writes:
        by_memory.setdefault(region.memory.name, []).append(region)
    out: list[tuple[Callable[[], np.ndarray], np.ndarray]] = []
    for regions in by_memory.values():
        memory = regions[0].memory
        mask = regions[0].mask()
        for region in regions[1:]:
            mask |= region.mask()
        out.append((lambda memory=memory: memory.bytes, mask.nonzero()[0]))  # type: ignore[misc]
    return out


def torn(entries: Iterable[Entry]) -> list[Step]:
    """The same order, each instruction in two halves, the second just before what must follow it."""
    out: list[Step] = []
    pending: list[Piece] = []
    for entry in entries:
        due = [piece for piece in pending if before(piece.entry, entry)]
        out += due
        pending = [piece for piece in pending if piece not in due]
        pair = halves(entry)
        if pair is None:
            out.append(entry)
        else:
            out.append(pair[0])
            pending.append(pair[1])
    return out + pending


def legal_orders(entries: list[Entry], seeds: Iterable[int] = SEEDS) -> dict[str, Callable[[], list[Step]]]:
    """The orders by name, each made when it is asked for."""
    pipes = dict.fromkeys(entry.plan.pipe.name for entry in entries)
    choosers: dict[str, Chooser] = {"canonical": oldest, "early": early, "reverse": newest}
    choosers |= {f"slow {pipe}": slow(pipe) for pipe in pipes if pipe != "S"}
    choosers |= {f"random {seed}": shuffled(seed) for seed in seeds}
    made: dict[str, Callable[[], list[Step]]] = {"late": lambda: list(late(entries))}
    made |= {name: partial(_chosen, entries, choose) for name, choose in choosers.items()}
    made["torn"] = lambda: torn(order(entries, oldest))
    made["torn reverse"] = lambda: torn(order(entries, newest))
    return made


def _chosen(entries: list[Entry], choose: Chooser) -> list[Step]:
    return list(order(entries, choose))
