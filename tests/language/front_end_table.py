"""What the tables of calls of `test_front_end` share: operands, how a row is written, and how a call is spoilt.

`ACCEPTED` and `REFUSED` hold argument texts by name (`front_end_calls`: functions, `front_end_methods`: methods); the
operands that they mention are made by the lines of `OPERANDS`. A call is accepted if no rule about its arguments
stands against it: their number, names and kinds, and (where pyasc looks at them) element types.
"""

from __future__ import annotations

import ast
import re

_NAME = re.compile(r"(?<![\w.'])[a-z]\w*")
_UB = [("f", "float32"), ("h", "float16"), ("i", "int32"), ("s", "int16"), ("u", "uint32"), ("w", "uint16")]
_UB += [("y", "uint8"), ("c", "int8"), ("q", "uint64")]

# Operand and the line that makes it; a line may mention operands above it.
OPERANDS: dict[str, str] = {
    f"{letter}{n}": f"asc.LocalTensor(asc.{dtype}, asc.TPosition.VECCALC, {4096 * (4 * row + n)}, 256)"
    for row, (letter, dtype) in enumerate(_UB)
    for n in range(4)
}
OPERANDS |= {
    "gf": "asc.GlobalTensor()",
    "gi": "asc.GlobalTensor()",
    "gq": "asc.GlobalTensor()",
    "a1": "asc.LocalTensor(asc.float16, asc.TPosition.A1, 0, 2048)",
    "b1": "asc.LocalTensor(asc.float16, asc.TPosition.B1, 8192, 2048)",
    "c1": "asc.LocalTensor(asc.float32, asc.TPosition.C1, 16384, 256)",
    "a2": "asc.LocalTensor(asc.float16, asc.TPosition.A2, 0, 1024)",
    "b2": "asc.LocalTensor(asc.float16, asc.TPosition.B2, 0, 1024)",
    "c2": "asc.LocalTensor(asc.float32, asc.TPosition.C2, 0, 64)",
    "co1": "asc.LocalTensor(asc.float32, asc.TPosition.CO1, 0, 1024)",
    "b1c": "asc.LocalTensor(asc.int8, asc.TPosition.B1, 32768, 2048)",
    "b1b": "asc.LocalTensor(asc.uint8, asc.TPosition.B1, 65536, 2048)",
    "a2c": "asc.LocalTensor(asc.int8, asc.TPosition.A2, 0, 2048)",
    "b2c": "asc.LocalTensor(asc.int8, asc.TPosition.B2, 0, 2048)",
    "co1i": "asc.LocalTensor(asc.int32, asc.TPosition.CO1, 0, 1024)",
    "unary": "asc.UnaryRepeatParams()",
    "binary": "asc.BinaryRepeatParams()",
    "narrow": "asc.BinaryRepeatParams(1, 1, 1, 4, 8, 8)",
    "copying": "asc.DataCopyParams(1, 8, 0, 0)",
    "padded": "asc.DataCopyExtParams(1, 32, 0, 0, 0)",
    "padding": "asc.DataCopyPadExtParams(asc.float32, False, 0, 0, 0.0)",
    "gathering": "asc.GatherMaskParams(1, 1, 8, 0)",
    "blocks": "asc.GatherRepeatParams(1, 8)",
    "filling": "asc.BrcbRepeatParams(1, 8)",
    "lists": "asc.MrgSortSrcList(asc.float32, f1, f2, f3, f3)",
    "merging": "asc.MrgSort4Info([8, 8, 8, 8], False, 15, 1)",
    "suspending": "asc.MrgSort4Info([8, 8, 8, 8], True, 15, 1)",
    "halves": "asc.TransDataTo5HDParams(False, False, 1, 0, 0)",
    "axes": "asc.TransposeParamsExt(1, 16, 4, 4, asc.TransposeType.TRANSPOSE_NCHW2NHWC)",
    "scales": "asc.VdeqInfo([1.0] * 16, [0] * 16, [1] * 16)",
    "loading": "asc.LoadData2DParams(0, 1, 0, 0, 0, False, 0)",
    "turning": "asc.LoadData2dTransposeParams(0, 1, 0, 0, 0, 0)",
    "constant": "asc.InitConstValueParams(1, 1, 0, 0.0)",
    "product": "asc.MmadParams(16, 16, 16, True, 0, False, False, False)",
    "onto": "asc.MmadParams(unit_flag=0, cmatrix_source=False, cmatrix_init_val=False)",
    "storing": "asc.FixpipeParamsV220(16, 16, 16, 16, False)",
    "layout": "asc.FixpipeConfig(asc.CO2Layout.ROW_MAJOR)",
    "shape": "asc.ShapeInfo(asc.array(asc.uint32, [8, 8]))",
    "watch": "asc.CheckLocalMemoryIAParam(0, 0, 64, False, True, False, False, True)",
    "repeated": "asc.LoadDataRepeatParam(0, 1, 0)",
    "soft": "asc.adv.SoftmaxTiling()",
    "norm": "asc.adv.RmsNormTiling()",
    "address": "gq.get_phy_addr()",
    "shaped": "asc.LocalTensor(asc.float32, asc.TPosition.VECCALC, 40960, 64)",
    "pipe": "asc.TPipe()",
    "pool": "asc.TBufPool(asc.TPosition.VECCALC, 4)",
    "part": "asc.TBufPool(asc.TPosition.VECCALC, 4)",
    "que": "asc.TQue(asc.TPosition.VECIN, 2)",
    "other": "asc.TQue(asc.TPosition.VECIN, 2)",
    "bind": "asc.TQueBind(asc.TPosition.VECIN, asc.TPosition.VECOUT, 2)",
    "buf": "asc.TBuf(asc.TPosition.VECCALC)",
    "room": "asc.TBuf(asc.TPosition.VECCALC)",
    "taken": "que.alloc_tensor(asc.float32)",
    "bound": "bind.alloc_tensor(asc.float32)",
    "allocator": "asc.LocalMemAllocator(asc.Hardware.UB)",
    "descs": "asc.ListTensorDesc(data=z, length=32, shape_size=1)",
    "desc": "asc.TensorDesc(dtype=asc.float32)",
    "handle": "asc.number(0, asc.uint32)",
    "auto": "asc.LocalTensorAuto(asc.float32, [256])",
    "tiles": "asc.adv.TCubeTiling(used_core_num=1, m=16, n=16, k_a=16, k_b=16, single_core_m=16, single_core_n=16, "
    "single_core_k=16, base_m=16, base_n=16, base_k=16, depth_a1=1, depth_b1=1, step_m=1, step_n=1, step_k_a=1, "
    "step_k_b=1, is_bias=1, db_l0a=1, db_l0b=1, db_l0c=1)",
    "half": "asc.adv.MatmulType(asc.TPosition.GM, asc.CubeFormat.ND, asc.float16)",
    "single": "asc.adv.MatmulType(asc.TPosition.GM, asc.CubeFormat.ND, asc.float32)",
    "mm": "asc.adv.Matmul(single, single, single, single)",
    "rows": "asc.adv.MatmulType(asc.TPosition.GM, asc.CubeFormat.ND, asc.float32, False, asc.LayoutMode.NORMAL)",
    "batched": "asc.adv.Matmul(rows, rows, rows, single, asc.adv.get_normal_config(batch_loop=True))",
    "number": "asc.number(3, asc.int32)",
    "gu": "asc.GlobalTensor()",
    "aipp": "asc.AippParams(asc.int8)",
    "image": "asc.LoadImageToLocalParams(2, 2, 2, 1, 8)",
    "byte": "asc.adv.MatmulType(asc.TPosition.GM, asc.CubeFormat.ND, asc.int8)",
    "turned": "asc.adv.MatmulType(asc.TPosition.GM, asc.CubeFormat.ND, asc.int8, True)",
    "sums": "asc.adv.MatmulType(asc.TPosition.GM, asc.CubeFormat.ND, asc.int32)",
    "sparse": "asc.adv.Matmul(byte, turned, sums, sums, asc.adv.get_mdl_config())",
    "more": "asc.adv.Matmul(single, single, single, single)",
    "out": "gf[1024:]",
}
# Operand and the line that follows the one which makes it.
SETTING_UP = {
    "gf": "gf.set_global_buffer(x, 4096)",
    "gi": "gi.set_global_buffer(y, 4096)",
    "gq": "gq.set_global_buffer(z, 4096)",
    "gu": "gu.set_global_buffer(w, 4096)",
    "shaped": "shaped.set_shape_info(shape)",
    "que": "pipe.init_buffer(que, 2, 256)",
    "buf": "pipe.init_buffer(buf, 256)",
    "pool": "pipe.init_buf_pool(pool, 1024)",
    "mm": "asc.adv.register_matmul(pipe, w, mm, tiles)",
    "batched": "asc.adv.register_matmul(pipe, w, batched, tiles)",
    "sparse": "asc.adv.register_matmul(pipe, w, sparse)",
}
# The same, of lines that pyasc refuses: init_buffer takes a TQue or a TBuf, and its set_shape_addr, init and get_desc
# leave an object of which no further call compiles.
SETTING_UP_HERE = {
    "bind": "pipe.init_buffer(bind, 2, 256)",
    "desc": "desc.set_shape_addr(0); descs.get_desc(desc, 0)",
}
# Lines before and after each call of a function: what it needs to stand in a kernel of its own.
BEFORE: dict[str, str] = {}
AFTER: dict[str, str] = {}
KIND: dict[str, str] = {}  # kernel type of a function that vector cores alone do not have
# Class and the operand whose methods are called.
RECEIVERS = {
    "GlobalTensor": "gf",
    "LocalTensor": "f0",
    "LocalTensorAuto": "auto",
    "LocalMemAllocator": "allocator",
    "TensorDesc": "desc",
    "ListTensorDesc": "descs",
    "TPipe": "pipe",
    "TQue": "que",
    "TQueBind": "bind",
    "TBuf": "buf",
    "TBufPool": "pool",
    "adv.Matmul": "mm",
    "PlainValue": "number",
    "DataType": "asc.float32",
    "ShapeInfo": "shape",
}
RECEIVERS |= {
    f"adv.Matmul.{name}": "batched"
    for name in ("iterate_batch", "iterate_n_batch", "wait_iterate_batch", "get_batch_tensor_c")
}
RECEIVERS["adv.Matmul.set_sparse_index"] = "sparse"

