"""Names of the API that are not built yet, each with what it belongs to.

Asking for one raises a MissingApiError, which is a NotImplementedError and, so that `hasattr` answers no, an
AttributeError. A name leaves this list in the change that builds it: a test compares the list with the package.
"""

from __future__ import annotations

from typing import NoReturn

from ..hw.errors import MissingApiError

VECTOR = "the rest of the vector API"
CUBE = "the cube side"
ADV = "the library operations over vector instructions"

BASIC = {
    VECTOR: (
        "check_local_memory_ia data_cache_preload get_hccl_context get_store_atomic_config get_sys_workspace "
        "set_hccl_context set_store_atomic_config set_sys_workspace get_icache_preload_status icache_preload transpose "
        "trans_data_to_5hd copy print_time_stamp TensorDesc ListTensorDesc get_sort_len get_sort_offset "
        "get_mrg_sort_result mrg_sort mrg_sort4 proposal_concat proposal_extract rp_sort16 sort sort32 "
        "count_bits_cnt_same_as_sign_bit scalar_cast scalar_count_leading_zero scalar_get_count_of_value "
        "scalar_get_sff_value set_atomic_add set_atomic_max set_atomic_min set_atomic_none set_atomic_type "
        "add_relu_cast sub_relu_cast cast cast_deq gather_mask get_gather_mask_remain_count brcb compare "
        "compare_scalar get_cmp_mask select set_cmp_mask gather gatherb block_reduce_sum block_reduce_max "
        "block_reduce_min pair_reduce_sum repeat_reduce_sum whole_reduce_max whole_reduce_min whole_reduce_sum "
        "reduce_max reduce_min reduce_sum scatter axpy"
    ),
    CUBE: (
        "set_aipp_functions set_hf32_mode set_hf32_trans_mode set_mm_layout_transform load_image_to_local fixpipe "
        "set_fix_pipe_pre_quant_flag init_const_value load_data load_data_with_sparse load_data_with_transpose mmad "
        "mmad_with_sparse set_load_data_boundary set_load_data_padding_value set_load_data_repeat"
    ),
}
ADVANCED = {
    ADV: (
        "softmax acos acosh asin asinh atan atanh ceil cos cosh digamma erf erfc exp floor frac lgamma log round sign "
        "sin sinh tan tanh trunc power xor axpy rmsnorm quant concat extract swiglu softmax_flash_v2 SoftMaxShapeInfo "
        "SoftmaxConfig RmsNormTiling SoftmaxTiling QuantConfig"
    ),
    CUBE: (
        "Matmul MatmulType get_basic_config get_ib_share_norm_config get_matmul_api_tiling get_mdl_config "
        "get_mm_config get_normal_config get_special_basic_config get_special_mdl_config register_matmul "
        "MatmulApiStaticTiling TCubeTiling MatmulBatchParams MatmulConfig MatmulFuncParams MatmulQuantParams "
        "MatmulShapeParams"
    ),
}
HOST = {
    CUBE: (
        "BatchMatmulTiling CubeFormat DataType DequantType MatmulApiTiling MatmulConfigParams MatrixMadType "
        "MatrixTraverse MultiCoreMatmulTiling PlatformAscendC PlatformAscendCManager ScheduleType TPosition "
        "get_ascendc_platform"
    ),
}


def refuse(groups: dict[str, str], module: str, name: str) -> NoReturn:
    """For a module's `__getattr__`: say that a name is not built yet, or that there is no such name."""
    for part, names in groups.items():
        if name in names.split():
            raise MissingApiError(f"{module}.{name}", f"is not simulated yet: {part} is not built")
    raise AttributeError(f"module {module!r} has no attribute {name!r}")
