"""Calls of functions of the API that pyasc's front end accepts and refuses: rows of `front_end_table`."""

from __future__ import annotations

from front_end_table import ACCEPTED, AFTER, BEFORE, KIND, REFUSED, rows


def _binary(names: str, operands: str, params: str = "binary") -> None:
    forms = ["64", "64, True", "count=64", f"64, 1, {params}", f"[1, 0], 1, {params}", f"[1, 0], 1, {params}, False"]
    forms += [f"mask=64, repeat_times=1, repeat_params={params}", f"64, 1, {params}, is_set_mask=True"]
    wrong = ["", "'64'", "64, 1", "64, 1, 1", "64, 1, unary", "lanes=64", "64.5", "count=64, mask=64", operands]
    wrong += [f"64, 1, {params}, True, True", f"mask=64, repeat_times='1', repeat_params={params}"]
    rows(names, [f"{operands}, {f}" for f in forms], [f"{operands}, {f}".rstrip(", ") for f in wrong])
    dst, first, second = operands.split(", ")
    REFUSED[names.split()[0]] += [
        f"{dst}, {first}, 3, 64",
        f"{dst}, {first}, None, 64",
        f"3, {first}, {second}, 64",
    ]


def _unary(names: str, operands: str) -> None:
    forms = ["64", "count=64", "64, 1, unary", "[1, 0], 1, unary", "[1, 0], 1, unary, False"]
    forms += ["mask=64, repeat_times=1, repeat_params=unary", "64, 1, unary, is_set_mask=True"]
    wrong = ["", "'64'", "64, 1", "64, 1, 1", "64, 1, binary", "lanes=64", "64.5", "64, 1, unary, True, True"]
    rows(names, [f"{operands}, {f}" for f in forms], [f"{operands}, {f}".rstrip(", ") for f in wrong])
    dst, src = operands.split(", ")
    REFUSED[names.split()[0]] += [f"{dst}, 3, 64", f"{dst}, None, 64", f"3, {src}, 64"]


def _with_scalar(names: str, operands: str, scalar: str) -> None:
    _unary(names, operands)
    operands_and = f"{operands}, {scalar}"
    for name in names.split():
        for table in (ACCEPTED, REFUSED):
            table[name] = [call.replace(operands, operands_and, 1) for call in table[name] if operands in call]
        ACCEPTED[name] += [f"{operands_and}, 64, True"] if name != "axpy" else []
    REFUSED[names.split()[0]] += [f"{operands}, 'x', 64", f"{operands}, f3, 64", f"{operands}, None, 64"]


