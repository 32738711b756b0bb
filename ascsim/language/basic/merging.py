"""Merging of sorted lists of pairs. Pages: MrgSort, GetMrgSortResult.

A choice of this simulator: lists that are not sorted, of which the vendor says nothing, are merged by their heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ...hw.core import Core
from ...hw.cost import SORTED_PER_CYCLE
from ...hw.errors import ArgumentTypeError, ArgumentValueError, NotSimulatedError
from ...hw.findings import Site, author
from ...hw.instruction import Plan
from ...hw.memory import Memory, Region
from ..core.dtype import DataType
from ..core.ir_value import PlainValue, UInt16
from ..core.place import Place, report, running
from ..core.types import MrgSort4Info, MrgSortSrcList
from ..masks import repeats
from ..overlap import apart
from ..pairs import PAIR, SCORES, keys, one_type, picked
from ..plans import zero
from ..signatures import signatures
from ..spans import checked, span, words

LISTS = 4
LONGEST = 4095  # pairs of a list
_VALID = {3: 2, 7: 3, 15: 4}  # valid_bit: lists that take part


def mrg_sort(
    dst: Any,
    sort_list: Any,
    element_count_list: Any = None,
    sorted_num: Any = None,
    valid_bit: Any = None,
    repeat_time: Any = None,
    is_exhausted_suspension: Any = False,
    *,
    params: Any = None,
) -> None:
    """Merge two to four sorted lists of pairs into one, the greatest score first.

        mrg_sort(dst, sort_list, params)
        mrg_sort(dst, sort_list, element_count_list, sorted_num, valid_bit, repeat_time, is_exhausted_suspension=False)

    Lengths in pairs, 0 to 4095; `valid_bit` 3, 7 or 15: the first two, three or four lists. `repeat_time` 0 to 255;
    more than 1 asks for four equal lists that follow each other, without suspension: each repeat starts after the four
    lists of the one before. With suspension the instruction ends when a list has run out (get_mrg_sort_result).
    `sorted_num` changes nothing here. dst lies at a multiple of 32 bytes, a list at a multiple of 8, dst meets no list.
    Faults: BAD_DTYPE, BAD_POSITION, BAD_REPEAT, MISALIGNED_ADDR, OOB_PHYS, OVERLAP_PARTIAL; warnings: OOB_BUF,
    ZERO_LENGTH, UNINIT_READ. Types: float16, float32. Page: MrgSort.
    Device: what becomes of lists that are not sorted is not published; here they are merged by their heads.
    """
    site = author(1)
    core = running("mrg_sort")
    given = element_count_list if params is None else params
    if not isinstance(given, MrgSort4Info):
        if not isinstance(given, (list, tuple)):
            rule = "MrgSort4Info, or a list of lengths with sorted_num, valid_bit and repeat_time"
            raise ArgumentTypeError("mrg_sort", "says no lengths", operand="params", value=given, rule=rule)
        if not isinstance(sorted_num, (list, tuple)):
            rule = "a list with a number for each list"
            raise ArgumentTypeError("mrg_sort", operand="sorted_num", value=sorted_num, rule=rule)
        given = MrgSort4Info(given, is_exhausted_suspension, valid_bit, repeat_time)
    if not isinstance(sort_list, MrgSortSrcList):
        rule = "MrgSortSrcList"
        raise ArgumentTypeError("mrg_sort", "is no list", operand="sort_list", value=sort_list, rule=rule)
    asked = None
    if not given.if_exhausted_suspension:
        try:
            sources = sort_list.src1, sort_list.src2, sort_list.src3, sort_list.src4
            asked = ("mrg_sort", given.key, *[list_.place for list_ in sources])
            plan = dst.place.plans[asked]
        except (AttributeError, KeyError):  # fewer lists, or a call that is new
            pass
        else:
            core.state["mrg_sort_result"] = None
            core.issue(plan, site)
            return
    lengths = _lengths(given)
    lists = [(f"src{i + 1}", getattr(sort_list, f"src{i + 1}"), SCORES) for i in range(len(lengths))]
    target = checked(core, "mrg_sort", [("dst", dst, SCORES)], site)
    places = checked(core, "mrg_sort", lists, site, align=PAIR)
    if target is None or places is None:
        return
    for (name, _, _), where in zip(lists, places, strict=True):
        one_type(core, "mrg_sort", target[0], where, name, site)
    times = repeats(core, given.repeat_times, "mrg_sort", site)
    _repeatable(core, given, places, lengths, times, site)
    if not times or not any(lengths):
        zero(core, "element_lengths" if times else "repeat_times", "mrg_sort", site)
    elif given.if_exhausted_suspension:
        _suspended(core, target[0], places, lengths, site)
    else:
        known = merge(core, target[0], places, lengths, times, site)
        if known is not None and asked is not None and [*asked[2:]][: len(places)] == places:  # all are alive
            target[0].keep(asked, known)


mrg_sort.__overloads__ = signatures(  # type: ignore[attr-defined]
    "dst, sort_list, element_count_list, sorted_num, valid_bit, repeat_time, is_exhausted_suspension=False",
    "dst, sort_list, params",
)


def _lengths(info: MrgSort4Info) -> tuple[int, ...]:
    """Pairs of each list that takes part."""
    many = _VALID.get(info.valid_bit)
    if many is None:
        raise ArgumentValueError(
            "mrg_sort", "names no lists", operand="valid_bit", value=info.valid_bit, rule="3, 7 or 15", nearest=15
        )
    lengths = info.element_lengths[:many]
    if len(lengths) < many:
        rule = f"{many} lengths for valid_bit = {info.valid_bit}"
        raise ArgumentValueError(
            "mrg_sort", "is too short", operand="element_lengths", value=info.element_lengths, rule=rule
        )
    for i, length in enumerate(lengths):
        if length > LONGEST:
            name, rule = f"element_lengths[{i}]", f"0 to {LONGEST}"
            raise ArgumentValueError("mrg_sort", "is too long", operand=name, value=length, rule=rule, nearest=LONGEST)
    return lengths


def _repeatable(
    core: Core, info: MrgSort4Info, lists: Sequence[Place], lengths: Sequence[int], times: int, site: Site
) -> None:
    """More than one repeat: only for four equal lists that follow each other, without suspension."""
    step = lengths[0] * PAIR
    row = len(lists) == LISTS and all(where.start == lists[0].start + i * step for i, where in enumerate(lists))
    if times > 1 and (not row or len(set(lengths)) > 1 or info.if_exhausted_suspension):
        rule = "1, unless valid_bit is 15, all four lists have one length and follow each other, without suspension"
        report(core, "BAD_REPEAT", f"repeat_times = {times}; rule: {rule}; nearest legal value: 1", site, "mrg_sort")


def _footprints(
    core: Core, dst: Place, lists: Sequence[Place], lengths: Sequence[int], times: int, site: Site
) -> tuple[Region, list[Region]]:
    """What a whole merge writes, and what it reads."""
    total = sum(lengths) * PAIR
    write = span(dst, total * times, "dst", "mrg_sort", site)
    if times > 1:
        reads = [span(lists[0], total * times, "src1", "mrg_sort", site)]
    else:
        named = [(f"src{i + 1}", where, n * PAIR) for i, (where, n) in enumerate(zip(lists, lengths, strict=True)) if n]
        reads = [span(where, nbytes, name, "mrg_sort", site) for name, where, nbytes in named]
    apart(core, write, reads, "mrg_sort", site)
    return write, reads


def _views(lists: Sequence[Place], lengths: Sequence[int], times: int) -> list[np.ndarray]:
    """The pairs of each list, as words of 64 bits."""
    step = sum(lengths) * PAIR
    return [words(where, (times, n), PAIR, (step, PAIR)) for where, n in zip(lists, lengths, strict=True)]


def merge(
    core: Core, dst: Place, lists: Sequence[Place], lengths: Sequence[int], times: int, site: Site
) -> Plan | None:
    """Merge the whole of all lists; returns the plan if it was known."""
    form = ("mrg_sort", *lists, *lengths, times)
    known: Plan | None = dst.plans.get(form)
    plan = known
    if plan is None:
        write, reads = _footprints(core, dst, lists, lengths, times, site)
        out = words(dst, (times, sum(lengths)), PAIR)
        run = partial(_merge_lists, out, _views(lists, lengths, times), dst.dtype)
        cycles = core.device.cost.vector(times * sum(lengths), 1 / SORTED_PER_CYCLE)
        plan = dst.keep(form, Plan("mrg_sort", core.pipes["V"], reads, (write,), run, cycles))
    core.state["mrg_sort_result"] = None
    core.issue(plan, site)
    return known


def _merge_lists(out: np.ndarray, lists: Sequence[np.ndarray], dtype: DataType) -> None:
    pairs = np.concatenate(lists, axis=1)
    out[...] = picked(pairs, _order(pairs, [view.shape[1] for view in lists], dtype))


def _order(pairs: np.ndarray, lengths: Sequence[int], dtype: DataType) -> np.ndarray:
    """The order in which pairs are taken. What stands behind a lesser score waits until that one is taken."""
    scores = keys(pairs.astype(np.uint32), dtype)
    if len(set(lengths)) == 1:
        part = scores.reshape(-1, lengths[0])
        np.minimum.accumulate(part, axis=1, out=part)
    else:
        first = 0
        for length in lengths:
            if length:
                part = scores[:, first : first + length]
                np.minimum.accumulate(part, axis=1, out=part)
            first += length
    return np.negative(scores, out=scores).argsort(axis=1, kind="stable")


def _suspended(core: Core, dst: Place, lists: Sequence[Place], lengths: Sequence[int], site: Site) -> None:
    """Merge until a list has run out. How much that is depends on the data: made when V has come to it."""
    pipe = core.pipes["V"]
    if pipe.parked is not None:
        core.state["mrg_sort_result"] = None
        core.park(pipe, _suspended, (core, dst, lists, lengths, site), site)
        return
    _, reads = _footprints(core, dst, lists, lengths, 1, site)
    pairs = np.concatenate(_views(lists, lengths, 1), axis=1)
    order = _order(pairs, lengths, dst.dtype)[0]
    owner = np.repeat(np.arange(len(lengths)), lengths)[order]
    ends = [int(np.flatnonzero(owner == i)[-1]) + 1 if n else 0 for i, n in enumerate(lengths)]
    done = min(ends)
    counts = tuple(np.bincount(owner[:done], minlength=LISTS).tolist())
    writes = [_result(core).run(0, PAIR)]
    if done:
        writes.append(span(dst, done * PAIR, "dst", "mrg_sort", site))
    run = partial(_copy, words(dst, (done,), PAIR), pairs[0][order[:done]])
    core.state["mrg_sort_result"] = counts
    core.issue(Plan("mrg_sort", pipe, reads, writes, run, core.device.cost.vector(done, 1 / SORTED_PER_CYCLE)), site)


def _copy(out: np.ndarray, pairs: np.ndarray) -> None:
    out[...] = pairs


def _result(core: Core) -> Memory:
    """The register that a suspended merge leaves its counts in: written by V, read by S, ordered as memory is."""
    found: Memory = core.state.setdefault("VMS4_SR", Memory("VMS4_SR", PAIR, PAIR))
    return found


def get_mrg_sort_result() -> tuple[PlainValue, PlainValue, PlainValue, PlainValue]:
    """Pairs taken from each of the four lists by the last mrg_sort, which was one with suspension (four uint16).

    The scalar unit reads what V wrote: without auto_sync that wants a flag between. Page: GetMrgSortResult.
    """
    site = author(1)
    core = running("get_mrg_sort_result")
    plan = Plan(
        "get_mrg_sort_result",
        core.scalar,
        (_result(core).run(0, PAIR),) if core.state.get("mrg_sort_result") else (),
        (),
        partial(core.state.get, "mrg_sort_result"),
        core.device.cost.scalar_access(),
    )
    counts = core.issue(plan, site)
    if counts is None:
        raise NotSimulatedError(
            "get_mrg_sort_result",
            "there is a result only once a mrg_sort with suspension has run, and until the next one",
            rule="if_exhausted_suspension=True",
        )
    first, second, third, fourth = map(UInt16.pack, counts)
    return first, second, third, fourth


__all__ = ["get_mrg_sort_result", "mrg_sort"]
