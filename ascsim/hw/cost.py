"""Cycles of an instruction on a Soc. Nothing else in the package knows a duration.

Holds the vector unit with its UB bank conflicts, copies between GM, UB and L1, loads from L1, the cube, fixpipe, the
scalar unit, and what a launch adds.
The constants were fitted to published measurements of a 910B1 (1850 MHz); each names its unit and its source:
"meas" (the row or rows of the fit), "doc" (the vendor's rate tables), "model" (another model's constant), or
"not published" (then 0). Core-internal costs are cycles at any clock; GM times are kept in ns and scale.
Not modelled: L2 hits and re-use, atomic stores, MTE traffic in the UB banks, several cores on one GM range,
and vector masks (a repeat counts eight blocks).
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from math import ceil, gcd

from .soc import Soc

# Cycles per repeat of 256 B, by cost class and element size in bytes (doc: rates in elements per cycle).
CYCLES_PER_REPEAT: dict[str, dict[int, int]] = {
    "simple": {1: 1, 2: 1, 4: 1, 8: 1},  # add to max, adds, abs, relu, compare, select, duplicate, copies, bits
    "exp": {2: 4, 4: 2},  # exp, ln, sqrt, div
    "mul_add_dst": {2: 2, 4: 2},
}
SORTED_PER_CYCLE = 2  # elements of sort32 and mrg_sort. doc
VECTOR_START = 22  # cycles an instruction. meas: pipe times of add_c1, add_c3; 24.4 back to back (bank_s1)
READ_WRITE_CONFLICT = 1.8  # cycles a repeat. meas: bank_s5
# Cycles by pipe. meas, weak: gelu_only 58, reduce_256_block_repeat 50, reduce_256_2xrepeat 80; of other pipes nothing
# is published.
BARRIER_DRAIN = {"V": 58}

GM_LOAD_LATENCY = 215  # ns, once after the pipe stood idle. meas: add_c1
GM_STORE_LATENCY = 116  # ns, likewise. meas: add_c1
GM_LOAD_RATE = 54.5  # bytes a cycle and core. model; only the sum with the latency is measured
GM_STORE_RATE = 102.0  # bytes a cycle and core. model; likewise
COPY_MINIMUM = 20.6  # cycles a copy, however small. meas: dc_ub1
GM_PIECE = 512  # bytes; a burst costs every piece it touches. meas: dc_ub4

ND2NZ_START = 40  # cycles a copy from GM to L1 that makes fractals. meas: matmul rows, one core and 24
ND2NZ_ROW = 3.4  # cycles a row at least. meas: likewise
ND2NZ_RATE = 85.0  # bytes a cycle, mostly from L2. meas: likewise; straight from GM 17 to 23 % slower
L1_RATE = {"L0A": 256, "L0B": 128, "BT": 32}  # bytes a cycle out of L1. doc
LOAD_START = {"L0A": 23, "L0B": 23, "BT": 20}  # cycles an instruction. meas: 47 for two (Norm rows); BT: doc

MMAD_START = 12  # cycles a multiply that follows another. meas: matmul and convolution rows
MMAD_LATENCY = 50  # cycles more after the cube stood idle. meas: Norm template, 62 in all; doc: 60 (UnitFlag page)
MMAD_K = {"int8": 32, "float16": 16, "bfloat16": 16, "float32": 4}  # k of the 16 x 16 x k block of a cycle. doc
MMAD_K_HF32 = 8  # doc
FIXPIPE_START = 60  # cycles an instruction. meas: mm_hl_c4, mm_hl_c7
FIXPIPE_RATE = 70.0  # bytes of output a cycle, to GM. meas: likewise, pto_gemm_6144
FIXPIPE_L1_RATE = 64  # elements a cycle, to L1. doc
FIXPIPE_L1_START = 20  # cycles. doc
FIXPIPE_SCALES = 20, 32  # start, and bytes a cycle, of the vector of scales from L1. doc

SCALAR_ACCESS = 11  # cycles. meas: add_c0, 34 a turn of two reads and a write, loop and addition included
ISSUE = 2  # cycles. meas: scalar time of add_c1, 26 cycles for the 12 instructions of a chunk

LAUNCH = 0.5  # us. meas: four rows of one core
LAUNCH_PER_CORE = 0.1  # us. meas, weak: 2.5 to 13.4 us for 48 AIV
LAUNCH_MIX = 10.0  # us more when AIC and AIV start together. meas, weak

Operand = tuple[int, int, int]  # byte address in UB, block stride, repeat stride (both in 32 B blocks)
_Place = tuple[int, int, int, int]  # bank group, bank column, block stride, repeat stride


class Cost:
    """Prices instructions for one launch: `aiv` and `aic` cores share GM for as long as it runs."""

    __slots__ = ("idle_latency", "load_rate", "soc", "store_rate")

    def __init__(self, soc: Soc, aiv: int, aic: int = 0) -> None:
        self.soc = soc
        active = max(1, min(aiv, soc.aiv) + min(aic, soc.aic))  # blocks beyond the chip's cores wait for their turn
        share = soc.gm_rate / soc.clock_mhz / active
        self.load_rate = min(GM_LOAD_RATE, share)  # bytes a cycle
        self.store_rate = min(GM_STORE_RATE, share)
        # Cycles to add to an instruction that finds its pipe idle: copies that follow each other hide the latency.
        self.idle_latency: dict[str, int] = {
            "MTE2": round(GM_LOAD_LATENCY * soc.clock_mhz / 1000),
            "MTE3": round(GM_STORE_LATENCY * soc.clock_mhz / 1000),
            "M": MMAD_LATENCY,
        }

    def vector(self, repeats: int, per_repeat: float = 1.0) -> int:
        """A vector instruction; `per_repeat` is the rate of its class times its `bank_factor`."""
        return VECTOR_START + ceil(repeats * per_repeat)

    def load(self, nbytes: int, bursts: int = 1, *, gm_address: int = 0, gm_pitch: int = 0) -> int:
        """GM to UB: `bursts` equal bursts of `nbytes` together, `gm_pitch` bytes from start to start (0: adjacent)."""
        return _copy(nbytes, bursts, gm_address, gm_pitch, self.load_rate)

    def store(self, nbytes: int, bursts: int = 1, *, gm_address: int = 0, gm_pitch: int = 0) -> int:
        """UB to GM, as `load`."""
        return _copy(nbytes, bursts, gm_address, gm_pitch, self.store_rate)

    def nd2nz(self, row: int, rows: int) -> int:
        """GM to L1 with conversion to fractals: `rows` contiguous pieces of `row` bytes."""
        return ceil(ND2NZ_START + rows * max(ND2NZ_ROW, row / ND2NZ_RATE))

    def windows(self, memory: str, stride: int, kernel_rows: int) -> float:
        """Factor of an image-to-column load by the windows' stride along the width and the filter's rows. doc"""
        parts = 2 * stride + 2 * (memory == "L0B") + (kernel_rows if kernel_rows > 1 else 0)
        floor = 32 if memory == "L0A" else 512 / 18  # bytes a cycle
        return L1_RATE[memory] / (max(floor, 512 / parts) if stride in (1, 2, 4, 8) else floor)

    def load_l0(self, memory: str, nbytes: int, slower: float = 1.0) -> int:
        """L1 to L0A, L0B or the bias table; `slower` is the factor of an image-to-column load's windows."""
        return LOAD_START[memory] + ceil(nbytes * slower / L1_RATE[memory])

    def mmad(self, m: int, n: int, k: int, dtype: str, hf32: bool = False, sparse: bool = False) -> int:
        """A multiply of m x k by k x n elements, in whole blocks; a 4:2 compressed one does half of the k."""
        step = MMAD_K_HF32 if hf32 and dtype == "float32" else MMAD_K[dtype]
        smallest = 8 if dtype == "float32" else step  # k of a fractal
        rounded = ceil(k / smallest) * smallest // step
        return MMAD_START + ceil(m / 16) * ceil(n / 16) * (ceil(rounded / 2) if sparse else rounded)

    def fixpipe(self, elements: int, size: int, scales: int = 0, to_l1: bool = False) -> int:
        """L0C to GM or L1: output elements of `size` bytes; `scales`: bytes of a vector of scales to fetch."""
        start, rate = FIXPIPE_SCALES
        fetch = start + ceil(scales / rate) if scales else 0
        if to_l1:
            return FIXPIPE_L1_START + ceil(elements / FIXPIPE_L1_RATE) + fetch
        return FIXPIPE_START + ceil(elements * size / FIXPIPE_RATE) + fetch

    def scalar_access(self) -> int:
        """One element read or written by the scalar unit, in UB or GM alike (a GM miss is not published)."""
        return SCALAR_ACCESS

    def issue(self) -> int:
        """Time of the scalar unit to hand one instruction to a pipe."""
        return ISSUE

    def barrier(self, pipe: str = "V") -> int:
        """What a barrier on a pipe adds before the next instruction: the drain of the one before it."""
        return BARRIER_DRAIN.get(pipe, 0)

    def launch_overhead_us(self, cores: int, mix: bool = False) -> float:
        """Task duration less the time of the cores."""
        return LAUNCH + LAUNCH_PER_CORE * cores + LAUNCH_MIX * mix

    def gm_time_us(self, read_bytes: int, written_bytes: int, allocated_bytes: int, cores: int) -> float:
        """Least time for a launch's GM traffic. Of what is written, that which L2 cannot keep goes to GM as well;
        `allocated_bytes` is everything that passed through L2."""
        written_back = min(written_bytes, max(0, allocated_bytes - self.soc.l2))
        rate = min(self.soc.gm_rate, cores * GM_LOAD_RATE * self.soc.clock_mhz)
        return (read_bytes + written_back) / rate if cores else 0.0


