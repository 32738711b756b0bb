"""The run map, and the compressed log in front of it, against a map that keeps every byte apart."""

from __future__ import annotations

import random
from functools import cache, partial
from typing import Any, ClassVar

from machine import Kernel, device, run

from ascsim.hw.core import Core
from ascsim.hw.instruction import Plan, gm_shape
from ascsim.hw.intervals import RunMap

Pair = tuple[int, int, int]  # number of the earlier access, of the later one, the byte

SITE = (compile("0", "k", "eval"), 0)


class Instruction:
    """What the maps look at of a plan."""

    def __init__(self, shape: Any) -> None:
        self.gm = shape


instruction = cache(Instruction)


def access(n: int, slot: int, serial: int, shape: Any, line: int) -> list[Any]:
    return [n, slot, (SITE[0], line), instruction(shape), -1, serial, [0] * 4]


class Bytes:
    """Last plain write, reads and atomic updates since, of every byte."""

    def __init__(self) -> None:
        self.write: dict[int, list[Any]] = {}
        self.reads: dict[int, dict[Any, list[Any]]] = {}
        self.atomic: dict[int, dict[Any, list[Any]]] = {}

    def enter(self, byte: int, me: list[Any], write: bool, kind: str) -> set[Pair]:
        reads, atomic = self.reads.setdefault(byte, {}), self.atomic.setdefault(byte, {})
        last = [self.write[byte]] if byte in self.write else []
        if not write:
            against = [*last, *atomic.values()]
            reads[me[5], me[1]] = me
        else:
            against = [*reads.values(), *(a for a in atomic.values() if a[3].gm.atomic != kind)]
            if not reads and (kind or not atomic):
                against += last
            if kind:
                atomic[me[5], me[1], kind] = me
            else:
                self.write[byte] = me
                reads.clear()
                atomic.clear()
        return {(a[0], me[0], byte) for a in against if a is not me and a[:2] != me[:2]}


def test_the_run_map_compares_what_bytes_compare() -> None:
    rng = random.Random(3)
    for _ in range(40):
        runs, plain, span = RunMap(), Bytes(), rng.choice((60, 500))
        for n in range(1, 40):
            a = rng.randrange(span)
            b = a + rng.randrange(1, 20)
            write, kind = rng.random() < 0.5, rng.choice(("", "", "add", "max"))
            size, rows = b - a, rng.choice((1, 1, 2, 4))
            shape = gm_shape(size, max(1, size + rng.randrange(-6, 6)), rows, write, kind)
            me = access(n, rng.randrange(2), rng.randrange(2), shape, 0)
            seen: set[Pair] = set()

            def clash(earlier: Any, lo: int, hi: int, _: bool, me: Any = me, seen: set[Pair] = seen) -> None:
                if earlier[5] >= 0 and earlier is not me:
                    seen |= {(earlier[0], me[0], byte) for byte in range(lo, hi)}

            if write:
                runs.store(shape.runs(a), me, clash, kind)
            else:
                for first, end in shape.runs(a):
                    runs.read(first, end, me, clash)
            expected: set[Pair] = set()
            for byte in sorted({byte for row in shape.runs(a) for byte in range(*row)}):
                expected |= plain.enter(byte, me, write, kind if write else "")
            assert seen == expected


class Watched(Core):
    """Notes which earlier accesses to global memory a new one is compared with."""

    __slots__ = ()

    log: ClassVar[set[Pair]]

    def gm_clash(self, earlier: Any, a: int, b: int, write: bool) -> None:
        me = self.me
        if earlier[5] >= 0 and earlier[:2] != me[:2]:
            self.log.update((earlier[0], me[0], byte) for byte in range(a, b))


def test_the_log_gives_the_verdicts_of_the_run_map() -> None:
    """Loops of several lines on two cores: compressed or not, the same pairs are compared."""
    rng = random.Random(11)
    for _ in range(80):
        loops = [
            (
                *(rng.randrange(2), rng.random() < 0.4, rng.randrange(200, 1500)),  # core, store, first byte
                *(rng.choice((0, 16, 64, 100, -16)), rng.choice((16, 48)), rng.choice((1, 3)), rng.randrange(1, 8)),
            )
            for _ in range(rng.randrange(1, 6))
        ]
        machine, plain = device(2), Bytes()
        machine.machine = Watched
        array = machine.argument("x", memoryview(bytearray(4096)))
        seen: set[Pair] = set()
        expected: set[Pair] = set()

        steps = [(line, turn) for line, loop in enumerate(loops) for turn in range(loop[-1])]
        if rng.random() < 0.5:  # one loop with several lines
            steps.sort(key=lambda step: step[1])

        def body(
            k: Kernel,
            array: Any = array,
            loops: Any = loops,
            steps: Any = steps,
            plain: Bytes = plain,
            **sets: set[Pair],
        ) -> None:
            core = k.core

            assert isinstance(core, Watched)
            Watched.log = sets["seen"]
            plans = []
            for line, (_, write, _, _, stride, count, _) in enumerate(loops):
                pipe, shape = core.pipes["MTE3" if write else "MTE2"], gm_shape(16, stride, count, write)
                plans.append(Plan(str(line), pipe, (), (), lambda gm, at: None, 1, shape))
                pipe.n = 1000 * (2 * core.serial + write)  # numbers tell accesses apart
            for line, turn in steps:
                serial, write, first, step, *_ = loops[line]
                if serial != core.serial:
                    continue
                plan = plans[line]
                core.issue(plan, (SITE[0], line), array, first + turn * step)
                me = [plan.pipe.n, plan.pipe.slot, None, plan, -1, serial, None]
                for a, b in plan.gm.runs(first + turn * step):
                    for byte in range(a, b):
                        sets["expected"] |= plain.enter(byte, me, write, "")

        run(machine, partial(body, seen=seen, expected=expected))
        assert seen == expected


def test_a_steady_loop_is_one_stretch() -> None:
    machine = device()
    array = machine.argument("x", memoryview(bytearray(4096)))

    def body(k: Kernel) -> None:
        plan = Plan("load", k.core.pipes["MTE2"], (), (), lambda gm, at: None, 1, gm_shape(32))
        for turn in range(100):
            k.core.issue(plan, SITE, array, 32 * turn)

    run(machine, body)
    (stretch,) = array.log
    accesses = stretch.accesses()
    assert [at for _, at in accesses] == list(range(0, 3200, 32))
    assert [me[0] for me, _ in accesses] == list(range(1, 101))


def test_a_store_that_misses_its_array_leaves_no_run() -> None:
    runs = RunMap()
    runs.store([], access(1, 0, 0, gm_shape(64, write=True), 0), lambda *_: None)
    assert len(runs.starts) == len(runs.cells) == 1


def test_reads_can_be_forgotten() -> None:
    runs = RunMap()
    runs.read(0, 64, access(1, 0, 0, gm_shape(64), 0), lambda *_: None)
    runs.forget(0, 32, (0, 0))
    seen: list[tuple[int, int]] = []
    runs.write(
        0, 64, access(1, 0, 1, gm_shape(64, write=True), 0), lambda e, a, b, w: seen.append((a, b)) if e[0] else None
    )
    assert seen == [(32, 64)]
