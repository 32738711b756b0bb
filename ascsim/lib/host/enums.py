"""The enumerations of the tiling interface, with the values of the vendor's headers."""

from __future__ import annotations

from ascsim.language.core.enums import ScheduleType
from ascsim.language.core.members import Enumeration


class TPosition(Enumeration):
    """Where a matrix lies. TSCM: in L1 already; VECIN, VECOUT, VECCALC: in UB."""

    GM = 0
    A1 = 1
    A2 = 2
    B1 = 3
    B2 = 4
    C1 = 5
    C2 = 6
    CO1 = 7
    CO2 = 8
    VECIN = 9
    VECOUT = 10
    VECCALC = 11
    LCM = 11
    SPM = 12
    SHM = 12
    TSCM = 13
    MAX = 14


class CubeFormat(Enumeration):
    """Storage format of a matrix."""

    ND = 0
    NZ = 1
    ZN = 2
    ZZ = 3
    NN = 4
    ND_ALIGN = 5
    SCALAR = 6
    VECTOR = 7
    ROW_MAJOR = 0
    COLUMN_MAJOR = 8


class DataType(Enumeration):
    """Element type of a matrix. DT_BF16 and DT_BFLOAT16 both are bfloat16."""

    DT_FLOAT = 0
    DT_FLOAT16 = 1
    DT_INT8 = 2
    DT_INT16 = 6
    DT_UINT8 = 4
    DT_UINT16 = 7
    DT_INT64 = 9
    DT_INT32 = 3
    DT_UINT64 = 10
    DT_UINT32 = 8
    DT_BOOL = 12
    DT_STRING = 13
    DT_DOUBLE = 11
    DT_COMPLEX64 = 16
    DT_COMPLEX128 = 17
    DT_QINT16 = 19
    DT_QINT32 = 20
    DT_QINT8 = 18
    DT_QUINT8 = 21
    DT_QUINT16 = 22
    DT_STRING_REF = 24
    DT_DUAL = 25
    DT_BF16 = 27
    DT_VARIANT = 26
    DT_INT4 = 29
    DT_UNDEFINED = 28
    DT_UINT1 = 30
    DT_INT2 = 31
    DT_BFLOAT16 = 33
    DT_MAX = 40


class DequantType(Enumeration):
    """Factors of a quantisation: one for all, or one a column."""

    SCALAR = 0
    TENSOR = 1


class MatrixMadType(Enumeration):
    """Mode of the multiplier."""

    NORMAL = 0
    HF32 = 1
    MXMODE = 2


class MatrixTraverse(Enumeration):
    """Direction to the next block of C; NOSET leaves it to the tiling."""

    NOSET = 0
    FIRSTM = 1
    FIRSTN = 2


__all__ = ["CubeFormat", "DataType", "DequantType", "MatrixMadType", "MatrixTraverse", "ScheduleType", "TPosition"]
