"""TBuf and TBufPool."""

import pytest
from fwk_machine import collected, line_of, run, touch

from ascsim.hw.checks import Checks
from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError, MemoryFault, QueueError, SimulatorWarning
from ascsim.language.basic import adds, duplicate
from ascsim.language.core import TPosition, float16, float32, int32
from ascsim.language.core.ir_value import int32 as int32_of
from ascsim.language.fwk import TBuf, TBufPool, TPipe, TQue

P = TPosition


def span(tensor):
    return tensor.place.start, tensor.place.nbytes


def buf_of(nbytes, pos=P.VECCALC):
    pipe = TPipe()
    pad = TBuf(P.VECCALC)
    buf = TBuf(pos)
    pipe.init_buffer(pad, 96)
    pipe.init_buffer(buf, nbytes)
    return buf


# ---------------------------------------------------------------------- TBuf


def test_get():
    def body():
        buf = buf_of(1000)
        assert span(buf.get(int32)) == (96, 1024)
        assert span(buf.get(dtype=float16, len=256)) == (96, 512)
        assert span(buf.get(int32, 0)) == (96, 1024)
        assert span(buf.get(int32, int32_of(64), (8, 8))) == (96, 256)
        assert buf.get(int32).get_position().v == P.VECCALC

    assert collected(body) == []


def test_get_with_offset():
    def body():
        buf = buf_of(1024)
        assert span(buf.get_with_offset(128, 64, int32)) == (160, 512)
        assert span(buf.get_with_offset(size=32, buf_offset=0, dtype=float16)) == (96, 64)

    assert collected(body) == []


@pytest.mark.parametrize(("offset", "text"), [(40, "multiple of 32 bytes; nearest legal value: 32"), (-32, "negative")])
def test_offset(offset, text):
    with pytest.raises(ValueError, match=f"get_with_offset: buf_offset = {offset}.*{text}"):
        run(lambda: buf_of(1024).get_with_offset(8, offset, float32))


@pytest.mark.parametrize("more", [0, 1])
def test_longer_than_the_buffer(more):
    if more:
        with pytest.warns(
            SimulatorWarning, match=r"OOB_BUF: get: buf .VECCALC.: 1028 bytes from byte 0.*most 256 elem"
        ):
            run(lambda: buf_of(1024).get(float32, 257))
        with pytest.warns(SimulatorWarning, match=r"OOB_BUF: get_with_offset.*at most 16 elements of float32"):
            run(lambda: buf_of(1024).get_with_offset(17, 960, float32))
    else:
        run(lambda: ((buf := buf_of(1024)).get(float32, 256), buf.get_with_offset(16, 960, float32)))


def test_without_init():
    with pytest.raises(QueueError, match=r"QUE_NOT_INIT: get: TBuf of .* has no buffers"):
        run(lambda: TBuf(P.VECCALC).get(float32))


def test_arguments_of_tbuf():
    with pytest.raises(ArgumentValueError, match=r"TBuf: pos = "):
        run(lambda: TBuf(P.GM))
    with pytest.raises(ArgumentTypeError, match=r"get: dtype = 3"):
        run(lambda: buf_of(32).get(3))


def test_a_tbuf_orders_nothing():
    def body():
        t = buf_of(256).get(float32)
        touch("MTE2", writes=[t])
        touch("MTE3", reads=[t])

    assert collected(body) == ["RAW"]


def test_queue_calls_of_a_tbuf():
    def body():
        buf = buf_of(256)
        t = buf.alloc_tensor(float32)
        buf.enque(t)
        duplicate(t, 1.0, 64)
        u = buf.deque(float32)
        buf.free_tensor(u)
        adds(t, u, 1.0, 64)
        assert span(t) == span(u) == (96, 256)

    assert collected(body) == []


def test_tensors_that_nobody_holds_are_forgotten():
    def body():
        buf = buf_of(4096)
        kept = [buf.get(float32) for _ in range(10)]
        for _ in range(1000):
            buf.get(float32)[8:]
        lease = kept[0].lease
        assert len(lease.tensors) < 200
        buf.core.state["tpipe"].reset()
        assert [t.place.fault[0] for t in kept] == ["USE_AFTER_FREE"] * 10

    run(body)


# ---------------------------------------------------------------------- TBufPool


def two_stages(pipe, first, second, reset=True):
    """A stage in each of two pools, one after the other."""
    for pool, last in ((first, False), (second, True)):
        queue = TQue(P.VECIN, 1)
        pool.init_buffer(queue, 1, 256)
        a = queue.alloc_tensor(float32)
        touch("MTE2", writes=[a])
        queue.enque(a)
        b = queue.deque(float32)
        touch("V", reads=[b])
        queue.free_tensor(b)
        if reset or last:
            pool.reset()