_binary("add sub mul div max min add_relu sub_relu fused_mul_add fused_mul_add_relu mul_add_dst", "f0, f1, f2")
_binary("bitwise_and bitwise_or", "s0, s1, s2")
_binary("add_relu_cast sub_relu_cast", "h0, f1, f2", "narrow")
_binary("add_deq_relu", "h0, i1, i2", "narrow")
_binary("mul_cast", "c0, h1, h2", "narrow")
ACCEPTED["mul_cast"] = [
    "c0, h1, h2, 64",
    "c0, h1, h2, count=64",
    "c0, h1, h2, 64, 1, narrow",
    "c0, h1, h2, [1, 0], 1, narrow",
]
REFUSED["mul_cast"] += ["c0, h1, h2, 64, True", "c0, h1, h2, 64, 1, narrow, True"]
_unary("abs exp ln reciprocal relu rsqrt sqrt", "f0, f1")
_unary("bitwise_not", "s0, s1")
_with_scalar("adds muls maxs mins leaky_relu axpy", "f0, f1", "2.0")
_with_scalar("shift_left shift_right", "i0, i1", "2")
rows(
    "duplicate",
    ["f0, 1.0, 64", "f0, 1, 64", "f0, 1.0, 64, 1, 1, 8", "f0, 1.0, [1, 0], 1, 1, 8", "f0, 1.0, 64, 1, 1, 8, False"],
    ["f0, 1.0", "f0, 'x', 64", "f0, f1, 64", "3, 1.0, 64", "f0, 1.0, 64, 1, 1", "f0, 1.0, '64'", "f0, 1.0, lanes=64"],
)
rows(
    "cast",
    [
        "h0, f1, asc.RoundMode.CAST_RINT, 64",
        "h0, f1, round_mode=asc.RoundMode.CAST_RINT, count=64",
        "i0, f1, asc.RoundMode.CAST_RINT, 64, 1, unary",
        "i0, f1, asc.RoundMode.CAST_RINT, [1, 0], 1, unary, False",
    ],
    [
        "h0, f1, 64",
        "h0, f1, asc.RoundMode.CAST_RINT",
        "h0, 3, asc.RoundMode.CAST_RINT, 64",
        "h0, f1, 'RINT', 64",
        "h0, f1, asc.RoundMode.CAST_RINT, '64'",
        "h0, f1, asc.RoundMode.CAST_RINT, 64, 1",
    ],
)
rows(
    "cast_deq",
    ["h0, i1, 64", "h0, i1, 64, 1, unary", "h0, i1, [1, 0], 1, unary, False", "h0, i1, count=64"],
    ["h0, i1", "h0, 3, 64", "h0, i1, '64'", "h0, i1, 64, 1", "3, i1, 64"],
)
rows(
    "compare",
    [
        "y0, f1, f2, asc.CMPMODE.LT, 64",
        "y0, f1, f2, asc.CMPMODE.LT, 64, 1, binary",
        "y0, f1, f2, asc.CMPMODE.LT, [1, 0], 1, binary",
        "f1, f2, asc.CMPMODE.LT, 64, binary",
        "f1, f2, asc.CMPMODE.LT, [1, 0], binary",
    ],
    [
        "y0, f1, f2, asc.CMPMODE.LT",
        "y0, f1, f2, 64",
        "y0, f1, 3, asc.CMPMODE.LT, 64",
        "y0, f1, f2, 'LT', 64",
        "y0, f1, f2, asc.CMPMODE.LT, '64'",
        "f1, f2, asc.CMPMODE.LT, 64",
        "y0, f1, f2, asc.CMPMODE.LT, 64, 1, unary",
    ],
)
rows(
    "compare_scalar",
    [
        "y0, f1, 1.0, asc.CMPMODE.LT, 64",
        "y0, f1, 1.0, asc.CMPMODE.LT, 64, 1, unary",
        "y0, f1, 1.0, asc.CMPMODE.LT, [1, 0], 1, unary",
    ],
    [
        "y0, f1, 1.0, asc.CMPMODE.LT",
        "y0, f1, 1.0, 64",
        "y0, f1, 'x', asc.CMPMODE.LT, 64",
        "y0, f1, f2, asc.CMPMODE.LT, 64",
        "y0, f1, 1.0, asc.CMPMODE.LT, 64, 1, binary",
        "y0, 3, 1.0, asc.CMPMODE.LT, 64",
    ],
)
rows(
    "select",
    [
        "f0, y1, f2, f3, asc.SelMode.VSEL_TENSOR_TENSOR_MODE, 64",
        "f0, y1, f2, 1.0, asc.SelMode.VSEL_TENSOR_SCALAR_MODE, 64",
        "f0, y1, f2, f3, asc.SelMode.VSEL_TENSOR_TENSOR_MODE, 64, 1, binary",
        "f0, y1, f2, f3, asc.SelMode.VSEL_TENSOR_TENSOR_MODE, [1, 0], 1, binary",
        "f0, y1, f2, 1.0, asc.SelMode.VSEL_TENSOR_SCALAR_MODE, [1, 0], 1, binary",
    ],
    [
        "f0, y1, f2, f3, asc.SelMode.VSEL_TENSOR_TENSOR_MODE",
        "f0, y1, f2, 'x', asc.SelMode.VSEL_TENSOR_SCALAR_MODE, 64",
        "f0, y1, f2, f3, 64",
        "f0, y1, f2, f3, asc.SelMode.VSEL_TENSOR_TENSOR_MODE, 64, 1, unary",
    ],
)
_strides = "1, 1, 8"
rows(
    "block_reduce_max block_reduce_min block_reduce_sum",
    [
        f"f0, f1, 1, 64, {_strides}",
        f"f0, f1, 1, [1, 0], {_strides}",
        "f0, f1, repeat=1, mask=64, dst_rep_stride=1, src_blk_stride=1, src_rep_stride=8",
    ],
    [
        "f0, f1, 1, 64, 1, 1",
        f"f0, f1, 1, '64', {_strides}",
        f"f0, 3, 1, 64, {_strides}",
        f"3, f1, 1, 64, {_strides}",
        f"f0, f1, f2, 64, {_strides}",
        f"f0, f1, 1, 64, {_strides}, lanes=3",
    ],
)
rows(
    "pair_reduce_sum",
    [f"f0, f1, 1, 64, {_strides}", f"f0, f1, 1, [1, 0], {_strides}, False"],
    ["f0, f1, 1, 64, 1, 1", f"f0, f1, 1, '64', {_strides}", f"f0, 3, 1, 64, {_strides}", f"f0, f1, f2, 64, {_strides}"],
)
rows(
    "repeat_reduce_sum",
    ["f0, f1, 1, 64, 1, 1, 1, 8", "f0, f1, 1, 64, 1, 1, 1, 8, True"],
    ["f0, f1, 1, 64, 1, 1, 1", "f0, f1, 1, '64', 1, 1, 1, 8", "f0, 3, 1, 64, 1, 1, 1, 8"],
)
rows(
    "whole_reduce_sum",
    [f"f0, f1, 64, 1, {_strides}", f"f0, f1, [1, 0], 1, {_strides}, False"],
    ["f0, f1, 64, 1, 1, 1", f"f0, f1, '64', 1, {_strides}", f"f0, 3, 64, 1, {_strides}", f"f0, f1, 64, f2, {_strides}"],
)
rows(
    "whole_reduce_max whole_reduce_min",
    [
        f"f0, f1, 64, 1, {_strides}",
        f"f0, f1, [1, 0], 1, {_strides}",
        f"f0, f1, 64, 1, {_strides}, asc.ReduceOrder.ORDER_ONLY_VALUE",
    ],
    ["f0, f1, 64, 1, 1, 1", f"f0, f1, '64', 1, {_strides}", f"f0, 3, 64, 1, {_strides}", f"f0, f1, 64, f2, {_strides}"],
)
rows(
    "reduce_sum",
    ["f0, f1, f2, 64", "f0, f1, f2, count=64", "f0, f1, f2, 64, 1, 8", "f0, f1, f2, [1, 0], 1, 8"],
    ["f0, f1, f2", "f0, f1, 64", "f0, f1, f2, '64'", "f0, f1, f2, 64, 1", "f0, 3, f2, 64", "f0, f1, f2, lanes=64"],
)
rows(
    "reduce_max reduce_min",
    ["f0, f1, f2, 64", "f0, f1, f2, 64, True", "f0, f1, f2, 64, 1, 8", "f0, f1, f2, [1, 0], 1, 8, True"],
    ["f0, f1, f2", "f0, f1, 64", "f0, f1, f2, '64'", "f0, 3, f2, 64", "f0, f1, f2, lanes=64"],
)
rows(
    "gather",
    ["f0, f1, u2, 0, 64", "f0, f1, u2, 0, 64, 1, 8", "f0, f1, u2, 0, [1, 0], 1, 8"],
    ["f0, f1, u2, 0", "f0, f1, u2, 64, 1, 8", "f0, f1, 3, 0, 64", "f0, f1, u2, '0', 64", "3, f1, u2, 0, 64"],
)
rows(
    "gatherb",
    ["u0, u1, u2, 1, blocks"],
    ["u0, u1, u2, 1", "u0, u1, u2, blocks", "u0, u1, 3, 1, blocks", "u0, u1, u2, '1', blocks"],
)
rows(
    "gather_mask",
    [
        "f0, f1, 1, False, 0, gathering",
        "f0, f1, u2, True, 64, gathering",
        "f0, f1, src1_pattern=1, reduce_mode=False, mask=0, params=gathering",
    ],
    [
        "f0, f1, 1, False, 0",
        "f0, f1, 'x', False, 0, gathering",
        "f0, 3, 1, False, 0, gathering",
        "f0, f1, 1, False, 0, unary",
    ],
)
rows("brcb", ["f0, f1, 1, filling"], ["f0, f1, 1", "f0, f1, filling", "f0, 3, 1, filling", "f0, f1, '1', filling"])
rows(
    "scatter",
    [],
    ["f0, f1, u2, 0", "f0, f1, 3, 0, 64", "f0, f1, u2, '0', 64"],
)
rows(
    "bilinear_interpolation",
    ["h0, h1, u2, h2, 128, 1, False, 1, 128, 1, y3"],
    [
        "h0, h1, u2, h2, 128, 1, False, 1, 128, 1",
        "h0, h1, u2, 3, 128, 1, False, 1, 128, 1, y3",
        "h0, h1, u2, h2, '128', 1, False, 1, 128, 1, y3",
    ],
)
rows(
    "transpose",
    ["h0, h1", "f0, f1, y2, axes"],
    ["h0", "h0, 3", "3, h1", "h0, h1, y2", "f0, f1, 3, axes", "f0, f1, y2, unary", "f0, f1, f2, axes", "h0, f1"],
)


