"""Pairs on a cube core for faults of order (see `pairs`, `cube_pairs`)."""

from __future__ import annotations

from flag_pairs import TIMEOUT
from pairs import fault, note, warn

ORDER = (
    fault(
        "RAW",
        "on L0C c[0:1024) (aic 0): fixpipe, pair.py:<2> (FIX) reads what mmad, pair.py:<1> (M) writes|Needs "
        "set_flag(HardEvent.M_FIX, id) after line <1> and wait_flag before line <2>.",
        """
      asc.mmad(c, l0a, l0b, one)  # 1
    + order(E.M_FIX)
      asc.fixpipe(b_gm, c, out)  # 2
        """,
    ),
    fault(
        "RAW",
        "on L1 l1[0:512) (aic 0): load_data, pair.py:<2> (MTE1) reads what data_copy, pair.py:<1> (MTE2) "
        "writes|Needs set_flag(HardEvent.MTE2_MTE1, id) after line <1> and wait_flag before line <2>.",
        """
      asc.data_copy(asc.LocalTensor(asc.float32, T.A1, 0, 128), a_gm, 128)  # 1
    + order(E.MTE2_MTE1)
      asc.load_data(asc.LocalTensor(asc.float16, T.A2, 512, 256), l1, asc.LoadData2DParams(0, 1, 1))  # 2
        """,
    ),
    fault(
        "WAR",
        "on L0A l0a[0:512) (aic 0): init_const_value, pair.py:<2> (MTE1) overwrites what mmad, pair.py:<1> (M) "
        "reads|Needs set_flag(HardEvent.M_MTE1, id) after line <1> and wait_flag before line <2>.",
        """
      asc.mmad(c, l0a, l0b, one)  # 1
    + order(E.M_MTE1)
      asc.init_const_value(l0a, asc.InitConstValueParams(1, 1, 0, 2.0))  # 2
        """,
    ),
    fault(
        "WAR",
        "on L0C c[0:1024) (aic 0): mmad, pair.py:<2> (M) overwrites what fixpipe, pair.py:<1> (FIX) reads|Needs "
        "set_flag(HardEvent.FIX_M, id) after line <1> and wait_flag before line <2>.",
        """
      asc.mmad(c, l0a, l0b, one)
      order(E.M_FIX)
      asc.fixpipe(b_gm, c, out)  # 1
    + order(E.FIX_M)
      asc.mmad(c, l0a, l0b, one)  # 2
        """,
    ),
    fault(
        "WAW",
        "on L0A part[0:512) (aic 0): load_data, pair.py:<2> (MTE2) overwrites what init_const_value, pair.py:<1> "
        "(MTE1) writes|Needs set_flag(HardEvent.MTE1_MTE2, id) after line <1> and wait_flag before line <2>.",
        """
      part = asc.LocalTensor(asc.float16, T.A2, 512, 256)
      asc.init_const_value(part, asc.InitConstValueParams(1, 1, 0, 2.0))  # 1
    + order(E.MTE1_MTE2)
      asc.load_data(part, a_gm, asc.LoadData2DParams(0, 1, 1))  # 2
        """,
        dtype="float16",
    ),
    fault(
        "NO_BARRIER_RAW",
        "on L0C c[0:1024) (aic 0): mmad, pair.py:<2> (M) reads what mmad, pair.py:<1> (M) writes|Needs "
        "pipe_barrier(PIPE_M) between line <1> and line <2>.",
        """
      asc.mmad(c, l0a, l0b, one)  # 1
    + asc.pipe_barrier(P.PIPE_M)
      asc.mmad(c, l0a, l0b, asc.MmadParams(16, 16, 16, cmatrix_init_val=False))  # 2
        """,
    ),
    fault(
        "NO_BARRIER_WAW",
        "on L0A part[0:512) (aic 0): init_const_value, pair.py:<2> (MTE1) overwrites what init_const_value, "
        "pair.py:<1> (MTE1) writes|Needs pipe_barrier(PIPE_MTE1) between line <1> and line <2>.",
        """
      part = asc.LocalTensor(asc.float16, T.A2, 512, 256)
      asc.init_const_value(part, asc.InitConstValueParams(1, 1, 0, 2.0))  # 1
    + asc.pipe_barrier(P.PIPE_MTE1)
      asc.init_const_value(part, asc.InitConstValueParams(1, 1, 0, 3.0))  # 2
        """,
    ),
    # On FIX alone: MTE1, MTE2 and MTE3 read one side and write the other, and what M reads of L0C it writes too.
    warn(
        "NO_BARRIER_WAR",
        "on L1 half[0:128) (aic 0): fixpipe, pair.py:<2> (FIX) overwrites what fixpipe, pair.py:<1> (FIX) "
        "reads|Needs pipe_barrier(PIPE_FIX) between line <1> and line <2>.",
        """
      scales, half = asc.LocalTensor(asc.uint64, T.A1, 512, 16), asc.LocalTensor(asc.float16, T.A1, 512, 256)
      asc.init_const_value(half, asc.InitConstValueParams(1, 4, 0, 0.0))
      asc.mmad(c, l0a, l0b, one)
      order(E.M_FIX)
      order(E.MTE2_FIX)
      Q = asc.QuantModes
      eight, sixteen = (asc.FixpipeParamsV220(16, 16, 16, 16, q) for q in (Q.VQF322B8_PRE, Q.F322F16))
      asc.fixpipe(b_gm, c, scales, eight)  # 1
    + asc.pipe_barrier(P.PIPE_FIX)
      asc.fixpipe(half, c, sixteen, asc.FixpipeConfig(asc.CO2Layout.NZ))  # 2
        """,
        dtype="int8",
    ),
    fault(
        "UNITFLAG_MISMATCH",
        "fixpipe, pair.py:<2> (FIX) on aic 0 touches L0C block 0 without unit flag, but mmad, pair.py:<1> uses it; "
        "needs a unit flag in both or in neither",
        """
      asc.mmad(c, l0a, l0b, unit)  # 1
    - asc.fixpipe(b_gm, c, out)  # 2
    + asc.fixpipe(b_gm, c, unit_out)
        """,
    ),
    fault(
        "UNITFLAG_MISMATCH",
        "L0C block 0 on aic 0 is left at 1 (mmad, pair.py:<2>): no fixpipe with unit flag 3 takes it; the next mmad "
        "there would hang",
        """
      asc.mmad(c, l0a, l0b, unit)  # 2
    + asc.fixpipe(b_gm, c, unit_out)
        """,
    ),
    fault(
        "DEADLOCK",
        "DEADLOCK (unitflag) on aic 0: the kernel has ended, but FIX waits the unit flag of L0C block 0, 1 "
        "(pair.py:<2>), which no mmad with value 3 sets|FIX waits for the unit flag of L0C block 0, 1 (pair.py:<2>), "
        f"0 entries behind it|{TIMEOUT}",
        """
    + asc.mmad(c, l0a, l0b, unit)
      asc.fixpipe(b_gm, c, unit_out)  # 2
        """,
    ),
    fault(
        "CACHE_STALE",
        "get_value, pair.py:<2> (S) on aic 0 finds byte 2 of b in its data cache, but memory has changed since "
        "(data_copy, pair.py:<1>, MTE3 of aic 0); needs data_cache_clean_and_invalid before the read",
        """
      b_gm.get_value(0)
      asc.data_copy(b1, a_gm, 8)
      asc.pipe_barrier(P.PIPE_ALL)
      asc.data_copy(b_gm, b1, 8)  # 1
      asc.pipe_barrier(P.PIPE_ALL)
    + clean(b_gm)
      b_gm.get_value(0)  # 2
        """,
    ),
    fault(
        "GM_RACE_RW",
        "on GM b[0:32): aic 1: data_copy, pair.py:<2> (MTE2) reads what aic 0: data_copy, pair.py:<3> (MTE3) "
        "writes|Needs cross_core_set_flag on pipe MTE3 after line <3> on aic 0 and cross_core_wait_flag before line "
        "<2> on aic 1, or sync_all between",
        """
      asc.data_copy(b1, a_gm, 8)
      order(E.MTE2_MTE3)
      if asc.get_block_idx() == 0:
          asc.data_copy(b_gm, b1, 8)  # 3
    + asc.sync_all()
      if asc.get_block_idx() == 1:
          asc.data_copy(b1[8:], b_gm, 8)  # 2
        """,
        options="kernel_type=K.MIX_AIC_1_0",
        blocks=2,
    ),
    fault(
        "GM_RACE_WW",
        "on GM b[0:1024): aic 1: fixpipe, pair.py:<2> (FIX) overwrites what aic 0: fixpipe, pair.py:<2> (FIX) "
        "writes|Needs bytes of its own for each core at line <2>, or turns: cross_core_set_flag on pipe FIX after it "
        "on aic 0",
        """
      asc.mmad(c, l0a, l0b, asc.MmadParams(16, 16, 8 + 8 * asc.get_block_idx()))
      order(E.M_FIX)
    - asc.fixpipe(b_gm, c, out)  # 2
    + asc.fixpipe(b_gm[asc.get_block_idx() * 256:], c, out)
        """,
        blocks=2,
        bytes=2048,
    ),
    note(
        "ATOMIC_ORDER",
        "fixpipe, pair.py:<2> (FIX) on aic 1 and fixpipe, pair.py:<2> (FIX) on aic 0 add float32 to the same bytes "
        "[0:1024) of b in either order: the last bits of the sum depend on it",
        """
      asc.mmad(c, l0a, l0b, one)
      order(E.M_FIX)
      asc.set_atomic_add(asc.float32)
    - asc.fixpipe(b_gm, c, out)  # 2
    + asc.fixpipe(b_gm[asc.get_block_idx() * 256:], c, out)
      asc.set_atomic_none()
        """,
        blocks=2,
        bytes=2048,
    ),
    warn(
        "GM_TAIL",
        "data_copy stores bytes [0:64) of argument 'b' (40 bytes) in whole blocks of 32 bytes: the last one puts "
        "junk into the 24 bytes behind it, nobody's; data_copy_pad stores single bytes",
        """
      asc.data_copy(b1, a_gm, 16)
      order(E.MTE2_MTE3)
    - asc.data_copy(b_gm, b1, 16)
    + asc.data_copy(b_gm, b1, 8)
        """,
        bytes=40,
    ),
    warn(
        "UNINIT_READ",
        "mmad, pair.py:<2> (M) uses undefined bytes [512:1024) of L0A (mine): never written",
        """
    - mine = asc.LocalTensor(asc.float16, T.A2, 512, 256)
    + mine = l0a
      asc.mmad(c, mine, l0b, one)  # 2
        """,
    ),
    note(
        "DEAD_STORE",
        "mmad, pair.py:<2> (M) on aic 0 overwrites bytes of L0C c[0:1024), written by mmad, pair.py:<1> (M) and "
        "never read since",
        """
      asc.mmad(c, l0a, l0b, one)  # 1
      order(E.M_FIX)
    + asc.fixpipe(b_gm, c, out)
      order(E.FIX_M)
      asc.mmad(c, l0a, l0b, one)  # 2
        """,
    ),
    note(
        "SYNC_REDUNDANT",
        "M_FIX id 1 on aic 0, set at pair.py:<set> and waited for at pair.py:<wait>: M has had no work since the "
        "pair of M_FIX before; the wait holds nothing back",
        """
      asc.mmad(c, l0a, l0b, one)
      order(E.M_FIX, 0)
    - order(E.M_FIX, 1)
      asc.fixpipe(b_gm, c, out)
        """,
        record=True,
    ),
)
