"""Kernels that are not portable, each by one construct, which stands on the line that ends in `# here`.

EXPECTED names the construct as our rule does. All run on the simulator; none is accepted by pyasc 1.1.1, save those
in DIFFERS, which it accepts and gets wrong.
"""

# ruff: noqa - what a linter would mend is the matter of these kernels

import numpy as np

import ascsim as asc
from ascsim.runtime.config import KernelType

TILE = 64
FLAG = asc.HardEvent.MTE2_V


NAME = "mte2"
EVENT = np.int32(3)
PAIR = (4, 5)
PARAMS = {1: asc.DataCopyParams(1, 2)}


class Owner:
    def method(self, n):
        return n


OBJECT = Owner()


class Others:
    @asc.jit
    def helper(n):
        return n + 2


def plain_helper(n):
    return n + 1


@asc.jit
def helper(n):
    return n + 1


@asc.jit
def helper_of_any(n):
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)


@asc.jit
def twice(n):
    return helper(n) * 2


@asc.jit
def breaks(n):
    for i in range(n):
        if i == 2:
            break  # here
        asc.set_flag(FLAG, 0)
        asc.wait_flag(FLAG, 0)


@asc.jit
def continues(n):
    for i in range(n):
        if i == 2:
            continue  # here
        asc.set_flag(FLAG, 0)
        asc.wait_flag(FLAG, 0)


@asc.jit
def chained(n):
    if 1 < n < 9:  # here
        asc.pipe_barrier(asc.PipeID.PIPE_ALL)


@asc.jit
def contained(n):
    if n in (1, 5):  # here
        asc.pipe_barrier(asc.PipeID.PIPE_ALL)


@asc.jit
def three(n):
    if n > 1 and n < 9 and n != 4:  # here
        asc.pipe_barrier(asc.PipeID.PIPE_ALL)


@asc.jit
def plain_and(n):
    if TILE == 64 and TILE > 3:  # here
        asc.pipe_barrier(asc.PipeID.PIPE_ALL)


@asc.jit
def plain_not(n):
    if not TILE:  # here
        asc.pipe_barrier(asc.PipeID.PIPE_ALL)


@asc.jit
def smallest(n):
    m = min(n, 4)  # here
    asc.set_flag(FLAG, m)
    asc.wait_flag(FLAG, m)


@asc.jit
def printed(n):
    print(n)  # here


@asc.jit
def plain_call(n):
    m = plain_helper(n)  # here


@asc.jit
def numpy_call(n):
    m = int(np.ceil(2.5))  # here


@asc.jit
def early(n):
    if n > 3:
        return  # here
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)


@asc.jit
def returns(n):
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)
    return n  # here


@asc.jit
def with_default(n, m=5):  # here
    for i in range(m):
        asc.pipe_barrier(asc.PipeID.PIPE_ALL)


@asc.jit
def variadic(*n):  # here
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)


@asc.jit
def counted(n):
    turns = 0
    for i in range(n):
        turns = turns + 1  # here
    asc.set_flag(FLAG, 0)
    asc.wait_flag(FLAG, 0)


@asc.jit
def toggled(n):
    half = 0
    for i in range(n):
        asc.set_flag(FLAG, half)
        asc.wait_flag(FLAG, half)
        half = 1 - half  # here


@asc.jit
def summed(n):
    total = 0
    for i in range(n):
        total += i  # here
    asc.set_flag(FLAG, 0)
    asc.wait_flag(FLAG, 0)


@asc.jit
def chosen(n):
    start = 0
    if n == 3:
        start = TILE  # here
    m = n + start


@asc.jit
def chosen_inside(n):
    if n == 3:
        start = 1
    else:
        start = 2
    m = n + start  # here


@asc.jit
def read_after(n):
    for i in range(n):
        last = i + 1
    m = last + 1  # here


@asc.jit
def counter_after(n):
    for i in range(n):
        asc.pipe_barrier(asc.PipeID.PIPE_ALL)
    m = i + 1  # here


