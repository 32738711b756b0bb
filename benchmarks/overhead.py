"""What the simulator costs: time of a call, of a tile, of a block, of the import; memory of a launch.

    python benchmarks/overhead.py

Every figure is a ratio to something measured in the same run (an empty Python function, the bare numpy statements of
the same work), or a plain time or size, each the best of several. A figure over its budget is marked and makes the
exit code 1. The kernels are those of the examples, on one core. Memory is read as the system counts it (`resource`),
so this runs on Linux; it needs 2 GiB.
"""

from __future__ import annotations

import runpy
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import ascsim as asc  # noqa: E402  (the checkout's own)

BY_FLAGS = runpy.run_path(str(ROOT / "examples/01_add/add.py"))["add_kernel"]
BY_QUEUES = runpy.run_path(str(ROOT / "examples/02_add_framework/add_framework.py"))["add_kernel"]
# API calls of one turn of the loop: 3 copies, 1 add, 4 sets and 4 waits; or 3 times alloc, enque, deque, free.
CALLS = {"01_add": (BY_FLAGS, 3 + 1 + 4 + 4), "02_add_framework": (BY_QUEUES, 3 + 1 + 3 * 4)}
DEFAULT, OFF = asc.Checks(), asc.Checks.off()
ROUNDS = 7
GIB = 1 << 30


class Row(NamedTuple):
    """One figure and the most that it may be."""

    what: str
    figure: float
    budget: float
    unit: str


def best(*work: Callable[[], object], rounds: int = ROUNDS, now: Callable[[], float] = perf_counter) -> list[float]:
    """The least time of each piece of work in seconds; the pieces take turns, so that a slow spell hits all."""
    times = [[] for _ in work]
    for _ in range(rounds):
        for one, seconds in zip(work, times, strict=True):
            start = now()
            one()
            seconds.append(now() - start)
    return [min(seconds) for seconds in times]


def empty() -> None:
    """The unit of time."""


def empty_calls() -> None:
    for _ in range(10_000):
        empty()


def launch(kernel: Any, tiles: int, tile: int, blocks: int = 1, **settings: object) -> Callable[[], None]:
    """A launch with arrays of its own."""
    x, y, z = (np.ones(blocks * tiles * tile, np.float32) for _ in range(3))

    def run() -> None:
        with asc.settings(**settings):
            kernel[blocks](x, y, z, tiles, tile)

    run()
    assert (z == 2).all()
    return run


def bare(tiles: int, tile: int) -> Callable[[], None]:
    """The same work as statements of numpy: two copies in, one add, one copy out."""
    x, y, z = (np.ones(tiles * tile, np.float32) for _ in range(3))
    a, b, c = (np.ones(tile, np.float32) for _ in range(3))

    def run() -> None:
        for i in range(tiles):
            a[:] = x[i * tile : (i + 1) * tile]
            b[:] = y[i * tile : (i + 1) * tile]
            np.add(a, b, c)
            z[i * tile : (i + 1) * tile] = c

    return run


# --- time ------------------------------------------------------------------------------------------------------------


def api_call() -> Iterator[Row]:
    tiles = 512
    for name, (kernel, calls) in CALLS.items():
        one, unit = best(launch(kernel, tiles, 256), empty_calls)
        yield Row(f"an API call of {name}, 256 a tile", one / tiles / calls / (unit / 10_000), 65, "empty calls")


def tile_work() -> Iterator[Row]:
    tiles = 512
    for tile, checked, unchecked in ((2048, 8, 5), (8192, 4, 3)):
        work = launch(BY_FLAGS, tiles, tile), launch(BY_FLAGS, tiles, tile, checks=OFF), bare(tiles, tile)
        on, off, numpy = best(*work)
        yield Row(f"a tile of {tile}", on / numpy, checked, "numpy statements")
        yield Row(f"a tile of {tile}, Checks.off()", off / numpy, unchecked, "numpy statements")


def many_tiles() -> Iterator[Row]:
    few, many = 1 << 10, 1 << 16
    (short,) = best(launch(BY_FLAGS, few, 256))
    (long,) = best(launch(BY_FLAGS, many, 256), rounds=3)
    yield Row("a tile of 64k tiles against one of 1k", (long / many) / (short / few), 1.3, "times")


