"""Sorting: runs of 32 (sort32), and sort, the program over sort32 and mrg_sort.

Region proposals (rp_sort16, mrg_sort4 ...) belong to other chips and are refused. What a pair is and how scores are
ordered stands in `pairs`. Pages: Sort32, Sort, GetSortLen, GetSortOffset.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NoReturn

import numpy as np

from ...hw.core import Core
from ...hw.cost import SORTED_PER_CYCLE
from ...hw.errors import BackendError
from ...hw.findings import Site, author
from ...hw.instruction import Plan
from .. import copies
from ..core.dtype import DataType, uint32
from ..core.ir_value import PlainValue, UInt32
from ..core.place import Place, flag, running
from ..core.place import index as to_index
from ..masks import repeats
from ..operand import aligned
from ..overlap import apart
from ..pairs import PAIR, SCORES, keys, one_type, picked
from ..plans import zero
from ..spans import checked, span, words
from .merging import LISTS, merge

RUN = 32  # elements that sort32 sorts


def sort32(dst: Any, src0: Any, src1: Any, repeat_time: Any) -> None:
    """Sort runs of 32 scores `src0` (float16, float32) with their uint32 indices `src1`, `repeat_time` 0 to 255 runs.

    dst, of the type of src0, takes 256 bytes a run: pairs of score and index, the greatest score first. Operands lie at
    multiples of 32 bytes; the page also asks for 256 (dst), for 128 (src1) and for the bytes of a run (src0):
    MISALIGNED_ADDR as a warning. Faults: BAD_DTYPE, BAD_POSITION, BAD_REPEAT, MISALIGNED_ADDR, OOB_PHYS,
    OVERLAP_PARTIAL; warnings: OOB_BUF, ZERO_LENGTH, UNINIT_READ. Types: float16, float32. Page: Sort32.
    Device: NaN sorts before all else here, and the two bytes that a half leaves free hold 0; neither is published.
    """
    site = author(1)
    if repeat_time.__class__ is int:
        try:
            where = dst.place
            plan, core = where.plans["sort32", src0.place, src1.place, repeat_time], where.core
        except (AttributeError, KeyError):
            pass
        else:
            core.issue(plan, site)
            return
    core = running("sort32")
    places = _sort32_places(core, "sort32", dst, src0, src1, site)
    if places is not None:
        times = repeats(core, repeat_time, "sort32", site)
        if times:
            _sort32(core, places, times, site)
        else:
            zero(core, "repeat_time", "sort32", site)


def _sort32_places(core: Core, operation: str, dst: Any, src0: Any, src1: Any, site: Site) -> list[Place] | None:
    named = ("dst", "src0", "src1") if operation == "sort32" else ("dst", "concat", "index")
    legal = (SCORES, SCORES, (uint32,))
    places = checked(core, operation, list(zip(named, (dst, src0, src1), legal, strict=True)), site)
    if places is None:
        return None
    one_type(core, operation, places[0], places[1], named[1], site)
    for where, name, align in zip(places, named, (RUN * PAIR, RUN * places[0].dtype.size, RUN * 4), strict=True):
        aligned(core, where, name, operation, site, align, "warn")
    return places


def _sort32(core: Core, places: Sequence[Place], times: int, site: Site) -> None:
    dst, scores, indices = places
    plan = dst.plans.get(("sort32", scores, indices, times))
    if plan is None:
        dtype = scores.dtype
        write = span(dst, times * RUN * PAIR, "dst", "sort32", site)
        reads = [
            span(where, times * RUN * where.dtype.size, name, "sort32", site)
            for where, name in ((scores, "src0"), (indices, "src1"))
        ]
        apart(core, write, reads, "sort32", site)
        out = words(dst, (times, RUN), PAIR)
        run = partial(_sort_runs, out, words(scores, (times, RUN), dtype.size), words(indices, (times, RUN), 4), dtype)
        cycles = core.device.cost.vector(times * RUN, 1 / SORTED_PER_CYCLE)
        plan = Plan("sort32", core.pipes["V"], reads, (write,), run, cycles)
        dst.keep(("sort32", scores, indices, times), plan)
    core.issue(plan, site)


def _sort_runs(out: np.ndarray, scores: np.ndarray, indices: np.ndarray, dtype: DataType) -> None:
    bits = scores.astype(np.uint32)
    order = (-keys(bits, dtype)).argsort(axis=1, kind="stable")
    pairs = indices.astype(np.uint64) << np.uint64(32)
    pairs |= bits
    out[...] = picked(pairs, order)


def sort(dst: Any, concat: Any, index: Any, tmp: Any, repeat_time: Any, is_full_sort: Any = False) -> None:
    """sort32 of `concat` and `index`; with `is_full_sort` all runs are then merged into one list.

    `tmp`, of the type of concat, has the bytes of dst: 256 a run; only a full sort uses it. Faults as of sort32 and
    mrg_sort. Types: float16, float32. Page: Sort.
    Device: as sort32.
    """
    site = author(1)
    core = running("sort")
    full = flag(is_full_sort, "sort", "is_full_sort")
    places = _sort32_places(core, "sort", dst, concat, index, site)
    scratch = checked(core, "sort", [("tmp", tmp, SCORES)], site)
    if places is None or scratch is None:
        return
    one_type(core, "sort", places[0], scratch[0], "tmp", site)
    times = repeats(core, repeat_time, "sort", site)
    if not times:
        zero(core, "repeat_time", "sort", site)
        return
    _sort32(core, places, times, site)
    if full:
        _full_sort(core, places[0], scratch[0], times, site)


def _full_sort(core: Core, dst: Place, tmp: Place, runs: int, site: Site) -> None:
    """Rounds of merges of four lists each, from tmp to dst; the last merge of a round takes what is left."""
    pairs, length = runs * RUN, RUN
    lane = PAIR // dst.dtype.size  # elements of a pair
    pipe = core.pipes["V"]
    while length < pairs:
        core.barrier(pipe, site)
        whole = copies.Moves(pairs * PAIR, 0, 0, 1)
        core.issue(copies.local_plan(core, "sort", tmp, dst, whole, site), site)
        core.barrier(pipe, site)
        full, rest = divmod(pairs, LISTS * length)
        if full:
            starts = [tmp.offset(i * length * lane) for i in range(LISTS)]
            merge(core, dst, starts, (length,) * LISTS, full, site)
        if rest > length:
            at = full * LISTS * length
            parts = [min(length, pairs - start) for start in range(at, pairs, length)]
            starts = [tmp.offset((at + i * length) * lane) for i in range(len(parts))]
            merge(core, dst.offset(at * lane), starts, tuple(parts), 1, site)
        length *= LISTS
    core.barrier(pipe, site)


def get_sort_len(elem_count: Any) -> PlainValue:
    """Elements of float32 that the pairs of `elem_count` scores take: two each (uint32). Page: GetSortLen."""
    return UInt32.pack(2 * to_index(elem_count, "get_sort_len", "elem_count"))


def get_sort_offset(elem_offset: Any) -> PlainValue:
    """Where the pair of score `elem_offset` starts, in elements of float32 (uint32). Page: GetSortOffset."""
    return UInt32.pack(2 * to_index(elem_offset, "get_sort_offset", "elem_offset"))


# ------------------------------------------------------------------ region proposals: other chips


def _refuse(operation: str, instead: str) -> NoReturn:
    core = running(operation)
    rule = f"region proposals are for the Atlas inference and training series; here {instead}"
    raise BackendError(
        operation, "this chip has no such instruction", operand="platform", value=core.device.soc.name, rule=rule
    )


def mrg_sort4(dst: Any, src: Any, params: Any) -> NoReturn:
    """Not on these chips. Page: MrgSort4."""
    _refuse("mrg_sort4", "mrg_sort")


def rp_sort16(dst: Any, src: Any, repeat_time: Any) -> NoReturn:
    """Not on these chips. Page: RpSort16."""
    _refuse("rp_sort16", "sort32")


def proposal_concat(dst: Any, src: Any, repeat_time: Any, mode_number: Any) -> NoReturn:
    """Not on these chips. Page: ProposalConcat."""
    _refuse("proposal_concat", "sort32 makes pairs itself")


def proposal_extract(dst: Any, src: Any, repeat_time: Any, mode_number: Any) -> NoReturn:
    """Not on these chips. Page: ProposalExtract."""
    _refuse("proposal_extract", "gather_mask")


__all__ = [
    "get_sort_len",
    "get_sort_offset",
    "mrg_sort4",
    "proposal_concat",
    "proposal_extract",
    "rp_sort16",
    "sort",
    "sort32",
]
