"""Pairs for flags, of one core and between cores, and for each kind of deadlock (see `pairs`)."""

from __future__ import annotations

from pairs import AIC, MIX, MIX_AIV, fault, note, warn

FLAGS = (
    fault(
        "FLAG_LEFT_SET",
        "MTE1_M id 2 on aic 0",
        """
      asc.set_flag(E.MTE1_M, 2)  # 2
    + asc.wait_flag(E.MTE1_M, 2)
        """,
        **AIC,
    ),
    fault(
        "FLAG_LEFT_SET",
        "MTE2_V id 1 on aiv 0|is never waited for|the next kernel",
        """
      asc.set_flag(E.MTE2_V, 1)  # 2
    + asc.wait_flag(E.MTE2_V, 1)
        """,
    ),
    fault(
        "FLAG_DOUBLE_SET",
        "set_flag(MTE2_V id 0)|still outstanding",
        """
      asc.set_flag(E.MTE2_V, 0)  # 1
    + asc.wait_flag(E.MTE2_V, 0)
      asc.set_flag(E.MTE2_V, 0)  # 2
    - asc.wait_flag(E.MTE2_V, 0)
      asc.wait_flag(E.MTE2_V, 0)
        """,
    ),
    fault(
        "FLAG_DOUBLE_SET",
        "set_flag(MTE2_V id 0)|both ids were fetched (pair.py:",
        """
      pipe = asc.TPipe()
      order(E.MTE2_V, pipe.fetch_event_id(E.MTE2_V))
    - one = pipe.fetch_event_id(E.MTE2_V)  # 1
    + one = pipe.alloc_event_id(E.MTE2_V)
      two = pipe.fetch_event_id(E.MTE2_V)  # 2
      asc.set_flag(E.MTE2_V, one)  # 1
      asc.set_flag(E.MTE2_V, two)  # 2
      asc.wait_flag(E.MTE2_V, one)
      asc.wait_flag(E.MTE2_V, two)
        """,
    ),
    fault("FLAG_BAD_ID", "event_id = 8 on aiv 0|0 to 7", "\n    - order(E.MTE2_V, 8)\n    + order(E.MTE2_V, 5)"),
    warn("FLAG_RESERVED_ID", "MTE2_V id 7 on aiv 0|use 0 to 5", "\n    - order(E.MTE2_V, 7)\n    + order(E.MTE2_V, 5)"),
    warn("FLAG_BAD_PAIR", "MTE2_V does not exist on aic", "\n    - order(E.MTE2_V)\n    + order(E.MTE2_MTE1)", **AIC),
    note("FLAG_BAD_PAIR", "MTE2_V", "\n    - order(E.MTE2_V)\n    + asc.get_block_idx()", kind="", options=MIX),
    fault(
        "FLAG_ID_CONFLICT",
        "belongs to queue|alloc_event_id",
        """
      pipe, que = asc.TPipe(), asc.TQue(T.VECIN, 1)
      pipe.init_buffer(que, 1, 256)
      t = que.alloc_tensor(asc.float32)
      asc.data_copy(t, a_gm, 64)
      que.enque(t)
    - order(E.MTE2_V, 0)  # 2
    + order(E.MTE2_V, pipe.fetch_event_id(E.MTE2_V))
      que.free_tensor(que.deque(asc.float32))
        """,
    ),
    fault(
        "EVENT_EXHAUSTED",
        "all 8 ids of MTE2_V are taken",
        """
      pipe = asc.TPipe()
    - for _ in range(9):
    + for _ in range(8):
          pipe.alloc_event_id(E.MTE2_V)
        """,
    ),
    note(
        "SYNC_REDUNDANT",
        "no work since",
        """
      asc.data_copy(x, a_gm, 64)
      order(E.MTE2_V, 0)
    - order(E.MTE2_V, 1)
      asc.adds(z, x, 1.0, 64)
        """,
        record=True,
    ),
    fault(
        "XFLAG_LEFT_SET",
        "flag 3 of aiv 0|no wait has taken",
        """
      asc.cross_core_set_flag(3, 0, P.PIPE_MTE3)  # 2
    + asc.cross_core_wait_flag(3)
        """,
        options=MIX_AIV,
    ),
    fault(
        "XFLAG_OVERFLOW",
        "may pass 15",
        """
      for _ in range(16):
          asc.cross_core_set_flag(3, 0, P.PIPE_MTE3)  # 2
    +     asc.cross_core_wait_flag(3)
    - for _ in range(16):
    -     asc.cross_core_wait_flag(3)
        """,
        options=MIX_AIV,
    ),
    fault(
        "XFLAG_BAD_ID",
        "flag = 16 is cut to 0",
        """
    - asc.cross_core_set_flag(16, 0, P.PIPE_MTE3)  # 2
    + asc.cross_core_set_flag(0, 0, P.PIPE_MTE3)
      asc.cross_core_wait_flag(0)
        """,
        options=MIX_AIV,
    ),
    fault(
        "XFLAG_RESERVED_ID",
        "belongs to sync_all",
        """
      asc.sync_all()  # 1
    - number = 12
    + number = 10
      asc.cross_core_set_flag(number, 0, P.PIPE_MTE3)  # 2
      asc.cross_core_wait_flag(number)
        """,
        options=MIX_AIV,
    ),
    fault(
        "XFLAG_MODE_MIX",
        "in mode 1|in mode 0",
        """
      if asc.ascend_is_aiv():
          asc.cross_core_set_flag(3, 0, P.PIPE_MTE3)
    +     asc.cross_core_wait_flag(3)
          asc.cross_core_set_flag(3, 1, P.PIPE_MTE3)  # 2
          asc.cross_core_wait_flag(3)
    -     asc.cross_core_wait_flag(3)
        """,
        kind="",
        options=MIX,
    ),
    fault(
        "XFLAG_AMBIGUOUS",
        "raised from MTE3|and from V",
        """
      asc.duplicate(x, 1.0, 64)
      asc.cross_core_set_flag(3, 0, P.PIPE_MTE3)  # 1
    + asc.pipe_barrier(P.PIPE_ALL)
      asc.cross_core_set_flag(3, 0, P.PIPE_V)  # 2
      asc.cross_core_wait_flag(3)
      asc.cross_core_wait_flag(3)
        """,
        options=MIX_AIV,
    ),
    fault(
        "XFLAG_KERNEL_TYPE",
        "needs a MIX kernel type; this launch is AIV_ONLY",
        """
    - asc.sync_all()  # 2
    + asc.pipe_barrier(P.PIPE_ALL)
        """,
    ),
    warn(
        "XFLAG_TOO_MANY_BLOCKS",
        "the chip has 48",
        """
    - asc.sync_all()  # 2
    + asc.pipe_barrier(P.PIPE_ALL)
        """,
        options=MIX_AIV,
        blocks=49,
    ),
    fault(
        "SYNC_WORKSPACE",
        "the workspace is zero before the launch",
        """
      scratch = asc.LocalTensor(asc.int32, T.VECCALC, 0, 8)
      work = asc.GlobalTensor()
    - work.set_global_buffer(a)
    + work.set_global_buffer(b)
      asc.sync_all(work, scratch)  # 2
        """,
        dtype="int32",
    ),
)

