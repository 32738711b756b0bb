"""Pairs on a cube core (see `pairs`): those of vector cores that need none of its instructions, told in the words of a
cube core, and others written for it."""

from __future__ import annotations

import re

import cube_order_pairs
import flag_pairs
import memory_pairs
import pairs
import queue_pairs
from pairs import AIC, Pair, fault, warn

# Rows of vector cores whose text needs but other names.
SAME = """
CACHE_NOT_FLUSHED CACHE_LINE_SHARED FLAG_LEFT_SET FLAG_DOUBLE_SET FLAG_BAD_ID FLAG_RESERVED_ID FLAG_ID_CONFLICT
EVENT_EXHAUSTED XFLAG_LEFT_SET XFLAG_OVERFLOW XFLAG_BAD_ID XFLAG_RESERVED_ID XFLAG_KERNEL_TYPE XFLAG_TOO_MANY_BLOCKS
DEADLOCK OOB_GM MISALIGNED_LEN BAD_STRIDE PIPE_TWICE POOL_OVERLAP BUF_LIMIT QUE_DOUBLE_FREE QUE_EMPTY QUE_FULL
QUE_STATE QUE_WRONG_TENSOR QUE_NOT_INIT QUE_LEAK QUE_NOT_DEQUED USE_AFTER_FREE
""".split()
NAMES = (
    ("MTE2_V", "MTE2_MTE1"),
    ("V_MTE2", "MTE1_MTE2"),
    ("VECIN", "A1"),
    ("VECOUT", "B1"),
    ("VECCALC", "A1"),
    ("V waits", "MTE1 waits"),
    ("<- V", "<- MTE1"),
    ("queue of V", "queue of MTE1"),
    ("of UB", "of L1"),
    ("duplicate: dst: the tensor", "data_copy: dst: the tensor"),
    ("asc.duplicate(x, 1.0, 64)", "asc.init_const_value(l0a, value)"),
    ("asc.duplicate(y, 1.0, 64)", "asc.init_const_value(l0b, value)"),
    ("asc.duplicate(t, 1.0, 64)", "asc.data_copy(t, a_gm, 64)"),
    ("asc.duplicate(u, 1.0, 64)", "asc.data_copy(u, a_gm, 64)"),
    ("49 aiv", "25 aic"),
    ("aiv", "aic"),
    ("AIV_ONLY", "AIC_ONLY"),
    ("chip has 48", "chip has 24"),
)
B1 = "b1 = asc.LocalTensor(asc.float32, T.A1, 1024, 128)  # 1"
LOCALS = """
    x = asc.LocalTensor(asc.float32, T.A1, 0, 128)
    l0a, l0b = (asc.LocalTensor(asc.float16, p, 0, 256) for p in (T.A2, T.B2))
    value = asc.InitConstValueParams(1, 1, 0, 1.0)
"""


def _cube(row: Pair) -> Pair:
    """A row in the words of a cube core."""
    options = row.options.replace("MIX_AIV", "MIX_AIC") if row.options else AIC["options"]
    body, says = row.body, "|".join(row.says)
    for vector, cube in NAMES:
        body, says = (re.sub(rf"(?<![A-Z]){re.escape(vector)}(?![A-Z0-9])", cube, text) for text in (body, says))
    indented = "".join(f"  {line}\n" for line in LOCALS.strip("\n").splitlines())
    own = {"body": indented + body.strip("\n"), "says": tuple(says.split("|")), "options": options}
    return row._replace(**own, kind="", blocks=min(row.blocks, 25))  # type: ignore[arg-type]


def _same() -> list[Pair]:
    groups = (pairs.ORDER, flag_pairs.FLAGS, flag_pairs.DEADLOCKS, memory_pairs.MEMORY, memory_pairs.OPERANDS)
    rows = [_cube(row) for group in (*groups, queue_pairs.QUEUES) for row in group if row.kind and row.code in SAME]
    return [row for row in rows if "asc.duplicate" not in row.body]


