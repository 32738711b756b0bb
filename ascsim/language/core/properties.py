"""Constants of the device that a kernel asks for by name, with the values of the 910B and 910_93 parts."""

from __future__ import annotations

from dataclasses import dataclass

from ...hw.errors import ArgumentTypeError, NotSimulatedError
from .dtype import DataType, int16, int32
from .ir_value import PlainValue, value


@dataclass(frozen=True)
class Property:
    """A constant of the device headers: its qualified name there, and its type."""

    name: str
    dtype: DataType


DEFAULT_C0_SIZE = Property("::AscendC::DEFAULT_C0_SIZE", int32)
ONE_BLK_SIZE = Property("::AscendC::ONE_BLK_SIZE", int16)
TOTAL_L0C_SIZE = Property("::AscendC::TOTAL_L0C_SIZE", int32)
TOTAL_L1_SIZE = Property("::AscendC::TOTAL_L1_SIZE", int32)

_BYTES = {
    DEFAULT_C0_SIZE: 32,
    ONE_BLK_SIZE: 32,
    TOTAL_L0C_SIZE: 128 * 1024,
    TOTAL_L1_SIZE: 512 * 1024 - 128,  # 128 bytes are reserved
}


def property(prop: Property) -> PlainValue:
    """The value of a device constant, in bytes."""
    if not isinstance(prop, Property):
        raise ArgumentTypeError(
            "property", "is no Property", operand="prop", value=prop, rule="such as asc.TOTAL_L1_SIZE"
        )
    if prop not in _BYTES:
        legal = ", ".join(known.name for known in _BYTES)
        raise NotSimulatedError(
            "property", "its value is not known", operand="prop", value=prop.name, rule=f"one of {legal}"
        )
    return value(_BYTES[prop], prop.dtype)
