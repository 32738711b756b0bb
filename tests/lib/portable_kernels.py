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


def plain_helper(n):
    return n + 1


@asc.jit
def helper(n):
    return n + 1


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
    assert TILE == 64, "tile"
    a, b = n + high, start + low


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
    "empty_mmad_params": "MmadParams with a part of its values",
    "cut_unit_flag": "unit_flag of MmadParams",
}
DIFFERS = ("empty_mmad_params", "cut_unit_flag")
STALE = ("late",)  # accepted, and compiled once for all values
