"""Pairs for queues, buffers and pools (see `pairs`)."""

from __future__ import annotations

from collections.abc import Callable

from pairs import Pair, fault, warn


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
        "free_tensor: que (VECIN): the tensor is FREE since free_tensor at pair.py:<1>; rule: alloc_tensor before "
        "free_tensor",
        """
      t = que.alloc_tensor(asc.float32)
      que.free_tensor(t)  # 1
    - que.free_tensor(t)
        """,
    ),
    queue(
        "QUE_EMPTY",
        "deque: que (VECIN) holds no tensor: buffer 0 is OCCUPIED since alloc_tensor at pair.py:<1>; buffer 1 is "
        "never used; rule: enque one first",
        """
      t = que.alloc_tensor(asc.float32)  # 1
    + que.enque(t)
      que.free_tensor(que.deque(asc.float32))
        """,
    ),
    queue(
        "QUE_FULL",
        "enque: que (VECIN) holds 1 tensor, its depth (enque at pair.py:<1>); rule: deque one first",
        """
      que.enque(que.alloc_tensor(asc.float32))  # 1
    + que.free_tensor(que.deque(asc.float32))
      que.enque(que.alloc_tensor(asc.float32))
      que.free_tensor(que.deque(asc.float32))
        """,
    ),
    queue(
        "QUE_STATE",
        "free_tensor: que (VECIN): the tensor is ENQUE since enque at pair.py:<1>; rule: deque a tensor before it is "
        "freed",
        """
      t = que.alloc_tensor(asc.float32)
      que.enque(t)  # 1
    - que.free_tensor(t)
    + que.free_tensor(que.deque(asc.float32))
        """,
    ),
    queue(
        "QUE_STATE",
        "duplicate: dst: the tensor of que (VECIN), bytes [0:256) of UB, is ENQUE since enque at pair.py:<1>; rule: "
        "deque it first",
        """
      t = que.alloc_tensor(asc.float32)
      que.enque(t)  # 1
    + t = que.deque(asc.float32)
      asc.duplicate(t, 1.0, 64)
      que.free_tensor(t)
        """,
    ),
    queue(
        "QUE_WRONG_TENSOR",
        "free_tensor: other (VECOUT): the tensor comes from que (VECIN), where it is OCCUPIED since alloc_tensor at "
        "pair.py:<1>; rule: a tensor of this queue's present buffers",
        """
      t = que.alloc_tensor(asc.float32)  # 1
    - other.free_tensor(t)
    + que.free_tensor(t)
        """,
    ),
    fault(
        "QUE_POSITION",
        "deque: que (VECIN -> VECOUT): enque at pair.py:<1> set MTE2_V, this deque waits for V_MTE3; rule: both name "
        "the same positions",
        """
      pipe, que = asc.TPipe(), asc.TQueBind(T.VECIN, T.VECOUT, 1)
      pipe.init_buffer(que, 1, 256)
      que.enque(que.alloc_tensor(asc.float32), T.GM, T.VECIN)  # 1
    - t = que.deque(asc.float32, T.VECOUT, T.GM)
    + t = que.deque(asc.float32, T.GM, T.VECIN)
      que.free_tensor(t)
        """,
    ),
    fault(
        "QUE_NOT_INIT",
        "alloc_tensor: que (VECIN) has no buffers: it was never given to init_buffer",
        """
      pipe, que = asc.TPipe(), asc.TQue(T.VECIN, 1)
    + pipe.init_buffer(que, 1, 256)
      que.free_tensor(que.alloc_tensor(asc.float32))
        """,
    ),
    queue(
        "QUE_LEAK",
        "que (VECIN): a buffer is OCCUPIED since alloc_tensor at pair.py:<1> and was not freed by end of the kernel",
        """
      t = que.alloc_tensor(asc.float32)  # 1
    + que.free_tensor(t)
        """,
        warn,
    ),
    queue(
        "QUE_NOT_DEQUED",
        "que (VECIN): a tensor is ENQUE since enque at pair.py:<1> and was not dequeued by end of the kernel; MTE2_V "
        "id 0 would stay set",
        """
      que.enque(que.alloc_tensor(asc.float32))  # 1
    + que.free_tensor(que.deque(asc.float32))
        """,
    ),
    fault(
        "BUF_LIMIT",
        "TPipe.init_buffer: buf (VECCALC) asks for 1 buffer, 64 given so far; rule: at most 64 in all",
        """
      pipe, que, buf = asc.TPipe(), asc.TQue(T.VECIN, 1), asc.TBuf(T.VECCALC)
      pipe.init_buffer(que, 64, 32)
    - pipe.init_buffer(buf, 32)
        """,
    ),
    fault(
        "BUF_LIMIT",
        "TBufPool.init_buffer: que (VECIN) asks for 17 buffers, 0 given so far; rule: at most 16 in all",
        """
      pipe, pool, que = asc.TPipe(), asc.TBufPool(T.VECIN, 16), asc.TQue(T.VECIN, 1)
      pipe.init_buf_pool(pool, 1024)
    - pool.init_buffer(que, 17, 32)
    + pool.init_buffer(que, 16, 32)
        """,
    ),
    warn(
        "BUF_LIMIT",
        "alloc_tensor: que (VECIN): 9 tensors of VECIN are allocated at once; rule: at most 8, all queues",
        """
      pipe, que = asc.TPipe(), asc.TQue(T.VECIN, 8)
    - count = 9
    + count = 8
      pipe.init_buffer(que, 9, 32)
      for t in [que.alloc_tensor(asc.float32) for _ in range(count)]:
          que.free_tensor(t)
          que.free_all_event()
        """,
    ),
    fault(
        "POOL_OVERLAP",
        "alloc_tensor: second (VECIN) lies in two, whose bytes one uses since pair.py:<1>; rule: one.reset() first",
        """
      pipe, one, two = asc.TPipe(), asc.TBufPool(T.VECCALC), asc.TBufPool(T.VECCALC)
      pipe.init_buf_pool(one, 1024)
      pipe.init_buf_pool(two, 1024, one)
      first, second = asc.TQue(T.VECIN, 1), asc.TQue(T.VECIN, 1)
      one.init_buffer(first, 1, 256)
      first.free_tensor(first.alloc_tensor(asc.float32))  # 1
    + one.reset()
      two.init_buffer(second, 1, 256)
      second.free_tensor(second.alloc_tensor(asc.float32))
        """,
    ),
    fault(
        "PIPE_TWICE",
        "TPipe: this core has one since pair.py:<1>; rule: one TPipe a kernel, see get_tpipe_ptr()",
        """
      pipe = asc.TPipe()  # 1
    - again = asc.TPipe()
        """,
    ),
)
