"""Masks and repeats: which lanes of which repeats take part, from the call or from the mask registers.

A repeat is 256 bytes of the widest operand, in 8 blocks of 32 bytes. Normal mode: the mask says which lanes of every
repeat take part. Counter mode: it says how many elements the whole instruction has, and the repeats follow from it.
Pages: the vendor's description of masks, SetVectorMask, SetMaskCount, SetMaskNorm, ResetMask.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ..hw.core import ALL_LANES, Core
from ..hw.errors import ArgumentTypeError
from ..hw.findings import Site
from .core import ir_value
from .core.ir_value import Int32
from .core.limits import within
from .core.place import index, report

WORD = (1 << 64) - 1
COUNT = (1 << 32) - 1  # bits of the low word that counter mode reads
REPEAT_LIMIT = 255

Runs = tuple[tuple[int, int], ...]  # lanes [first, end) that take part, ascending
Mask = tuple[int, int, bool]  # high word, low word, counter mode
Work = tuple[Runs, int]  # lanes of a repeat, repeats; a counter-mode remainder is a second Work


def words(lanes: int) -> tuple[int, int]:
    """The mask registers (high, low) that let the first `lanes` lanes take part."""
    bits = (1 << min(lanes, 128)) - 1
    return bits >> 64, bits & WORD


def given(core: Core, mask: Any, lanes: int, operation: str, site: Site) -> Mask:
    """The registers that a call's mask argument sets: an int counts lanes, a list [low, high] holds bits.

    `lanes` is the number of lanes of a repeat.
    """
    mask = ir_value.unwrap(mask)
    counter = core.mask[2]
    if isinstance(mask, (list, tuple)):
        if len(mask) != 2:
            report(core, "BAD_MASK", f"mask = {mask}; rule: [low word, high word]", site, operation)
        for word in mask:
            if not -(1 << 63) <= index(word, operation, "mask") <= WORD:
                text = f"mask = {mask}; rule: two words of 64 bits; nearest legal value: {word & WORD}"
                report(core, "BAD_MASK", text, site, operation)
        low, high = (index(word, operation, "mask") & WORD for word in mask)
        if not counter:
            beyond = (high << 64 | low) >> lanes
            if beyond and (high, low) != (WORD, WORD):
                text = f"mask = [{low:#x}, {high:#x}] sets bits beyond the {lanes} lanes of a repeat; they are ignored"
                report(core, "BAD_MASK", text, site, operation, severity="warn")
        return high, low, counter
    count = index(mask, operation, "mask")
    if counter:
        rule = f"in counter mode a number sets that many bits, not a count: write mask = [{count}, 0]"
        report(core, "BAD_MASK", f"mask = {count}; rule: {rule}", site, operation)
    if not 1 <= count <= lanes:
        nearest = min(max(count, 1), lanes)
        text = f"mask = {count}; rule: 1 to {lanes} lanes of this type; nearest legal value: {nearest}"
        report(core, "BAD_MASK", text, site, operation)
    return (*words(count), False)


def plain(mask: Any) -> Any:
    """The mask of a call as a part of a key, where plain numbers or a run-time one say it; else None."""
    if mask.__class__ is int:
        return mask
    if mask.__class__ is Int32:
        return mask.v
    if mask.__class__ is list and len(mask) == 2 and mask[0].__class__ is mask[1].__class__ is int:
        return tuple(mask)
    return None


def registers(core: Core, mask: Any, set_mask: Any, lanes: int, operation: str, site: Site) -> Mask:
    """The registers that rule a call: those that its mask sets or, with is_set_mask false, as they are."""
    if index(set_mask, operation, "is_set_mask"):
        return given(core, mask, lanes, operation, site)
    mask = ir_value.unwrap(mask)
    for word in mask if isinstance(mask, (list, tuple)) else (0 if mask is None else mask,):
        index(word, operation, "mask")
    return core.mask


def lanes_or_bits(count: Any, mask: Any, operation: str) -> Any:
    """The mask of a call in mask form: by position it stands where a count does, by name it stands alone."""
    if mask is None:
        return count
    if count is not None:
        rule = "a count, or a mask with repeats"
        raise ArgumentTypeError(operation, "count and mask are given", operand="mask", value=mask, rule=rule)
    return mask


def repeats(core: Core, times: Any, operation: str, site: Site) -> int:
    """repeat_times, 0 to 255."""
    return within(core, "BAD_REPEAT", "repeat_times", times, 0, REPEAT_LIMIT, operation, site)


@lru_cache(maxsize=1024)
def runs_of(bits: int) -> Runs:
    """Runs of set bits, lowest first."""
    out, at = [], 0
    while bits:
        skip = (bits & -bits).bit_length() - 1
        bits >>= skip
        first = at + skip
        length = (~bits & (bits + 1)).bit_length() - 1
        out.append((first, first + length))
        bits >>= length
        at = first + length
    return tuple(out)


def work(mask: Mask, times: int, lanes: int) -> list[Work]:
    """The lanes and repeats of an instruction, given the registers."""
    high, low, counter = mask
    if counter:
        return counted(low & COUNT, lanes)
    bits = (high << 64 | low) & ((1 << lanes) - 1)
    return [(runs_of(bits), times)] if bits and times else []


def counted(count: int, lanes: int) -> list[Work]:
    """`count` elements: full repeats, then the rest."""
    full, rest = divmod(count, lanes)
    out: list[Work] = []
    if full:
        out.append((((0, lanes),), full))
    if rest:
        out.append((((0, rest),), 1))
    return out


__all__ = [
    "ALL_LANES",
    "REPEAT_LIMIT",
    "Mask",
    "Runs",
    "Work",
    "counted",
    "given",
    "lanes_or_bits",
    "plain",
    "registers",
    "repeats",
    "runs_of",
    "work",
]
