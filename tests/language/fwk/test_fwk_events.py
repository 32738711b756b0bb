"""Events of a direction, and the eight ids of an event."""

import pytest
from fwk_machine import collected, line_of, run

from ascsim.hw.checks import Checks
from ascsim.hw.core import Core
from ascsim.hw.errors import ArgumentValueError, QueueError, SimulatorWarning, SyncError
from ascsim.hw.events import EVENTS
from ascsim.language.basic import set_flag, wait_flag
from ascsim.language.core import HardEvent, TPosition, float32
from ascsim.language.fwk import TPipe, TQue, TQueBind
from ascsim.language.fwk.events import direction

P = TPosition
# the vendor's table: source -> destination, event of enque and deque, event of free and alloc
TABLE = [
    (P.GM, P.VECIN, "MTE2_V", "V_MTE2"),
    (P.VECOUT, P.GM, "V_MTE3", "MTE3_V"),
    (P.VECIN, P.VECOUT, "MTE2_MTE3", "MTE3_MTE2"),
    (P.GM, P.A1, "MTE2_MTE1", "MTE1_MTE2"),
    (P.GM, P.B1, "MTE2_MTE1", "MTE1_MTE2"),
    (P.GM, P.C1, "MTE2_MTE1", "MTE1_MTE2"),
    (P.VECOUT, P.A1, "MTE3_MTE1", "MTE1_MTE3"),
    (P.A1, P.A2, "MTE1_M", "M_MTE1"),
    (P.B1, P.B2, "MTE1_M", "M_MTE1"),
    (P.C1, P.C2, "MTE1_M", "M_MTE1"),
    (P.CO1, P.GM, "M_FIX", "FIX_M"),
    (P.CO1, P.CO2, "M_FIX", "FIX_M"),
    (P.GM, P.A2, "MTE2_M", "M_MTE2"),
    (P.GM, P.B2, "MTE2_M", "M_MTE2"),
]


@pytest.mark.parametrize(("src", "dst", "forward", "back"), TABLE)
def test_event_of_a_direction(src, dst, forward, back):
    assert tuple("_".join(EVENTS[number]) for number in direction(src, dst)) == (forward, back)


@pytest.mark.parametrize(("src", "dst"), [(P.GM, P.GM), (P.CO1, P.VECIN), (P.A1, P.VECIN), (P.A2, P.B2)])
def test_no_path(src, dst):
    assert direction(src, dst) is None
    with pytest.raises(QueueError, match=f"QUE_POSITION.*{src.name} to {dst.name}"):
        run(lambda: TQueBind(src, dst, 1))


@pytest.mark.parametrize(
    ("pos", "kind", "forward", "back", "ids"),
    [
        (P.VECIN, "aiv", "MTE2_V", "V_MTE2", (0, 0)),
        (P.VECOUT, "aiv", "V_MTE3", "MTE3_V", (0, 0)),
        (P.A1, "aic", "MTE2_MTE1", "MTE1_MTE2", (0, 0)),
        (P.B2, "aic", "MTE1_M", "M_MTE1", (0, 3)),  # the pipe keeps M_MTE1 0 to 2
        (P.C2, "aic", "MTE1_M", "M_MTE1", (0, 3)),
        (P.CO1, "aic", "M_FIX", "FIX_M", (0, 0)),
    ],
)
def test_queue_sets_and_waits_its_events(pos, kind, forward, back, ids):
    seen = []

    class Watched(Core):
        """Notes flags, once the pipe stands."""

        __slots__ = ()

        def set_flag(self, flag, site=None):
            if "tpipe" in self.state:
                seen.append(("set", flag.name))
            super().set_flag(flag, site)

        def wait_flag(self, flag, site=None):
            seen.append(("wait", flag.name))
            super().wait_flag(flag, site)

    def body():
        pipe = TPipe()
        seen.clear()
        queue = TQue(pos, 1)
        pipe.init_buffer(queue, 1, 512)
        for _ in range(2):
            queue.enque(queue.alloc_tensor(float32))
            queue.free_tensor(queue.deque(float32))

    run(body, kind, machine=Watched)
    forward, back = f"{forward} id {ids[0]}", f"{back} id {ids[1]}"
    turn = [("set", forward), ("wait", forward), ("set", back)]
    assert seen[:7] == [*turn, ("wait", back), *turn]
    assert seen[7] == ("wait", back)  # at the end of the kernel


def test_veccalc_queue_has_no_events():
    def body():
        pipe = TPipe()
        queue = TQue(P.VECCALC, 1)
        pipe.init_buffer(queue, 1, 512)
        queue.enque(queue.alloc_tensor(float32))
        queue.free_tensor(queue.deque(float32))
        assert all(flag.last_set is None for row in pipe.core.flags if row for flag in row.values())

    assert collected(body) == []


def test_positions_of_the_author_choose_the_event():
    def body():
        pipe = TPipe()
        queue = TQueBind(P.VECIN, P.VECOUT, 2)
        pipe.init_buffer(queue, 2, 512)
        a = queue.alloc_tensor(float32)
        queue.enque(a, P.GM, P.VECIN)
        assert pipe.core.flags[HardEvent.MTE2_V][0].outstanding == 1
        b = queue.deque(float32, P.GM, P.VECCALC)
        assert pipe.core.flags[HardEvent.MTE2_V][0].outstanding == 0
        queue.enque(b, P.VECCALC, P.GM)
        assert pipe.core.flags[HardEvent.V_MTE3][0].outstanding == 1
        queue.free_tensor(queue.deque(float32, P.VECOUT, P.GM))

    assert collected(body) == []