def _sixteen(name: str) -> str:
    return "[" + ", ".join(f"{name}[{16 * i}]" for i in range(16)) + "]"


rows(
    "trans_data_to_5hd",
    [f"{_sixteen('h0')}, {_sixteen('h1')}, halves"],
    ["q0, q1", "q0, 3, halves", "f0, f1, halves", "q0, q1, 3"],
)
rows("sort32", ["f0, f1, u2, 1"], ["f0, f1, u2", "f0, f1, 3, 1", "f0, f1, u2, '1'", "3, f1, u2, 1", "f0, f1, u2, 1, 1"])
rows(
    "sort",
    ["f0, f1, u2, f3, 1", "f0, f1, u2, f3, 1, True", "f0, f1, u2, f3, 1, is_full_sort=True"],
    ["f0, f1, u2, f3", "f0, f1, u2, 3, 1", "f0, f1, u2, f3, '1'", "f0, f1, u2, f3, 1, no_such=1"],
)
rows(
    "mrg_sort",
    [
        "f0, lists, merging",
        "f0, lists, [8, 8, 8, 8], [0, 0, 0, 0], 15, 1",
        "f0, lists, [8, 8, 8, 8], [0, 0, 0, 0], 15, 1, False",
    ],
    [
        "f0, lists",
        "f0, asc.MrgSortSrcList(asc.float32, f1, 3), merging",
        "3, lists, merging",
        "f0, lists, unary",
        "f0, lists, [8, 8, 8, 8], [0, 0, 0, 0], 15",
    ],
)
rows("get_sort_len", ["64"], ["", "'64'", "64, 1"])
rows("get_sort_offset", ["64"], ["", "'64'", "64, 1"])
rows(
    "copy",
    ["f0, f1, 64, 1, asc.CopyRepeatParams(1, 1, 8, 8)"],
    ["f0, f1, 64, 1", "f0, 3, 64, 1, asc.CopyRepeatParams(1, 1, 8, 8)"],
)
rows(
    "data_copy",
    ["f0, gf, 64", "gf, f0, 64", "f0, gf, copying", "f0, gf, count=64", "f0, gf, repeat_params=copying"],
    ["f0, gf", "f0, 64", "f0, 3, 64", "f0, gf, '64'", "f0, gf, unary", "f0, gf, lanes=64", "f0, gf, 64, 1, 1, 1"],
)
rows(
    "data_copy_pad",
    ["f0, gf, padded, padding", "gf, f0, padded", "f0, gf, data_copy_params=padded, pad_params=padding"],
    [
        "f0, gf",
        "f0, 3, padded, padding",
        "f0, gf, 64",
        "f0, gf, unary, padding",
        "f0, gf, padded, unary",
        "f0, gf, padded, padding, 1",
    ],
)
rows("set_pad_value", ["1", "1, asc.TPosition.VECIN"], ["", "'x'", "1, 'VECIN'", "1, asc.TPosition.VECIN, 1"])
rows("set_deq_scale", ["1.0", "1.0, 0, True", "q0, scales"], ["", "'x'", "1.0, 0", "q0", "q0, 3"])
rows("set_cmp_mask get_cmp_mask", ["y0"], ["", "3", "y0, 1"])
rows(
    "set_mask_count set_mask_norm reset_mask init_soc_state set_atomic_none metrics_prof_start metrics_prof_stop",
    [""],
    ["1", "no_such=1"],
)
rows(
    "get_block_idx get_block_num get_sub_block_idx get_sub_block_num get_task_ratio get_data_block_size_in_bytes "
    "get_system_cycle get_program_counter get_icache_preload_status ascend_is_aic ascend_is_aiv",
    [""],
    ["1", "no_such=1"],
)
rows(
    "get_gather_mask_remain_count get_mrg_sort_result get_store_atomic_config get_sys_workspace get_tpipe_ptr",
    [""],
    ["1", "no_such=1"],
)
rows("trap", [], ["1", "no_such=1"])
rows("get_arch_version", ["3"], ["", "'x'", "1, 2", "no_such=1"])
rows(
    "set_vector_mask",
    ["64, dtype=asc.float32, mode=asc.MaskMode.NORMAL", "0, 1, dtype=asc.float32, mode=asc.MaskMode.NORMAL"],
    [
        "64",
        "64, dtype=asc.float32",
        "'64', dtype=asc.float32, mode=asc.MaskMode.NORMAL",
        "64, dtype=3, mode=asc.MaskMode.NORMAL",
    ],
)
rows(
    "set_atomic_add set_atomic_max set_atomic_min set_atomic_type",
    ["asc.float32"],
    ["", "3", "'float32'", "asc.float32, 1"],
)
rows(
    "set_store_atomic_config",
    ["asc.AtomicDtype.ATOMIC_F32, asc.AtomicOp.ATOMIC_SUM"],
    ["", "asc.AtomicDtype.ATOMIC_F32", "'x', 'y'"],
)
rows("set_hf32_mode set_hf32_trans_mode set_mm_layout_transform", ["True"], ["", "'x'", "True, 1"])
rows(
    "set_flag wait_flag",
    ["asc.HardEvent.V_MTE3, 0", "asc.HardEvent.V_MTE3", "event=asc.HardEvent.V_MTE3, event_id=0"],
    ["", "'V_MTE3', 0", "asc.HardEvent.V_MTE3, 'x'", "asc.HardEvent.V_MTE3, 0, 0"],
)
rows("pipe_barrier", ["asc.PipeID.PIPE_V"], ["", "'V'", "asc.PipeID.PIPE_V, 1"])
rows("data_sync_barrier", ["asc.MemDsbT.ALL"], ["", "'ALL'", "asc.MemDsbT.ALL, 1"])
rows(
    "cross_core_set_flag",
    ["0, 0, asc.PipeID.PIPE_MTE2", "flag_id=0, mode_id=0, pipe=asc.PipeID.PIPE_MTE2"],
    ["0", "0, 0", "'0', 0, asc.PipeID.PIPE_MTE3", "0, 0, 'x'"],
)
rows(
    "cross_core_wait_flag",
    ["0, 0, asc.PipeID.PIPE_MTE2", "flag_id=0, mode_id=0, pipe=asc.PipeID.PIPE_MTE2"],
    ["", "'0'", "0, 0, 'x'"],
)
rows("sync_all", ["", "True", "is_aiv_only=True", "gi, i0", "gi, i0, 1", "gi, i0, 1, True"], ["gi, 3", "1, 2, 3, 4, 5"])
rows("ib_set ib_wait", ["gi, i0, 0, 0", "gi, i0, 0, 0, True"], ["gi, i0, 0", "gi, 3, 0, 0", "gi, i0, 'x', 0"])
rows("notify_next_block wait_pre_block", ["gi, i0"], ["gi", "gi, 3", "3, i0", "gi, i0, 1"])
rows(
    "data_cache_clean_and_invalid",
    ["asc.CacheLine.SINGLE_CACHE_LINE, gf"],
    ["gf", "asc.CacheLine.SINGLE_CACHE_LINE", "asc.CacheLine.SINGLE_CACHE_LINE, 3", "'x', gf"],
)
rows("data_cache_preload", ["gq, 0"], ["gq", "3, 0", "gq, 'x'", "gq, 0, 1"])
rows("icache_preload", ["1"], ["", "'x'", "1, 2"])
rows(
    "scalar_cast",
    ["1.5, asc.int32, asc.RoundMode.CAST_RINT"],
    [
        "1.5, asc.int32",
        "'x', asc.int32, asc.RoundMode.CAST_RINT",
        "1.5, 3, asc.RoundMode.CAST_RINT",
        "1.5, asc.int32, 'x'",
    ],
)
rows("scalar_count_leading_zero count_bits_cnt_same_as_sign_bit", ["3"], ["", "'x'", "3, 1"])
rows("scalar_get_count_of_value scalar_get_sff_value", ["3, 1"], ["3", "'x', 1", "3, 'x'", "3, 1, 1"])
rows(
    "dump_tensor", ["f0, 1, 32", "f0, 1, 32, shape", "gf, 1, 32"], ["f0, 1", "3, 1, 32", "f0, 'x', 32", "f0, 1, 32, 3"]
)
rows("dump_acc_chk_point", ["f0, 1, 0, 32"], ["f0, 1, 0", "3, 1, 0, 32", "f0, 'x', 0, 32"])
rows("printf", ["'text'", "'%d', 3"], ["", "3"])
rows("print_time_stamp", ["65577"], ["", "'x'", "65577, 1"])
rows("set_hccl_context", ["0, x"], ["0", "'x', 1"])
rows("get_hccl_context", ["0"], ["", "'x'"])
rows("set_sys_workspace", ["x"], ["", "3"])
rows("check_local_memory_ia", ["watch"], ["", "3"])
rows("mrg_sort4", [], ["f0, lists", "f0, 3, merging"])
rows("rp_sort16", [], ["h0, h1", "h0, 3, 1"])
rows("proposal_concat proposal_extract", [], ["h0, h1, 1", "h0, 3, 1, 1"])
rows("number", ["3, asc.int32", "0.5, asc.float32"], ["3", "'x', asc.int32", "3, 3"])
rows("ceildiv", ["7, 2"], ["7", "'x', 2", "7, 2, 1"])
rows("static_assert", ["True", "True, 'text'"], ["", "False"])
rows("property", ["asc.ONE_BLK_SIZE"], ["", "3"])
rows("get_shape_size", ["shape"], ["", "3"])
rows("array", ["asc.int32, 4", "asc.int32, [1, 2]", "asc.int32, 4, 0"], ["", "asc.int32", "3, 4"])
rows("inline", [], ["", "3"])
# --- the cube ---------------------------------------------------------------------------------------------------------
rows("load_data", ["a2, a1, loading", "a2, a1, params=loading"], ["a2, a1", "a2, a1, unary", "a2, a1, loading, 1"])
rows(
    "load_data_with_transpose", ["b2, b1, turning"], ["b2, b1", "b2, 3, turning", "b2, b1, unary", "b2, b1, turning, 1"]
)
rows("load_data_with_sparse", ["b2c, b1c, b1b, loading"], ["b2c, b1c, b1b", "b2c, b1c, 3, loading"])
rows(
    "mmad",
    ["co1, a2, b2, product", "co1, a2, b2, c2, onto", "co1, a2, b2, params=product"],
    ["co1, a2, b2", "co1, a2, 3, product", "co1, a2, b2, unary", "co1, a2, b2, c2, product, 1"],
)
rows("mmad_with_sparse", ["co1i, a2c, b2c, product"], ["co1i, a2c, b2c", "co1i, a2c, 3, product"])
rows(
    "fixpipe",
    ["gf, co1, storing", "gf, co1, storing, layout", "gf, co1, storing, config=layout"],
    ["gf, co1", "gf, 3, storing", "gf, co1, unary", "gf, co1, storing, unary", "3, co1, storing"],
)
rows("set_fix_pipe_pre_quant_flag", ["1"], ["", "'x'", "1, 2"])
rows("set_load_data_boundary", ["1024"], ["", "'x'", "1024, 1"])
rows("set_load_data_repeat", ["repeated"], ["", "3"])
rows("set_load_data_padding_value", ["1"], ["", "'x'", "1, 2"])
rows("init_const_value", ["a1, constant"], ["a1", "3, constant"])
rows(
    "set_aipp_functions",
    ["gu, asc.AippInputFormat.RGB888_U8, aipp"],
    ["", "gu", "gu, asc.AippInputFormat.RGB888_U8, 3"],
)
rows("load_image_to_local", ["b1c, image"], ["a1", "a1, 3, 3, 3"])
# --- adv -------------------------------------------------------------------------------------------------------------
rows(
    "adv.acos adv.acosh adv.asin adv.asinh adv.atan adv.atanh adv.ceil adv.cos adv.cosh adv.digamma adv.erf adv.erfc "
    "adv.floor adv.frac adv.lgamma adv.round adv.sign adv.sin adv.sinh adv.tan adv.tanh adv.trunc",
    [
        "f0, f1, 64, y2",
        "f0, f1, count=64, temp_buffer=y2",
        "f0, f1, 64, y2, False",
        "f0, f1, 64, y2, is_reuse_source=False",
    ],
    ["f0", "f0, 3, 64, y2", "3, f1, 64, y2", "f0, f1, '64', y2", "f0, f1, 64, y2, no_such=1", "f0, f1, 64, 3"],
)
rows("adv.log", ["f0, f1, 64, y2", "f0, f1, 64"], ["f0", "f0, 3, 64", "f0, f1, '64'", "f0, f1, 64, no_such=1"])
rows(
    "adv.power",
    ["f0, f1, f2, 64, y2"],
    ["f0, f1", "f0, f1, '3', 64, y2", "f0, f1, f2, '64', y2", "f0, f1, f2, 64, y2, no_such=1"],
)
rows("adv.xor", ["s0, s1, s2, 64, y2"], ["s0, s1", "s0, s1, 3, 64, y2", "s0, s1, s2, '64', y2"])
rows("adv.exp", ["f0, f1, 64, 0, y2", "f0, f1, 64, 0"], ["f0, f1", "f0, 3, 64, 0", "f0, f1, '64', 0"])
rows(
    "adv.axpy",
    ["f0, f1, 2.0, 64, y2"],
    ["f0, f1", "f0, 3, 2.0, 64, y2", "f0, f1, 'x', 64, y2", "f0, f1, 2.0, '64', y2"],
)
rows("adv.quant", ["c0, f1, 1.0, 0.0, 64, y2"], ["c0, f1", "c0, 3, 1.0, 0.0, 64, y2", "c0, f1, 'x', 0.0, 64, y2"])
rows("adv.concat", ["f0, f1, f2, 1"], ["f0, f1, f2", "f0, 3, f2, 1", "f0, f1, f2, 'x'"])
rows("adv.extract", ["f0, u1, f2, 1"], ["f0, u1, f2", "f0, 3, f2, 1", "f0, u1, f2, 'x'"])
rows(
    "adv.get_normal_config adv.get_mdl_config adv.get_special_mdl_config adv.get_ib_share_norm_config",
    ["", "True"],
    ["no_such=1"],
)
rows("adv.get_basic_config", ["16, 16, 16"], ["16, 16", "16, 16, 16, no_such=1"])
rows("adv.get_special_basic_config", ["16, 16, 16, 16, 16, 16, 1, 1"], ["16, 16, 16", "16, 16, 16, no_such=1"])
rows("adv.get_mm_config", ["", "asc.MatmulConfigMode.CONFIG_NORM"], [])
rows(
    "adv.softmax",
    ["f1, f2, f3, shaped, soft", "f1, f2, f3, shaped, soft, y0", "f1, f2, f3, shaped, tiling=soft, temp_buffer=y0"],
    ["f0, f1, f2", "f0, f1, f2, 3, soft", "f0, f1, f2, f3, 3"],
)
rows(
    "adv.rmsnorm",
    ["f0, f1, f2, 0.1, norm", "f0, f1, f2, 0.1, norm, y0"],
    ["f0, f1, f2", "f0, f1, 3, 0.1, norm", "f0, f1, f2, 0.1, 3"],
)

