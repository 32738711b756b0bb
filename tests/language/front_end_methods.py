"""Calls of methods of the API's classes that pyasc's front end accepts and refuses: rows of `front_end_table`."""

from __future__ import annotations

from front_end_table import AFTER, BEFORE, KIND, RECEIVERS, rows

NONE = ([""], ["1", "no_such=1"])  # calls of a method without parameters


def methods(owner: str, table: dict[str, tuple[list[str], list[str]]]) -> None:
    for name, (accepted, refused) in table.items():
        rows(f"{owner}.{name}", accepted, refused)


methods(
    "GlobalTensor",
    {
        "get_phy_addr": (["", "3", "offset=3"], ["'x'", "1, 2"]),
        "get_shape_info": NONE,
        "get_size": NONE,
        "get_value": (["0", "offset=0"], ["", "'x'", "0, 1"]),
        "set_global_buffer": (["x", "x, 64", "buffer=x, buffer_size=64"], ["", "3", "x, 'x'", "x, 64, 1"]),
        "set_l2_cache_hint": (
            ["", "asc.CacheMode.CACHE_MODE_NORMAL", "asc.CacheMode.CACHE_MODE_DISABLE, asc.CacheRwMode.READ"],
            ["'x'", "asc.CacheMode.CACHE_MODE_NORMAL, 'x'"],
        ),
        "set_shape_info": (["shape"], ["", "3"]),
        "set_value": (["0, 1.0", "offset=0, value=1"], ["0", "'x', 1.0", "0, 'x'"]),
    },
)
LOCAL: dict[str, tuple[list[str], list[str]]] = {
    "get_length": NONE,
    "get_phy_addr": (["", "8", "offset=8"], ["'x'", "1, 2"]),
    "get_position": NONE,
    "get_shape_info": NONE,
    "get_size": NONE,
    "get_user_tag": NONE,
    "get_value": (["0", "index=0"], ["", "'x'", "0, 1"]),
    "print": (["4", "data_len=4"], ["", "'x'"]),
    "reinterpret_cast": (["asc.int32", "dtype=asc.float16"], ["", "3", "'x'"]),
    "set_addr_with_offset": (["f1, 8", "src=f1, offset=8"], ["f1", "3, 8", "f1, 'x'"]),
    "set_buffer_len": (["256", "data_len=256"], ["", "'x'"]),
    "set_shape_info": (["shape"], ["", "3"]),
    "set_size": (["64", "", "size=64"], ["'x'", "1, 2"]),
    "set_user_tag": (["3", "", "tag=3"], ["'x'", "1, 2"]),
    "set_value": (["0, 1.0", "index=0, value=1"], ["0", "'x', 1.0", "0, 'x'"]),
    "to_file": ([], ["", "3"]),
}
methods("LocalTensor", LOCAL)
methods("LocalTensorAuto", LOCAL)
methods(
    "LocalMemAllocator",
    {
        "alloc": (["asc.TPosition.VECCALC, asc.float32, 64"], ["asc.TPosition.VECCALC, asc.float32", "3, 3, 64"]),
        "get_cur_addr": NONE,
    },
)
methods(
    "PlainValue",
    {
        "cast": (["asc.float32"], ["", "'x'"]),
        "ceildiv": (["2"], ["", "'x'"]),
        "logical_and": (["True"], ["", "True, 1"]),
        "logical_or": (["True"], ["", "True, 1"]),
    },
)
_ASKED = ("is_int", "is_float", "is_numeric", "is_signed", "is_unsigned", "is_void", "sizeof")
methods("DataType", dict.fromkeys(_ASKED, NONE))
methods("ShapeInfo", {"shape": (["0"], ["", "'x'"]), "original_shape": (["0"], ["", "'x'"])})
methods("FixpipeConfig", {"cfg_nz": NONE, "cfg_row_major": NONE})
methods(
    "TensorDesc",
    {
        "set_shape_addr": (["0"], ["", "'x'"]),
        "get_dim": NONE,
        "get_index": NONE,
        "get_shape": (["0"], ["", "'x'"]),
        "get_data_ptr": NONE,
        "get_data_obj": NONE,
    },
)
methods(
    "ListTensorDesc",
    {
        "init": (["z"], ["", "3", "z, 'x'"]),
        "get_desc": (["desc, 0"], ["desc", "3, 0", "desc, 'x'"]),
        "get_data_ptr": (["0, asc.float32"], ["0", "'x', asc.float32", "0, 3"]),
        "get_size": NONE,
    },
)

