"""The caches of the scalar unit. Pages: DataCacheCleanAndInvalid, DataCachePreload, ICachePreLoad,
GetICachePreloadStatus. The instruction cache is not modelled: it touches no value, and code costs no time here."""

from __future__ import annotations

import sys
from typing import Any

from ...hw.cache import clean, preload
from ...hw.errors import ArgumentTypeError, ArgumentValueError, NotSimulatedError
from ..core.dtype import uint64
from ..core.enums import CacheLine, DcciDst
from ..core.global_tensor import GlobalTensor
from ..core.ir_value import Int64, PlainValue
from ..core.place import index, report, running
from ..forms import signatures

_NAME = "data_cache_clean_and_invalid"
ICACHE_PAGES = {"aic": 16, "aiv": 8}  # of 2 KiB, by kind of core


def data_cache_clean_and_invalid(entire_type: Any, dst: Any, dcci_dst: Any = None) -> None:
    """Write dirty lines of the data cache back to global memory and drop them.

        data_cache_clean_and_invalid(entire_type, dst)
        data_cache_clean_and_invalid(entire_type, dst, dcci_dst)
        data_cache_clean_and_invalid(entire_type, dcci_dst, dst)

    `entire_type`: CacheLine.SINGLE_CACHE_LINE (the 64-byte line that holds the start of `dst`) or ENTIRE_DATA_CACHE;
    `dcci_dst`: CACHELINE_ALL or CACHELINE_OUT (default); the UB and atomic kinds are not simulated.
    Page: DataCacheCleanAndInvalid.
    """
    frame = sys._getframe(1)
    core = running(_NAME)
    if not isinstance(dst, GlobalTensor):
        dst, dcci_dst = dcci_dst, dst
    if not isinstance(dst, GlobalTensor):
        raise ArgumentTypeError(_NAME, "is no GlobalTensor", operand="dst", value=dst)
    if isinstance(entire_type, DcciDst):
        raise ArgumentTypeError(_NAME, operand="entire_type", value=entire_type, rule="a member of CacheLine")
    kind = DcciDst.CACHELINE_OUT if dcci_dst is None else index(dcci_dst, _NAME, "dcci_dst", "a DcciDst")
    if kind not in (DcciDst.CACHELINE_ALL, DcciDst.CACHELINE_OUT):
        raise NotSimulatedError(_NAME, "only lines of global memory are modelled", operand="dcci_dst", value=dcci_dst)
    array = dst.get_phy_addr().array
    whole = index(entire_type, _NAME, "entire_type") == CacheLine.ENTIRE_DATA_CACHE
    clean(core, array, dst.start, whole, (frame.f_code, frame.f_lasti))


data_cache_clean_and_invalid.__overloads__ = signatures(  # type: ignore[attr-defined]
    "entire_type, dcci_dst, dst", "entire_type, dst", "entire_type, dst, dcci_dst=None"
)


def data_cache_preload(src: Any, cache_offset: Any) -> None:
    """Fill the 64-byte line that holds byte `cache_offset` of `src`, a GlobalTensor of uint64, into the data cache.

    A get_value there finds the bytes as they were now: CACHE_STALE where memory has changed by then. Fault:
    OOB_GM. Page: DataCachePreload.
    Device: a call may be dropped when there are many.
    """
    frame = sys._getframe(1)
    site = (frame.f_code, frame.f_lasti)
    core = running("data_cache_preload")
    if not isinstance(src, GlobalTensor):
        raise ArgumentTypeError("data_cache_preload", "is no GlobalTensor", operand="src", value=src)
    window = src._set("data_cache_preload")
    if window.dtype is not uint64:
        report(core, "BAD_DTYPE", f"src has type {window.dtype}; rule: uint64", site, "data_cache_preload")
    assert window.array is not None
    preload(core, window.array, src.start + index(cache_offset, "data_cache_preload", "cache_offset"), site)


def icache_preload(pre_fetch_len: Any) -> None:
    """Fetch the next `pre_fetch_len` times 2 KiB of code: less than 8 on vector cores, than 16 on cube cores.

    The length is checked; nothing else happens here. Page: ICachePreLoad.
    """
    core = running("icache_preload")
    pages, most = index(pre_fetch_len, "icache_preload", "pre_fetch_len"), ICACHE_PAGES[core.kind] - 1
    if not 0 <= pages <= most:
        rule = f"0 to {most} on an {core.kind} core, in units of 2 KiB"
        nearest = min(max(pages, 0), most)
        raise ArgumentValueError("icache_preload", operand="pre_fetch_len", value=pages, rule=rule, nearest=nearest)


def get_icache_preload_status() -> PlainValue:
    """0: the last icache_preload has ended (int64); here it always has. Page: GetICachePreloadStatus."""
    running("get_icache_preload_status")
    return Int64.pack(0)


__all__ = ["data_cache_clean_and_invalid", "data_cache_preload", "get_icache_preload_status", "icache_preload"]