@asc.jit
def two_targets(n):
    a = b = n  # here


@asc.jit
def starred(n):
    a, *b = 1, 2  # here


@asc.jit
def list_loop(n):
    for i in [1, 2]:  # here
        asc.pipe_barrier(asc.PipeID.PIPE_ALL)


@asc.jit
def loop_else(n):
    for i in range(n):
        asc.pipe_barrier(asc.PipeID.PIPE_ALL)
    else:
        asc.pipe_barrier(asc.PipeID.PIPE_V)  # here


@asc.jit
def comprehension(n):
    ids = [i for i in range(2)]  # here


@asc.jit
def dictionary(n):
    ids = {0: 1}  # here


@asc.jit
def lambdas(n):
    add = lambda m: m + 1  # here


@asc.jit
def nested(n):
    def inner(m):  # here
        return m


@asc.jit
def tries(n):
    try:  # here
        asc.pipe_barrier(asc.PipeID.PIPE_ALL)
    finally:
        asc.pipe_barrier(asc.PipeID.PIPE_V)


@asc.jit
def raises(n):
    if n > 100:
        raise ValueError("n")  # here


@asc.jit
def imports(n):
    import math  # here


@asc.jit
def asserts_then_deletes(n):
    m = n
    del m  # here


@asc.jit
def walrus(n):
    if (m := n) > 3:  # here
        asc.pipe_barrier(asc.PipeID.PIPE_ALL)


@asc.jit
def starred_call(n):
    asc.pipe_barrier(*(asc.PipeID.PIPE_ALL,))  # here


@asc.jit
def newer(n):
    x = asc.LocalTensor(asc.bfloat16, asc.TPosition.VECIN, 0, 64)  # here


@asc.jit
def queue_of_no_depth(n):
    q = asc.TQue(asc.TPosition.VECIN)  # here


@asc.jit(kernel_type=KernelType.MIX_AIV_1_0)
def short_cross_core_wait(n):
    asc.cross_core_set_flag(3, 0, asc.PipeID.PIPE_MTE3)
    asc.cross_core_wait_flag(3)  # here


def _closure():
    event = asc.HardEvent.MTE2_V

    @asc.jit
    def closure(n):
        asc.set_flag(event, 0)  # here
        asc.wait_flag(asc.HardEvent.MTE2_V, 0)

    return closure


closure = _closure()


CHANGED = 1


@asc.jit
def late(n):
    m = n + CHANGED  # here


CHANGED = 2


@asc.jit
def while_else(n):
    while n > 100:
        asc.pipe_barrier(asc.PipeID.PIPE_ALL)
    else:
        asc.pipe_barrier(asc.PipeID.PIPE_V)  # here


@asc.jit
def asserted(n):
    assert n > 0  # here


@asc.jit
def two_types(n):
    m = 1.0 if n > 3 else 2  # here


@asc.jit
def one_of_two_tensors(n):
    a = asc.LocalTensor(asc.float16, asc.TPosition.VECIN, 0, 64)
    b = asc.LocalTensor(asc.float16, asc.TPosition.VECIN, 1024, 64)
    c = a if n > 3 else b  # here


@asc.jit
def text_or_text(n):
    m = "a" if TILE > 3 else "b"  # here


@asc.jit
def text_as_condition(n):
    if NAME:  # here
        asc.pipe_barrier(asc.PipeID.PIPE_ALL)


@asc.jit
def unrolled(n):
    for i in asc.static_range(n):  # here
        asc.pipe_barrier(asc.PipeID.PIPE_ALL)


@asc.jit
def element_of_tuple(n):
    for i in range(2):
        m = PAIR[i]  # here


@asc.jit
def method_of_tuple(n):
    m = PAIR.index(4)  # here


@asc.jit
def method_of_object(n):
    m = OBJECT.method(n)  # here


