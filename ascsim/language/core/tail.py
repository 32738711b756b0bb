"""`t[i:]` as kernels run it: the rewrite of jit functions turns it into a call of `tail`.

A slice object costs a kernel as much as the view that it asks for: it is made, and read attribute by attribute.
"""

from __future__ import annotations

from typing import Any

from .global_tensor import GlobalTensor
from .ir_value import Int32
from .tensor import LocalTensor

_local: Any = LocalTensor.__new__
_global: Any = GlobalTensor.__new__


def tail(x: Any, start: Any) -> Any:
    """`x[start:]`: the usual tensors and offsets in one piece, all else as Python would have it."""
    if start.__class__ is Int32:
        start = start.v
    elif start.__class__ is not int:
        return x[start:]
    if x.__class__ is LocalTensor:
        try:
            view = x.place.views[start]
        except KeyError:
            return x[start:]
        out = _local(LocalTensor)
        out.place = view
        return out
    if x.__class__ is GlobalTensor:
        out = _global(GlobalTensor)
        window = out.window = x.window
        out.start = x.start + start * window.size
        return out
    return x[start:]
