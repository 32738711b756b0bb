"""Pairs for flags, of one core and between cores, and for each kind of deadlock (see `pairs`)."""

from __future__ import annotations

from pairs import MIX, MIX_AIV, fault, note, warn

TIMEOUT = "on the device this ends as an AI-core timeout (error 507014 or 507018)"

FLAGS = (
    fault(
        "FLAG_LEFT_SET",
        "MTE2_V id 1 on aiv 0, set at pair.py:<2>, is never waited for; the next kernel on this core would start "
        "with the flag up",
        """
      asc.set_flag(E.MTE2_V, 1)  # 2
    + asc.wait_flag(E.MTE2_V, 1)
        """,
    ),
    fault(
        "FLAG_DOUBLE_SET",
        "set_flag(MTE2_V id 0) on aiv 0, pair.py:<2>: the set at pair.py:<1> is still outstanding",
        """
      asc.set_flag(E.MTE2_V, 0)  # 1
    + asc.wait_flag(E.MTE2_V, 0)
      asc.set_flag(E.MTE2_V, 0)  # 2
      asc.wait_flag(E.MTE2_V, 0)
        """,
    ),
    fault(
        "FLAG_DOUBLE_SET",
        "set_flag(MTE2_V id 0) on aiv 0, pair.py:<2>: the set at pair.py:<1> is still outstanding|both ids were "
        "fetched (pair.py:<first> and pair.py:<second>)",
        """
      pipe = asc.TPipe()
      order(E.MTE2_V, pipe.fetch_event_id(E.MTE2_V))
    - one = pipe.fetch_event_id(E.MTE2_V)  # first
    + one = pipe.alloc_event_id(E.MTE2_V)
      two = pipe.fetch_event_id(E.MTE2_V)  # second
      asc.set_flag(E.MTE2_V, one)  # 1
      asc.set_flag(E.MTE2_V, two)  # 2
      asc.wait_flag(E.MTE2_V, one)
      asc.wait_flag(E.MTE2_V, two)
        """,
    ),
    fault(
        "FLAG_BAD_ID",
        "set_flag: event_id = 8 of MTE2_V on aiv 0, pair.py:<set>; rule: 0 to 7; nearest legal value: 7",
        """
    - order(E.MTE2_V, 8)
    + order(E.MTE2_V, 5)
        """,
    ),
    warn(
        "FLAG_RESERVED_ID",
        "set_flag: MTE2_V id 7 on aiv 0, pair.py:<set>: ids 6 and 7 are kept by the system and by automatic "
        "synchronisation; use 0 to 5",
        """
    - order(E.MTE2_V, 7)
    + order(E.MTE2_V, 5)
        """,
    ),
    warn(
        "FLAG_BAD_PAIR",
        "set_flag: M_FIX id 0 on aiv 0, pair.py:<set>: event M_FIX does not exist on aiv cores; the call does nothing",
        """
    - order(E.M_FIX)
    + order(E.MTE2_V)
        """,
    ),
    note(
        "FLAG_BAD_PAIR",
        "set_flag: MTE2_V id 0 on aic 0, pair.py:<set>: event MTE2_V does not exist on aic cores; the call does "
        "nothing",
        """
    - order(E.MTE2_V)
    + order(E.MTE3_MTE2)
        """,
        kind="",
        options=MIX,
    ),
    fault(
        "FLAG_ID_CONFLICT",
        "set_flag: MTE2_V id 0 on aiv 0, pair.py:<set>: belongs to queue que (enque at pair.py:<1>); take ids from "
        "alloc_event_id or fetch_event_id",
        """
      pipe, que = asc.TPipe(), asc.TQue(T.VECIN, 1)
      pipe.init_buffer(que, 1, 256)
      t = que.alloc_tensor(asc.float32)
      asc.data_copy(t, a_gm, 64)
      que.enque(t)  # 1
    - order(E.MTE2_V, 0)
    + order(E.MTE2_V, pipe.fetch_event_id(E.MTE2_V))
      que.free_tensor(que.deque(asc.float32))
        """,
    ),
    fault(
        "EVENT_EXHAUSTED",
        "all 8 ids of MTE2_V on aiv 0 are taken at pair.py:<2> (0: alloc_event_id at pair.py:<2>, 1: |7: "
        "alloc_event_id at pair.py:<2>); rule: at most 8 at once, queues included",
        """
      pipe = asc.TPipe()
    - for _ in range(9):
    + for _ in range(8):
          pipe.alloc_event_id(E.MTE2_V)  # 2
        """,
    ),
    note(
        "SYNC_REDUNDANT",
        "MTE2_V id 1 on aiv 0, set at pair.py:<set> and waited for at pair.py:<wait>: MTE2 has had no work since the "
        "pair of MTE2_V before; the wait holds nothing back",
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
        "flag 3 of aiv 0 has 1 set that no wait has taken (last set: pair.py:<2>); the next kernel would start with "
        "it up",
        """
      asc.cross_core_set_flag(3, 0, P.PIPE_MTE3)  # 2
    + asc.cross_core_wait_flag(3)
        """,
        options=MIX_AIV,
    ),
    fault(
        "XFLAG_OVERFLOW",
        "the counter of flag 3 on aiv 0 may pass 15: set number 16 (pair.py:<2>) does not follow that core's wait "
        "number 1; answer with a flag in the other direction",
        """
    - count = 16
    + count = 15
      for _ in range(count):
          asc.cross_core_set_flag(3, 0, P.PIPE_MTE3)  # 2
      for _ in range(count):
          asc.cross_core_wait_flag(3)
        """,
        options=MIX_AIV,
    ),
    fault(
        "XFLAG_BAD_ID",
        "cross_core_set_flag: flag = 16 of aiv 0, pair.py:<2>, is cut to 0; rule: 0 to 15; nearest legal value: 0",
        """
    - asc.cross_core_set_flag(16, 0, P.PIPE_MTE3)  # 2
    + asc.cross_core_set_flag(0, 0, P.PIPE_MTE3)
      asc.cross_core_wait_flag(0)
        """,
        options=MIX_AIV,
    ),
    fault(
        "XFLAG_RESERVED_ID",
        "flag 12 of aiv 0 (pair.py:<2>) belongs to sync_all (pair.py:<1>), which uses 11 to 14",
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
        "flag 3 of aiv 0 is used in mode 1 (pair.py:<2>) before its sets and waits in mode 0 are known to be done "
        "(last set: pair.py:<1>)",
        """
      if asc.ascend_is_aiv():
          asc.cross_core_set_flag(3, 0, P.PIPE_MTE3)  # 1
    +     asc.cross_core_wait_flag(3)
          asc.cross_core_set_flag(3, 1, P.PIPE_MTE3)  # 2
          asc.cross_core_wait_flag(3)
        """,
        kind="",
        options=MIX,
    ),
    fault(
        "XFLAG_AMBIGUOUS",
        "flag 3 of aiv 0 is raised from MTE3 (pair.py:<1>) and from V (pair.py:<2>) with nothing between: the "
        "waiting core cannot know which came first",
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
        "sync_all: mode 0 on aiv 0, pair.py:<2>, needs a MIX kernel type; this launch is AIV_ONLY",
        """
    - asc.sync_all()  # 2
    + asc.pipe_barrier(P.PIPE_ALL)
        """,
    ),
    fault(
        "XFLAG_KERNEL_TYPE",
        "sync_all: the soft form is for vector-only kernels: in a 1:2 kernel the two vector cores of a group share a "
        "slot",
        """
      scratch, work = asc.LocalTensor(asc.int32, T.VECCALC, 0, 16), b_gm
    - asc.sync_all(work, scratch)
    + asc.sync_all()
        """,
        dtype="int32",
        kind="",
        options=MIX,
    ),
    warn(
        "XFLAG_TOO_MANY_BLOCKS",
        "sync_all: 49 aiv cores meet at pair.py:<2>, the chip has 48; they may wait for ever",
        """
    - asc.sync_all()  # 2
    + asc.pipe_barrier(P.PIPE_ALL)
        """,
        options=MIX_AIV,
        blocks=49,
    ),
    fault(
        "SYNC_WORKSPACE",
        "sync_all: the slot of aiv 0 holds 1 before its call number 1; rule: 0, since the workspace is zero before "
        "the launch and nothing else uses it",
        """
      scratch = asc.LocalTensor(asc.int32, T.VECCALC, 0, 8)
    - work = a_gm
    + work = b_gm
      asc.sync_all(work, scratch)
        """,
        dtype="int32",
    ),
    fault(
        "SYNC_WORKSPACE",
        "sync_all: gm_workspace has 16 bytes; rule: at least 32, 32 for each core that takes part",
        """
    - b_gm.set_global_buffer(b, 4)
    + b_gm.set_global_buffer(b, 8)
      asc.sync_all(b_gm, asc.LocalTensor(asc.int32, T.VECCALC, 0, 8))
        """,
        dtype="int32",
    ),
)

