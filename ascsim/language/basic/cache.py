"""The data cache of the scalar unit. Page: DataCacheCleanAndInvalid."""

from __future__ import annotations

import sys
from typing import Any

from ...hw.cache import clean
from ...hw.errors import ArgumentTypeError, NotSimulatedError
from ..core.enums import CacheLine, DcciDst
from ..core.global_tensor import GlobalTensor
from ..core.place import index, running
from ..forms import signatures

_NAME = "data_cache_clean_and_invalid"


def data_cache_clean_and_invalid(entire_type: Any, dst: Any, dcci_dst: Any = None) -> None:
    """Write dirty lines of the data cache back to global memory and drop them.

        data_cache_clean_and_invalid(entire_type, dst)
        data_cache_clean_and_invalid(entire_type, dst, dcci_dst)
        data_cache_clean_and_invalid(entire_type, dcci_dst, dst)

    `entire_type`: CacheLine.SINGLE_CACHE_LINE (the 64-byte line that holds the start of `dst`) or ENTIRE_DATA_CACHE;
    `dcci_dst`: CACHELINE_ALL or CACHELINE_OUT (default); the UB and atomic kinds are not simulated.
    """
    frame = sys._getframe(1)
    core = running(_NAME)
    if not isinstance(dst, GlobalTensor):
        dst, dcci_dst = dcci_dst, dst
    if not isinstance(dst, GlobalTensor):
        raise ArgumentTypeError(_NAME, "is no GlobalTensor", operand="dst", value=dst)
    kind = DcciDst.CACHELINE_OUT if dcci_dst is None else index(dcci_dst, _NAME, "dcci_dst")
    if kind not in (DcciDst.CACHELINE_ALL, DcciDst.CACHELINE_OUT):
        raise NotSimulatedError(_NAME, "only lines of global memory are modelled", operand="dcci_dst", value=dcci_dst)
    array = dst.get_phy_addr().array
    whole = index(entire_type, _NAME, "entire_type") == CacheLine.ENTIRE_DATA_CACHE
    clean(core, array, dst.start, whole, (frame.f_code, frame.f_lasti))


data_cache_clean_and_invalid.__overloads__ = signatures(  # type: ignore[attr-defined]
    "entire_type, dcci_dst, dst", "entire_type, dst", "entire_type, dst, dcci_dst=None"
)

__all__ = ["data_cache_clean_and_invalid"]