ACCEPTED: dict[str, list[str]] = {}
REFUSED: dict[str, list[str]] = {}
FIRST: list[str] = []  # of each row of names: the one whose calls are also tried with one thing wrong at a time


def rows(names: str, accepted: list[str], refused: list[str]) -> None:
    """The calls of a group of names; all of them for the first, some for the others, which are made alike."""
    first, *others = names.split()
    FIRST.append(first)
    ACCEPTED[first], REFUSED[first] = accepted, refused
    for name in others:
        ACCEPTED[name], REFUSED[name] = accepted[:2], refused[:2]


def arguments(call: str) -> list[str]:
    """The arguments of an argument text."""
    node = ast.parse(f"f({call})", mode="eval").body
    assert isinstance(node, ast.Call)
    return [ast.unparse(a) for a in node.args] + [f"{k.arg}={ast.unparse(k.value)}" for k in node.keywords]


def mutants(call: str) -> list[str]:
    """A call with one thing wrong at a time: an argument left out, one too many, an unknown name, a wrong kind."""
    own = arguments(call)
    out = [", ".join([*own[:i], *own[i + 1 :]]) for i in range(len(own))]
    out.append(", ".join([*own, "no_such=1"]))
    if "=" not in call:
        out.append(", ".join([*own, *"1234567"]))
    for i, argument in enumerate(own):
        name = argument.split("=")[0] + "=" if "=" in argument else ""
        out.append(", ".join([*own[:i], f"{name}'text'", *own[i + 1 :]]))
    return out


