"""Pairs on a cube core (see `pairs`): those of vector cores that need none of its instructions, told in the words of a
cube core, and others written for it."""

from __future__ import annotations

import re

import flag_pairs
import memory_pairs
import pairs
from pairs import AIC, Pair, fault, note, warn

# Rows of vector cores whose text needs but other names: code, or code and a part of what is said.
SAME = """
CACHE_NOT_FLUSHED CACHE_LINE_SHARED FLAG_DOUBLE_SET FLAG_BAD_ID FLAG_RESERVED_ID FLAG_ID_CONFLICT EVENT_EXHAUSTED
XFLAG_LEFT_SET XFLAG_OVERFLOW XFLAG_BAD_ID XFLAG_RESERVED_ID XFLAG_KERNEL_TYPE XFLAG_TOO_MANY_BLOCKS DEADLOCK
OOB_GM MISALIGNED_LEN BAD_STRIDE PIPE_TWICE POOL_OVERLAP BUF_LIMIT QUE_DOUBLE_FREE QUE_EMPTY QUE_FULL QUE_STATE
QUE_WRONG_TENSOR QUE_NOT_INIT QUE_LEAK QUE_NOT_DEQUED USE_AFTER_FREE
""".split()
NAMES = (
    ("MTE2_V", "MTE2_MTE1"),
    ("V_MTE2", "MTE1_MTE2"),
    ("VECIN", "A1"),
    ("VECOUT", "B1"),
    ("VECCALC", "A1"),
    ("V waits", "MTE1 waits"),
    ("queue of V", "queue of MTE1"),
    ("asc.duplicate(x, 1.0, 64)", "asc.init_const_value(l0a, value)"),
    ("asc.duplicate(y, 1.0, 64)", "asc.init_const_value(l0b, value)"),
    ("asc.duplicate(z, 1.0, 64)", "asc.init_const_value(l0b, value)"),
    ("asc.duplicate(t, 1.0, 64)", "asc.data_copy(t, a_gm, 64)"),
    ("aiv", "aic"),
    ("AIV_ONLY", "AIC_ONLY"),
    ("chip has 48", "chip has 24"),
)
B1 = "b1 = asc.LocalTensor(asc.float32, T.A1, 1024, 128)"
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
    return row._replace(body=indented + body.strip("\n"), says=tuple(says.split("|")), options=options, kind="")


def _same() -> list[Pair]:
    groups = (pairs.ORDER, flag_pairs.FLAGS, flag_pairs.DEADLOCKS, memory_pairs.MEMORY, memory_pairs.OPERANDS)
    rows = [row for group in (*groups, memory_pairs.QUEUES) for row in group]
    return [_cube(row) for row in rows if row.kind == "aiv" and row.code in SAME]


