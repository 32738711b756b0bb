"""Compile-time choices of Matmul: MatmulConfig, its parts, and the functions that make one from a template.

Pages: MatmulConfig, GetNormalConfig, GetMDLConfig, GetSpecialMDLConfig, GetBasicConfig, GetIBShareNormConfig,
GetMMConfig. Values only: what a field does, and which are simulated, is written where Matmul is. Where the front end
forgets what the page says (no getter of it sets the template's own flag), the page rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...hw.errors import ArgumentTypeError
from ..core.enums import BatchMode, BatchOutMode, IterateMode, IterateOrder, MatmulConfigMode, ScheduleType
from ..core.params import U8, U32, Flag, Member, Params

_LESS = BatchMode.BATCH_LESS_THAN_L1


class MatmulConfig(Params):
    """Every choice; sizes in elements, `shared_co1_buffer_size` in bytes. `intrinsics_check`: rows of A or B with more
    than 65535 elements come to L1 one by one. Page: MatmulConfig.
    """

    do_norm: bool = Flag(True)
    do_basic_block: bool = Flag(False)
    do_multi_data_load: bool = Flag(False)
    basic_m: int = U32(0)
    basic_n: int = U32(0)
    basic_k: int = U32(0)
    intrinsics_check: bool = Flag(False)
    is_n_batch: bool = Flag(False)
    en_vec_nd2nz: bool = Flag(False)
    do_special_basic_block: bool = Flag(False)
    do_mte2_preload: int = U32(0)
    single_core_m: int = U32(0)
    single_core_n: int = U32(0)
    single_core_k: int = U32(0)
    step_m: int = U32(0)
    step_n: int = U32(0)
    base_mn: int = U32(0)
    single_core_mn: int = U32(0)
    en_unit_flag: bool = Flag(True)
    is_per_tensor: bool = Flag(False)
    has_anti_quant_offset: bool = Flag(False)
    do_ib_share_norm: bool = Flag(False)
    do_special_mdl: bool = Flag(False)
    enable_init: bool = Flag(True)
    batch_mode: BatchMode = Member(BatchMode, _LESS)
    enable_end: bool = Flag(True)
    enable_get_tensor_c: bool = Flag(True)
    enable_set_org_shape: bool = Flag(True)
    enable_set_bias: bool = Flag(True)
    enable_set_tail: bool = Flag(True)
    enable_quant_vector: bool = Flag(True)
    enable_set_define_data: bool = Flag(True)
    iterate_mode: int = U8(IterateMode.ITERATE_MODE_DEFAULT.value)
    enable_reuse: bool = Flag(True)
    enable_ub_reuse: bool = Flag(False)
    enable_l1_cache_ub: bool = Flag(False)
    intra_block_part_sum: bool = Flag(False)
    iterate_order: IterateOrder = Member(IterateOrder, IterateOrder.UNDEF)
    schedule_type: ScheduleType = Member(ScheduleType, ScheduleType.INNER_PRODUCT)
    enable_double_cache: bool = Flag(False)
    is_bias_batch: bool = Flag(True)
    enable_static_pad_zeros: bool = Flag(False)
    is_partial_output: bool = Flag(False)
    enable_mix_dual_master: bool = Flag(False)
    is_a2b2_shared: bool = Flag(False)
    is_enable_channel_split: bool = Flag(False)
    enable_kdim_reorder_load: bool = Flag(False)
    is_co1_shared: bool = Flag(False)
    shared_co1_buffer_size: int = U32(64 * 1024)
    batch_out_mode: BatchOutMode = Member(BatchOutMode, BatchOutMode.SINGLE_BATCH)


class MatmulShapeParams(Params):
    """Sizes for `get_mm_config`, in elements: the part of a core, and the block of one matrix instruction."""

    single_core_m: int = U32(0)
    single_core_n: int = U32(0)
    single_core_k: int = U32(0)
    basic_m: int = U32(0)
    basic_n: int = U32(0)
    basic_k: int = U32(0)


class MatmulQuantParams(Params):
    """Dequantisation of an int8 B under a float16 A, for `get_mm_config`."""

    is_per_tensor: bool = Flag(False)
    has_anti_quant_offset: bool = Flag(False)


class MatmulBatchParams(Params):
    """Batches, for `get_mm_config`. `is_b_batch`, also read as `is_n_batch`: many batches in, many out."""

    is_b_batch: bool = Flag(False)
    batch_mode: BatchMode = Member(BatchMode, _LESS)
    is_bias_batch: bool = Flag(False)

    @property
    def is_n_batch(self) -> bool:
        return self.is_b_batch


class MatmulFuncParams(Params):
    """Functions of Matmul, for `get_mm_config`."""

    intrinsics_limit: bool = Flag(False)
    en_vec_nd2_nz: bool = Flag(False)
    enable_double_cache: bool = Flag(False)
    enable_l1_cache: bool = Flag(False)
    do_mte2_pre_load: int = U32(0)
    iterate_order: IterateOrder = Member(IterateOrder, IterateOrder.ORDER_M)
    schedule_type: ScheduleType = Member(ScheduleType, ScheduleType.INNER_PRODUCT)
    enable_reuse: bool = Flag(True)
    enable_ub_reuse: bool = Flag(False)
    is_partial_output: bool = Flag(False)
    is_a2_b2_shared: bool = Flag(False)
    is_enable_channel_split: bool = Flag(False)
    enable_kdim_reorder_load: bool = Flag(False)


# What a template changes in the defaults of MatmulConfig.
_NORM: dict[str, Any] = {"enable_ub_reuse": True}
_OTHER = _NORM | {"do_norm": False, "en_unit_flag": False}
_LARGE = _OTHER | {"batch_mode": BatchMode.NONE}
_MDL, _SPECIAL_MDL = _LARGE | {"do_multi_data_load": True}, _LARGE | {"do_special_mdl": True}
_IB_SHARE = _NORM | {"do_norm": False, "do_ib_share_norm": True}
_TEMPLATES = {
    MatmulConfigMode.CONFIG_NORM: _NORM,
    MatmulConfigMode.CONFIG_MDL: _MDL,
    MatmulConfigMode.CONFIG_SPECIALMDL: _SPECIAL_MDL,
    MatmulConfigMode.CONFIG_IBSHARE: _IB_SHARE,
}
# The fields that a part of a configuration sets, where they are named differently there.
_NAMES = {
    "is_b_batch": "is_n_batch",
    "intrinsics_limit": "intrinsics_check",
    "en_vec_nd2_nz": "en_vec_nd2nz",
    "enable_l1_cache": "enable_l1_cache_ub",
    "do_mte2_pre_load": "do_mte2_preload",
    "is_a2_b2_shared": "is_a2b2_shared",
}
_PARTS = (MatmulShapeParams, MatmulQuantParams, MatmulBatchParams, MatmulFuncParams)


def _config(template: Mapping[str, Any], **given: Any) -> MatmulConfig:
    """A template with the fields that were given; None stands for the default."""
    return MatmulConfig(**{**template, **{name: field for name, field in given.items() if field is not None}})


def get_normal_config(
    intrinsics_limit: Any = False,
    batch_loop: Any = False,
    is_vec_nd2_nz: Any = False,
    bmm_mode: Any = _LESS,
    is_msg_reuse: Any = True,
    iterate_order: Any = IterateOrder.ORDER_M,
    schedule_type: Any = ScheduleType.INNER_PRODUCT,
    en_unit_flag: Any = True,
) -> MatmulConfig:
    """The Norm template: L1 is filled block by block. Page: GetNormalConfig."""
    return _config(
        _NORM | {"iterate_order": IterateOrder.ORDER_M},
        intrinsics_check=intrinsics_limit,
        is_n_batch=batch_loop,
        en_vec_nd2nz=is_vec_nd2_nz,
        batch_mode=bmm_mode,
        enable_reuse=is_msg_reuse,
        iterate_order=iterate_order,
        schedule_type=schedule_type,
        en_unit_flag=en_unit_flag,
    )


def get_mdl_config(
    intrinsics_limit: Any = False,
    batch_loop: Any = False,
    do_mte2_preload: Any = 0,
    is_vec_nd2_nz: Any = False,
    is_per_tensor: Any = False,
    has_anti_quant_offset: Any = False,
    en_unit_flag: Any = False,
    is_msg_reuse: Any = True,
    enable_ub_reuse: Any = True,
    enable_l1_cache_ub: Any = False,
    enable_mix_dual_master: Any = False,
    enable_kdim_reorder_load: Any = False,
) -> MatmulConfig:
    """The MDL template: all blocks of a step come to L1 in one load. Page: GetMDLConfig."""
    return _config(
        _MDL,
        intrinsics_check=intrinsics_limit,
        is_n_batch=batch_loop,
        do_mte2_preload=do_mte2_preload,
        en_vec_nd2nz=is_vec_nd2_nz,
        is_per_tensor=is_per_tensor,
        has_anti_quant_offset=has_anti_quant_offset,
        en_unit_flag=en_unit_flag,
        enable_reuse=is_msg_reuse,
        enable_ub_reuse=enable_ub_reuse,
        enable_l1_cache_ub=enable_l1_cache_ub,
        enable_mix_dual_master=enable_mix_dual_master,
        enable_kdim_reorder_load=enable_kdim_reorder_load,
    )


def get_special_mdl_config(
    intrinsics_limit: Any = False,
    batch_loop: Any = False,
    do_mte2_pre_load: Any = 0,
    is_vec_nd2_nz: Any = False,
    is_per_tensor: Any = False,
    has_anti_quant_offset: Any = False,
) -> MatmulConfig:
    """MDL that also takes two blocks along N where L1 does not hold all of K. Page: GetSpecialMDLConfig."""
    return _config(
        _SPECIAL_MDL,
        intrinsics_check=intrinsics_limit,
        is_n_batch=batch_loop,
        do_mte2_preload=do_mte2_pre_load,
        en_vec_nd2nz=is_vec_nd2_nz,
        is_per_tensor=is_per_tensor,
        has_anti_quant_offset=has_anti_quant_offset,
    )


def get_basic_config(
    basic_m: Any,
    basic_n: Any,
    basic_k: Any,
    intrinsics_limit: Any = False,
    batch_loop: Any = False,
    bmm_mode: Any = _LESS,
) -> MatmulConfig:
    """The BasicBlock template: blocks of fixed size, none of them cut short. Page: GetBasicConfig."""
    return _config(
        _OTHER | {"do_basic_block": True},
        basic_m=basic_m,
        basic_n=basic_n,
        basic_k=basic_k,
        intrinsics_check=intrinsics_limit,
        is_n_batch=batch_loop,
        batch_mode=bmm_mode,
    )


def get_special_basic_config(
    basic_m: Any,
    basic_n: Any,
    basic_k: Any,
    single_core_m: Any,
    single_core_n: Any,
    single_core_k: Any,
    step_m: Any,
    step_n: Any,
    intrinsics_limit: Any = False,
    batch_loop: Any = False,
    bmm_mode: Any = _LESS,
) -> MatmulConfig:
    """BasicBlock with the part of a core fixed too. Page: MatmulConfig."""
    plain = MatmulShapeParams(single_core_m, single_core_n, single_core_k, basic_m, basic_n, basic_k)
    return _config(
        _OTHER | {"do_special_basic_block": True},
        basic_m=plain.basic_m,
        basic_n=plain.basic_n,
        basic_k=plain.basic_k,
        single_core_m=plain.single_core_m,
        single_core_n=plain.single_core_n,
        single_core_k=plain.single_core_k,
        step_m=step_m,
        step_n=step_n,
        base_mn=plain.basic_m * plain.basic_n,
        single_core_mn=plain.single_core_m * plain.single_core_n,
        intrinsics_check=intrinsics_limit,
        is_n_batch=batch_loop,
        batch_mode=bmm_mode,
    )


def get_ib_share_norm_config(
    intrinsics_limit: Any = False,
    batch_loop: Any = False,
    is_vec_nd2_nz: Any = False,
    bmm_mode: Any = _LESS,
    is_double_cache: Any = False,
    en_unit_flag: Any = True,
) -> MatmulConfig:
    """The IBShare template: vector cores with the same A or B share it in L1. Page: GetIBShareNormConfig."""
    return _config(
        _IB_SHARE,
        intrinsics_check=intrinsics_limit,
        is_n_batch=batch_loop,
        en_vec_nd2nz=is_vec_nd2_nz,
        batch_mode=bmm_mode,
        enable_double_cache=is_double_cache,
        en_unit_flag=en_unit_flag,
    )


def get_mm_config(*args: Any, **kwargs: Any) -> MatmulConfig:
    """The template of a MatmulConfigMode (Norm if none is given), changed by MatmulShapeParams, MatmulQuantParams,
    MatmulBatchParams and MatmulFuncParams, each with all its fields, in any order; a later one wins. Page: GetMMConfig.
    """
    mode, fields = MatmulConfigMode.CONFIG_NORM, dict[str, Any]()
    for part in (*args, *kwargs.values()):
        if isinstance(part, MatmulConfigMode):
            mode = part
        elif isinstance(part, _PARTS):
            fields |= {_NAMES.get(row.name, row.name): getattr(part, row.name) for row in part._rows}
        else:
            rule = "MatmulConfigMode, " + ", ".join(kind.__name__ for kind in _PARTS)
            raise ArgumentTypeError("adv.get_mm_config", "is no part of one", operand="args", value=part, rule=rule)
    return _config(_TEMPLATES[mode], **fields)


__all__ = [
    "MatmulBatchParams",
    "MatmulConfig",
    "MatmulFuncParams",
    "MatmulQuantParams",
    "MatmulShapeParams",
    "get_basic_config",
    "get_ib_share_norm_config",
    "get_mdl_config",
    "get_mm_config",
    "get_normal_config",
    "get_special_basic_config",
    "get_special_mdl_config",
]
