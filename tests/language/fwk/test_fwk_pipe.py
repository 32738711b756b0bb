"""TPipe: memory layout and construction."""

import pytest
from fwk_machine import collected, line_of, run

from ascsim.hw.current import core as current
from ascsim.hw.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    LaunchError,
    MemoryFault,
    QueueError,
    SimulatorWarning,
)
from ascsim.language.basic import set_vector_mask
from ascsim.language.core import MaskMode, TPosition, float16, float32, int32
from ascsim.language.core.ir_value import int32 as int32_of
from ascsim.language.fwk import TBuf, TPipe, TQue, TQueBind, get_tpipe_ptr

P = TPosition


def start(tensor):
    return tensor.get_phy_addr().v


def test_bump_pointer_rounds_to_32_bytes_in_call_order():
    def body():
        pipe = TPipe()
        a, b, c = TQue(P.VECIN, 2), TBuf(P.VECCALC), TQue(P.VECOUT, 1)
        pipe.init_buffer(a, 2, 100)
        pipe.init_buffer(c, 1, 32)
        pipe.init_buffer(b, 33)
        assert [(t.place.start, t.place.nbytes) for t in (a.alloc_tensor(float16), a.alloc_tensor(float16))] == [
            (0, 128),
            (128, 128),
        ]
        assert start(c.alloc_tensor(float16)) == 256
        t = b.get(int32)
        assert (start(t), t.get_length().v, t.get_size().v) == (288, 64, 16)
        assert pipe.get_base_addr(P.VECCALC).v == 0

    with pytest.warns(SimulatorWarning, match=r"QUE_LEAK"):
        run(body)


def test_each_memory_has_its_own_pointer():
    def body():
        pipe = TPipe()
        queues = [TQue(pos, 1) for pos in (P.A1, P.A2, P.B1, P.B2, P.C1, P.C2, P.CO1)]
        for queue in queues:
            pipe.init_buffer(queue, 1, 512)
        starts = {}
        for queue in queues:
            t = queue.alloc_tensor(float32)
            starts[queue.position.name] = (t.place.memory.name, start(t))
            queue.free_tensor(t)
        assert starts == {
            "A1": ("L1", 0),
            "A2": ("L0A", 0),
            "B1": ("L1", 512),
            "B2": ("L0B", 0),
            "C1": ("L1", 1024),
            "C2": ("BT", 0),
            "CO1": ("L0C", 0),
        }

    assert collected(body, "aic") == []


def test_memory_of_a_bind_is_its_local_end():
    def body():
        pipe = TPipe()
        out, through = TQueBind(P.CO1, P.GM, 1), TQueBind(P.VECIN, P.VECOUT, 1)
        assert (out.position, out.memory) == (P.CO1, "L0C")
        assert (through.position, through.memory) == (P.VECOUT, "UB")
        pipe.init_buffer(through, 1, 64)

    run(body)


def test_memory_overflow_lists_the_buffers():
    def body():
        pipe = TPipe()
        in_queue = TQue(P.VECIN, 2)
        tmp = TBuf(P.VECCALC)
        big = TQue(P.VECOUT, 2)
        pipe.init_buffer(in_queue, 2, 65536)
        pipe.init_buffer(tmp, 1000)
        pipe.init_buffer(big, 2, 40000)

    expected = (
        "MEM_OVERFLOW: TPipe.init_buffer: big (VECOUT) asks for 2 x 40000 = 80000 bytes of UB, 64512 of 196608 are "
        "available; buffers so far: in_queue (VECIN) 2 x 65536, tmp (VECCALC) 1 x 1024, together 132096"
    )
    with pytest.raises(MemoryFault) as caught:
        run(body)
    assert str(caught.value) == expected