@asc.jit
def made_outside(n):
    p = PARAMS  # here


@asc.jit
def bound_queue(n):
    pipe = asc.TPipe()
    queue = asc.TQueBind(asc.TPosition.VECIN, asc.TPosition.VECOUT, 1)
    pipe.init_buffer(que=queue, num=1, len=256)  # here


@asc.jit
def plain_texts(n):
    if NAME == "x" or NAME == "y":  # here
        asc.pipe_barrier(asc.PipeID.PIPE_ALL)


@asc.jit
def worked_out(n):
    k = len(PAIR) + asc.ceildiv(TILE, 3) + PAIR[0]
    for i in range(n):
        k = k + 1  # here


@asc.jit
def carried_text(n):
    name = "a"
    for i in range(n):
        name = "b"  # here


@asc.jit
def carried_none(n):
    last = None
    for i in range(n):
        last = i + 1  # here


@asc.jit
def carried_dtype(n):
    kind = asc.float16
    if n > 3:
        kind = asc.float32  # here


@asc.jit
def ends_plain(n):
    m = n
    if n > 3:
        m = 5  # here


@asc.jit
def ends_otherwise(n):
    m = asc.number(0, asc.int32)
    for i in range(n):
        m = asc.number(0, asc.float32)  # here


@asc.jit
def int_or_float(n):
    m = 0
    if n > 3:
        m = 1.0  # here
    else:
        m = 2


@asc.jit
def plain_counter(n):
    for i in asc.static_range(2):
        asc.pipe_barrier(asc.PipeID.PIPE_ALL)
    for i in range(n):  # here
        asc.pipe_barrier(asc.PipeID.PIPE_ALL)


@asc.jit
def taken_counter(n):
    i = n
    for i in range(3):  # here
        asc.pipe_barrier(asc.PipeID.PIPE_ALL)


@asc.jit
def kept_counter(n):
    last = n
    for i in range(n):
        last = i  # here


@asc.jit
def endless(n):
    i = asc.number(0, asc.int32)
    while i < n:  # here
        asc.set_flag(FLAG, i)
        asc.wait_flag(FLAG, i)
        i += 1


@asc.jit
def two_names(n):
    m = n
    for i in range(3):
        asc.set_flag(FLAG, n)
        asc.wait_flag(FLAG, n)
        m = m - 1  # here


@asc.jit
def two_names_of_a_tensor(n):
    a = asc.LocalTensor(asc.float16, asc.TPosition.VECIN, 0, 64)
    b = a
    for i in range(n):
        asc.duplicate(a, 1.0, 16)
        b = a[16:]  # here


@asc.jit
def previous(n):
    a = n + 1
    b = n + 2
    for i in range(n):
        asc.set_flag(FLAG, a)
        asc.wait_flag(FLAG, a)
        a = b  # here
        b = i + 3


@asc.jit
def of_numpy(n):
    asc.set_flag(FLAG, EVENT)  # here
    asc.wait_flag(FLAG, 3)


@asc.jit
def passes_text(n):
    m = helper_of_any(NAME)  # here


@asc.jit
def inner_before_outer(n):
    m = twice(n)
    k = helper(n)  # here


@asc.jit
def one_function_two_types(n):
    m = helper(1)
    k = helper(0.5)  # here


@asc.jit
def ordered(event, other: asc.ConstExpr, n):
    asc.set_flag(other, n)
    asc.wait_flag(other, n)
    asc.set_flag(event, n)  # here
    asc.wait_flag(other, n)


@asc.jit
def passes_members(n):
    ordered(FLAG, FLAG, 2)


@asc.jit
def shape_of_a_list(n):
    a = asc.LocalTensor(asc.float16, asc.TPosition.VECIN, 0, 64)
    a.set_shape_info(asc.ShapeInfo([n, 8]))  # here


@asc.jit
def tensor_of(address):
    tensor = asc.GlobalTensor()
    tensor.set_global_buffer(address)
    return tensor