def statement(name: str, call: str) -> str:
    """The call itself: of a function, or of a method of the operand that stands for its class."""
    owner, _, member = name.rpartition(".")
    where = RECEIVERS.get(name) or RECEIVERS.get(owner) or f"asc.{owner}".rstrip(".")
    return f"{where}.{member}({call})"


def operands(lines: list[str], here: bool = True) -> list[str]:
    """The lines that make the operands which lines mention; those that only stand `here`, if so."""
    setting_up = {**SETTING_UP, **SETTING_UP_HERE} if here else SETTING_UP
    found: set[str] = set()
    texts = list(lines)
    while texts:
        names = set(_NAME.findall(texts.pop())) & OPERANDS.keys() - found
        texts += [line for name in names for line in (OPERANDS[name], setting_up.get(name, ""))]
        found |= names
    made = [(f"{name} = {line}", setting_up.get(name, "")) for name, line in OPERANDS.items() if name in found]
    return [line for pair in made for line in pair if line]


def body(name: str, calls: list[str], here: bool = True) -> list[str]:
    """The lines of a kernel that makes these calls of a function."""
    around = [BEFORE.get(name, ""), AFTER.get(name, "")]
    lines = [line for call in calls for line in (around[0], statement(name, call), around[1]) if line]
    return operands(lines, here) + lines