def bank_factor(dst: Operand, sources: tuple[Operand, ...], repeats: int = 1) -> float:
    """Mean cycles per repeat that the UB banks need, 1 without conflict (doc: address rule; meas: bank_* rows).

    A 32 B block lies in bank group (address / 32) mod 16, column address / 64 KiB (an operand keeps its first
    block's column). A group serves one block a cycle, so blocks read by one repeat that share a group take turns,
    and so do blocks written. A write into a bank that the repeat reads costs READ_WRITE_CONFLICT, unless all eight
    blocks line up with those of a source. An instruction that also reads its destination names it as a source.
    """
    places = tuple([(address >> 5 & 15, address >> 16, blk, rep) for address, blk, rep in (dst, *sources)])
    return _factor(places, min(max(repeats, 1), 16))


@lru_cache(maxsize=4096)
def _factor(places: tuple[_Place, ...], repeats: int) -> float:
    column = places[0][1]
    turns = min(repeats, 16 // gcd(16, *(rep for _, _, _, rep in places)))  # then the groups recur
    total = 0.0
    for turn in range(turns):
        write, *reads = (_groups(place, turn) for place in places)
        taken = [max(Counter(write).values()), *Counter(group for read in reads for group in read).values()]
        shared = [read for read, place in zip(reads, places[1:], strict=True) if place[1] == column]
        if write not in shared and any(not set(write).isdisjoint(read) for read in shared):
            total += max(READ_WRITE_CONFLICT, *taken)
        else:
            total += max(taken)
    return total / turns


def _groups(place: _Place, turn: int) -> list[int]:
    """Bank groups that one repeat touches; block stride 0 reads its block once."""
    first, _, blk, rep = place
    return [(first + rep * turn + blk * i) & 15 for i in range(8 if blk else 1)]


def _copy(nbytes: int, bursts: int, gm_address: int, gm_pitch: int, rate: float) -> int:
    """Cycles of a copy: each burst pays as many GM pieces as it touches over as many as it fills at best."""
    burst = nbytes // bursts if bursts else 0
    if not burst:
        return round(COPY_MINIMUM)
    if gm_pitch in (0, burst):  # adjacent bursts are one long one: neighbours come from L2
        burst, bursts, gm_pitch = nbytes, 1, 0
    period = min(bursts, GM_PIECE // gcd(GM_PIECE, gm_pitch))
    touched = sum(((gm_address + i * gm_pitch) % GM_PIECE + burst - 1) // GM_PIECE + 1 for i in range(period))
    stretch = touched / period / ceil(burst / GM_PIECE)
    return max(round(COPY_MINIMUM), ceil(nbytes * stretch / rate))
