"""TQue, TQueBind: states, each misuse with its clean twin, and the questions."""

import pytest
from fwk_machine import collected, line_of, made, run

from ascsim.hw.checks import Checks
from ascsim.hw.errors import (
    DeadlockError,
    QueueError,
    SimulatorWarning,
)
from ascsim.language.basic import duplicate
from ascsim.language.core import LocalTensor, TPosition, float16, float32, int32
from ascsim.language.fwk import TPipe, TQue

P = TPosition


def test_use_between_enque_and_deque():
    def body(use):
        _, queue = made(P.VECIN, 1)
        t = queue.alloc_tensor(float32)
        queue.enque(t)  # into the queue
        if use == "between":
            duplicate(t, 1.0, 64)
        u = queue.deque(float32)
        duplicate(t, 1.0, 64)  # the old name of the same buffer
        duplicate(u, 1.0, 64)
        queue.free_tensor(u if use == "new" else t)

    assert collected(lambda: body("new")) == []
    assert collected(lambda: body("old")) == []
    where = line_of("into the queue", __file__)
    with pytest.raises(QueueError, match=f"QUE_STATE: duplicate: dst.*queue .VECIN.*ENQUE since enque at {where}"):
        run(lambda: body("between"))


def test_alloc_without_free():
    def body(turns):
        _, in_queue = made(P.VECIN, 2, num=2)
        for _ in range(turns):
            a = in_queue.alloc_tensor(float32)
            in_queue.enque(a)
            in_queue.deque(float32)  # kept

    assert collected(lambda: body(2)) == ["QUE_LEAK"]  # one line, folded
    kept = line_of("kept", __file__)
    with pytest.raises(DeadlockError) as caught:
        run(lambda: body(3), checks=Checks.collect())
    text = str(caught.value)
    assert text.startswith("DEADLOCK (alloc) on aiv 0: alloc_tensor on ")
    assert f"buffer 0 is DEQUE since deque at {kept}; buffer 1 is DEQUE since deque at {kept}" in text


@pytest.mark.parametrize(
    ("misuse", "code"),
    [
        ("enque twice", "QUE_STATE"),
        ("free queued", "QUE_STATE"),
        ("free twice", "QUE_DOUBLE_FREE"),
        ("free a view twice", "QUE_DOUBLE_FREE"),
        ("enque freed", "QUE_STATE"),
        ("deque empty", "QUE_EMPTY"),
        ("enque beyond depth", "QUE_FULL"),
        ("enque of another queue", "QUE_WRONG_TENSOR"),
        ("free of another queue", "QUE_WRONG_TENSOR"),
        ("enque of no queue", "QUE_WRONG_TENSOR"),
        ("alloc without init", "QUE_NOT_INIT"),
        ("", ""),
    ],
)
def test_misuse(misuse, code):
    def body():
        pipe, queue = made(P.VECIN, 1, num=2)
        other = TQue(P.VECIN, 1)
        bare = TQue(P.VECOUT, 1)
        pipe.init_buffer(other, 1, 256)
        a = queue.alloc_tensor(float32)
        b = other.alloc_tensor(float32)
        if misuse == "enque of another queue":
            queue.enque(b)
        if misuse == "free of another queue":
            queue.free_tensor(b)
        if misuse == "enque of no queue":
            queue.enque(LocalTensor(float32, P.VECIN, 0, 64))
        if misuse == "alloc without init":
            bare.alloc_tensor(float32)
        if misuse == "deque empty":
            queue.deque(float32)
        queue.enque(a)  # first
        if misuse == "enque twice":
            queue.enque(a)
        if misuse == "free queued":
            queue.free_tensor(a)
        if misuse == "enque beyond depth":
            queue.enque(queue.alloc_tensor(float32))
        c = queue.deque(float32)
        view = c[8:]
        queue.free_tensor(c)  # freed
        if misuse == "free twice":
            queue.free_tensor(c)
        if misuse == "free a view twice":
            queue.free_tensor(view)
        if misuse == "enque freed":
            queue.enque(c)
        other.free_tensor(b)

    if not misuse:
        assert collected(body) == []
        return
    with pytest.raises(QueueError) as caught:
        run(body, checks=Checks.collect())
    text = str(caught.value)
    assert text.startswith(f"{code}: ")
    named = {
        "enque twice": f"is ENQUE since enque at {line_of('first', __file__)}",
        "free queued": f"is ENQUE since enque at {line_of('first', __file__)}",
        "free twice": f"is FREE since free_tensor at {line_of('freed', __file__)}",
        "enque freed": f"is FREE since free_tensor at {line_of('freed', __file__)}",
        "enque beyond depth": f"holds 1 tensor, its depth (enque at {line_of('first', __file__)})",
        "enque of another queue": "the tensor comes from other (VECIN)",
        "enque of no queue": "the tensor comes from no queue",
        "alloc without init": "bare (VECOUT) has no buffers: it was never given to init_buffer",
    }.get(misuse, "")
    assert named in text