OWN = (
    fault(
        "WAW",
        "on L0A part[0:512)|(MTE2) overwrites what init_const_value|(MTE1) writes|set_flag(HardEvent.MTE1_MTE2, id)",
        """
      part = asc.LocalTensor(asc.float16, T.A2, 512, 256)
      asc.init_const_value(part, asc.InitConstValueParams(1, 1, 0, 2.0))  # 1
    + order(E.MTE1_MTE2)
      asc.load_data(part, a_gm, asc.LoadData2DParams(0, 1, 1))  # 2
        """,
        dtype="float16",
    ),
    fault(
        "CACHE_STALE",
        "finds byte 2 of b in its data cache|data_cache_clean_and_invalid",
        """
      b_gm.get_value(0)
      asc.data_copy(b1, a_gm, 8)
      asc.pipe_barrier(P.PIPE_ALL)
      asc.data_copy(b_gm, b1, 8)
      asc.pipe_barrier(P.PIPE_ALL)
    + clean(b_gm)
      b_gm.get_value(0)  # 2
        """,
    ),
    fault(
        "GM_RACE_WW",
        "aic 1: fixpipe|overwrites what aic 0: fixpipe|bytes of its own for each core",
        """
      asc.mmad(c, l0a, l0b, asc.MmadParams(16, 16, 8 + 8 * asc.get_block_idx()))
      order(E.M_FIX)
    - asc.fixpipe(b_gm, c, out)  # 1 2
    + asc.fixpipe(b_gm[asc.get_block_idx() * 256:], c, out)
        """,
        blocks=2,
        bytes=2048,
    ),
    note(
        "ATOMIC_ORDER",
        "the last bits of the sum",
        """
      asc.mmad(c, l0a, l0b, one)
      order(E.M_FIX)
      asc.set_atomic_add(asc.float32)
    - asc.fixpipe(b_gm, c, out)  # 1 2
    + asc.fixpipe(b_gm[asc.get_block_idx() * 256:], c, out)
      asc.set_atomic_none()
        """,
        blocks=2,
        bytes=2048,
    ),
    warn(
        "GM_TAIL",
        "24 bytes behind it",
        """
      asc.data_copy(b1, a_gm, 16)
      order(E.MTE2_MTE3)
    - asc.data_copy(b_gm, b1, 16)  # 2
    + asc.data_copy(b_gm, b1, 8)
        """,
        bytes=40,
    ),
    warn(
        "UNINIT_READ",
        "uses undefined bytes [512:1024) of L0A|never written",
        """
    - mine = asc.LocalTensor(asc.float16, T.A2, 512, 256)
    + mine = l0a
      asc.mmad(c, mine, l0b, one)  # 2
        """,
    ),
    note(
        "DEAD_STORE",
        "never read since",
        """
      asc.mmad(c, l0a, l0b, one)  # 1
      asc.pipe_barrier(P.PIPE_ALL)
    + asc.fixpipe(b_gm, c, out)
    + asc.pipe_barrier(P.PIPE_ALL)
      asc.mmad(c, l0a, l0b, one)  # 2
        """,
    ),
    note(
        "SYNC_REDUNDANT",
        "no work since",
        """
      asc.mmad(c, l0a, l0b, one)
      order(E.M_FIX, 0)
    - order(E.M_FIX, 1)
      asc.fixpipe(b_gm, c, out)
        """,
        record=True,
    ),
    warn(
        "OOB_BUF",
        "",
        """
    - asc.data_copy(b1, a_gm, 136)  # 2
    + asc.data_copy(b1, a_gm, 128)
        """,
    ),
    fault(
        "OOB_PHYS",
        "of L0A (65536 bytes)",
        """
    - top = asc.LocalTensor(asc.float16, T.A2, 65536 - 512, 0)
    + top = asc.LocalTensor(asc.float16, T.A2, 65536 - 1024, 0)
      asc.init_const_value(top, asc.InitConstValueParams(2, 1, 0, 1.0))  # 2
        """,
    ),
    fault(
        "MEM_OVERFLOW",
        "two (A1) asks for 1 x 262176|262144 of 524288|together 262144",
        """
      pipe, one, two = asc.TPipe(), asc.TBuf(T.A1), asc.TBuf(T.A1)
      pipe.init_buffer(one, 262144)
    - pipe.init_buffer(two, 262176)  # 2
    + pipe.init_buffer(two, 131072)
        """,
    ),
    fault(
        "BAD_POSITION",
        "",
        """
    - at = l1
    + at = l0a
      asc.mmad(c, at, l0b, one)  # 2
        """,
    ),
    fault(
        "BAD_DTYPE",
        "int16",
        """
    - kind = asc.int16
    + kind = asc.float16
      a2, b2 = (asc.LocalTensor(kind, p, 0, 256) for p in (T.A2, T.B2))
      asc.mmad(c, a2, b2, one)  # 2
        """,
    ),
    fault(
        "WRONG_CORE",
        "",
        """
      l0a = asc.LocalTensor(asc.float16, T.A2, 0, 256)
    - asc.init_const_value(l0a, asc.InitConstValueParams(1, 1, 0, 1.0))  # 2
    + asc.get_block_idx()
        """,
        kind="other",
        options="",
    ),
    fault(
        "QUE_POSITION",
        "no data goes from A1 to B1",
        """
    - que = asc.TQueBind(T.A1, T.B1, 1)  # 2
    + que = asc.TQueBind(T.A1, T.A2, 1)
        """,
    ),
    fault(
        "XFLAG_AMBIGUOUS",
        "raised from MTE3|and from FIX",
        """
      asc.cross_core_set_flag(3, 0, P.PIPE_MTE3)  # 1
    + asc.pipe_barrier(P.PIPE_ALL)
      asc.cross_core_set_flag(3, 0, P.PIPE_FIX)  # 2
      asc.cross_core_wait_flag(3)
      asc.cross_core_wait_flag(3)
        """,
        options="kernel_type=K.MIX_AIC_1_0",
    ),
    warn("ZERO_LENGTH", "", "\n    - n = 0\n    + n = 8\n      asc.data_copy(b1, a_gm, n)  # 2"),
    warn(
        "FLAG_BAD_PAIR",
        "M_FIX does not exist on aiv",
        "\n    - order(E.M_FIX)\n    + order(E.MTE2_V)",
        kind="",
        options="",
    ),
)


def _own(row: Pair) -> Pair:
    """A row with the locals of a cube core, and its kernel type where it says nothing."""
    if row.kind != "aiv":
        return row
    body = f"      {B1}\n" * ("b1" in row.body) + row.body.strip("\n")
    return row._replace(kind="aic", options=row.options or AIC["options"], body=body)


ROWS = [*_same(), *map(_own, OWN)]