DEADLOCKS = (
    fault(
        "DEADLOCK",
        "DEADLOCK (no_set)|on aic 0|FIX waits M_FIX id 0",
        """
    - asc.wait_flag(E.M_FIX, 0)  # 2
    + order(E.M_FIX)
        """,
        **AIC,
    ),
    fault(
        "DEADLOCK",
        "DEADLOCK (no_set)|the kernel has ended, but V waits MTE2_V id 0|507014",
        """
    - asc.wait_flag(E.MTE2_V, 0)  # 2
    + order(E.MTE2_V)
        """,
    ),
    fault(
        "DEADLOCK",
        "DEADLOCK (cycle)|V waits MTE2_V id 0|<- MTE2 waits V_MTE2 id 0",
        """
    - asc.wait_flag(E.MTE2_V, 0)  # 2
      asc.set_flag(E.V_MTE2, 0)
      asc.wait_flag(E.V_MTE2, 0)
      asc.set_flag(E.MTE2_V, 0)
    + asc.wait_flag(E.MTE2_V, 0)
        """,
    ),
    fault(
        "DEADLOCK",
        "DEADLOCK (scalar)|before the program has issued its set",
        """
    - asc.wait_flag(E.MTE2_S, 0)  # 2
      asc.set_flag(E.MTE2_S, 0)
    + asc.wait_flag(E.MTE2_S, 0)
        """,
    ),
    fault(
        "DEADLOCK",
        "DEADLOCK (queue_full)|the queue of V holds its 2 entries",
        """
      asc.wait_flag(E.MTE2_V, 0)
      asc.duplicate(x, 1.0, 64)
    - asc.duplicate(y, 1.0, 64)
    - asc.duplicate(z, 1.0, 64)  # 2
      asc.set_flag(E.MTE2_V, 0)
        """,
        checks=(("queue_depth", 2),),
    ),
    fault(
        "DEADLOCK",
        "DEADLOCK (held_set)|still up and holds its set",
        """
      asc.set_flag(E.MTE2_V, 0)
      asc.wait_flag(E.MTE2_V, 1)
      asc.wait_flag(E.MTE2_V, 0)
    - asc.set_flag(E.MTE2_V, 0)
      asc.set_flag(E.MTE2_V, 1)
    - asc.wait_flag(E.MTE2_V, 0)
        """,
        checks=(("hold_sets", True),),
    ),
    fault(
        "DEADLOCK",
        "DEADLOCK (alloc)|alloc_tensor on que (VECIN)|buffer 0 is OCCUPIED since alloc_tensor",
        """
      pipe, que = asc.TPipe(), asc.TQue(T.VECIN, 1)
      pipe.init_buffer(que, 1, 256)
      for _ in range(2):
          t = que.alloc_tensor(asc.float32)
    +     que.free_tensor(t)
        """,
    ),
    fault(
        "DEADLOCK",
        "DEADLOCK (cross_core)|aiv 0 reported, aiv 1 did not",
        """
    - if asc.get_block_idx() == 0:
    + if True:
          asc.cross_core_set_flag(3, 0, P.PIPE_MTE3)
          asc.cross_core_wait_flag(3)  # 2
        """,
        options=MIX_AIV,
        blocks=2,
    ),
    fault(
        "DEADLOCK",
        "DEADLOCK (rendezvous)|again and again",
        """
      clean(b_gm)
    - while b_gm.get_value(0) == 0:
    + while b_gm.get_value(0) == 1:
          clean(b_gm)
        """,
    ),
    fault(
        "DEADLOCK",
        "DEADLOCK (unitflag)|the unit flag of L0C block 0",
        """
    + asc.mmad(c, l0a, l0b, unit)
      asc.fixpipe(b_gm, c, unit_out)  # 2
        """,
        **AIC,
    ),
)