@asc.jit
def one_function_two_element_types(x, y):
    n = asc.get_block_idx()
    a = tensor_of(x)
    b = tensor_of(n + x)
    c = tensor_of(y)  # here


@asc.jit
def stores_an_element(n):
    a = asc.LocalTensor(asc.float16, asc.TPosition.VECIN, 0, 64)
    a[0] = 1.0  # here


@asc.jit
def negated(n):
    f = asc.number(0.5, asc.float32)
    m = -f  # here
    k = m + 1.0


@asc.jit
def large(n):
    m = n + (3 << 30)  # here


@asc.jit
def compared_with_none(n):
    if n == None:  # here
        asc.pipe_barrier(asc.PipeID.PIPE_ALL)


@asc.jit
def aliased(n):
    m = n
    if m > 3:
        name = "a"
    k = name  # here


@asc.jit
def same_name(n):
    m = helper(n)
    k = Others.helper(n)  # here


@asc.jit
def hidden(n, k: asc.ConstExpr[int]):
    if n > 3:
        k = 9
    m = n + k  # here


@asc.jit
def grown(n, k: asc.ConstExpr[int]):
    for i in range(n):
        k = k + 1  # here


@asc.jit
def empty_mmad_params(n):
    p = asc.MmadParams(16, 16, 16)  # here


@asc.jit
def cut_unit_flag(n):
    p = asc.MmadParams(16, 16, 16, unit_flag=3, cmatrix_source=False, cmatrix_init_val=True)  # here


@asc.jit
def portable(n):
    """Nothing to remark: forms that look like the others."""
    turns = asc.number(0, asc.int32)
    for i in range(n):
        turns = turns + 1
        fresh = i * 2
        asc.set_flag(FLAG, fresh - i - i)
        asc.wait_flag(FLAG, 0)
    for j in asc.static_range(2):
        kept = j
    m = kept + helper(turns)
    if (n > 1) and (n < 9):
        m = m + len([1, 2])
    start = asc.number(0, asc.int32)
    if n == 3:
        start = start + TILE
    low, high = 0, 1
    if n == 3:
        low = 5
    else:
        low = 6
    if TILE == 64:
        high = 2
    p = asc.MmadParams(16, 16, 16, unit_flag=0, cmatrix_source=False, cmatrix_init_val=True)
    if len(PAIR) == 3:
        print("pyasc does not read a branch that is not taken")
        high = 3
    if isinstance(TILE, int):
        high = 4
    tile = asc.LocalTensor(asc.float16, asc.TPosition.VECIN, 0, 64)
    if tile.dtype == asc.float16:
        high = high + 1
    share = 1.0 if n > 3 else 2.0
    name = "a" + NAME
    if NAME == "mte2":
        name = "b"
    m = n + 0
    second = helper(n)
    for i in range(3):
        asc.set_flag(FLAG, n)
        asc.wait_flag(FLAG, n)
        m = m - 1
        second = i + 0
    here, there = tile[0:], tile[16:]
    for i in range(n):
        asc.set_flag(FLAG, 0)
        asc.wait_flag(FLAG, 0)
        here, there = there[0:], here[0:]
    while tile.get_value(0) > 70000.0:
        m = m + 1
    once, again = helper(n), helper(n)
    size = asc.DEFAULT_C0_SIZE
    assert TILE == 64, "tile"
    a, b = n + high, start + low
    if TILE == 64:
        return
    print("nor what follows a return")