def shared_pools():
    pipe = TPipe()
    first = TBufPool(P.VECCALC)
    second = TBufPool(P.VECCALC)
    pipe.init_buf_pool(first, 512)
    pipe.init_buf_pool(second, 512, first)
    return pipe, first, second


def test_layout():
    def body():
        pipe = TPipe()
        before = TBuf(P.VECCALC)
        outer, inner, twin = TBufPool(P.VECCALC), TBufPool(P.VECIN, 16), TBufPool(P.VECOUT)
        pipe.init_buffer(before, 64)
        pipe.init_buf_pool(outer, 1000)
        queue, buf, after = TQue(P.VECIN, 2), TBuf(P.VECCALC), TBuf(P.VECCALC)
        outer.init_buffer(que=queue, num=2, len=33)
        outer.init_buf_pool(inner, 256)
        outer.init_buf_pool(buf_pool=twin, len=128, share_buf=inner)
        twin.init_buffer(buf=buf, len=32)
        pipe.init_buffer(after, 32)
        t = queue.alloc_tensor(float32)
        assert span(t) == (64, 64)
        assert span(buf.get(float32)) == (192, 32)
        assert span(after.get(float32)) == (1088, 32)
        queue.free_tensor(t)

    assert collected(body) == []


def test_pools_one_after_the_other():
    assert collected(lambda: two_stages(*shared_pools())) == []


def test_pools_at_once():
    def body():
        two_stages(*shared_pools(), reset=False)

    found = collected(body)
    assert found[0] == "POOL_OVERLAP"
    assert set(found) == {"POOL_OVERLAP", "WAR"}
    with pytest.raises(
        QueueError, match=r"POOL_OVERLAP: alloc_tensor: queue .VECIN. lies in second, whose bytes first"
    ):
        run(body)


def test_tbufs_of_sharing_pools():
    def body(reset):
        _, first, second = shared_pools()
        a, b = TBuf(P.VECCALC), TBuf(P.VECCALC)
        first.init_buffer(a, 32)
        second.init_buffer(b, 32)
        a.get(float32)
        if reset:
            first.reset()
        b.get(float32)

    assert collected(lambda: body(True)) == []
    assert collected(lambda: body(False)) == ["POOL_OVERLAP"]


def test_a_pool_and_the_one_it_is_cut_from():
    def body():
        pipe = TPipe()
        outer, inner = TBufPool(P.VECCALC), TBufPool(P.VECCALC)
        pipe.init_buf_pool(outer, 512)
        outer.init_buf_pool(inner, 256)
        a, b = TBuf(P.VECCALC), TBuf(P.VECCALC)
        outer.init_buffer(a, 32)
        inner.init_buffer(b, 32)
        assert span(a.get(float32)) == (256, 32)
        assert span(b.get(float32)) == (0, 32)

    assert collected(body) == []


def test_buffers_of_a_pool_may_be_used_again_after_reset():
    def body():
        _, first, second = shared_pools()
        one, two = TQue(P.VECIN, 1), TQue(P.VECIN, 1)
        first.init_buffer(one, 1, 256)
        second.init_buffer(two, 1, 256)
        for _ in range(3):
            for pool, queue in ((first, one), (second, two)):
                t = queue.alloc_tensor(float32)
                touch("MTE2", writes=[t])
                queue.enque(t)
                t = queue.deque(float32)
                touch("V", reads=[t])
                queue.free_tensor(t)
                pool.reset()

    assert collected(body) == []


def test_tensor_of_another_pool():
    def body():
        pipe = TPipe()
        first, second = TBufPool(P.VECCALC), TBufPool(P.VECCALC)
        pipe.init_buf_pool(first, 512)
        pipe.init_buf_pool(second, 512)
        one = TQue(P.VECIN, 1)
        two = TQue(P.VECIN, 1)
        first.init_buffer(one, 1, 256)
        second.init_buffer(two, 1, 256)
        two.enque(one.alloc_tensor(float32))

    with pytest.raises(QueueError, match=r"QUE_WRONG_TENSOR: enque: two .VECIN.: the tensor comes from one .VECIN."):
        run(body)


def test_init_buffer_after_reset():
    def body():
        _, first, _ = shared_pools()
        first.reset()  # pool reset
        first.init_buffer(TBuf(P.VECCALC), 32)

    where = line_of("pool reset", __file__)
    with pytest.raises(QueueError, match=f"QUE_NOT_INIT: TBufPool.init_buffer: first .*reset at {where}"):
        run(body)


