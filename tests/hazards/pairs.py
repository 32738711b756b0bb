"""A minimal kernel for every fault of the fault list, and its clean twin, one line apart. Here: faults of order.

In the text of a row a line that begins with `-` stands in the faulty kernel alone, one with `+` in its twin alone.
What the report must say follows the code, parts joined by `|`; `<1>` there is the number of the line whose comment has
that mark (`# 1`: what came first, `# 2`: where the report is made, `# set` and `# wait`: in `order`). Local tensors of
64 float32, one behind the other in UB: `x` (VECIN), `y` (VECCALC), `z` (VECOUT); global tensors `a_gm` (ones), `b_gm`
(zeros) of 256 float32. On a cube core: `l1`, `l0a`, `l0b`, `c` for one fractal of 16 x 16.
"""

from __future__ import annotations

from textwrap import indent
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
    out, unit_out = (asc.FixpipeParamsV220(16, 16, 16, 16, unit_flag=flag) for flag in (0, 3))
"""
PRELUDE = """
import ascsim as asc
from ascsim.runtime.config import KernelType as K

E, P, T = asc.HardEvent, asc.PipeID, asc.TPosition


def order(event, number=0):
    asc.set_flag(event, number)  # set
    asc.wait_flag(event, number)  # wait


def hand_over(number=3):
    if asc.ascend_is_aic():
        asc.cross_core_set_flag(number, 2, P.PIPE_FIX)
    else:
        asc.cross_core_wait_flag(number)


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
    guard: str = ""  # in a mix kernel: the kind of core that the text is for

    def text(self, faulty: bool) -> str:
        """The source of one of the two kernels."""
        drop = "+" if faulty else "-"
        lines = [line[4:] for line in self.body.strip("\n").splitlines()]
        kept = [f"    {line[2:]}".rstrip() for line in lines if line[:1] != drop]
        local = {"aiv": VECTOR, "aic": CUBE}.get(self.kind, "")
        body = local + "\n".join(kept)
        if self.guard:
            body = f"    if asc.ascend_is_{self.guard}():\n{indent(body, '    ')}"
        return PRELUDE.format(options=self.options) + body + "\n"

    def facts(self) -> list[str]:
        """What the report must say, with the numbers of the lines."""
        lines = enumerate(self.text(True).splitlines(), 1)
        at = {mark: number for number, line in lines for mark in line.partition("#")[2].split()}
        facts = list(self.says)
        for mark, number in at.items():
            facts = [fact.replace(f"<{mark}>", str(number)) for fact in facts]
        return facts

    @property
    def cores(self) -> str:
        """`vector`, `cube` or, where a launch has both, `mix`."""
        if "MIX_AIC_1_1" in self.options or "MIX_AIC_1_2" in self.options:
            return "mix"
        return "cube" if "AIC" in self.options else "vector"


