"""Matmul tiling on the host. Gathers names only."""

from __future__ import annotations

from .base import MatmulConfigParams
from .enums import CubeFormat, DataType, DequantType, MatrixMadType, MatrixTraverse, ScheduleType, TPosition
from .platform import PlatformAscendC, PlatformAscendCManager, get_ascendc_platform
from .tiling import BatchMatmulTiling, MatmulApiTiling, MultiCoreMatmulTiling

__all__ = [
    "BatchMatmulTiling",
    "CubeFormat",
    "DataType",
    "DequantType",
    "MatmulApiTiling",
    "MatmulConfigParams",
    "MatrixMadType",
    "MatrixTraverse",
    "MultiCoreMatmulTiling",
    "PlatformAscendC",
    "PlatformAscendCManager",
    "ScheduleType",
    "TPosition",
    "get_ascendc_platform",
]
