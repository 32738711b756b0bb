"""TCubeTiling and its compile-time twin: how Matmul cuts a product. Page: TCubeTiling structure.

Made on the host (`asc.lib.host`) or by hand; what a tiling has to satisfy is in `tiling_rules`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ..core.dtype import int32
from ..core.struct import Field, Struct
from .matmul_config import MatmulConfig

_filled = partial(Field, int32, 0)
_static = partial(Field, int32, -1)


class TCubeTiling(Struct):
    """How Matmul cuts C[m, n] = A[m, k_a] * B[k_b, n]. All int32; sizes in elements unless said otherwise.

    m, n, k_a, k_b            the matrices in global memory
    used_core_num             cores that share them: m / single_core_m * n / single_core_n, rounded up
    single_core_m, _n, _k     the part of one core
    base_m, base_n, base_k    the blocks of one matrix instruction, whole fractals
    step_m, step_n            blocks of a load to L1 along M (of A) and N (of B)
    step_k_a, step_k_b        blocks of a load to L1 along K
    depth_a1, depth_b1        blocks that L1 holds: step * step, times two where loads alternate
    db_l0a, db_l0b, db_l0c    buffers of a block in L0: 1, or 2 that alternate
    is_bias                   1: a row of n is added
    iterate_order             0: the next block of C is the next along M; 1: along N
    trans_length              bytes of UB for one conversion of layout
    share_l1_size, share_l0c_size, share_ub_size   bytes that the tiling uses; reserved, as are share_mode, batch_m,
                              batch_n, single_batch_m and single_batch_n
    depth_a_l1_cache_ub, depth_b_l1_cache_ub       blocks of UB kept in L1; not on these chips
    a_layout_info_*, b_layout_info_*, c_layout_info_*   the axes of a batched matrix
    batch_num                 most products of one batched call

    Page: TCubeTiling structure.
    """

    used_core_num = _filled("usedCoreNum")
    m = _filled("M")
    n = _filled("N")
    k_a = _filled("Ka")
    k_b = _filled("Kb")
    single_core_m = _filled("singleCoreM")
    single_core_n = _filled("singleCoreN")
    single_core_k = _filled("singleCoreK")
    base_m = _filled("baseM")
    base_n = _filled("baseN")
    base_k = _filled("baseK")
    depth_a1 = _filled("depthA1")
    depth_b1 = _filled("depthB1")
    step_m = _filled("stepM")
    step_n = _filled("stepN")
    is_bias = _filled("isBias")
    trans_length = _filled("transLength")
    iterate_order = _filled("iterateOrder")
    share_mode = _filled("shareMode")
    share_l1_size = _filled("shareL1Size")
    share_l0c_size = _filled("shareL0CSize")
    share_ub_size = _filled("shareUbSize")
    batch_m = _filled("batchM")
    batch_n = _filled("batchN")
    single_batch_m = _filled("singleBatchM")
    single_batch_n = _filled("singleBatchN")
    step_k_a = _filled("stepKa")
    step_k_b = _filled("stepKb")
    depth_a_l1_cache_ub = _filled("depthAL1CacheUB")
    depth_b_l1_cache_ub = _filled("depthBL1CacheUB")
    db_l0a = _filled("dbL0A")
    db_l0b = _filled("dbL0B")
    db_l0c = _filled("dbL0C")
    a_layout_info_b = _filled("ALayoutInfoB")
    a_layout_info_s = _filled("ALayoutInfoS")
    a_layout_info_n = _filled("ALayoutInfoN")
    a_layout_info_g = _filled("ALayoutInfoG")
    a_layout_info_d = _filled("ALayoutInfoD")
    b_layout_info_b = _filled("BLayoutInfoB")
    b_layout_info_s = _filled("BLayoutInfoS")
    b_layout_info_n = _filled("BLayoutInfoN")
    b_layout_info_g = _filled("BLayoutInfoG")
    b_layout_info_d = _filled("BLayoutInfoD")
    c_layout_info_b = _filled("CLayoutInfoB")
    c_layout_info_s1 = _filled("CLayoutInfoS1")
    c_layout_info_n = _filled("CLayoutInfoN")
    c_layout_info_g = _filled("CLayoutInfoG")
    c_layout_info_s2 = _filled("CLayoutInfoS2")
    batch_num = _filled("BatchNum")


class MatmulApiStaticTiling(Struct):
    """The tiling that `get_matmul_api_tiling` works out at compile time: fields of TCubeTiling, -1 where not known.

    `cfg` is the MatmulConfig it was made for. `mx_type_para` belongs to products with scales, which these chips lack.
    """

    used_core_num = _static("usedCoreNum")
    m = _static("M")
    n = _static("N")
    k_a = _static("Ka")
    k_b = _static("Kb")
    single_core_m = _static("singleCoreM")
    single_core_n = _static("singleCoreN")
    single_core_k = _static("singleCoreK")
    base_m = _static("baseM")
    base_n = _static("baseN")
    base_k = _static("baseK")
    depth_a1 = _static("depthA1")
    depth_b1 = _static("depthB1")
    step_m = _static("stepM")
    step_n = _static("stepN")
    is_bias = _static("isBias")
    trans_length = _static("transLength")
    iterate_order = _static("iterateOrder")
    share_mode = _static("shareMode")
    share_l1_size = _static("shareL1Size")
    share_l0c_size = _static("shareL0CSize")
    share_ub_size = _static("shareUbSize")
    step_k_a = _static("stepKa")
    step_k_b = _static("stepKb")
    depth_a_l1_cache_ub = _static("depthAL1CacheUB")
    depth_b_l1_cache_ub = _static("depthBL1CacheUB")
    db_l0a = _static("dbL0A")
    db_l0b = _static("dbL0B")
    db_l0c = _static("dbL0C")
    a_layout_info_b = _static("ALayoutInfoB")
    a_layout_info_s = _static("ALayoutInfoS")
    a_layout_info_n = _static("ALayoutInfoN")
    a_layout_info_g = _static("ALayoutInfoG")
    a_layout_info_d = _static("ALayoutInfoD")
    b_layout_info_b = _static("BLayoutInfoB")
    b_layout_info_s = _static("BLayoutInfoS")
    b_layout_info_n = _static("BLayoutInfoN")
    b_layout_info_g = _static("BLayoutInfoG")
    b_layout_info_d = _static("BLayoutInfoD")
    c_layout_info_b = _static("CLayoutInfoB")
    c_layout_info_s1 = _static("CLayoutInfoS1")
    c_layout_info_n = _static("CLayoutInfoN")
    c_layout_info_g = _static("CLayoutInfoG")
    c_layout_info_s2 = _static("CLayoutInfoS2")
    batch_num = _static("BatchNum")
    mx_type_para = _static("mxTypePara")
    cfg: Any = MatmulConfig


__all__ = ["MatmulApiStaticTiling", "TCubeTiling"]