EXPECTED = {
    "breaks": "break",
    "continues": "continue",
    "chained": "chained comparison",
    "contained": "in",
    "three": "and of three",
    "plain_and": "and of compile-time values",
    "plain_not": "not of a compile-time value",
    "smallest": "min",
    "printed": "print",
    "plain_call": "plain_helper",
    "numpy_call": "np.ceil",
    "early": "return inside a block",
    "returns": "value of a kernel",
    "with_default": "default value of a kernel's parameter",
    "variadic": "*n",
    "counted": "turns in a block of the device",
    "toggled": "half in a block of the device",
    "summed": "total in a block of the device",
    "chosen": "start in a block of the device",
    "chosen_inside": "start after the block of line {}",
    "read_after": "last after the block of line {}",
    "counter_after": "i after the block of line {}",
    "two_targets": "assignment to several targets",
    "starred": "target of an assignment",
    "list_loop": "for over something else than a range",
    "loop_else": "else of a loop",
    "comprehension": "comprehension",
    "dictionary": "dictionary",
    "lambdas": "lambda",
    "nested": "nested function",
    "tries": "try",
    "raises": "raise",
    "imports": "import",
    "asserts_then_deletes": "del",
    "walrus": ":=",
    "starred_call": "* or ** in a call",
    "newer": "asc.bfloat16",
    "queue_of_no_depth": "TQue without a depth",
    "short_cross_core_wait": "cross_core_wait_flag with the flag alone",
    "closure": "event of the function around the kernel",
    "late": "CHANGED, which the module assigns more than once",
    "while_else": "else of a loop",
    "asserted": "assert of a run-time value",
    "two_types": "conditional expression of two types",
    "one_of_two_tensors": "conditional expression of a LocalTensor",
    "text_or_text": "conditional expression of a str",
    "text_as_condition": "str as a condition",
    "unrolled": "bound of asc.static_range known at run time",
    "element_of_tuple": "subscript of a tuple by a run-time number",
    "method_of_tuple": "PAIR.index",
    "method_of_object": "OBJECT.method",
    "made_outside": "PARAMS",
    "bound_queue": "TQueBind in init_buffer",
    "plain_texts": "or of compile-time values",
    "worked_out": "k in a block of the device",
    "carried_text": "name in a block of the device",
    "carried_none": "last in a block of the device",
    "carried_dtype": "kind in a block of the device",
    "ends_plain": "m in a block of the device",
    "ends_otherwise": "m in a block of the device",
    "int_or_float": "m in a block of the device",
    "plain_counter": "i as the counter of a loop",
    "taken_counter": "i as the counter of a loop",
    "kept_counter": "last, the counter of a loop under a name from before it",
    "endless": "while over i, which the loop changes",
    "two_names": "m and n, two names of one value",
    "two_names_of_a_tensor": "b and a, two names of one value",
    "previous": "a, which takes over the value of b",
    "of_numpy": "int32 of numpy",
    "passes_text": "str as an argument of a device function",
    "inner_before_outer": "helper, which twice has called before",
    "one_function_two_types": "n of helper",
    "shape_of_a_list": "ShapeInfo of a list",
    "one_function_two_element_types": "address of tensor_of",
    "stores_an_element": "assignment to an element of a LocalTensor",
    "negated": "- of a float at run time",
    "large": "3221225472 and a number of int32",
    "compared_with_none": "None and a run-time number",
    "aliased": "name after the block of line {}",
    "same_name": "helper, the name of two device functions",
    "hidden": "k after the block of line {}",
    "grown": "k in a block of the device",
    "empty_mmad_params": "MmadParams with a part of its values",
    "cut_unit_flag": "unit_flag of MmadParams",
}
DIFFERS = (
    "empty_mmad_params",
    "cut_unit_flag",
    "same_name",
    "hidden",
    "grown",
    "endless",
    "two_names",
    "two_names_of_a_tensor",
    "previous",
)
ARGUMENTS = {  # of a launch; of the others: 5
    "hidden": (5, 3),
    "grown": (5, 3),
    "one_function_two_element_types": (np.zeros(8, np.float32), np.zeros(8, np.int32)),
}
ALONE = ("with_default",)  # resolved before pyasc sees the kernel
ENDS = ("taken_counter", "kept_counter")  # ends the process, and so is never handed to pyasc
STALE = ("late",)  # accepted, and compiled once for all values
