"""Pairs for memory, operands and queues (see `pairs`)."""

from __future__ import annotations

from collections.abc import Callable

from pairs import AIC, Pair, fault, note, warn

MEMORY = (
    fault(
        "OOB_GM",
        "4128 bytes past its end",
        """
    - asc.data_copy(x, a_gm[1280:], 8)  # 2
    + asc.data_copy(x, a_gm[248:], 8)
        """,
    ),
    warn(
        "OOB_GM",
        "1024 bytes past its end",
        """
    - asc.data_copy(x, a_gm[504:], 8)  # 2
    + asc.data_copy(x, a_gm[248:], 8)
        """,
    ),
    warn(
        "OOB_BUF",
        "",
        """
    - asc.duplicate(x, 1.0, 65)  # 2
    + asc.duplicate(x, 1.0, 64)
        """,
    ),
    fault(
        "OOB_PHYS",
        "of UB (196608 bytes)",
        """
    - top = asc.LocalTensor(asc.float32, T.VECIN, 196608 - 128, 0)
    + top = asc.LocalTensor(asc.float32, T.VECIN, 196608 - 256, 0)
      asc.duplicate(top, 1.0, 64)  # 2
        """,
    ),
    fault(
        "MISALIGNED_ADDR",
        "32",
        """
    - asc.duplicate(x[5:], 1.0, 8)  # 2
    + asc.duplicate(x[8:], 1.0, 8)
        """,
    ),
    fault(
        "MISALIGNED_ADDR",
        "512",
        """
    - at = asc.LocalTensor(asc.float16, T.A2, 256, 256)
    + at = asc.LocalTensor(asc.float16, T.A2, 512, 256)
      asc.init_const_value(at, asc.InitConstValueParams(1, 1, 0, 1.0))  # 2
        """,
        **AIC,
    ),
    warn(
        "MISALIGNED_LEN",
        "data_copy_pad",
        """
    - asc.data_copy(x, a_gm, 50)  # 2
    + asc.data_copy(x, a_gm, 48)
        """,
    ),
    warn(
        "UNINIT_READ",
        "uses undefined bytes [128:256) of UB|the nearest write before it is duplicate, pair.py:24, bytes [0:128)",
        """
    - asc.duplicate(x, 1.0, 32)
    + asc.duplicate(x, 1.0, 64)
      asc.adds(z, x, 1.0, 64)  # 2
        """,
    ),
    fault(
        "USE_AFTER_FREE",
        "was freed at",
        """
      pipe, que = asc.TPipe(), asc.TQue(T.VECIN, 1)
      pipe.init_buffer(que, 1, 256)
      t = que.alloc_tensor(asc.float32)
    - que.free_tensor(t)
      asc.duplicate(t, 1.0, 64)  # 2
    + que.free_tensor(t)
        """,
    ),
    fault(
        "MEM_OVERFLOW",
        "",
        """
      pipe, one, two = asc.TPipe(), asc.TBuf(T.VECCALC), asc.TBuf(T.VECCALC)
      pipe.init_buffer(one, 98304)
    - pipe.init_buffer(two, 98336)  # 2
    + pipe.init_buffer(two, 98304)
        """,
    ),
    warn(
        "RESERVED_MEM",
        "",
        """
    - top = asc.LocalTensor(asc.float32, T.VECCALC, 184 * 1024, 64)
    + top = asc.LocalTensor(asc.float32, T.VECCALC, 183 * 1024, 64)
      mask = asc.LocalTensor(asc.uint8, T.VECCALC, 2048, 32)
      asc.duplicate(asc.LocalTensor(asc.int16, T.VECCALC, 2048, 16), 0, 16)
      asc.duplicate(top, 1.0, 64)
      asc.select(z, mask, top, 1.0, asc.SelMode.VSEL_TENSOR_SCALAR_MODE, 64)  # 2
        """,
    ),
    fault(
        "OVERLAP_PARTIAL",
        "",
        """
      asc.duplicate(x, 1.0, 64)
    - asc.adds(x[8:], x, 1.0, 48)  # 2
    + asc.adds(y[8:], x, 1.0, 48)
        """,
    ),
    fault(
        "OVERLAP_REPEAT",
        "",
        """
      long = asc.LocalTensor(asc.float32, T.VECCALC, 0, 192)
      asc.duplicate(long, 1.0, 192)
    - asc.adds(long[64:], long, 1.0, 64, 2, asc.UnaryRepeatParams(1, 1, 8, 8))  # 2
    + asc.adds(long, long, 1.0, 64, 2, asc.UnaryRepeatParams(1, 1, 8, 8))
        """,
    ),
    note(
        "DEAD_STORE",
        "never read since",
        """
      asc.duplicate(x, 1.0, 64)  # 1
    + asc.adds(z, x, 1.0, 64)
      asc.duplicate(x, 2.0, 64)  # 2
        """,
    ),
)

