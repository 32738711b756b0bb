"""TPipe: leaks, destroy, reset, cube cores."""

import pytest
from fwk_machine import collected, line_of, run, touch

from ascsim.hw.errors import (
    DeadlockError,
    MemoryFault,
    QueueError,
    SimulatorWarning,
    SyncError,
)
from ascsim.language.basic import adds, duplicate, set_flag, wait_flag
from ascsim.language.core import HardEvent, TPosition, float32
from ascsim.language.fwk import TBuf, TPipe, TQue

P = TPosition


def start(tensor):
    return tensor.get_phy_addr().v


# ---------------------------------------------------------------------- leaks, destroy, reset


def test_enqueued_and_never_dequeued():
    def body(deque):
        pipe = TPipe()
        queue = TQue(P.VECIN, 1)
        pipe.init_buffer(queue, 1, 32)
        queue.enque(queue.alloc_tensor(float32))  # left in
        if deque:
            queue.free_tensor(queue.deque(float32))

    assert collected(lambda: body(True)) == []
    assert collected(lambda: body(False)) == ["QUE_NOT_DEQUED"]  # and no FLAG_LEFT_SET
    where = line_of("left in", __file__)
    with pytest.raises(QueueError, match=f"queue .VECIN.*ENQUE since enque at {where}.*MTE2_V id 0 would stay set"):
        run(lambda: body(False))


def test_never_freed():
    def body():
        pipe = TPipe()
        queue = TQue(P.VECIN, 1)
        pipe.init_buffer(queue, 1, 32)
        queue.alloc_tensor(float32)  # leaked

    with pytest.warns(
        SimulatorWarning, match=f"QUE_LEAK.*OCCUPIED since alloc_tensor at {line_of('leaked', __file__)}"
    ):
        run(body)


def test_destroy_and_init_again():
    def body():
        pipe = TPipe()
        queue = TQue(P.VECIN, 1)
        for _ in range(3):
            pipe.destroy()
            pipe.init()
            pipe.init_buffer(que=queue, num=1, len=64)
            t = queue.alloc_tensor(float32)
            assert start(t) == 0
            touch("MTE2", writes=[t])
            queue.enque(t)
            t = queue.deque(float32)
            touch("V", reads=[t])
            queue.free_tensor(t)
            number = pipe.alloc_event_id(HardEvent.MTE2_V)
            assert number.v == 0
            set_flag(HardEvent.MTE2_V, number)
            wait_flag(HardEvent.MTE2_V, number)
            pipe.release_event_id(number, HardEvent.MTE2_V)
            pipe.reset()

    assert collected(body) == []


def test_destroy_waits_for_all_pipes():
    def body(destroy):
        pipe = TPipe()
        buf = TBuf(P.VECCALC)
        pipe.init_buffer(buf, 64)
        t = buf.get(float32)
        touch("MTE2", writes=[t])
        if destroy:
            pipe.destroy()
        touch("MTE3", reads=[t])

    assert collected(lambda: body(True)) == []
    assert collected(lambda: body(False)) == ["RAW"]


def test_ids_are_the_authors_after_destroy():
    def body(destroy):
        pipe = TPipe()
        if destroy:
            pipe.destroy()
        set_flag(HardEvent.MTE2_V, 0)
        wait_flag(HardEvent.MTE2_V, 0)

    assert collected(lambda: body(True)) == []
    assert collected(lambda: body(False)) == ["FLAG_RESERVED_ID"]


def test_queue_after_reset():
    def body():
        pipe = TPipe()
        queue = TQue(P.VECIN, 1)
        pipe.init_buffer(queue, 1, 64)
        pipe.reset()  # reset here
        queue.alloc_tensor(float32)

    where = line_of("reset here", __file__)
    with pytest.raises(QueueError, match=f"QUE_NOT_INIT.*queue .VECIN.*lost its memory to TPipe.reset at {where}"):
        run(body)


