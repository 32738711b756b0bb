"""What goes before and after `sort`: concat and extract. Pages: Concat, Extract.

Region proposals, which these operations make and take apart on other chips, are not here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...hw.core import Core
from ...hw.findings import Site, author
from ...hw.instruction import Plan
from ..basic.vec_gather_mask import Call, gathered
from ..core.dtype import float16, uint32
from ..core.place import Place, place, report, running
from ..core.tensor import LocalTensor
from ..masks import repeats
from ..operand import REPEAT, Strided, local, typed
from ..overlap import disjoint
from ..pairs import PAIR, SCORES, one_type
from ..plans import zero
from ..spans import checked
from ..waits import scalar_waits

CONCAT, EXTRACT = "adv.concat", "adv.extract"
RUN = REPEAT // PAIR  # pairs of a repeat


class Part(NamedTuple):
    """What extract takes out of the pairs: the pattern of gather_mask that selects it."""

    name: str
    dst: Place
    src: Place
    pattern: int


def concat(dst: Any, src: Any, tmp: Any, repeat_time: Any) -> None:
    """Make `dst` what `sort` takes: on these chips it becomes `src` itself, and no instruction is issued.

    From then on dst is the memory of src, of its size; views of dst that were taken before are not, and a buffer that
    a queue gave for dst can no longer be freed through it. float16 or float32, one type for all three. `tmp` is not
    used, `repeat_time` is 0 to 255. Faults: BAD_DTYPE, BAD_POSITION, BAD_REPEAT. Types: float16, float32. Page: Concat.
    """
    site = author(1)
    core = running(CONCAT)
    source = local(core, src, "src", CONCAT, site)
    typed(core, source, SCORES, "src", CONCAT, site)
    one_type(core, CONCAT, source, local(core, tmp, "tmp", CONCAT, site), "tmp", site)
    if not isinstance(dst, LocalTensor):
        local(core, dst, "dst", CONCAT, site)
    if dst.dtype is not source.dtype:
        text = f"dst has type {dst.dtype}, src has {source.dtype}; rule: one type for both"
        report(core, "BAD_DTYPE", text, site, CONCAT)
    repeats(core, repeat_time, CONCAT, site)
    dst.set_addr_with_offset(src, 0)


def extract(dst_value: Any, dst_index: Any, src: Any, repeat_time: Any) -> None:
    """Scores and indices of `repeat_time` times 32 pairs, 0 to 255 times, from `src` to `dst_value` and `dst_index`.

    dst_value has the type of src, float16 or float32, dst_index is uint32. Two gather_masks with a barrier between:
    afterwards the mask mode is normal and the mask registers hold 0. With halves the second one takes 64 pairs a
    repeat where the first takes 32: what dst_index has behind its indices, up to as much again, is undefined
    afterwards. Faults: BAD_DTYPE, BAD_POSITION, BAD_REPEAT, MISALIGNED_ADDR, OVERLAP_PARTIAL, OOB_PHYS, DEADLOCK;
    warnings: OOB_BUF, ZERO_LENGTH, UNINIT_READ. Types: float16, float32. Page: Extract.
    """
    site = author(1)
    core = running(EXTRACT)
    named = (("dst_value", dst_value, SCORES), ("dst_index", dst_index, (uint32,)), ("src", src, SCORES))
    places = checked(core, EXTRACT, named, site)
    if places is None:
        return
    value, number, pairs = places
    one_type(core, EXTRACT, value, pairs, "src", site)
    times = repeats(core, repeat_time, EXTRACT, site)
    if not times:
        zero(core, "repeat_time", EXTRACT, site)
        return
    half = pairs.dtype is float16
    words = place(core, pairs.position, uint32, pairs.start, pairs.nbytes)
    parts = (Part("dst_value", value, pairs, 3 if half else 1), Part("dst_index", number, words, 2))
    _apart(core, parts, times, site)
    core.mask = (0, 0, False)
    for part in parts:
        call = Call(part.dst, Strided("src", part.src), part.pattern, REPEAT // part.src.dtype.size, times, 0, EXTRACT)
        core.state["gather_mask_count"] = gathered(core, call, site).kept
        if part is parts[0]:
            core.barrier(core.pipes["V"], site)
    if half:
        _more(core, number, times, site)
    scalar_waits(core, site)


def _apart(core: Core, parts: tuple[Part, ...], times: int, site: Site) -> None:
    """The scores must not fall on the indices, nor on pairs whose indices are still to be read."""
    scores, numbers = parts
    sizes = (RUN * scores.dst.dtype.size, RUN * numbers.dst.dtype.size, REPEAT)
    named = (("dst_value", scores.dst), ("dst_index", numbers.dst), ("src", scores.src))
    first, *others = [
        (name, core.region("UB", ((where.start, ((times * size, 1),)),), f"{EXTRACT}: {name}", site))
        for (name, where), size in zip(named, sizes, strict=True)
    ]
    for other in others:
        disjoint(core, first, other, EXTRACT, site)


def _more(core: Core, number: Place, times: int, site: Site) -> None:
    """The second half of what the device takes for indices of halves: it is no more than lost bytes."""
    nbytes = times * RUN * 4
    if number.nbytes < 2 * nbytes:
        text = (
            f"dst_index has {number.nbytes} bytes; of float16 the device writes {2 * nbytes}, the last half undefined"
        )
        report(core, "OOB_BUF", f"{text}; it is {number.origin()}", site, EXTRACT)
    lost = core.region("UB", ((number.start + nbytes, ((nbytes, 1),)),), f"{EXTRACT}: dst_index", site)
    core.state["gather_mask_count"] *= 2
    core.issue(Plan(EXTRACT, core.pipes["V"], (), (lost,), _nothing, times, voids=lost), site)


def _nothing() -> None:
    """The bytes stay as they are: nobody may read them."""


__all__ = ["concat", "extract"]
