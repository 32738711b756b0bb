"""A minimal kernel for every fault of the fault list, and its clean twin, one change apart. Here: faults of order.

In the text of a row a line that begins with `-` stands in the faulty kernel alone, one with `+` in its twin alone. A
comment (`# 1`, `# 2`) marks the lines that the report must name. Local tensors of 64 float32, one behind the other in
UB: `x` (VECIN), `y` (VECCALC), `z` (VECOUT); global tensors `a_gm` (ones), `b_gm` (zeros) of 256 float32. On a cube
core: `l1`, `l0a`, `l0b`, `c` for one fractal of 16 x 16.
"""

from __future__ import annotations

from typing import NamedTuple

VECTOR = """
    x, y, z = (asc.LocalTensor(asc.float32, p, k, 64) for k, p in ((0, T.VECIN), (256, T.VECCALC), (512, T.VECOUT)))
"""
CUBE = """
    l1, l0a, l0b = (asc.LocalTensor(asc.float16, p, 0, 256) for p in (T.A1, T.A2, T.B2))
    c = asc.LocalTensor(asc.float32, T.CO1, 0, 256)
    asc.init_const_value(l0a, asc.InitConstValueParams(1, 1, 0, 1.0))
    asc.init_const_value(l0b, asc.InitConstValueParams(1, 1, 0, 1.0))
    order(E.MTE1_M)
    one, unit = (asc.MmadParams(16, 16, 16, unit_flag=flag) for flag in (0, 3))
    out, unit_out = (asc.FixpipeParamsV220(16, 16, 16, 16, False, unit_flag=flag) for flag in (0, 3))
"""
PRELUDE = """
import ascsim as asc
from ascsim.runtime.config import KernelType as K

E, P, T = asc.HardEvent, asc.PipeID, asc.TPosition


def order(event, number=0):
    asc.set_flag(event, number)
    asc.wait_flag(event, number)


def clean(gm):
    asc.data_cache_clean_and_invalid(asc.CacheLine.SINGLE_CACHE_LINE, gm)


@asc.jit({options})
def kernel(a, b):
    a_gm, b_gm = asc.GlobalTensor(), asc.GlobalTensor()
    a_gm.set_global_buffer(a)
    b_gm.set_global_buffer(b)
"""


class Pair(NamedTuple):
    """One row: the code, what happens by default and under strict checks (raise, warn, note), text parts, kernel."""

    code: str
    default: str
    strict: str
    says: tuple[str, ...]
    body: str
    kind: str = "aiv"  # of the cores
    options: str = ""  # of jit
    blocks: int = 1
    bytes: int = 1024  # of b
    dtype: str = "float32"  # of a and b
    checks: tuple[tuple[str, object], ...] = ()
    record: bool = False

    def text(self, faulty: bool) -> str:
        """The source of one of the two kernels."""
        drop = "+" if faulty else "-"
        lines = [line[4:] for line in self.body.strip("\n").splitlines()]
        kept = [f"    {line[2:]}" for line in lines if line[:1] != drop]
        local = {"aiv": VECTOR, "aic": CUBE}.get(self.kind, "")
        return PRELUDE.format(options=self.options) + local + "\n".join(kept) + "\n"


def fault(code: str, says: str, body: str, **more: object) -> Pair:
    return Pair(code, "raise", "raise", tuple(says.split("|")) if says else (), body, **more)  # type: ignore[arg-type]


def warn(code: str, says: str, body: str, **more: object) -> Pair:
    return fault(code, says, body, **more)._replace(default="warn")


def note(code: str, says: str, body: str, **more: object) -> Pair:
    return fault(code, says, body, **more)._replace(default="note", strict="note")


MIX_AIV, MIX = "kernel_type=K.MIX_AIV_1_0", "kernel_type=K.MIX_AIC_1_2"
AIC = {"kind": "aic", "options": "kernel_type=K.AIC_ONLY"}
BY_HAND = {"options": "auto_sync=False"}

