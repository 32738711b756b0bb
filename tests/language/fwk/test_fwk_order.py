"""What queues order, and tensors that are used after their time."""

import pytest
from fwk_machine import collected, line_of, made, run, touch

from ascsim.hw.errors import (
    MemoryFault,
)
from ascsim.language.basic import add, adds, duplicate
from ascsim.language.core import TPosition, float32, int32
from ascsim.language.fwk import TPipe, TQue, TQueBind

P = TPosition


def framework_add(tiles=4, num=2, out_num=2):
    pipe = TPipe()
    qi, qo = TQue(P.VECIN, 2), TQue(P.VECOUT, 2)
    pipe.init_buffer(qi, num, 256)
    pipe.init_buffer(qo, out_num, 256)
    for _ in range(tiles):
        a = qi.alloc_tensor(float32)
        touch("MTE2", writes=[a])
        qi.enque(a)
        b = qi.deque(float32)
        o = qo.alloc_tensor(float32)
        add(o, b, b, 64)
        qi.free_tensor(b)
        qo.enque(o)
        p = qo.deque(float32)
        touch("MTE3", reads=[p])
        qo.free_tensor(p)


@pytest.mark.parametrize("num", [1, 2])
def test_framework_add(num):
    assert collected(lambda: framework_add(num=num, out_num=num)) == []


def test_consumer_on_another_pipe_than_the_queue_orders():
    def body(kind, *ends):
        _, queue = made(*ends, 1, bind=kind is TQueBind)
        for _ in range(3):
            a = queue.alloc_tensor(float32)
            touch("MTE2", writes=[a])
            queue.enque(a)
            b = queue.deque(float32)
            touch("MTE3", reads=[b])
            queue.free_tensor(b)

    assert set(collected(lambda: body(TQue, P.VECIN))) == {"RAW", "WAR"}
    assert collected(lambda: body(TQueBind, P.VECIN, P.VECOUT)) == []


def test_use_after_free_and_the_refill():
    def body(free_first):
        pipe = TPipe()
        q, qo = TQue(P.VECIN, 1), TQue(P.VECOUT, 1)
        pipe.init_buffer(q, 1, 256)
        pipe.init_buffer(qo, 2, 256)
        for _ in range(2):
            a = q.alloc_tensor(float32)
            touch("MTE2", writes=[a])
            q.enque(a)
            b = q.deque(float32)
            if free_first:
                q.free_tensor(b)  # freed too early
            o = qo.alloc_tensor(float32)
            add(o, b, b, 64)
            if not free_first:
                q.free_tensor(b)
            qo.enque(o)
            p = qo.deque(float32)
            touch("MTE3", reads=[p])
            qo.free_tensor(p)

    assert collected(lambda: body(False)) == []
    assert set(collected(lambda: body(True))) == {"USE_AFTER_FREE", "WAR"}
    with pytest.raises(
        MemoryFault, match=f"USE_AFTER_FREE: add: src0.*freed at {line_of('freed too early', __file__)}"
    ):
        run(lambda: body(True))


def test_the_owner_of_freed_bytes_is_named():
    def body():
        _, queue = made(P.VECIN, 1)
        old = queue.alloc_tensor(float32)
        queue.free_tensor(old)
        queue.alloc_tensor(float32)  # next owner
        duplicate(old, 1.0, 64)

    owner = (
        f"the bytes are now those of queue .VECIN., OCCUPIED since alloc_tensor at {line_of('next owner', __file__)}"
    )
    with pytest.raises(MemoryFault, match=owner):
        run(body)


def test_slices_and_casts_die_with_the_tensor():
    def body(use):
        _, queue = made(P.VECIN, 1)
        t = queue.alloc_tensor(float32)
        parts = [t[8:], t[8:][8:], t.reinterpret_cast(int32)]
        duplicate(t, 1.0, 64)
        if use == "before":
            adds(parts[0], parts[0], 1.0, 8)
        queue.free_tensor(t)
        if isinstance(use, int):
            parts[use].get_value(0)
        if use == "cut after":
            t[16:].get_value(0)

    assert collected(lambda: body("before")) == []
    for use in (0, 1, 2, "cut after"):
        assert collected(lambda use=use: body(use)) == ["USE_AFTER_FREE"]
