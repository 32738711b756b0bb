"""The compare mask of a core: 128 bits that compare leaves and select takes.

It is written and read by V, in order, so its bits are moved when an instruction runs. Which of them mean something is
known when it is issued; a use of a bit whose value no page states is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..hw.core import Core
from ..hw.errors import NotSimulatedError

NBYTES = 16
ALL = (1 << 8 * NBYTES) - 1


def write(core: Core, content: Any) -> None:
    """V has come to an instruction that writes the register; bytes that are not given keep their value."""
    register = core.state.setdefault("cmp_mask", np.zeros(NBYTES, np.uint8))
    register[: len(content)] = content


def read(core: Core) -> Any:
    """The 16 bytes, for V."""
    return core.state["cmp_mask"]


def issued(core: Core, known: int) -> None:
    """An instruction is issued that writes the register: the bits whose value is known from then on."""
    core.state["cmp_known"] = known


def known(core: Core) -> int:
    """The bits whose value is known, for the instruction that is issued next."""
    bits: int = core.state.get("cmp_known", 0)
    return bits


def need(core: Core, bits: int, operation: str) -> None:
    """Refuse to use a bit whose value no page states."""
    lacking = bits & ~known(core)
    if lacking:
        first = (lacking & -lacking).bit_length() - 1
        raise NotSimulatedError(
            operation,
            f"bit {first} of the compare mask is not defined: set_cmp_mask, or compare without dst where the lane's "
            "mask bit is set, comes before; select with sel_mode uses the register up",
        )