@pytest.mark.parametrize("pair", [(), (P.GM, P.VECIN)])
def test_deque_names_other_positions(pair):
    def body():
        pipe = TPipe()
        queue = TQueBind(P.VECIN, P.VECOUT, 1)
        pipe.init_buffer(queue, 1, 512)
        queue.enque(queue.alloc_tensor(float32), P.VECIN, P.GM)  # enque here
        queue.deque(float32, *pair)

    mine = "MTE2_V" if pair else "MTE2_MTE3"
    enque = line_of("enque here", __file__)
    with pytest.raises(QueueError, match=f"QUE_POSITION.*queue .VECIN -> VECOUT.*{enque} set V_MTE3.*waits for {mine}"):
        run(body)


@pytest.mark.parametrize("pair", [(P.GM, P.GM), (P.A1, P.GM), (P.VECIN, P.CO1)])
def test_positions_that_enque_does_not_take(pair):
    def body():
        pipe = TPipe()
        queue = TQue(P.VECIN, 1)
        pipe.init_buffer(queue, 1, 512)
        queue.enque(queue.alloc_tensor(float32), *pair)

    with pytest.raises(QueueError, match=f"QUE_POSITION: enque.*{pair[0].name} -> {pair[1].name}"):
        run(body)


def test_ids_are_the_lowest_free():
    def body():
        pipe = TPipe()
        assert [pipe.alloc_event_id(HardEvent.MTE2_V).v for _ in range(3)] == [0, 1, 2]
        pipe.release_event_id(1, HardEvent.MTE2_V)
        assert pipe.fetch_event_id(HardEvent.MTE2_V).v == 1
        assert pipe.fetch_event_id(HardEvent.MTE2_V).v == 1
        assert pipe.alloc_event_id(HardEvent.MTE2_V).v == 1
        assert pipe.alloc_event_id().v == 0  # V_S
        assert pipe.alloc_event_id(event=HardEvent.V_S).v == 1

    run(body)


@pytest.mark.parametrize("buffers", [8, 9])
def test_nine_tensors_enqueued_at_once(buffers):
    def body():
        pipe = TPipe()
        queue = TQue(P.VECIN, 16)
        pipe.init_buffer(queue, buffers, 32)
        for _ in range(buffers):
            queue.enque(queue.alloc_tensor(float32))  # all enque
        for _ in range(buffers):
            queue.free_tensor(queue.deque(float32))

    if buffers == 8:
        assert collected(body) == []
    else:
        where = line_of("all enque", __file__)
        with pytest.raises(
            SyncError, match=f"EVENT_EXHAUSTED: enque.*8 ids of MTE2_V.*7: queue queue .enque at {where}"
        ):
            run(body, checks=Checks.collect())


def test_author_takes_all_ids():
    def body():
        pipe = TPipe()
        for _ in range(8):
            pipe.alloc_event_id(HardEvent.V_S)
        pipe.fetch_event_id(HardEvent.V_S)

    with pytest.raises(SyncError, match=r"EVENT_EXHAUSTED: fetch_event_id: all 8 ids of V_S"):
        run(body)


def test_literal_id_that_a_queue_holds():
    def body(number):
        pipe = TPipe()
        queue = TQue(P.VECIN, 1)
        pipe.init_buffer(queue, 1, 32)
        queue.enque(queue.alloc_tensor(float32))  # holds it
        set_flag(HardEvent.MTE2_V, number)
        wait_flag(HardEvent.MTE2_V, number)
        queue.free_tensor(queue.deque(float32))

    with pytest.raises(SyncError, match=f"FLAG_ID_CONFLICT.*queue queue .enque at {line_of('holds it', __file__)}"):
        run(lambda: body(0))
    with pytest.warns(SimulatorWarning, match=r"FLAG_RESERVED_ID"):  # free, but not given out
        run(lambda: body(1))


def test_ids_given_out_are_the_authors():
    def body():
        pipe = TPipe()
        for number in (pipe.alloc_event_id(HardEvent.MTE2_V), pipe.fetch_event_id(HardEvent.MTE2_V)):
            set_flag(HardEvent.MTE2_V, number)
            wait_flag(HardEvent.MTE2_V, number)

    assert collected(body) == []


def test_fetched_id_that_a_queue_then_took():
    def body():
        pipe = TPipe()
        queue = TQue(P.VECIN, 1)
        pipe.init_buffer(queue, 1, 32)
        number = pipe.fetch_event_id(HardEvent.MTE2_V)
        queue.enque(queue.alloc_tensor(float32))
        set_flag(HardEvent.MTE2_V, number)

    with pytest.raises(SyncError, match=r"FLAG_ID_CONFLICT"):
        run(body)


def test_release_of_an_id_that_a_queue_holds():
    def body():
        pipe = TPipe()
        queue = TQue(P.VECIN, 1)
        pipe.init_buffer(queue, 1, 32)
        queue.enque(queue.alloc_tensor(float32))
        pipe.release_event_id(0, HardEvent.MTE2_V)

    with pytest.raises(SyncError, match=r"FLAG_ID_CONFLICT: release_event_id: MTE2_V id 0"):
        run(body)


@pytest.mark.parametrize("number", [-1, 8])
def test_release_outside_the_ids(number):
    with pytest.raises(SyncError, match=f"FLAG_BAD_ID: release_event_id: id = {number}; rule: 0..7"):
        run(lambda: TPipe().release_event_id(number))


def test_no_such_event():
    with pytest.raises(ArgumentValueError, match=r"alloc_event_id: event = 35"):
        run(lambda: TPipe().alloc_event_id(35))


def test_ids_of_an_event_of_the_other_kind():
    def body():
        pipe = TPipe()
        assert [pipe.alloc_event_id(HardEvent.MTE2_MTE1).v for _ in range(2)] == [0, 1]

    assert collected(body, "aiv") == []
