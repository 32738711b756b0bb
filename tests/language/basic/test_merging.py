"""mrg_sort and get_mrg_sort_result: hand-worked values, element loops, orders, faults."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import reference_sort
from basic_machine import at, codes, launch, on_image, order, ub
from hypothesis import given, settings
from hypothesis import strategies as st
from sorting import COLLECT, INF, NAN, F, H, Pair, U, found, merge_call, packed, same, unpacked

from ascsim.hw.device import Device
from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError, MemoryFault, NotSimulatedError, OperandError
from ascsim.hw.soc import soc
from ascsim.language.basic import data_copy, duplicate, get_mrg_sort_result, mrg_sort, pipe_barrier, sort32, wait_flag
from ascsim.language.core import GlobalAddress, HardEvent, MrgSort4Info, MrgSortSrcList, PipeID
from ascsim.language.core import dtype as dt

# ------------------------------------------------------------------ mrg_sort


def merged_by_device(
    lists: Sequence[Sequence[Pair]], dtype: type = np.float32, suspend: bool = False, times: int = 1
) -> tuple[list[Pair], list[int]]:
    """Lists one behind the other from byte 0, the result from byte 8192, the rest of which holds 9."""
    kind = dt.float16 if dtype is np.float16 else dt.float32
    image = np.full(16384, 9, np.uint8)
    starts, at_byte = [], 0
    for pairs in lists:
        raw = packed(pairs, dtype)
        image[at_byte : at_byte + raw.size] = raw
        starts.append(at_byte)
        at_byte += raw.size
    counts: list[int] = []

    def call() -> None:
        sources = [ub(kind, start) for start in starts[:4]]
        info = MrgSort4Info([len(pairs) for pairs in lists[:4]], suspend, (1 << len(sources)) - 1, times)
        mrg_sort(ub(kind, 8192), MrgSortSrcList(kind, *sources), info)
        if suspend:
            counts.extend(int(n.v) for n in get_mrg_sort_result())

    after, device = on_image(image, call, COLLECT)
    assert codes(device) == []
    total = sum(counts) if suspend else at_byte // 8
    assert (after[8192 + 8 * total :] == 9).all()
    return unpacked(after[8192 : 8192 + 8 * total], dtype), counts


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_merge_of_three(dtype: type) -> None:
    lists = [[(9.0, 1), (3.0, 2), (-INF, 3)], [(9.0, 4), (4.0, 5)], [(INF, 6), (3.0, 7), (3.0, 8), (-1.0, 9)]]
    got, _ = merged_by_device(lists, dtype)
    assert [i for _, i in got] == [6, 1, 4, 5, 2, 7, 8, 9, 3]
    assert [x for x, _ in got] == [INF, 9.0, 9.0, 4.0, 3.0, 3.0, 3.0, -1.0, -INF]


def test_suspended_merge_stops_with_the_last_of_a_list() -> None:
    lists = [[(9.0, 1), (3.0, 2)], [(8.0, 3), (7.0, 4)], [(6.0, 5), (5.0, 6)], [(4.0, 7), (1.0, 8)]]
    got, counts = merged_by_device(lists, suspend=True)
    assert got == [(9.0, 1), (8.0, 3), (7.0, 4)]
    assert counts == [1, 2, 0, 0]


def test_repeats_merge_four_lists_each() -> None:
    lists = [[(float(x), x), (float(x) - 0.5, x)] for x in (1, 4, 3, 2, 10, 30, 20, 40)]
    got, _ = merged_by_device(lists, times=2)
    assert [x for x, _ in got] == [4, 3.5, 3, 2.5, 2, 1.5, 1, 0.5, 40, 39.5, 30, 29.5, 20, 19.5, 10, 9.5]


SCORE = st.sampled_from([-INF, -2.0, -1.0, -0.0, 0.0, 1.0, 2.0, INF, NAN])


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from([np.float16, np.float32]),
    st.lists(st.lists(SCORE, max_size=9), min_size=2, max_size=4).filter(lambda lists: any(lists)),
    st.booleans(),
    st.booleans(),
)
def test_merge_against_loops(dtype: type, scores: list[list[float]], in_order: bool, suspend: bool) -> None:
    lists: list[list[Pair]] = []
    for values in scores:
        pairs = list(zip(values, range(100 * len(lists), 100 * len(lists) + len(values)), strict=True))
        lists.append(reference_sort.sorted_run(*map(list, zip(*pairs, strict=True))) if in_order and pairs else pairs)
    got, counts = merged_by_device(lists, dtype, suspend)
    expected, taken = reference_sort.merged(lists, suspend)
    assert same(got, expected)
    assert not suspend or counts == [*taken, 0, 0][:4]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (merge_call([4, 4, 4, 4], 5), ArgumentValueError, r"valid_bit = 5.*rule: 3, 7 or 15"),
        (merge_call([4, 4], 7), ArgumentValueError, r"element_lengths = \(4, 4\).*3 lengths for valid_bit = 7"),
        (merge_call([4, 4096], 3), ArgumentValueError, r"element_lengths\[1\] = 4096.*nearest legal value: 4095"),
        (merge_call([4, 4], 3, 2), OperandError, r"BAD_REPEAT.*repeat_times = 2.*nearest legal value: 1"),
        (merge_call([4, 4, 4, 4], 15, 2), OperandError, r"BAD_REPEAT.*follow each other"),
        (merge_call([128, 128, 128, 127], 15, 2), OperandError, r"BAD_REPEAT.*one length"),
        (merge_call([128] * 4, 15, 2, True), OperandError, r"BAD_REPEAT.*without suspension"),
        (merge_call([4, 4], 3, 256), OperandError, r"BAD_REPEAT.*256.*nearest legal value: 255"),
        (merge_call([4, 4, 4, 4], 15, starts=(0, 1024, 2048)), OperandError, r"src4 = None"),
        (merge_call([4, 4], starts=(0, 1028)), MemoryFault, r"MISALIGNED_ADDR.*src2 starts at byte 1028"),
        (merge_call([4, 4], starts=(0, 8192)), OperandError, r"OVERLAP_PARTIAL"),
        (lambda: mrg_sort(F(0), [F(64)], [1, 1], [0, 0], 3, 1), ArgumentTypeError, r"sort_list.*MrgSortSrcList"),
        (lambda: mrg_sort(F(0), None, 3), ArgumentTypeError, r"params = 3: says no lengths"),
    ],
)
def test_mrg_sort_refuses(call: Callable[[], None], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        launch(call)


def test_mrg_sort_types_and_ends() -> None:
    with pytest.raises(OperandError, match=r"BAD_DTYPE.*src2 has type float16, dst has float32"):
        launch(lambda: mrg_sort(F(0), MrgSortSrcList(dt.float32, F(1024), H(2048)), MrgSort4Info([1, 1], False, 3, 1)))
    assert found(merge_call([4, 4], times=0)) == ["ZERO_LENGTH"]
    assert found(merge_call([0, 0])) == ["ZERO_LENGTH"]
    assert found(merge_call([4, 129], starts=(0, 2048))) == ["OOB_BUF"]


def test_the_form_with_separate_arguments() -> None:
    image = np.zeros(1024, np.uint8)
    image[:16] = packed([(5.0, 1), (2.0, 2)])
    image[64:72] = packed([(3.0, 3)])
    lists = (0, 64)

    def call() -> None:
        sources = MrgSortSrcList(dt.float32, *(F(start) for start in lists))
        mrg_sort(F(512), sources, [2, 1], [0, 0], 3, 1, is_exhausted_suspension=True)

    after, _ = on_image(image, call, COLLECT)
    assert unpacked(after[512:536]) == [(5.0, 1), (3.0, 3), (0.0, 0)]


# ------------------------------------------------------------------ get_mrg_sort_result


def test_no_result_without_suspension() -> None:
    with pytest.raises(NotSimulatedError, match="if_exhausted_suspension=True"):
        launch(get_mrg_sort_result)

    def body() -> None:
        duplicate(F(0, 1024), 1.0, 1024)
        pipe_barrier(PipeID.PIPE_V)
        merge_call([4, 4], suspend=True)()
        merge_call([4, 4])()
        get_mrg_sort_result()

    with pytest.raises(NotSimulatedError, match="until the next one"):
        launch(body)


def test_a_result_is_read_after_v_has_written_it() -> None:
    def body(parked: bool) -> None:
        duplicate(F(0, 1024), 1.0, 1024)
        if parked:
            wait_flag(HardEvent.MTE2_V, 0)
        merge_call([4, 4], suspend=True)()
        assert [int(n.v) for n in get_mrg_sort_result()] == [4, 0, 0, 0]

    launch(lambda: body(False))
    with pytest.raises(NotSimulatedError, match="has run"):
        launch(lambda: body(True))


def ordered_by_hand(body: Callable[[GlobalAddress], None]) -> list[str]:
    """What is found where the compiler adds no order."""
    device = Device(soc("Ascend910B1"), 0, 1, checks=COLLECT, auto_sync=False)
    address = GlobalAddress(device.argument("x", memoryview(np.zeros(4096, np.uint8))), 0, dt.float32)
    device.run(lambda: body(address))
    return codes(device)


@pytest.mark.parametrize(("barrier", "expected"), [(True, []), (False, ["NO_BARRIER_RAW"])])
def test_a_merge_needs_a_barrier(barrier: bool, expected: list[str]) -> None:
    def body(address: GlobalAddress) -> None:
        data_copy(F(0, 1024), at(address), 1024)
        order(HardEvent.MTE2_V)
        sort32(F(4096, 128), F(0, 64), U(256, 64), 2)
        if barrier:
            pipe_barrier(PipeID.PIPE_V)
        mrg_sort(F(8192, 128), MrgSortSrcList(dt.float32, F(4096), F(4352)), MrgSort4Info([32, 32], False, 3, 1))

    assert ordered_by_hand(body) == expected


@pytest.mark.parametrize(("flag", "expected"), [(True, []), (False, ["RAW"])])
def test_the_result_register_is_ordered_as_memory_is(flag: bool, expected: list[str]) -> None:
    def body(address: GlobalAddress) -> None:
        data_copy(F(0, 1024), at(address), 1024)
        order(HardEvent.MTE2_V)
        merge_call([4, 4], suspend=True)()
        if flag:
            order(HardEvent.V_S)
        get_mrg_sort_result()

    assert ordered_by_hand(body) == expected