def fault(code: str, says: str, body: str, **more: object) -> Pair:
    if not says:
        raise ValueError(f"{code}: what does the report say?")
    return Pair(code, "raise", "raise", tuple(says.split("|")), body, **more)  # type: ignore[arg-type]


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
        "RAW on UB x[0:256) (aiv 0): adds, pair.py:<2> (V) reads what data_copy, pair.py:<1> (MTE2) writes|Needs "
        "set_flag(HardEvent.MTE2_V, id) after line <1> and wait_flag before line <2>.",
        """
      asc.data_copy(x, a_gm, 64)  # 1
    + order(E.MTE2_V)
      asc.adds(z, x, 1.0, 64)  # 2
        """,
    ),
    fault(
        "RAW",
        "on UB t[0:256) (aiv 0): data_copy, pair.py:<2> (MTE3) reads what data_copy, pair.py:<1> (MTE2) writes|or a "
        "queue MTE2 -> MTE3 for this buffer (hint queue position: que (VECIN) orders MTE2 with V, but MTE3 uses",
        """
      pipe = asc.TPipe()
    - que = asc.TQue(T.VECIN, 1)
    + que = asc.TQueBind(T.VECIN, T.VECOUT, 1)
      pipe.init_buffer(que, 1, 512)
      t = que.alloc_tensor(asc.float32)
      asc.data_copy(t, a_gm, 64)  # 1
      que.enque(t)
      t = que.deque(asc.float32)
      asc.data_copy(b_gm, t, 64)  # 2
      que.free_tensor(t)
        """,
    ),
    fault(
        "WAR",
        "WAR on UB x[0:256) (aiv 0): data_copy, pair.py:<2> (MTE2) overwrites what adds, pair.py:<1> (V) reads|Needs "
        "set_flag(HardEvent.V_MTE2, id) after line <1> and wait_flag before line <2>. Loop-carried: turn 0 against "
        "turn 1; the usual cure is the reverse flag, set once before the loop and waited for once after it",
        """
      for i in range(2):
          asc.data_copy(x, a_gm[i * 64:], 64)  # 2
          order(E.MTE2_V)
          asc.adds(z, x, 1.0, 64)  # 1
    +     order(E.V_MTE2)
        """,
    ),
    fault(
        "WAW",
        "WAW on UB x[0:256) (aiv 0): duplicate, pair.py:<2> (V) overwrites what data_copy, pair.py:<1> (MTE2) "
        "writes|Needs set_flag(HardEvent.MTE2_V, id) after line <1> and wait_flag before line <2>.",
        """
      asc.data_copy(x, a_gm, 64)  # 1
    + order(E.MTE2_V)
      asc.duplicate(x, 1.0, 64)  # 2
        """,
    ),
    fault(
        "NO_BARRIER_RAW",
        "on UB x[0:256) (aiv 0): adds, pair.py:<2> (V) reads what duplicate, pair.py:<1> (V) writes|Needs "
        "pipe_barrier(PIPE_V) between line <1> and line <2>.",
        """
      asc.duplicate(x, 1.0, 64)  # 1
    + asc.pipe_barrier(P.PIPE_V)
      asc.adds(y, x, 1.0, 64)  # 2
        """,
        **BY_HAND,
    ),
    fault(
        "NO_BARRIER_WAW",
        "on UB x[128:256) (aiv 0): data_copy, pair.py:<2> (MTE2) overwrites what data_copy, pair.py:<1> (MTE2) "
        "writes|Needs pipe_barrier(PIPE_MTE2) between line <1> and line <2>.",
        """
      asc.data_copy(x, a_gm, 64)  # 1
    + asc.pipe_barrier(P.PIPE_MTE2)
      asc.data_copy(x[32:], a_gm, 32)  # 2
        """,
    ),
    warn(
        "NO_BARRIER_WAR",
        "on UB x[0:256) (aiv 0): duplicate, pair.py:<2> (V) overwrites what adds, pair.py:<1> (V) reads|Needs "
        "pipe_barrier(PIPE_V) between line <1> and line <2>.",
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
        "GM_RACE_RW",
        "on GM b[0:32): aiv 1: data_copy, pair.py:<2> (MTE2) reads what aiv 0: data_copy, pair.py:<1> (MTE3) "
        "writes|Needs cross_core_set_flag on pipe MTE3 after line <1> on aiv 0 and cross_core_wait_flag before line "
        "<2> on aiv 1, or sync_all between",
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
        "on GM b[40:64): aiv 1: data_copy, pair.py:<2> (MTE3) overwrites what aiv 0: data_copy, pair.py:<2> (MTE3) "
        "writes|Needs bytes of its own for each core at line <2>, or turns: cross_core_set_flag on pipe MTE3 after "
        "it on aiv 0 and cross_core_wait_flag before it on aiv 1|hint tail: whole 32-byte blocks reach into the "
        "neighbour's share, data_copy_pad stores single bytes",
        """
      asc.duplicate(x, 1.0 + asc.get_block_idx(), 16)
      order(E.V_MTE3)
    - asc.data_copy(b_gm[asc.get_block_idx() * 10:], x, 16)  # 2
    + asc.data_copy_pad(b_gm[asc.get_block_idx() * 10:], x, asc.DataCopyExtParams(1, 40, 0, 0, 0))
        """,
        blocks=2,
    ),
    warn(
        "GM_RACE_WW",
        "on GM b[0:32): aiv 1: data_copy, pair.py:<2> (MTE3) overwrites what aiv 0: data_copy, pair.py:<2> (MTE3) "
        "writes; nothing orders the two cores",
        """
      asc.duplicate(x, 1.0, 8)
      order(E.V_MTE3)
    - asc.data_copy(b_gm, x, 8)  # 2
    + asc.data_copy(b_gm[asc.get_block_idx() * 8:], x, 8)
        """,
        blocks=2,
    ),
    warn(
        "GM_TAIL",
        "data_copy stores bytes [0:64) of argument 'b' (40 bytes) in whole blocks of 32 bytes: the last one puts "
        "junk into the 24 bytes behind it, nobody's; data_copy_pad stores single bytes",
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
        "on GM b[0:4): aiv 0: data_copy, pair.py:<2> (MTE2) reads bytes which the data cache of aiv 0 holds newer "
        "(set_value, pair.py:<1>); needs data_cache_clean_and_invalid between, and an order after it",
        """
      b_gm.set_value(0, 1.0)  # 1
    + clean(b_gm)
      order(E.S_MTE2)
      asc.data_copy(x, b_gm, 8)  # 2
        """,
    ),
    fault(
        "CACHE_STALE",
        "get_value, pair.py:<2> (S) on aiv 0 finds byte 2 of b in its data cache, but memory has changed since "
        "(data_copy, pair.py:<1>, MTE3 of aiv 0); needs data_cache_clean_and_invalid before the read",
        """
      b_gm.get_value(0)
      asc.duplicate(x, 1.0, 8)
      asc.pipe_barrier(P.PIPE_ALL)
      asc.data_copy(b_gm, x, 8)  # 1
      asc.pipe_barrier(P.PIPE_ALL)
    + clean(b_gm)
      b_gm.get_value(0)  # 2
        """,
    ),
    fault(
        "CACHE_LINE_SHARED",
        "the line [0:64) of b goes to memory whole (pair.py:<2>, aiv 1), and with it old copies of bytes [0:4): aiv 0 "
        "writes them (data_cache_clean_and_invalid, pair.py:<2>); needs words of different cores in different "
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
        "data_copy, pair.py:<2> (MTE3) on aiv 1 and data_copy, pair.py:<2> (MTE3) on aiv 0 add float32 to the same "
        "bytes [0:32) of b in either order: the last bits of the sum depend on it",
        """
      asc.duplicate(x, 1.0, 8)
      order(E.V_MTE3)
      asc.set_atomic_add(asc.float32)
    - asc.data_copy(b_gm, x, 8)  # 2
    + asc.data_copy(b_gm[asc.get_block_idx() * 8:], x, 8)
      asc.set_atomic_none()
        """,
        blocks=2,
    ),
)