def test_tensor_from_before_reset():
    def body(reset):
        pipe = TPipe()
        buf = TBuf(P.VECCALC)
        other = TBuf(P.VECCALC)
        pipe.init_buffer(buf, 512)
        t = buf.get(float32)
        duplicate(t, 1.0, 64)
        if reset:
            pipe.reset()  # reset of buf
            pipe.init_buffer(other, 512)
        adds(t[8:], t, 1.0, 8)

    assert collected(lambda: body(False)) == []
    assert set(collected(lambda: body(True))) == {"USE_AFTER_FREE"}
    where = line_of("reset of buf", __file__)
    owner = "the bytes are now those of other .VECCALC."
    with pytest.raises(MemoryFault, match=f"buf .VECCALC., bytes .0:512. of UB, lost its memory.*{where}; {owner}"):
        run(lambda: body(True))


def test_reset_waits_for_the_last_user():
    def body(reset):
        pipe = TPipe()
        queue = TQue(P.VECIN, 1)
        pipe.init_buffer(queue, 1, 64)
        t = queue.alloc_tensor(float32)
        touch("MTE2", writes=[t])
        queue.enque(t)
        t = queue.deque(float32)
        where = t.place
        touch("V", reads=[t])
        queue.free_tensor(t)
        if reset:
            pipe.reset()
        t.place = where
        touch("MTE2", writes=[t])

    assert collected(lambda: body(True)) == []
    assert collected(lambda: body(False)) == ["WAR"]


def test_enqueued_at_reset():
    def body():
        pipe = TPipe()
        queue = TQue(P.VECIN, 1)
        pipe.init_buffer(queue, 1, 64)
        queue.enque(queue.alloc_tensor(float32))
        pipe.reset()

    assert collected(body) == ["QUE_NOT_DEQUED"]


# ---------------------------------------------------------------------- cube cores


def test_cube_core_keeps_three_ids():
    def body():
        pipe = TPipe()
        flags = pipe.core.flags[HardEvent.M_MTE1]
        assert [flags[i].outstanding for i in range(8)] == [1, 1, 1, 0, 0, 0, 0, 0]
        assert [pipe.alloc_event_id(HardEvent.M_MTE1).v for _ in range(5)] == [3, 4, 5, 6, 7]

    assert collected(body, "aic") == []


def test_literal_m_mte1_under_a_pipe():
    def body():
        TPipe()
        set_flag(HardEvent.M_MTE1, 2)

    with pytest.raises(SyncError, match=r"FLAG_ID_CONFLICT.*the TPipe"):
        run(body, "aic")


def test_cube_core_reset_keeps_them():
    def body():
        pipe = TPipe()
        pipe.reset()
        assert pipe.alloc_event_id(HardEvent.M_MTE1).v == 3

    assert collected(body, "aic") == []


def test_second_destroy():
    def body(init):
        pipe = TPipe()
        pipe.destroy()
        if init:
            pipe.init()
        pipe.destroy()

    assert collected(lambda: body(False), "aiv") == []
    assert collected(lambda: body(True), "aic") == []
    with pytest.raises(DeadlockError, match=r"M_MTE1 id 0"):  # nobody has set them again
        run(lambda: body(False), "aic")


def test_mix_kernel_runs_one_text_on_both_kinds():
    def body():
        pipe = TPipe()
        vector, cube = TQue(P.VECIN, 1), TQue(P.A1, 1)
        pipe.init_buffer(vector, 1, 300 * 1024 if pipe.core.kind == "aic" else 64)  # UB does not exist on the cube core
        pipe.init_buffer(cube, 1, 64)
        for queue in (vector, cube):
            for _ in range(3):
                t = queue.alloc_tensor(float32)
                queue.enque(t)
                assert (t.place.memory is None) == queue.inert
                t = queue.deque(float32)
                queue.free_tensor(t)
        assert vector.inert == (pipe.core.kind == "aic")
        assert cube.inert == (pipe.core.kind == "aiv")

    assert collected(body, "mix") == []


def test_flags_of_a_pipe_that_never_drains():
    def body():
        pipe = TPipe()
        number = pipe.alloc_event_id(HardEvent.MTE2_V)
        wait_flag(HardEvent.MTE2_V, number)  # never set

    with pytest.raises(DeadlockError, match=f"no_set.*V waits MTE2_V id 0 .{line_of('never set', __file__)}"):
        run(body)