ORDER = (
    fault(
        "RAW",
        "on UB x[0:256)|(V) reads what data_copy|(MTE2) writes|set_flag(HardEvent.MTE2_V, id)",
        """
      asc.data_copy(x, a_gm, 64)  # 1
    + order(E.MTE2_V)
      asc.adds(z, x, 1.0, 64)  # 2
        """,
    ),
    fault(
        "WAR",
        "(MTE2) overwrites what adds|turn 0 against turn 1|the reverse flag",
        """
    + asc.set_flag(E.V_MTE2, 1)
      for i in range(2):
    +     asc.wait_flag(E.V_MTE2, 1)
          asc.data_copy(x, a_gm[i * 64:], 64)  # 2
          order(E.MTE2_V)
          asc.adds(z, x, 1.0, 64)  # 1
    +     asc.set_flag(E.V_MTE2, 1)
    + asc.wait_flag(E.V_MTE2, 1)
        """,
    ),
    fault(
        "WAW",
        "(V) overwrites what data_copy|(MTE2) writes",
        """
      asc.data_copy(x, a_gm, 64)  # 1
    + order(E.MTE2_V)
      asc.duplicate(x, 1.0, 64)  # 2
        """,
    ),
    fault(
        "NO_BARRIER_RAW",
        "pipe_barrier(PIPE_V)",
        """
      asc.duplicate(x, 1.0, 64)  # 1
    + asc.pipe_barrier(P.PIPE_V)
      asc.adds(y, x, 1.0, 64)  # 2
        """,
        **BY_HAND,
    ),
    fault(
        "NO_BARRIER_WAW",
        "pipe_barrier(PIPE_MTE2)|[128:256)",
        """
      asc.data_copy(x, a_gm, 64)  # 1
    + asc.pipe_barrier(P.PIPE_MTE2)
      asc.data_copy(x[32:], a_gm, 32)  # 2
        """,
    ),
    warn(
        "NO_BARRIER_WAR",
        "pipe_barrier(PIPE_V)",
        """
      asc.duplicate(x, 1.0, 64)
      asc.pipe_barrier(P.PIPE_V)
      asc.adds(y, x, 1.0, 64)  # 1
    + asc.pipe_barrier(P.PIPE_V)
      asc.duplicate(x, 2.0, 64)  # 2
        """,
        **BY_HAND,
    ),
    fault(
        "NO_BARRIER_RAW",
        "pipe_barrier(PIPE_M)",
        """
      asc.mmad(c, l0a, l0b, one)  # 1
    + asc.pipe_barrier(P.PIPE_M)
      asc.mmad(c, l0a, l0b, asc.MmadParams(16, 16, 16, cmatrix_init_val=False))  # 2
        """,
        **AIC,
    ),
    fault(
        "RAW",
        "on L0C|(FIX) reads what mmad|(M) writes|set_flag(HardEvent.M_FIX, id)",
        """
      asc.mmad(c, l0a, l0b, one)  # 1
    + order(E.M_FIX)
      asc.fixpipe(b_gm, c, out)  # 2
        """,
        **AIC,
    ),
    fault(
        "RAW",
        "on L1|(MTE1) reads what data_copy|(MTE2) writes|set_flag(HardEvent.MTE2_MTE1, id)",
        """
      asc.data_copy(asc.LocalTensor(asc.float32, T.A1, 0, 128), a_gm, 128)  # 1
    + order(E.MTE2_MTE1)
      asc.load_data(asc.LocalTensor(asc.float16, T.A2, 512, 256), l1, asc.LoadData2DParams(0, 1, 1))  # 2
        """,
        **AIC,
    ),
    fault(
        "WAR",
        "on L0A l0a[0:512)|(MTE1) overwrites what mmad|set_flag(HardEvent.M_MTE1, id)",
        """
      asc.mmad(c, l0a, l0b, one)  # 1
    + order(E.M_MTE1)
      asc.init_const_value(l0a, asc.InitConstValueParams(1, 1, 0, 2.0))  # 2
        """,
        **AIC,
    ),
    fault(
        "NO_BARRIER_WAW",
        "on L0A part[0:512)|pipe_barrier(PIPE_MTE1)",
        """
      part = asc.LocalTensor(asc.float16, T.A2, 512, 256)
      asc.init_const_value(part, asc.InitConstValueParams(1, 1, 0, 2.0))  # 1
    + asc.pipe_barrier(P.PIPE_MTE1)
      asc.init_const_value(part, asc.InitConstValueParams(1, 1, 0, 3.0))  # 2
        """,
        **AIC,
    ),
    fault(
        "WAR",
        "on L0C c[0:1024)|(M) overwrites what fixpipe|set_flag(HardEvent.FIX_M, id)",
        """
      asc.mmad(c, l0a, l0b, one)
      order(E.M_FIX)
      asc.fixpipe(b_gm, c, out)  # 1
    + order(E.FIX_M)
      asc.mmad(c, l0a, l0b, one)  # 2
        """,
        **AIC,
    ),
    fault(
        "GM_RACE_RW",
        "on GM b[0:|(MTE2) reads what aic 0: fixpipe|cross_core_set_flag on pipe FIX",
        """
      if asc.ascend_is_aic():
          a2, b2 = (asc.LocalTensor(asc.float16, p, 0, 256) for p in (T.A2, T.B2))
          c = asc.LocalTensor(asc.float32, T.CO1, 0, 256)
          asc.init_const_value(a2, asc.InitConstValueParams(1, 1, 0, 1.0))
          asc.init_const_value(b2, asc.InitConstValueParams(1, 1, 0, 1.0))
          order(E.MTE1_M)
          asc.mmad(c, a2, b2, asc.MmadParams(16, 16, 16))
          order(E.M_FIX)
          asc.fixpipe(b_gm, c, asc.FixpipeParamsV220(16, 16, 16, 16, False))  # 1
    +     asc.cross_core_set_flag(3, 2, P.PIPE_FIX)
      else:
    +     asc.cross_core_wait_flag(3)
          asc.data_copy(asc.LocalTensor(asc.float32, T.VECIN, 0, 256), b_gm, 256)  # 2
        """,
        kind="",
        options=MIX,
    ),
    fault(
        "GM_RACE_RW",
        "on GM b[0:32)|aiv 1|aiv 0|sync_all between",
        """
      asc.duplicate(x, 1.0, 8)
      order(E.V_MTE3)
      if asc.get_block_idx() == 0:
          asc.data_copy(b_gm, x, 8)  # 1
    + asc.sync_all()
      if asc.get_block_idx() == 1:
          asc.data_copy(y, b_gm, 8)  # 2
        """,
        options=MIX_AIV,
        blocks=2,
    ),
    fault(
        "GM_RACE_WW",
        "hint tail|data_copy_pad",
        """
      asc.duplicate(x, 1.0 + asc.get_block_idx(), 16)
      order(E.V_MTE3)
    - asc.data_copy(b_gm[asc.get_block_idx() * 10:], x, 16)  # 1 2
    + asc.data_copy_pad(b_gm[asc.get_block_idx() * 10:], x, asc.DataCopyExtParams(1, 40, 0, 0, 0))
        """,
        blocks=2,
    ),
    warn(
        "GM_TAIL",
        "24 bytes behind it|data_copy_pad",
        """
      asc.duplicate(x, 1.0, 16)
      order(E.V_MTE3)
    - asc.data_copy(b_gm, x, 16)  # 2
    + asc.data_copy_pad(b_gm, x, asc.DataCopyExtParams(1, 40, 0, 0, 0))
        """,
        bytes=40,
    ),
    fault(
        "CACHE_NOT_FLUSHED",
        "(MTE2) reads bytes which the data cache of aiv 0 holds newer",
        """
      b_gm.set_value(0, 1.0)  # 1
    + clean(b_gm)
      order(E.S_MTE2)
      asc.data_copy(x, b_gm, 8)  # 2
        """,
    ),
    fault(
        "CACHE_STALE",
        "finds byte 2 of b in its data cache|data_cache_clean_and_invalid",
        """
      b_gm.get_value(0)
      asc.duplicate(x, 1.0, 8)
      asc.pipe_barrier(P.PIPE_ALL)
      asc.data_copy(b_gm, x, 8)
      asc.pipe_barrier(P.PIPE_ALL)
    + clean(b_gm)
      b_gm.get_value(0)  # 2
        """,
    ),
    fault(
        "CACHE_LINE_SHARED",
        "64-byte lines",
        """
    - at = asc.get_block_idx()
    + at = asc.get_block_idx() * 16
      b_gm.set_value(at, 1.0)
      asc.data_cache_clean_and_invalid(asc.CacheLine.SINGLE_CACHE_LINE, b_gm[at:])  # 2
        """,
        blocks=2,
    ),
    note(
        "ATOMIC_ORDER",
        "the last bits of the sum",
        """
      asc.duplicate(x, 1.0, 8)
      order(E.V_MTE3)
      asc.set_atomic_add(asc.float32)
    - asc.data_copy(b_gm, x, 8)  # 1 2
    + asc.data_copy(b_gm[asc.get_block_idx() * 8:], x, 8)
      asc.set_atomic_none()
        """,
        blocks=2,
    ),
    fault(
        "UNITFLAG_MISMATCH",
        "without unit flag",
        """
      asc.mmad(c, l0a, l0b, unit)  # 1
    - asc.fixpipe(b_gm, c, out)  # 2
    + asc.fixpipe(b_gm, c, unit_out)
        """,
        **AIC,
    ),
    fault(
        "UNITFLAG_MISMATCH",
        "is left at 1|the next mmad there would hang",
        """
      asc.mmad(c, l0a, l0b, unit)  # 2
    + asc.fixpipe(b_gm, c, unit_out)
        """,
        **AIC,
    ),
)
