"""The scale register of dequantisation.

Not simulated yet: cast and cast_deq, and with them the forms of set_deq_scale that only cast_deq reads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...hw.errors import NotSimulatedError
from ..core.dtype import float32
from ..core.ir_value import value
from ..core.place import running
from ..forms import signatures


def set_deq_scale(
    scale: Any = None, offset: Any = None, sign_mode: Any = None, *, vdeq: Any = None, vdeq_info: Any = None
) -> None:
    """Set the scale, a half, that add_deq_relu multiplies with. Page: SetDeqScale.

    set_deq_scale(scale); the forms (scale, offset, sign_mode) and (vdeq, vdeq_info) belong to cast_deq.
    """
    core = running("set_deq_scale")
    if offset is not None or sign_mode is not None or vdeq is not None or vdeq_info is not None:
        raise NotSimulatedError("set_deq_scale", "only cast_deq reads what this form sets, and it is not simulated yet")
    with np.errstate(over="ignore"):
        core.state["deq_scale"] = np.float16(value(scale, float32, "set_deq_scale").v)


set_deq_scale.__overloads__ = signatures(  # type: ignore[attr-defined]
    "scale", "scale, offset, sign_mode", "vdeq, vdeq_info"
)

__all__ = ["set_deq_scale"]
