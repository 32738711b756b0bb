"""Registers and questions of the scalar unit: masks, modes of the cube, state at start, core kind.

Pages: SetVectorMask, ResetMask, SetMaskCount, SetMaskNorm, SetHF32Mode, SetHF32TransMode, SetMMLayoutTransform,
InitSocState, the ASCEND_IS_AIC and ASCEND_IS_AIV questions. An instruction captures the registers when it is issued, so
none of this needs synchronisation.
"""

from __future__ import annotations

import sys
from typing import Any

from ...hw.core import PLAIN_STORE, Core
from ..core import ir_value
from ..core.enums import MaskMode
from ..core.limits import within
from ..core.place import element_type, index, running
from ..masks import ALL_LANES, COUNT, WORD, words
from ..plans import lanes_of
from ..signatures import signatures


def ascend_is_aic() -> ir_value.PlainValue:
    """Whether this is a cube core (one bit)."""
    return ir_value.Bit.pack(running("ascend_is_aic").kind == "aic")


def ascend_is_aiv() -> ir_value.PlainValue:
    """Whether this is a vector core (one bit)."""
    return ir_value.Bit.pack(running("ascend_is_aiv").kind == "aiv")


def init_soc_state() -> None:
    """Masks, mask mode, atomic mode and pad value as at power-on. Page: InitSocState."""
    core = running("init_soc_state")
    core.mask, core.atomic, core.pad_value = ALL_LANES, PLAIN_STORE, None


def set_vector_mask(mask_high: Any = None, mask_low: Any = None, *, dtype: Any, mode: Any, length: Any = None) -> None:
    """Write the mask registers.

        set_vector_mask(length, dtype=, mode=)              NORMAL: the first `length` lanes; COUNTER: a count
        set_vector_mask(mask_high, mask_low, dtype=, mode=)  the two words as they are

    `mode` says how `length` is meant; it does not switch the mode (set_mask_count, set_mask_norm). Page: SetVectorMask.
    """
    frame = sys._getframe(1)
    site = (frame.f_code, frame.f_lasti)
    core = running("set_vector_mask")
    kind = element_type(dtype, "set_vector_mask")
    counter = index(mode, "set_vector_mask", "mode", "a MaskMode") == MaskMode.COUNTER
    if mask_low is not None and mask_high is not None:
        high, low = (index(word, "set_vector_mask", "mask") & WORD for word in (mask_high, mask_low))
    else:
        most, unit = (COUNT, "elements") if counter else (lanes_of(kind), f"lanes of {kind}")
        given = length if mask_high is None else mask_high
        count = within(core, "BAD_MASK", "length", given, 0, most, "set_vector_mask", site, unit)
        high, low = (0, count) if counter else words(count)
    core.mask = (high, low, core.mask[2])


set_vector_mask.__overloads__ = signatures(  # type: ignore[attr-defined]
    "length, *, dtype, mode", "mask_high, mask_low, *, dtype, mode"
)


def reset_mask() -> None:
    """All lanes take part; the mode stays. Page: ResetMask."""
    core = running("reset_mask")
    core.mask = (*ALL_LANES[:2], core.mask[2])


def set_mask_count() -> None:
    """Counter mode: the mask registers hold the number of elements of a whole instruction. Page: SetMaskCount."""
    core = running("set_mask_count")
    core.mask = (*core.mask[:2], True)


def set_mask_norm() -> None:
    """Normal mode: the mask registers hold one bit a lane of a repeat. Page: SetMaskNorm."""
    core = running("set_mask_norm")
    core.mask = (*core.mask[:2], False)


def set_hf32_mode(hf32_mode: Any) -> None:
    """Whether mmad rounds its float32 operands to HF32 (11 mantissa bits) first. Page: SetHF32Mode.

    Device: the width of HF32 on this chip stands in a figure only; the text says of a later one that it has 10 bits.
    """
    core = running("set_hf32_mode")
    _hf32(core, "on", bool(index(hf32_mode, "set_hf32_mode", "hf32_mode")))


def set_hf32_trans_mode(trans_mode: Any) -> None:
    """How HF32 rounds: to nearest, ties toward zero (true) or to even (false). Page: SetHF32TransMode.

    Device: the page of Matmul's SetHF32 has ties away from zero for the same register.
    """
    core = running("set_hf32_trans_mode")
    _hf32(core, "to_zero", bool(index(trans_mode, "set_hf32_trans_mode", "trans_mode")))


def _hf32(core: Core, register: str, value: bool) -> None:
    """Set one of two registers; multiplies look at "hf32": None where off, else whether ties go toward zero."""
    state = core.state
    state[f"hf32 {register}"] = value
    state["hf32"] = state.get("hf32 to_zero", False) if state.get("hf32 on") else None


def set_mm_layout_transform(mm_layout_mode: Any) -> None:
    """Whether mmad walks over its result along N first (true) or M first; no value depends on it, nor does the time
    here. Page: SetMMLayoutTransform."""
    running("set_mm_layout_transform")
    index(mm_layout_mode, "set_mm_layout_transform", "mm_layout_mode")


__all__ = [
    "ascend_is_aic",
    "ascend_is_aiv",
    "init_soc_state",
    "reset_mask",
    "set_hf32_mode",
    "set_hf32_trans_mode",
    "set_mask_count",
    "set_mask_norm",
    "set_mm_layout_transform",
    "set_vector_mask",
]
