"""One frozen record per platform: cores, clock, memories, queues, and the mark of every number.

Marks (`MARKS[platform][field]`) say how far a number can be trusted:
    doc    stated by the vendor                  ini    read from the vendor's platform file
    meas   follows from published measurements   model  carried over by an assumption named here
    ?      only in secondary notes, or borrowed from another platform (`borrowed_from`)

All platforms here are of architecture 2201: one AI core is one AIC and two AIVs with memories of their own.
Not held: caches of the scalar units, TLBs, L2 slices, power limits. Durations belong to cost.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import NamedTuple

from .errors import BackendError

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


class Reserved(NamedTuple):
    """A part of a memory that library calls use behind the author's back."""

    memory: str
    start: int  # bytes
    size: int  # bytes
    used_by: str


# Bytes. One document says 128 for the fixpipe buffer, another 64: the looser, so that nothing legal is refused.
ALIGN: Mapping[str, int] = MappingProxyType(
    {"UB": 32, "L1": 32, "L0A": 512, "L0B": 512, "L0C": 64, "BT": 64, "FB": 64, "IX": 128}
)
MEMORIES = {"aiv": ("UB",), "aic": ("L1", "L0A", "L0B", "L0C", "BT", "FB", "IX")}  # by core kind
# Entries a pipe's queue holds before the scalar unit stalls; None: not published.
DEPTH: Mapping[str, int | None] = MappingProxyType(
    {"V": None, "M": 32, "MTE1": 32, "MTE2": None, "MTE3": None, "FIX": None}
)
RESERVED = (
    Reserved("UB", 184 * KIB, 8 * KIB, "scratch of select, add_deq_relu and some library calls"),
    Reserved("UB", 192 * KIB - 256, 256, "messages of the matmul framework"),
    Reserved("L1", 512 * KIB - 256, 256, "messages of the matmul framework"),
)


@dataclass(frozen=True, slots=True, eq=False)
class Soc:
    """A platform. Sizes are bytes; memories of a core are per core; one record per name, compared by identity."""

    name: str
    aic: int  # cube cores
    aiv: int  # vector cores
    clock_mhz: int
    gm: int
    l2: int
    gm_rate: int  # bytes per microsecond that all cores together achieve on large bursts
    ub: int = 192 * KIB
    l1: int = 512 * KIB
    l0a: int = 64 * KIB
    l0b: int = 64 * KIB
    l0c: int = 128 * KIB
    bt: int = 1 * KIB
    fb_parts: tuple[int, ...] = (2048, 1024, 2048, 2048)
    align: Mapping[str, int] = field(default_factory=lambda: ALIGN)
    depth: Mapping[str, int | None] = field(default_factory=lambda: DEPTH)
    reserved: tuple[Reserved, ...] = RESERVED
    tick_mhz: int = 50  # the counter that get_system_cycle reads
    borrowed_from: str = ""  # the platform whose numbers these are, where this one's are not published

    @property
    def fb(self) -> int:
        """Bytes of the fixpipe buffer, all parts."""
        return sum(self.fb_parts)

    @property
    def ix(self) -> int:
        """Bytes of the index buffer of sparse multiplies: two bits for each byte of L0B."""
        return self.l0b // 4

    def memories(self, kind: str) -> list[tuple[str, int, int]]:
        """Name, size and alignment of each memory of an "aic" or "aiv" core."""
        return [(name, getattr(self, name.lower()), self.align[name]) for name in MEMORIES[kind]]


# GM rate in TB/s. 1.49 was measured on 910B1; where only a nominal rate is known (0.8 and 1.6 TB/s), the same share
# of it, 1.49 of 1.8, is taken; where none is known, 910B1's. Marks in the order of the columns, cores as one.
_ROWS = (
    # name            AIC AIV  MHz   GM GiB L2 MiB GM rate  marks: cores, clock, GM, L2, GM rate
    ("Ascend910B1", 24, 48, 1850, 64, 192, 1.49, "ini ini ini ini meas"),
    ("Ascend910B2", 24, 48, 1800, 64, 192, 1.49, "? ? ? ? model"),
    ("Ascend910B3", 20, 40, 1800, 64, 192, 1.49, "doc ? ? ? model"),
    ("Ascend910B4", 20, 40, 1500, 32, 96, 0.66, "? ? ? ? model"),
    ("Ascend910B4-1", 20, 40, 1500, 64, 96, 1.32, "ini ini ini ini model"),
    ("Ascend910_9391", 24, 48, 1850, 64, 192, 1.49, "doc ini ini ini model"),
    ("Ascend910_9392", 24, 48, 1850, 64, 192, 1.49, "doc ini ini ini model"),
)
# How these differ from their neighbours is not published.
_BORROWED = {
    "Ascend910B2C": "Ascend910B2",
    "Ascend910_9362": "Ascend910_9391",
    "Ascend910_9372": "Ascend910_9391",
    "Ascend910_9381": "Ascend910_9391",
    "Ascend910_9382": "Ascend910_9391",
}
_FAMILY_MARKS = {
    **dict.fromkeys(("ub", "l1", "l0a", "l0b", "l0c", "bt", "align", "depth", "reserved", "tick_mhz"), "doc"),
    "fb_parts": "ini",
}


def _build() -> tuple[dict[str, Soc], dict[str, dict[str, str]]]:
    socs, marks = {}, {}
    for name, aic, aiv, clock, gm, l2, rate, text in _ROWS:
        socs[name] = Soc(name, aic, aiv, clock, gm * GIB, l2 * MIB, round(rate * 1_000_000))
        cores, *rest = text.split()
        marks[name] = dict(zip(("aic", "aiv", "clock_mhz", "gm", "l2", "gm_rate"), (cores, cores, *rest), strict=True))
        marks[name] |= _FAMILY_MARKS
    for name, owner in _BORROWED.items():
        socs[name] = replace(socs[owner], name=name, borrowed_from=owner)
        marks[name] = {**dict.fromkeys(marks[owner], "?"), **_FAMILY_MARKS}
    return dict(sorted(socs.items())), dict(sorted(marks.items()))


SOCS, MARKS = _build()


def soc(name: str) -> Soc:
    """The record of a platform, by its `Platform` value."""
    found = SOCS.get(name) if isinstance(name, str) else None
    if found is None:
        close = get_close_matches(str(name), SOCS, n=1, cutoff=0.0)
        raise BackendError(
            "soc",
            "no such platform",
            operand="name",
            value=name,
            rule="one of " + ", ".join(SOCS),
            nearest=close[0] if close else None,
        )
    return found
