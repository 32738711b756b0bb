"""Queues of depth 0, arguments, names in reports, buffers placed by hand."""

import pytest
from fwk_machine import collected, line_of, made, run, touch

from ascsim.hw.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    MemoryFault,
    QueueError,
)
from ascsim.language.basic import add, duplicate
from ascsim.language.core import ConstExpr, LocalTensor, TPosition, float16, float32
from ascsim.language.fwk import TBuf, TBufPool, TPipe, TQue, TQueBind

P = TPosition


# ---------------------------------------------------------------------- depth 0


def test_in_place():
    def body(deque=True):
        pipe, queue = made(P.VECIN, 0, num=2)
        core = pipe.core
        forward, back = core.flags[4], core.flags[5]  # MTE2_V, V_MTE2
        assert [back[i].outstanding for i in range(3)] == [1, 1, 0]
        t = LocalTensor(float32)
        for turn in range(4):
            queue.alloc_tensor(t)
            assert t.place.start == (0, 256)[turn % 2]
            assert back[turn % 2].outstanding == 0
            touch("MTE2", writes=[t])
            queue.enque(t)
            assert forward[turn % 2].outstanding == 1
            if deque:
                queue.deque(t)
            assert forward[turn % 2].outstanding == 0
            add(t, t, t, 64)
            queue.free_tensor(t)
            assert back[turn % 2].outstanding == 1
        assert pipe.alloc_event_id(4).v == 2  # 0 and 1 belong to the buffers for good

    assert collected(body) == []


def test_in_place_use_before_deque():
    def body():
        _, queue = made(P.VECIN, 0)
        t = LocalTensor(float32)
        queue.alloc_tensor(t)
        queue.enque(t)
        duplicate(t, 1.0, 64)

    with pytest.raises(QueueError, match=r"QUE_STATE: duplicate"):
        run(body)


def test_in_place_deque_without_enque():
    def body():
        _, queue = made(P.VECIN, 0)
        t = LocalTensor(float32)
        queue.alloc_tensor(tensor=t)
        queue.deque(tensor=t)

    with pytest.raises(QueueError, match=r"QUE_STATE: deque: queue .VECIN.*OCCUPIED"):
        run(body)


def test_in_place_left_enqueued():
    def body():
        _, queue = made(P.VECIN, 0)
        t = LocalTensor(float32)
        queue.alloc_tensor(t)
        queue.enque(t)

    assert collected(body) == ["QUE_NOT_DEQUED"]


@pytest.mark.parametrize("call", ["vacant_in_que", "has_tensor_in_que", "get_tensor_count_in_que", "has_idle_buffer"])
def test_questions_need_a_depth(call):
    with pytest.raises(ArgumentValueError, match=f"{call}: depth = 0: not available on queue .VECIN."):
        run(lambda: getattr(made(P.VECIN, 0)[1], call)())


def test_form_must_fit_the_depth():
    with pytest.raises(ArgumentValueError, match=r"alloc_tensor: depth = 0.*takes the tensor itself"):
        run(lambda: made(P.VECIN, 0)[1].alloc_tensor(float32))
    with pytest.raises(ArgumentValueError, match=r"alloc_tensor: depth = 1.*takes a data type"):
        run(lambda: made(P.VECIN, 1)[1].alloc_tensor(LocalTensor(float32)))


# ---------------------------------------------------------------------- arguments and names


def test_bad_arguments():
    with pytest.raises(ArgumentTypeError, match=r"alloc_tensor: dtype = 'float32'"):
        run(lambda: made(P.VECIN, 1)[1].alloc_tensor("float32"))
    with pytest.raises(ArgumentTypeError, match=r"enque: tensor = None|enque: tensor: is no LocalTensor"):
        run(lambda: made(P.VECIN, 1)[1].enque(None))
    with pytest.raises(ArgumentValueError, match=r"TQue: depth = -1: negative.*nearest legal value: 0"):
        run(lambda: TQue(P.VECIN, -1))
    with pytest.raises(ArgumentValueError, match=r"TQue: pos = 99: is no TPosition"):
        run(lambda: TQue(99, 1))
    with pytest.raises(QueueError, match=r"QUE_POSITION: TQue: pos = GM"):
        run(lambda: TQue(P.GM, 1))


def test_compile_time_constants_are_taken():
    def body():
        pipe = TPipe()
        queue = TQue(ConstExpr(P.VECIN), ConstExpr(1))
        pipe.init_buffer(queue, ConstExpr(1), ConstExpr(64))
        t = queue.alloc_tensor(ConstExpr(float16))
        assert (t.dtype, t.get_size().v) == (float16, 32)
        queue.enque(t)
        queue.free_tensor(queue.deque(ConstExpr(float16)))

    assert collected(body) == []