OPERANDS = (
    fault(
        "BAD_POSITION",
        "",
        """
    - at = asc.LocalTensor(asc.float32, T.A1, 0, 64)
    + at = x
      asc.duplicate(at, 1.0, 64)  # 2
        """,
    ),
    fault(
        "BAD_DTYPE",
        "int32",
        """
    - kind = asc.int32
    + kind = asc.float16
      asc.duplicate(asc.LocalTensor(kind, T.VECIN, 0, 64), 1, 64)
      asc.exp(asc.LocalTensor(kind, T.VECCALC, 256, 64), asc.LocalTensor(kind, T.VECIN, 0, 64), 64)  # 2
        """,
    ),
    fault(
        "WRONG_CORE",
        "",
        """
    - asc.duplicate(asc.LocalTensor(asc.float32, T.VECIN, 0, 64), 1.0, 64)  # 2
    + asc.get_block_idx()
        """,
        **AIC,
    ),
    fault("BAD_REPEAT", "256", "\n    - n = 256\n    + n = 1\n      asc.duplicate(x, 1.0, 64, n, 1, 0)  # 2"),
    fault(
        "BAD_STRIDE",
        "",
        """
    - n = 4096
    + n = 1
      asc.data_copy(x, a_gm, asc.DataCopyParams(n, 1, 0, 0))  # 2
        """,
    ),
    fault("BAD_MASK", "65", "\n    - n = 65\n    + n = 64\n      asc.duplicate(x, 1.0, n, 1, 1, 8)  # 2"),
    warn("ZERO_LENGTH", "", "\n    - n = 0\n    + n = 64\n      asc.duplicate(x, 1.0, n)  # 2"),
)


def queue(code: str, says: str, rest: str, make: Callable[..., Pair] = fault) -> Pair:
    """A kernel with one queue of two buffers and depth 1."""
    head = """
      pipe, other = asc.TPipe(), asc.TQue(T.VECOUT, 1)
      que = asc.TQue(T.VECIN, 1)
      pipe.init_buffer(que, 2, 256)
      pipe.init_buffer(other, 1, 256)
"""
    return make(code, says, head + rest.strip("\n"))


QUEUES = (
    queue(
        "QUE_DOUBLE_FREE",
        "que (VECIN)",
        """
      t = que.alloc_tensor(asc.float32)
      que.free_tensor(t)
    - que.free_tensor(t)  # 2
        """,
    ),
    queue("QUE_EMPTY", "holds no tensor", "\n    - que.deque(asc.float32)  # 2"),
    queue(
        "QUE_FULL",
        "its depth",
        """
      que.enque(que.alloc_tensor(asc.float32))
    + que.free_tensor(que.deque(asc.float32))
      que.enque(que.alloc_tensor(asc.float32))  # 2
      que.free_tensor(que.deque(asc.float32))
        """,
    ),
    queue(
        "QUE_STATE",
        "ENQUE since enque",
        """
      t = que.alloc_tensor(asc.float32)
      que.enque(t)
    - que.free_tensor(t)  # 2
    + que.free_tensor(que.deque(asc.float32))
        """,
    ),
    queue(
        "QUE_WRONG_TENSOR",
        "comes from",
        """
      t = que.alloc_tensor(asc.float32)
    - other.free_tensor(t)  # 2
    + que.free_tensor(t)
        """,
    ),
    fault(
        "QUE_POSITION",
        "",
        """
      pipe, que = asc.TPipe(), asc.TQueBind(T.VECIN, T.VECOUT, 1)
      pipe.init_buffer(que, 1, 256)
      que.enque(que.alloc_tensor(asc.float32), T.GM, T.VECIN)
    - t = que.deque(asc.float32, T.VECOUT, T.GM)  # 2
    + t = que.deque(asc.float32, T.GM, T.VECIN)
      que.free_tensor(t)
        """,
    ),
    fault(
        "QUE_NOT_INIT",
        "que (VECIN)",
        """
      pipe, que = asc.TPipe(), asc.TQue(T.VECIN, 1)
    + pipe.init_buffer(que, 1, 256)
      que.free_tensor(que.alloc_tensor(asc.float32))  # 2
        """,
    ),
    queue(
        "QUE_LEAK",
        "que (VECIN)",
        """
      t = que.alloc_tensor(asc.float32)
    + que.free_tensor(t)
        """,
        warn,
    ),
    queue(
        "QUE_NOT_DEQUED",
        "que (VECIN)",
        """
      que.enque(que.alloc_tensor(asc.float32))
    + que.free_tensor(que.deque(asc.float32))
        """,
    ),
    fault(
        "BUF_LIMIT",
        "at most 64",
        """
      pipe, que = asc.TPipe(), asc.TQue(T.VECIN, 1)
      pipe.init_buffer(que, 64, 32)
    - pipe.init_buffer(asc.TBuf(T.VECCALC), 32)  # 2
        """,
    ),
    warn(
        "BUF_LIMIT",
        "at most 8",
        """
      pipe, que = asc.TPipe(), asc.TQue(T.VECIN, 8)
      pipe.init_buffer(que, 9, 32)
    - held = [que.alloc_tensor(asc.float32) for _ in range(9)]
    + held = [que.alloc_tensor(asc.float32) for _ in range(8)]
      for t in held[:8]:
          que.free_tensor(t)
      que.free_all_event()
    - que.free_tensor(held[8])
        """,
    ),
    fault(
        "POOL_OVERLAP",
        "",
        """
      pipe, one, two = asc.TPipe(), asc.TBufPool(T.VECCALC), asc.TBufPool(T.VECCALC)
      pipe.init_buf_pool(one, 1024)
      pipe.init_buf_pool(two, 1024, one)
      first, second = asc.TQue(T.VECIN, 1), asc.TQue(T.VECIN, 1)
      one.init_buffer(first, 1, 256)
      first.free_tensor(first.alloc_tensor(asc.float32))
    + one.reset()
      two.init_buffer(second, 1, 256)
      second.free_tensor(second.alloc_tensor(asc.float32))  # 2
        """,
    ),
    fault("PIPE_TWICE", "", "\n      pipe = asc.TPipe()\n    - again = asc.TPipe()  # 2"),
)