def test_pool_never_given_memory():
    with pytest.raises(QueueError, match=r"QUE_NOT_INIT.*never given to init_buf_pool"):
        run(lambda: TBufPool(P.VECIN).init_buffer(TBuf(P.VECCALC), 32))


def test_pool_too_small():
    def body():
        pipe = TPipe()
        pool = TBufPool(P.VECIN)
        queue = TQue(P.VECIN, 1)
        pipe.init_buf_pool(pool, 1024)
        pool.init_buffer(queue, 1, 512)
        big = TBuf(P.VECCALC)
        pool.init_buffer(big, 544)

    expected = (
        "MEM_OVERFLOW: TBufPool.init_buffer: big (VECCALC) asks for 1 x 544 = 544 bytes of UB, 512 of 1024 are "
        "available; buffers so far: queue (VECIN) 1 x 512, together 512"
    )
    with pytest.raises(MemoryFault) as caught:
        run(body)
    assert str(caught.value) == expected


@pytest.mark.parametrize(("limit", "many"), [(4, 5), (16, 17)])
def test_buffers_of_a_pool(limit, many):
    def body(many):
        pipe = TPipe()
        pool = TBufPool(P.VECIN, limit)
        queue = TQue(P.VECIN, 1)
        pipe.init_buf_pool(pool, 4096)
        pool.init_buffer(queue, many, 32)

    run(lambda: body(many - 1))
    with pytest.raises(QueueError, match=f"BUF_LIMIT.*asks for {many} buffers, 0 given so far; rule: at most {limit}"):
        run(lambda: body(many))


def test_memory_of_a_pool():
    def wrong_queue():
        pipe = TPipe()
        pool = TBufPool(P.VECIN)
        pipe.init_buf_pool(pool, 4096)
        pool.init_buffer(TBuf(P.A1), 32)

    def wrong_share():
        pipe = TPipe()
        a, b = TBufPool(P.VECIN), TBufPool(P.A1)
        pipe.init_buf_pool(a, 64)
        pipe.init_buf_pool(b, 64, a)

    for body in (wrong_queue, wrong_share):
        with pytest.raises(QueueError, match=r"QUE_POSITION.*L1.*UB|QUE_POSITION.*UB.*L1"):
            run(body)
    with pytest.raises(ArgumentValueError, match=r"TBufPool: pos = 'A2'"):
        run(lambda: TBufPool(P.A2))


@pytest.mark.parametrize("limit", [0, 17])
def test_ids_of_a_pool(limit):
    with pytest.raises(ArgumentValueError, match=f"TBufPool: buf_id_size = {limit}; rule: 1..16"):
        run(lambda: TBufPool(P.VECIN, limit))


def test_longer_than_the_shared_pool():
    def body():
        pipe, first, _ = shared_pools()
        pipe.init_buf_pool(TBufPool(P.VECIN), 544, first)

    with pytest.raises(ArgumentValueError, match=r"len = 544; rule: at most the 512 bytes of first; nearest .*: 512"):
        run(body)


def test_no_queue_of_depth_0_in_a_pool():
    def body():
        _, first, _ = shared_pools()
        first.init_buffer(TQue(P.VECIN, 0), 1, 32)

    with pytest.raises(ArgumentValueError, match=r"would get no event ids"):
        run(body)


def test_arguments_of_init_buf_pool():
    with pytest.raises(ArgumentTypeError, match=r"TPipe.init_buf_pool: buf_pool = 3"):
        run(lambda: TPipe().init_buf_pool(3, 32))
    with pytest.raises(ArgumentTypeError, match=r"TPipe.init_buf_pool: share_buf = 3"):
        run(lambda: TPipe().init_buf_pool(TBufPool(P.VECIN), 32, 3))


def test_pool_lost_to_a_reset_of_the_pipe():
    def body():
        pipe, first, _ = shared_pools()
        pipe.reset()
        first.init_buffer(TBuf(P.VECCALC), 32)

    with pytest.raises(QueueError, match=r"QUE_NOT_INIT.*lost its memory to TPipe.reset"):
        run(body)


def test_free_event_of_a_pool_at_the_end_of_the_kernel():
    assert collected(lambda: two_stages(*pools_apart(), reset=False)) == []


def pools_apart():
    pipe = TPipe()
    first, second = TBufPool(P.VECCALC), TBufPool(P.VECCALC)
    pipe.init_buf_pool(first, 512)
    pipe.init_buf_pool(second, 512)
    return pipe, first, second


def test_strict_checks_raise_the_leak():
    def body():
        pipe = TPipe()
        queue = TQue(P.VECIN, 1)
        pipe.init_buffer(queue, 1, 32)
        queue.alloc_tensor(float32)

    with pytest.raises(QueueError, match=r"QUE_LEAK"):
        run(body, checks=Checks.strict())