def doubling() -> Iterator[Row]:
    """Twice the tiles take twice the time, and what checking adds to a tile does not grow."""
    lengths = [1 << k for k in range(10, 17)]
    on = best(*(launch(BY_FLAGS, tiles, 256) for tiles in lengths), rounds=3, now=process_time)
    worst = max(more / less / 2 for less, more in pairwise(on))
    yield Row("twice the tiles, 1k to 64k", worst, 1.15, "times twice the time")
    few, many = 1 << 12, 1 << 15
    work = [launch(BY_FLAGS, tiles, 256, checks=checks) for tiles in (few, many) for checks in (DEFAULT, OFF)]
    short, short_off, long, long_off = best(*work, rounds=3, now=process_time)
    yield Row("what checks add to a tile of 32k against 4k", (long - long_off) / (short - short_off) / 8, 1.3, "times")
    yield Row("a tile of 256 against Checks.off()", short / short_off, 2, "times")


def small_blocks() -> Iterator[Row]:
    blocks = 48
    (seconds,) = best(launch(BY_FLAGS, 1, 256, blocks))
    yield Row("a block of a launch of 48 one-tile blocks", seconds / blocks * 1e3, 0.3, "ms")


def importing() -> Iterator[Row]:
    def seconds(modules: str) -> float:
        code = f"from time import perf_counter as now; start = now(); import {modules}; print(now() - start)"
        return float(_python(code))

    both = [(seconds("ascsim"), seconds("numpy, ml_dtypes")) for _ in range(ROUNDS)]
    ours, theirs = map(min, zip(*both, strict=True))
    yield Row("import ascsim against numpy, ml_dtypes", ours / theirs, 2.5, "times")


# --- memory ----------------------------------------------------------------------------------------------------------


def memory_of_a_tile() -> Iterator[Row]:
    few, many, tile = 1 << 11, 1 << 13, 256

    def peak(tiles: int, record: bool) -> int:
        run = launch(BY_FLAGS, tiles, tile, record=record)
        tracemalloc.start()
        run()
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most - 4 * tiles * tile  # less the private copy of z, which a launch that fails must not touch

    for record, budget in ((True, 2.5), (False, 0.005)):  # without a record: nothing, to the rounding of a peak
        growth = (peak(many, record) - peak(few, record)) / (many - few) / 1024
        yield Row(f"memory of a tile, record {'on' if record else 'off'}", growth, budget, "KiB")


BIG = f"""
import resource, sys, runpy
import numpy as np
kernel = runpy.run_path({str(ROOT / "examples/01_add/add.py")!r})["add_kernel"]
tile, blocks = 8192, 8
tiles = {GIB} // 3 // 4 // tile // blocks
x, y, z = (np.ones(blocks * tiles * tile, np.float32) for _ in range(3))
kernel[1](x[:tile], y[:tile], z[:tile], 1, tile)
most = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before = most()
kernel[blocks](x, y, z, tiles, tile)
print(most() - before, z.nbytes)
assert (z == 2).all()
"""


def memory_of_a_launch() -> Iterator[Row]:
    added, written = map(int, _python(BIG).split())
    yield Row("memory added by a launch of 1 GiB", added / GIB, 1.1, "GiB")
    yield Row("of that, beyond the copy of what it writes", (added - written) / GIB, 0.05, "GiB")


def _python(code: str) -> str:
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{code}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


# --- families --------------------------------------------------------------------------------------------------------


def families() -> Iterator[Row]:
    """A call of each family of the API, less its numpy work, against `add` for the same bytes (`families.py`)."""
    table = runpy.run_path(str(ROOT / "benchmarks/families.py"))
    for row in table["ROWS"]:
        yield Row(row.name, table["figure"](*table["measure"](row)), row.budget, "adds of the same bytes")


PARTS = (
    *(api_call, tile_work, many_tiles, doubling, small_blocks, importing, memory_of_a_tile, memory_of_a_launch),
    families,
)


def report(parts: Iterable[Callable[[], Iterator[Row]]]) -> int:
    """Print the rows of each part; 1 if a figure is over its budget."""
    over = 0
    print(f"{'':44}{'figure':>10}{'budget':>10}")
    for part in parts:
        for row in part():
            excess = row.figure > row.budget
            over += excess
            mark = "  OVER" if excess else ""
            print(f"{row.what:44}{row.figure:10.2f}{row.budget:10g}  {row.unit}{mark}", flush=True)
    print(f"{over} over budget" if over else "all within budget")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(report(PARTS))