# --- pipes and queues -------------------------------------------------------------------------------------------------
EVENT = "asc.HardEvent.V_MTE3"
methods(
    "TPipe",
    {
        "alloc_event_id": (["", EVENT, f"event={EVENT}"], ["'x'", "1, 2"]),
        "fetch_event_id": (["", EVENT], ["'x'", "1, 2"]),
        "release_event_id": ([f"0, {EVENT}"], ["", f"'x', {EVENT}", "0, 'x'"]),
        "destroy": NONE,
        "init": NONE,
        "reset": NONE,
        "get_base_addr": (["asc.TPosition.VECIN", "logic_pos=asc.TPosition.VECIN"], ["", "'x'"]),
        "init_buf_pool": (
            ["part, 1024", "buf_pool=part, len=1024", "part, 1024, pool"],
            ["", "3, 1024", "part, 'x'", "part, 1024, 3"],
        ),
        "init_buffer": (
            ["other, 2, 64", "room, 64", "que=other, num=2, len=64", "buf=room, num=64"],
            ["3, 64", "other", "other, 'x', 64", "other, 2", "room, 'x'", "room, 1, 2"],
        ),
    },
)
EMPTY = dict.fromkeys(("get_tensor_count_in_que", "has_idle_buffer", "has_tensor_in_que", "vacant_in_que"), NONE)
LENT = {
    "alloc_tensor": (["asc.float32", "dtype=asc.float32"], ["", "3", "'x'", "asc.float32, 1"]),
    "deque": (["asc.float32", "dtype=asc.float32"], ["", "3", "'x'", "asc.float32, 1"]),
}
PLACED = {
    "init_start_buf_handle": (["handle, 1, 64"], ["", "'x', 1, 64", "handle, 'x', 64", "handle, 1"]),
    "init_buf_handle": (["pool, 0, handle, handle, 64"], ["", "3, 0, handle, handle, 64", "pool, 0, handle, handle"]),
}
methods(
    "TQue",
    LENT
    | EMPTY
    | PLACED
    | {
        "enque": (["taken", "tensor=taken"], ["", "3", "taken, 1"]),
        "free_tensor": (["taken", "tensor=taken"], ["", "3", "taken, 1"]),
        "free_all_event": ([], ["1", "no_such=1"]),
    },
)
methods(
    "TQueBind",
    LENT
    | EMPTY
    | PLACED
    | {
        "enque": (
            ["bound", "tensor=bound", "bound, asc.TPosition.VECIN, asc.TPosition.VECOUT"],
            ["", "3", "bound, 1", "bound, 'x', 'x'"],
        ),
        "free_tensor": (["bound", "tensor=bound"], ["", "3", "bound, 1"]),
        "free_all_event": ([], ["1", "no_such=1"]),
    },
)
methods(
    "TBuf",
    LENT
    | {name: ([], ["1", "no_such=1"]) for name in EMPTY}
    | PLACED
    | {
        "enque": (["f0", "tensor=f0"], ["", "3", "f0, 1"]),
        "free_tensor": (["f0", "tensor=f0"], ["", "3"]),
        "free_all_event": ([], ["", "1", "no_such=1"]),
        "get": (
            ["asc.float32", "asc.float32, 32", "asc.float32, len=32", "asc.float32, 32, [32]"],
            ["", "3", "asc.float32, 'x'", "asc.float32, 32, [32], 1"],
        ),
        "get_with_offset": (
            ["32, 0, asc.float32", "size=32, buf_offset=32, dtype=asc.float32"],
            ["32, 0", "'x', 0, asc.float32", "32, 'x', asc.float32", "32, 4, asc.float32", "32, 0, 3"],
        ),
    },
)
methods(
    "TBufPool",
    {
        "init_buf_pool": (["part, 256", "buf_pool=part, len=256"], ["", "3, 256", "part, 'x'"]),
        "init_buffer": (
            ["other, 1, 64", "room, 64", "que=other, num=1, len=64", "buf=room, len=64"],
            ["3, 64", "other", "other, 'x', 64", "room, 'x'", "room, 1, 2"],
        ),
        "reset": NONE,
    },
)
for owner, q in (("TQue", "que"), ("TQueBind", "bind")):
    BEFORE[f"{owner}.deque"] = f"{q}.enque({q}.alloc_tensor(asc.float32))"
    AFTER[f"{owner}.enque"] = f"{q}.free_tensor({q}.deque(asc.float32))"
    BEFORE[f"{owner}.init_buf_handle"] = f"{q}.init_start_buf_handle(handle, 1, 64)"
BEFORE["TBuf.init_buf_handle"] = "buf.init_start_buf_handle(handle, 1, 64)"