def test_stale_tensor_of_a_buffer_allocated_again():
    def body():
        _, queue = made(P.VECIN, 1)
        old = queue.alloc_tensor(float32)
        queue.free_tensor(old)
        queue.alloc_tensor(float32)
        queue.free_tensor(old)

    with pytest.raises(QueueError, match=r"QUE_DOUBLE_FREE"):
        run(body)


def test_tensor_passes_through_twice():
    def body():
        _, queue = made(P.VECIN, P.VECOUT, 1, bind=True)
        t = queue.alloc_tensor(float32)
        for _ in range(3):
            queue.enque(t)
            t = queue.deque(float32)
        queue.free_tensor(t)

    assert collected(body) == []


def test_free_right_after_alloc():
    def body():
        _, queue = made(P.VECIN, 1)
        for _ in range(3):
            queue.free_tensor(queue.alloc_tensor(float32))

    assert collected(body) == []


def test_buffers_go_round():
    def body():
        _, queue = made(P.VECIN, 3, num=3, nbytes=64)
        a, b, c = (queue.alloc_tensor(float32) for _ in range(3))
        assert [t.place.start for t in (a, b, c)] == [0, 64, 128]
        queue.free_tensor(b)
        b = queue.alloc_tensor(float16)  # the cursor stands at 0, which is taken
        assert (b.place.start, b.dtype, b.get_size().v) == (64, float16, 32)
        queue.free_tensor(a)
        queue.free_tensor(c)
        assert queue.alloc_tensor(float32).place.start == 128

    run(body, checks=Checks.collect())


def test_first_in_first_out():
    def body():
        _, queue = made(P.VECIN, 3, num=3, nbytes=64)
        tensors = [queue.alloc_tensor(float32) for _ in range(3)]
        for i in (2, 0, 1):
            queue.enque(tensors[i])
        assert [queue.deque(int32).place.start for _ in range(3)] == [128, 0, 64]

    run(body, checks=Checks.collect())


def test_ninth_tensor_of_one_position():
    def body(many):
        pipe = TPipe()
        queues = [TQue(P.VECIN, 1) for _ in range(9)]
        for queue in queues:
            pipe.init_buffer(queue, 1, 32)
        tensors = [queue.alloc_tensor(float32) for queue in queues[:many]]
        for queue, tensor in zip(queues, tensors, strict=False):
            queue.enque(tensor)
            queue.free_tensor(queue.deque(float32))
            queue.free_all_event()

    assert collected(lambda: body(8)) == []
    with pytest.warns(
        SimulatorWarning, match=r"BUF_LIMIT: .*9 tensors of VECIN are allocated at once; rule: at most 8"
    ):
        run(lambda: body(9))


def test_free_all_event_releases_ids():
    def body(release):
        pipe, queue = made(P.VECIN, 8, num=8, nbytes=32)
        tensors = [queue.alloc_tensor(float32) for _ in range(8)]
        for tensor in tensors:
            queue.free_tensor(tensor)
        if release:
            queue.free_all_event()
        return pipe.alloc_event_id(5).v  # V_MTE2

    assert collected(lambda: body(True)) == []
    with pytest.raises(Exception, match=r"EVENT_EXHAUSTED"):
        run(lambda: body(False))


def test_questions():
    def body():
        _, queue = made(P.VECIN, 2, num=2)
        seen = []

        def ask():
            answers = (queue.has_tensor_in_que(), queue.vacant_in_que(), queue.has_idle_buffer())
            seen.append((queue.get_tensor_count_in_que().v, *(bool(answer) for answer in answers)))
            assert queue.get_tensor_count_in_que().dtype is int32

        ask()
        a = queue.alloc_tensor(float32)
        b = queue.alloc_tensor(float32)
        ask()
        queue.enque(a)
        ask()
        queue.enque(b)
        ask()
        queue.free_tensor(queue.deque(float32))
        ask()
        queue.free_tensor(queue.deque(float32))
        ask()
        assert seen == [
            (0, False, True, True),
            (0, False, True, False),
            (1, True, True, False),
            (2, True, False, False),
            (1, True, True, True),
            (0, False, True, True),
        ]

    assert collected(body) == []