@pytest.mark.parametrize("extra", [0, 1])
def test_whole_unified_buffer(extra):
    def body():
        pipe = TPipe()
        queue = TQue(P.VECIN, 1)
        pipe.init_buffer(queue, 1, 192 * 1024 + extra)

    if extra:
        with pytest.raises(MemoryFault, match=r"asks for 1 x 196640 = 196640 bytes of UB, 196608 of 196608"):
            run(body)
    else:
        run(body)


def test_sixty_five_buffers():
    def body(last):
        pipe = TPipe()
        a, b = TQue(P.VECIN, 1), TBuf(P.VECCALC)
        c = TQue(P.VECIN, 1)  # by itself: Python 3.10 shuffles the values of a tuple before it stores them
        pipe.init_buffer(a, 62, 32)
        pipe.init_buffer(b, 32)
        pipe.init_buffer(c, last, 32)

    run(lambda: body(1))
    with pytest.raises(QueueError, match=r"BUF_LIMIT.*c .VECIN. asks for 2 buffers, 63 given so far; rule: at most 64"):
        run(lambda: body(2))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((0, 32), "num = 0; rule: 1..64; nearest legal value: 1"),
        ((65, 32), "num = 65; rule: 1..64; nearest legal value: 64"),
        ((1, 0), "len = 0; rule: more than 0 bytes; nearest legal value: 32"),
        ((1, -32), "len = -32: negative"),
    ],
)
def test_bad_num_and_len(arguments, text):
    def body():
        TPipe().init_buffer(TQue(P.VECIN, 1), *arguments)

    with pytest.raises(ArgumentValueError, match=f"TPipe.init_buffer: {text}"):
        run(body)


def test_forms_of_init_buffer():
    def body():
        pipe = TPipe()
        bufs = [TBuf(P.VECCALC) for _ in range(4)]
        pipe.init_buffer(bufs[0], 32)
        pipe.init_buffer(buf=bufs[1], num=64)
        pipe.init_buffer(buf=bufs[2], len=96)
        pipe.init_buffer(que=bufs[3], num=int32_of(128))
        assert [b.get(int32).get_length().v for b in bufs] == [32, 64, 96, 128]
        assert [start(b.get(int32)) for b in bufs] == [0, 32, 96, 192]

    run(body)


def test_init_buffer_of_something_else():
    with pytest.raises(ArgumentTypeError, match=r"TPipe.init_buffer: que = 3"):
        run(lambda: TPipe().init_buffer(3, 1, 32))


def test_queue_in_global_memory_has_no_buffers():
    with pytest.raises(QueueError, match=r"QUE_POSITION.*CO2"):
        run(lambda: TPipe().init_buffer(TQue(P.CO2, 1), 1, 32), "aic")


def test_second_pipe():
    def body():
        TPipe()  # first pipe
        TPipe()

    with pytest.raises(QueueError, match=f"PIPE_TWICE.*since {line_of('first pipe', __file__)}"):
        run(body)


def test_get_tpipe_ptr():
    def body():
        pipe = TPipe()
        assert get_tpipe_ptr() is pipe

    run(body)
    with pytest.raises(QueueError, match=r"QUE_NOT_INIT: get_tpipe_ptr"):
        run(get_tpipe_ptr)


def test_outside_a_kernel():
    with pytest.raises(LaunchError, match=r"TPipe"):
        TPipe()
    with pytest.raises(LaunchError, match=r"TQue"):
        TQue(P.VECIN, 1)


def test_construction_clears_the_mask():
    def body():
        set_vector_mask(0, 1, dtype=float32, mode=MaskMode.NORMAL)
        assert get_mask() == (0, 1, False)
        pipe = TPipe()
        assert get_mask() == ((1 << 64) - 1, (1 << 64) - 1, False)
        set_vector_mask(0, 1, dtype=float32, mode=MaskMode.NORMAL)
        pipe.reset()
        assert get_mask() == ((1 << 64) - 1, (1 << 64) - 1, False)

    def get_mask():
        return current.get().mask

    run(body)
