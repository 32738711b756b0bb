"""Matmul's compile-time choices: what each template switches on, and how parts combine. Values of the pages."""

from __future__ import annotations

import pickle

import pytest

import ascsim as asc
from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError, StructError

adv = asc.adv
FLAGS = "do_norm do_basic_block do_multi_data_load do_special_basic_block do_ib_share_norm do_special_mdl".split()


def flags(config) -> list[str]:
    return [name for name in FLAGS if getattr(config, name)]


@pytest.mark.parametrize(
    ("config", "template", "unit_flag", "mode"),
    [
        (adv.get_normal_config(), "do_norm", True, 1),
        (adv.get_mdl_config(), "do_multi_data_load", False, 0),
        (adv.get_special_mdl_config(), "do_special_mdl", False, 0),
        (adv.get_basic_config(128, 128, 64), "do_basic_block", False, 1),
        (adv.get_special_basic_config(256, 128, 64, 512, 256, 64, 2, 1), "do_special_basic_block", False, 1),
        (adv.get_ib_share_norm_config(), "do_ib_share_norm", True, 1),
        (adv.get_mm_config(), "do_norm", True, 1),
        (adv.get_mm_config(asc.MatmulConfigMode.CONFIG_MDL), "do_multi_data_load", False, 0),
        (adv.get_mm_config(asc.MatmulConfigMode.CONFIG_SPECIALMDL), "do_special_mdl", False, 0),
        (adv.get_mm_config(asc.MatmulConfigMode.CONFIG_IBSHARE), "do_ib_share_norm", True, 1),
    ],
)
def test_a_template_switches_on_one_flag_of_its_own(config, template, unit_flag, mode) -> None:
    assert flags(config) == [template]
    assert (config.en_unit_flag, config.batch_mode) == (unit_flag, mode)


def test_arguments_reach_their_fields_and_none_is_the_default() -> None:
    config = adv.get_special_basic_config(256, 128, 64, 512, 384, 1024, 2, 3, True)
    assert (config.basic_m, config.basic_n, config.basic_k, config.base_mn) == (256, 128, 64, 32768)
    assert (config.single_core_m, config.single_core_n, config.single_core_k) == (512, 384, 1024)
    assert (config.single_core_mn, config.step_m, config.step_n, config.intrinsics_check) == (196608, 2, 3, True)
    mdl = adv.get_mdl_config(None, do_mte2_preload=2, en_unit_flag=None, enable_kdim_reorder_load=True)
    assert (mdl.intrinsics_check, mdl.do_mte2_preload, mdl.en_unit_flag) == (False, 2, False)
    assert mdl.enable_kdim_reorder_load
    assert mdl.enable_ub_reuse
    assert adv.get_normal_config(None, iterate_order=None) == adv.get_normal_config()


def test_parts_of_a_configuration_combine_in_any_order() -> None:
    shape = adv.MatmulShapeParams(512, 512, 1024, 128, 256, 64)
    batch = adv.MatmulBatchParams(True, asc.BatchMode.SINGLE_LARGE_THAN_L1, True)
    functions = adv.MatmulFuncParams(True, iterate_order=asc.IterateOrder.ORDER_N, do_mte2_pre_load=1)
    assert batch.is_n_batch
    assert batch.is_b_batch
    config = adv.get_mm_config(
        functions, asc.MatmulConfigMode.CONFIG_MDL, batch, quant=adv.MatmulQuantParams(True), s=shape
    )
    assert flags(config) == ["do_multi_data_load"]
    assert (config.single_core_m, config.single_core_k, config.basic_n) == (512, 1024, 256)
    assert (config.is_n_batch, config.batch_mode, config.is_bias_batch, config.is_per_tensor) == (True, 3, True, True)
    assert (config.intrinsics_check, config.en_vec_nd2nz, config.do_mte2_preload) == (True, False, 1)
    assert config.iterate_order is asc.IterateOrder.ORDER_N
    assert not config.enable_ub_reuse  # MatmulFuncParams says so, the template does not


def test_what_is_no_configuration_is_refused_by_name() -> None:
    with pytest.raises(ArgumentTypeError, match="get_mm_config: args = 7: is no part of one"):
        adv.get_mm_config(7)
    with pytest.raises(ArgumentValueError, match="MatmulConfig: basic_m = -1"):
        adv.get_basic_config(-1, 16, 16)
    with pytest.raises(ArgumentValueError, match="is no IterateOrder"):
        adv.MatmulFuncParams(iterate_order=9)
    with pytest.raises(StructError, match="cannot change after construction"):
        adv.MatmulConfig().do_norm = False


def test_tilings_are_structs_of_int32() -> None:
    tiling = adv.TCubeTiling(m=512, step_k_b=4)
    assert (tiling.m, tiling.n, tiling.step_k_b) == (512, 0, 4)
    assert len(tiling.pack()) == 49 * 4
    assert tiling.pack()[4:8] == (512).to_bytes(4, "little")
    static = adv.MatmulApiStaticTiling()
    assert static.m == static.mx_type_para == -1
    assert len(static.pack()) == 46 * 4
    assert adv.MatmulApiStaticTiling.cfg is adv.MatmulConfig
    static.cfg = adv.get_mdl_config()
    assert pickle.loads(pickle.dumps(static)).cfg == adv.get_mdl_config()


def test_a_kernel_reads_a_tiling_and_changes_its_own_copy() -> None:
    seen = []

    @asc.jit
    def kernel(tiling: asc.adv.TCubeTiling):
        tiling.share_l1_size = 1024
        seen.append((tiling.m, tiling.share_l1_size))

    tiling = adv.TCubeTiling(m=48)
    kernel[1](tiling)
    assert seen[0] == (48, 1024)
    assert tiling.share_l1_size == 0