def test_default_depths():
    def body():
        assert TQue(P.VECIN).depth == 1
        assert TQueBind().depth == 0
        assert (TQueBind().src, TQueBind().dst) == (P.VECIN, P.VECIN)

    run(body)


class Holder:
    pass


def test_names_in_reports():
    def body():
        holder = Holder()
        holder.queue = TQue(P.VECOUT, 1)
        plain = TQue(P.VECIN, 1)
        listed = [TQueBind(P.VECIN, P.VECOUT, 1)]  # in a list
        first, second = TQue(P.VECIN, 1), TQue(P.VECOUT, 1)
        one, two, three, four = TQue(P.VECIN, 1), TQue(P.VECOUT, 1), TBuf(P.VECCALC), TBuf(P.VECIN)
        nested, (inner, _) = TQue(P.VECIN, 1), (TQue(P.VECOUT, 1), 0)
        assert plain.label == "plain (VECIN)"
        assert [q.label for q in (first, second)] == ["first (VECIN)", "second (VECOUT)"]
        assert [q.label.split()[0] for q in (one, two, three, four)] == ["one", "two", "three", "four"]
        assert [q.label.split()[0] for q in (nested, inner)] == ["nested", "TQue"]
        assert holder.queue.label == "holder.queue (VECOUT)"
        assert listed[0].label == f"TQueBind of {line_of('in a list', __file__)} (VECIN -> VECOUT)"

    run(body)


# ---------------------------------------------------------------------- buffers placed by hand


def test_placed_by_hand():
    def body():
        TPipe()
        queue = TQue(P.VECIN, 2)
        queue.init_start_buf_handle(0, 2, 64)
        queue.init_buf_handle(TBufPool(P.VECIN), 0, 0, 1024, 64)
        queue.init_buf_handle(TBufPool(P.VECIN), 1, 0, 4096, 50)
        a, b = queue.alloc_tensor(float32), queue.alloc_tensor(float32)
        assert [(t.place.start, t.place.nbytes) for t in (a, b)] == [(1024, 64), (4096, 64)]
        queue.free_tensor(a)
        queue.free_tensor(b)

    assert collected(body) == []


def test_placed_by_hand_incompletely():
    def body():
        TPipe()
        queue = TQue(P.VECIN, 2)
        queue.init_start_buf_handle(0, 2, 64)
        queue.init_buf_handle(TBufPool(P.VECIN), 0, 0, 1024, 64)
        queue.alloc_tensor(float32)

    with pytest.raises(QueueError, match=r"QUE_NOT_INIT.*waits for init_buf_handle"):
        run(body)


def test_placed_by_hand_outside():
    def body():
        TPipe()
        queue = TQue(P.VECIN, 2)
        queue.init_start_buf_handle(0, 1, 64)
        queue.init_buf_handle(TBufPool(P.VECIN), 0, 0, 196576, 64)

    with pytest.raises(MemoryFault, match=r"MEM_OVERFLOW.*bytes \[196576:196640\) of UB \(196608 bytes\)"):
        run(body)


# ---------------------------------------------------------------------- arguments too many


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda queue, room: queue.alloc_tensor(float32, 1), "alloc_tensor: tensor = 1: is given beside a data type"),
        (lambda queue, room: queue.deque(float32, tensor=1), "deque: tensor = 1: is given beside a data type"),
        (lambda queue, room: room.alloc_tensor(float32, 1), "alloc_tensor: tensor = 1: is given beside a data type"),
        (lambda queue, room: room.enque(3), "enque: tensor = 3: is no LocalTensor"),
        (lambda queue, room: room.enque(room.get(float32), 1), "enque: dst_user_pos"),
        (lambda queue, room: room.deque(float32, 1), "deque: dst_user_pos"),
        (lambda queue, room: room.free_tensor(3), "free_tensor: tensor = 3: is no LocalTensor"),
        (lambda queue, room: queue.init_buf_handle(None, 0, 0, 0, 64), "buf_pool: is no TBufPool"),
        (lambda queue, room: queue.init_start_buf_handle("x", 1, 64), "start_buf_handle = 'x'"),
    ],
)
def test_what_a_call_does_not_take(call, text):
    def body():
        pipe, queue = made(P.VECIN, 1)
        room = TBuf(P.VECCALC)
        pipe.init_buffer(room, 64)
        call(queue, room)

    with pytest.raises((ArgumentTypeError, ArgumentValueError), match=text):
        run(body)


def test_a_tbuf_is_one_buffer():
    def body():
        TPipe().init_buffer(TBuf(P.VECCALC), 1, 64)

    with pytest.raises(ArgumentValueError, match="init_buffer: len = 64: a TBuf is one buffer"):
        run(body)