BEFORE |= {
    "load_image_to_local": "asc.set_aipp_functions(gu, asc.AippInputFormat.RGB888_U8, aipp)",
    "cast_deq": "asc.set_deq_scale(1.0)",
    "add_deq_relu": "asc.set_deq_scale(1.0)",
    "get_cmp_mask": "asc.set_cmp_mask(y1)",
    "wait_flag": "asc.set_flag(asc.HardEvent.V_MTE3, 0)",
    "cross_core_wait_flag": "asc.cross_core_set_flag(0, 0, asc.PipeID.PIPE_MTE2)",
    "ib_wait": "asc.ib_set(gi, i0, 0, 0)",
    "get_tpipe_ptr": "pipe",
    "adv.softmax": "pipe",
    "get_gather_mask_remain_count": "asc.gather_mask(f0, f1, 1, False, 0, gathering)",
    "get_mrg_sort_result": "asc.mrg_sort(f0, lists, suspending)",
    "get_hccl_context": "asc.set_hccl_context(0, x)",
}
AFTER |= {
    "set_flag": "asc.wait_flag(asc.HardEvent.V_MTE3, 0)",
    "cross_core_set_flag": "asc.cross_core_wait_flag(0, 0, asc.PipeID.PIPE_MTE2)",
    "ib_set": "asc.ib_wait(gi, i0, 0, 0)",
}
KIND |= dict.fromkeys("cross_core_set_flag cross_core_wait_flag sync_all".split(), "mix_aiv")
KIND |= dict.fromkeys(
    "set_aipp_functions load_image_to_local load_data load_data_with_transpose load_data_with_sparse mmad "
    "mmad_with_sparse fixpipe set_fix_pipe_pre_quant_flag set_load_data_boundary set_load_data_repeat "
    "set_load_data_padding_value init_const_value set_hf32_mode set_hf32_trans_mode set_mm_layout_transform".split(),
    "aic",
)
