"""Pairs in a kernel with cores of both kinds (see `pairs`): those of the two kinds under a guard, and others."""

from __future__ import annotations

import cube_pairs
import flag_pairs
import memory_pairs
import pairs
import queue_pairs
from pairs import MIX, Pair, fault

GROUPS = (
    *(pairs.ORDER, flag_pairs.FLAGS, flag_pairs.DEADLOCKS),
    *(memory_pairs.MEMORY, memory_pairs.OPERANDS, queue_pairs.QUEUES),
)
OWN = (
    fault(
        "GM_RACE_RW",
        "on GM b[0:1024): aiv 0: data_copy, pair.py:<2> (MTE2) reads what aic 0: fixpipe, pair.py:<1> (FIX) "
        "writes|Needs cross_core_set_flag on pipe FIX after line <1> on aic 0 and cross_core_wait_flag before line "
        "<2> on aiv 0, or sync_all between",
        """
      if asc.ascend_is_aic():
          a2, b2 = (asc.LocalTensor(asc.float16, p, 0, 256) for p in (T.A2, T.B2))
          c = asc.LocalTensor(asc.float32, T.CO1, 0, 256)
          asc.init_const_value(a2, asc.InitConstValueParams(1, 1, 0, 1.0))
          asc.init_const_value(b2, asc.InitConstValueParams(1, 1, 0, 1.0))
          order(E.MTE1_M)
          asc.mmad(c, a2, b2, asc.MmadParams(16, 16, 16))
          order(E.M_FIX)
          asc.fixpipe(b_gm, c, asc.FixpipeParamsV220(16, 16, 16, 16))  # 1
    + hand_over()
      if asc.ascend_is_aiv():
          asc.data_copy(asc.LocalTensor(asc.float32, T.VECIN, 0, 256), b_gm, 256)  # 2
        """,
        kind="",
        options=MIX,
    ),
    fault(
        "DEADLOCK",
        "DEADLOCK (cross_core): aic 0 waits for flag 3 (pair.py:<2>) [round among cube and vector cores of a group: "
        f"aiv 0 reported, aiv 1 did not]; ended before: aiv 0, aiv 1; {flag_pairs.TIMEOUT}",
        """
      if asc.ascend_is_aic():
          asc.cross_core_wait_flag(3)  # 2
    - elif asc.get_sub_block_idx() == 0:
    + else:
          asc.cross_core_set_flag(3, 2, P.PIPE_MTE3)
        """,
        kind="",
        options=MIX,
    ),
    fault(
        "WRONG_CORE",
        "cross_core_set_flag: aiv cores have no pipe FIX; rule: PIPE_V, PIPE_MTE2, PIPE_MTE3, or the call under `if "
        "asc.ascend_is_aic()`",
        """
    - asc.cross_core_set_flag(3, 0, P.PIPE_FIX)
    + asc.cross_core_set_flag(3, 0, P.PIPE_MTE3)
      asc.cross_core_wait_flag(3)
        """,
        kind="",
        options=MIX,
    ),
)


def _guarded(row: Pair, kind: str) -> Pair:
    """A row of one kind of core in a kernel that has the other beside it."""
    options = [option for option in row.options.split(", ") if option and "kernel_type" not in option]
    return row._replace(options=", ".join([*options, "kernel_type=K.MIX_AIC_1_1"]), guard=kind)


def _rows() -> list[Pair]:
    """Of each code that has no row of its own here the first row of vector cores, and for others that of cube cores."""
    vector = [row for group in GROUPS for row in group]
    own = [*OWN, *(row for row in vector if row.cores == "mix")]
    out = {row.code: row for row in own}
    for kind, rows in (("aiv", vector), ("aic", cube_pairs.ROWS)):
        for row in rows:
            if row.code not in (*out, "WRONG_CORE"):
                out[row.code] = _guarded(row, kind)
    return list(out.values())


ROWS = _rows()
