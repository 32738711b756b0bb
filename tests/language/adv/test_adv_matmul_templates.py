"""What the templates and choices of a MatmulConfig refuse: tilings, operands and calls that they do not fit."""

from __future__ import annotations

from typing import Any

import pytest
from matmul_machine import kind
from test_adv_matmul_faults import BYTE, Calls, alone, calls, launch, refused, step, whole

import ascsim as asc


def test_a_factor_for_all_that_the_configuration_switches_off() -> None:
    with refused(asc.ArgumentValueError, "set_quant_scalar", "enable_quant_vector = False"):
        launch(alone(lambda mm, *_: mm.set_quant_scalar(1)), asc.adv.MatmulConfig(enable_quant_vector=False))


BASIC = {"do_norm": False, "do_basic_block": True, "basic_m": 16, "basic_n": 16, "basic_k": 16}
PART = {"single_core_m": 32, "single_core_n": 32, "single_core_k": 32, "step_m": 1, "step_n": 1}
SPECIAL = BASIC | PART | {"do_basic_block": False, "do_special_basic_block": True}
CONFIGS: dict[str, tuple[dict[str, Any], Calls, dict[str, Any], str]] = {
    "another call": (
        {"iterate_mode": 2}, step, {}, "iterate_mode = 2; rule: ITERATE_MODE_NORMAL (1) in it for iterate"
    ),
    "other blocks": (BASIC | {"basic_n": 32}, whole, {}, "basic_n = 32; rule: that of the tiling, 16"),
    "tails": (
        BASIC | {"basic_m": 48}, whole, {"base_m": 48}, "whole blocks: single_core_m = 32 is no multiple of base_m = 48"
    ),
    "bytes": (BASIC | {"basic_k": 32}, whole, {"c": (BYTE, BYTE, *[kind("int32")] * 2), "base_k": 32}, "it is int8"),
    "another part": (SPECIAL | {"single_core_k": 64}, whole, {}, "single_core_k = 64; rule: that of the tiling, 32"),
    "large blocks": ({"is_a2b2_shared": True}, whole, {"base_k": 1040}, "up to 32768 bytes: the tiling has 33280"),
    "both MDL": ({"do_special_mdl": True, "do_multi_data_load": True}, whole, {}, "False with do_special_mdl"),
}  # fmt: skip


@pytest.mark.parametrize("name", CONFIGS)
def test_configurations_that_do_not_fit_the_tiling(name: str) -> None:
    config, call, more, words = CONFIGS[name]
    with refused(asc.ArgumentValueError, "matmul_config", words):
        launch(calls(call), asc.adv.MatmulConfig(**config), **more)


@pytest.mark.parametrize("config", [BASIC, SPECIAL])
def test_configurations_that_fit(config: dict[str, Any]) -> None:
    launch(calls(whole), asc.adv.MatmulConfig(**config))


OUTER = {"schedule_type": asc.ScheduleType.OUTER_PRODUCT}
M_FIRST = {**OUTER, "iterate_order": asc.IterateOrder.ORDER_M}
MDL = {"do_norm": False, "do_multi_data_load": True}
TEMPLATES: dict[str, tuple[dict[str, Any], Calls, dict[str, Any], str]] = {
    "outer product with vector cores": (M_FIRST, whole, {"step_n": 2, "depth_b1": 4}, "kernels of cube cores alone"),
    "outer product in no order": (OUTER, whole, {"cube": True}, "iterate_order"),
    "outer product of one column": (M_FIRST, whole, {"cube": True}, "step_n of the tiling above 1"),
    "outer product of several steps": (
        {**M_FIRST, **MDL}, whole, {"cube": True, "step_n": 2, "step_k_b": 2, "depth_b1": 4}, "single_core_k up to"
    ),
    "outer product block by block": (
        {**M_FIRST, **MDL}, step, {"cube": True, "step_n": 2, "step_k_b": 2, "depth_b1": 4}, "iterate_all with the MDL"
    ),
    "outer product without room": (M_FIRST, step, {"cube": True, "step_n": 2, "depth_b1": 4}, "db_l0c = 2"),
    "parts with Norm": ({"is_partial_output": True}, step, {}, "get_mdl_config"),
    "parts at once": ({"is_partial_output": True, **MDL}, whole, {}, "iterate, a step along K each"),
    "parts with a bias": (
        {"is_partial_output": True, **MDL}, lambda mm, a, b, bias, c: (mm.set_bias(bias), mm.iterate()), {}, "no bias"
    ),
    "parts that are added": (
        {"is_partial_output": True, **MDL}, lambda mm, *_: mm.iterate(True), {}, "single_core_m = base_m"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_that_do_not_fit_the_call(name: str) -> None:
    config, call, more, words = TEMPLATES[name]
    with refused(asc.ArgumentValueError, words):
        launch(calls(call), asc.adv.MatmulConfig(**config), **more)


def test_a_choice_of_other_chips() -> None:
    with refused(asc.NotSimulatedError, "intra_block_part_sum"):
        launch(calls(step), asc.adv.MatmulConfig(intra_block_part_sum=True))


SWITCHES: dict[str, Calls] = {
    "enable_set_bias": lambda mm, a, b, bias, c: mm.set_bias(bias),
    "enable_set_tail": lambda mm, *_: mm.set_tail(16),
    "enable_get_tensor_c": lambda mm, a, b, bias, c: mm.get_tensor_c(c),
    "enable_set_org_shape": lambda mm, *_: mm.set_org_shape(32, 32, 32),
    "enable_init": lambda mm, *_: mm.init(None),
    "enable_quant_vector": lambda mm, a, *_: mm.set_quant_vector(a),
    "enable_end": lambda mm, *_: mm.end(),
    "enable_set_define_data": lambda mm, *_: mm.set_self_define_data(0),
}


@pytest.mark.parametrize("field", SWITCHES)
def test_calls_that_the_configuration_switches_off(field: str) -> None:
    with refused(asc.ArgumentValueError, f"matmul_config.{field} = False", "is switched off"):
        launch(alone(SWITCHES[field]), asc.adv.MatmulConfig(**{field: False}))


EXCLUDED: dict[str, Calls] = {
    "iterate": lambda mm, *_: mm.iterate(),
    "get_tensor_c": lambda mm, a, b, bias, c: mm.get_tensor_c(c),
    "set_workspace": lambda mm, a, b, bias, c: mm.set_workspace(c),
    "iterate_batch": lambda mm, a, b, bias, c: mm.iterate_batch(c, 1, 1, False),
    "iterate_n_batch": lambda mm, *_: mm.iterate_n_batch(1, 1, 1, False),
    "set_user_def_info": lambda mm, *_: mm.set_user_def_info(0),
    "set_self_define_data": lambda mm, *_: mm.set_self_define_data(0),
}


@pytest.mark.parametrize("name", EXCLUDED)
def test_calls_that_two_masters_exclude(name: str) -> None:
    with refused(asc.ArgumentValueError, name, "iterate_all alone for results"):
        launch(alone(EXCLUDED[name]), asc.adv.get_mdl_config(enable_mix_dual_master=True))