# --- Matmul -----------------------------------------------------------------------------------------------------------
_GIVEN = "mm.set_tensor_a(gf); mm.set_tensor_b(gf)"
_SIDE = (["gf", "gf, False", "gf, transpose=False", "tensor=gf", "2"], ["", "'x'", "gf, 'x'", "gf, False, 1"])
MATMUL: dict[str, tuple[list[str], list[str]]] = {
    "init": (["tiles"], ["", "3"]),
    "set_tensor_a": _SIDE,
    "set_tensor_b": _SIDE,
    "set_bias": (["gf"], ["", "3"]),
    "disable_bias": NONE,
    "iterate": (["", "False", "True, True", "False, sync=True"], ["False, True, 3", "no_such=1"]),
    "iterate_all": (
        ["out", "out, 0", "tensor=out, en_atomic=1"],
        ["", "3", "out, 9", "out, 'x'", "out, 0, True, True, True"],
    ),
    "wait_iterate_all": NONE,
    "get_tensor_c": (["out", "out, 0", "tensor=out, en_atomic=1"], ["3", "out, 9", "out, 'x'", ""]),
    "wait_get_tensor_c": NONE,
    "async_get_tensor_c": (["f0"], ["", "3"]),
    "get_offset_c": NONE,
    "iterate_batch": (["out, 1, 1, False"], ["", "out", "3, 1, 1, False", "out, 1, 1, True", "out, 'x', 1, False"]),
    "wait_iterate_batch": NONE,
    "get_batch_tensor_c": (["1, 1, sync=False", "f0, 1, 1, sync=False"], ["", "1", "1, 1", "f0, 1, 1"]),
    "iterate_n_batch": (["1, 1, 1, False"], ["", "1, 1, 1", "'x', 1, 1, False"]),
    "set_hf32": (["True", "True, 1", "", "enable_hf32=True, trans_mode=0"], ["'x'", "True, 'x'"]),
    "set_tail": (["", "16", "16, 16, 16", "tail_k=16"], ["'x'", "16, 16, 16, 16"]),
    "set_batch_num": (["1, 1"], ["1", "'x', 1"]),
    "set_workspace": (["w", "w, 1024", "addr=w, size=1024"], ["", "3", "w, 'x'"]),
    "set_quant_scalar": (["1"], ["", "'x'"]),
    "set_quant_vector": (["gq"], ["", "3"]),
    "set_org_shape": (["16, 16, 16", "16, 16, 16, 16", "16, 16, 16, 16, 16"], ["16, 16", "'x', 16, 16"]),
    "set_single_shape": (["16, 16, 16"], ["16, 16", "'x', 16, 16"]),
    "set_self_define_data": (["w", "0"], ["", "'x'"]),
    "set_user_def_info": (["w"], ["", "3"]),
    "set_sparse_index": (["gu"], ["", "3"]),
    "end": NONE,
}
methods("adv.Matmul", MATMUL)
rows("adv.register_matmul", ["pipe, w, more, tiles", "pipe, w, more"], ["", "pipe, w", "3, w, more", "pipe, w, 3"])
rows(
    "adv.get_matmul_api_tiling",
    ["asc.adv.MatmulConfig(), half, half, single, single, 524288"],
    ["", "half, half, single, single", "3, half, half, single, single, 524288"],
)
KIND |= dict.fromkeys([*(f"adv.Matmul.{name}" for name in MATMUL), "adv.register_matmul"], "mix")
KIND |= dict.fromkeys(("adv.Matmul.set_hf32", "adv.Matmul.set_batch_num", "adv.Matmul.set_sparse_index"), "aic")
BATCH = _GIVEN.replace("mm", "batched")
BEFORE |= {f"adv.Matmul.{name}": _GIVEN for name in ("iterate", "iterate_all")}
BEFORE |= {f"adv.Matmul.{name}": BATCH for name in ("iterate_batch", "iterate_n_batch")}
BEFORE["adv.Matmul.iterate_n_batch"] += "; batched.set_workspace(gf[2048:])"
BEFORE |= {f"adv.Matmul.{name}": f"{_GIVEN}; mm.iterate()" for name in ("get_tensor_c", "get_offset_c")}
BEFORE["adv.Matmul.wait_iterate_all"] = f"{_GIVEN}; mm.iterate_all(out, 0, False, False, True)"
BEFORE["adv.Matmul.wait_iterate_batch"] = (
    f"{BATCH}; batched.iterate_batch(out, 1, 1, False, sync=False, wait_iterate_batch=True)"
)
BEFORE["adv.Matmul.get_batch_tensor_c"] = (
    f"{BATCH}; batched.set_workspace(gf[2048:]); batched.iterate_n_batch(1, 1, 1, False, sync=False)"
)
BEFORE["adv.Matmul.async_get_tensor_c"] = f"{_GIVEN}; mm.set_workspace(gf[2048:]); mm.iterate(sync=False)"
AFTER |= {
    f"adv.Matmul.{name}": "mm.end()"
    for name in MATMUL
    if name not in ("end", "init") and f"adv.Matmul.{name}" not in RECEIVERS
}
AFTER |= {name: f"{RECEIVERS[name]}.end()" for name in RECEIVERS if name.startswith("adv.Matmul.")}