DEADLOCKS = (
    fault(
        "DEADLOCK",
        "DEADLOCK (no_set) on aiv 0: the kernel has ended, but V waits MTE2_V id 0 (pair.py:<2>), whose set was "
        f"never issued|V waits for MTE2_V id 0 (pair.py:<2>), 1 entry behind it|{TIMEOUT}",
        """
    + asc.set_flag(E.MTE2_V, 0)
      asc.wait_flag(E.MTE2_V, 0)  # 2
      asc.duplicate(x, 1.0, 64)
        """,
    ),
    fault(
        "DEADLOCK",
        "DEADLOCK (cycle) on aiv 0: the kernel has ended, but V waits MTE2_V id 0 (pair.py:<2>) <- MTE2 waits V_MTE2 "
        "id 0 (pair.py:<wait>) <- V|V waits for MTE2_V id 0 (pair.py:<2>), 1 entry behind it|MTE2 waits for V_MTE2 "
        f"id 0 (pair.py:<wait>), 1 entry behind it|{TIMEOUT}",
        """
      asc.wait_flag(E.MTE2_V, 0)  # 2
    - order(E.V_MTE2)
      asc.set_flag(E.MTE2_V, 0)
        """,
    ),
    fault(
        "DEADLOCK",
        "DEADLOCK (scalar) on aiv 0: S waits for MTE2_S id 0 (pair.py:<2>) before the program has issued its set|V "
        f"waits for MTE2_V id 1 (pair.py:<1>), 0 entries behind it|{TIMEOUT}",
        """
      asc.wait_flag(E.MTE2_V, 1)  # 1
    - event = E.MTE2_S
    + event = E.MTE2_V
      asc.wait_flag(event, 0)  # 2
      asc.set_flag(event, 0)
      asc.set_flag(E.MTE2_V, 1)
        """,
    ),
    fault(
        "DEADLOCK",
        "DEADLOCK (queue_full) on aiv 0: S stalls at pair.py:<2>: the queue of V holds its 2 entries behind the wait "
        f"for MTE2_V id 0 (pair.py:<1>)|V waits for MTE2_V id 0 (pair.py:<1>), 1 entry behind it|{TIMEOUT}",
        """
      asc.wait_flag(E.MTE2_V, 0)  # 1
      asc.duplicate(x, 1.0, 64)
    - asc.duplicate(y, 1.0, 64)  # 2
      asc.set_flag(E.MTE2_V, 0)
        """,
        checks=(("queue_depth", 2),),
    ),
    fault(
        "DEADLOCK",
        "DEADLOCK (held_set) on aiv 0: the kernel has ended, but MTE2 waits MTE2_V id 0 (pair.py:<2>): the flag is "
        "still up and holds its set|V waits for MTE2_V id 1 (pair.py:<1>), 2 entries behind it|MTE2 waits for MTE2_V "
        f"id 0 (pair.py:<2>), 1 entry behind it|{TIMEOUT}",
        """
    - number = 0
    + number = 2
      asc.set_flag(E.MTE2_V, 0)
      asc.wait_flag(E.MTE2_V, 1)  # 1
      asc.wait_flag(E.MTE2_V, 0)
      asc.set_flag(E.MTE2_V, number)  # 2
      asc.set_flag(E.MTE2_V, 1)
      asc.wait_flag(E.MTE2_V, number)
        """,
        checks=(("hold_sets", True),),
    ),
    fault(
        "DEADLOCK",
        "DEADLOCK (alloc) on aiv 0: alloc_tensor on que (VECIN) waits at pair.py:<2> for a free buffer: buffer 0 is "
        f"OCCUPIED since alloc_tensor at pair.py:<2>; rule: free_tensor first|{TIMEOUT}",
        """
      pipe, que = asc.TPipe(), asc.TQue(T.VECIN, 1)
      pipe.init_buffer(que, 1, 256)
      for _ in range(2):
          t = que.alloc_tensor(asc.float32)  # 2
    +     que.free_tensor(t)
        """,
    ),
    fault(
        "DEADLOCK",
        "DEADLOCK (cross_core): aiv 0 waits for flag 3 (pair.py:<2>) [round among all cores of one kind: aiv 0 "
        f"reported, aiv 1 did not]|ended before: |{TIMEOUT}",
        """
    - if asc.get_block_idx() == 0:
    + if asc.get_block_idx() >= 0:
          asc.cross_core_set_flag(3, 0, P.PIPE_MTE3)
          asc.cross_core_wait_flag(3)  # 2
        """,
        options=MIX_AIV,
        blocks=2,
    ),
    fault(
        "DEADLOCK",
        f"DEADLOCK (rendezvous): aiv 0 reads bytes [0:4) of b again and again (pair.py:<2>)|{TIMEOUT}",
        """
      clean(b_gm)
    - while b_gm.get_value(0) == 0:  # 2
    + while b_gm.get_value(0) == 1:
          clean(b_gm)
        """,
    ),
)