OWN = (
    warn(
        "OOB_BUF",
        "data_copy: dst touches bytes [1024:1568), 32 bytes past its tensor (128 elements of float32, bytes "
        "[1024:1536) of L1, made at pair.py:<1>)",
        """
    - asc.data_copy(b1, a_gm, 136)
    + asc.data_copy(b1, a_gm, 128)
        """,
    ),
    fault(
        "OOB_PHYS",
        "init_const_value: dst touches L0A bytes [65024:66048), 512 bytes past the end of L0A (65536 bytes); its "
        "tensor: 512 elements of float16, bytes [65024:66048) of L0A, made at pair.py:<1>",
        """
    - top = asc.LocalTensor(asc.float16, T.A2, 65536 - 512, 512)  # 1
    + top = asc.LocalTensor(asc.float16, T.A2, 65536 - 1024, 512)
      asc.init_const_value(top, asc.InitConstValueParams(2, 1, 0, 1.0))
        """,
    ),
    fault(
        "MISALIGNED_ADDR",
        "init_const_value: dst starts at byte 256 of L0A; rule: a multiple of 512; 128 elements less or 128 more "
        "would do",
        """
    - at = asc.LocalTensor(asc.float16, T.A2, 256, 256)
    + at = asc.LocalTensor(asc.float16, T.A2, 512, 256)
      asc.init_const_value(at, asc.InitConstValueParams(1, 1, 0, 1.0))
        """,
    ),
    fault(
        "MISALIGNED_ADDR",
        "mmad: dst starts at byte 32 of L0C; rule: a multiple of 1024; 8 elements less or 248 more would do",
        """
    - at = asc.LocalTensor(asc.float32, T.CO1, 32, 256)
    + at = asc.LocalTensor(asc.float32, T.CO1, 1024, 256)
      asc.mmad(at, l0a, l0b, one)
        """,
    ),
    fault(
        "MEM_OVERFLOW",
        "TPipe.init_buffer: two (A1) asks for 1 x 262176 = 262176 bytes of L1, 262144 of 524288 are available; "
        "buffers so far: one (A1) 1 x 262144, together 262144",
        """
      pipe, one, two = asc.TPipe(), asc.TBuf(T.A1), asc.TBuf(T.A1)
      pipe.init_buffer(one, 262144)
    - pipe.init_buffer(two, 262176)
    + pipe.init_buffer(two, 131072)
        """,
    ),
    fault(
        "BAD_POSITION",
        "mmad: fm lies in A1; rule: A2",
        """
    - at = l1
    + at = l0a
      asc.mmad(c, at, l0b, one)
        """,
    ),
    fault(
        "BAD_POSITION",
        "get_value: operand = A1; rule: only VECIN, VECOUT and VECCALC have scalar access",
        """
    - l1.get_value(0)
    + b_gm.get_value(0)
        """,
    ),
    fault(
        "BAD_POSITION",
        "data_copy: no way from L0C to UB; rule: GM to UB, UB to GM, UB to UB, GM to L1, L1 to GM, L1 to BT, ",
        """
      asc.mmad(c, l0a, l0b, one)
      order(E.M_FIX)
    - asc.data_copy(asc.LocalTensor(asc.float32, T.VECIN, 0, 256), c, asc.DataCopyParams(1, 1, 0, 0))
    + asc.fixpipe(b_gm, c, out)
        """,
    ),
    fault(
        "BAD_DTYPE",
        "mmad: fm has type int16; rule: float16, bfloat16, float32, int8",
        """
    - kind = asc.int16
    + kind = asc.float16
      a2, b2 = (asc.LocalTensor(kind, p, 0, 256) for p in (T.A2, T.B2))
      asc.mmad(c, a2, b2, one)
        """,
    ),
    fault(
        "WRONG_CORE",
        "duplicate: an aic core has no unit for it and would do nothing; rule: aiv cores",
        """
    - asc.duplicate(asc.LocalTensor(asc.float32, T.VECIN, 0, 64), 1.0, 64)
        """,
    ),
    fault(
        "QUE_POSITION",
        "TQueBind: no data goes from A1 to B1; rule: from L1 to L0A, L0B, BT",
        """
    - que = asc.TQueBind(T.A1, T.B1, 1)
    + que = asc.TQueBind(T.A1, T.A2, 1)
        """,
    ),
    fault(
        "XFLAG_AMBIGUOUS",
        "flag 3 of aic 0 is raised from MTE3 (pair.py:<1>) and from FIX (pair.py:<2>) with nothing between: the "
        "waiting core cannot know which came first",
        """
      asc.cross_core_set_flag(3, 0, P.PIPE_MTE3)  # 1
    + asc.pipe_barrier(P.PIPE_ALL)
      asc.cross_core_set_flag(3, 0, P.PIPE_FIX)  # 2
      asc.cross_core_wait_flag(3)
      asc.cross_core_wait_flag(3)
        """,
        options="kernel_type=K.MIX_AIC_1_0",
    ),
    warn(
        "ZERO_LENGTH",
        "data_copy: count = 0: the instruction does nothing; rule: 1 or more",
        """
    - n = 0
    + n = 8
      asc.data_copy(b1, a_gm, n)
        """,
    ),
    warn(
        "FLAG_BAD_PAIR",
        "set_flag: MTE2_V id 0 on aic 0, pair.py:<set>: event MTE2_V does not exist on aic cores; the call does "
        "nothing",
        """
    - order(E.MTE2_V)
    + order(E.MTE2_MTE1)
        """,
    ),
)


def _own(row: Pair) -> Pair:
    """A row with the locals of a cube core, and its kernel type where it says nothing."""
    body = f"      {B1}\n" * ("b1" in row.body) + row.body.strip("\n")
    return row._replace(kind="aic", options=row.options or AIC["options"], body=body)


ROWS = [*_same(), *map(_own, (*cube_order_pairs.ORDER, *OWN))]
