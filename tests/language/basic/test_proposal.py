"""sort32, sort, and what belongs to other chips: hand-worked values, element loops, faults, prices."""

from __future__ import annotations

import numpy as np
import pytest
import reference_sort
from basic_machine import codes, launch, on_image, ub
from hypothesis import given, settings
from hypothesis import strategies as st
from sorting import COLLECT, INF, NAN, F, H, U, found, merge_call, same, unpacked

from ascsim.hw.checks import Checks
from ascsim.hw.errors import BackendError, MemoryFault, OperandError
from ascsim.language import basic
from ascsim.language.basic import get_sort_len, get_sort_offset, sort, sort32
from ascsim.language.core import dtype as dt
from ascsim.language.core.place import running

# ------------------------------------------------------------------ sort32


def sorted_by_device(scores: np.ndarray, times: int) -> np.ndarray:
    dtype = dt.float16 if scores.dtype == np.float16 else dt.float32
    count = 32 * times
    image = np.full(256 * times + 4096, 9, np.uint8)
    image[: scores.nbytes] = scores.view(np.uint8)
    image[2048 : 2048 + 4 * count] = np.arange(1000, 1000 + count, dtype=np.uint32).view(np.uint8)

    def call() -> None:
        sort32(ub(dtype, 4096, 8 * count // dtype.size), ub(dtype, 0, count), U(2048, count), times)

    after, device = on_image(image, call, COLLECT)
    assert codes(device) == []
    return after[4096:]


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_sort32_special_scores(dtype: type) -> None:
    # Equal scores keep their order, -0 equals 0, NaN comes first; the rest are 30 down to 7 in a scrambled order.
    special = [0.0, -0.0, INF, NAN, -INF, 0.0, NAN, 5.0]
    scores = np.array(special + [float((k * 7) % 24 + 7) for k in range(24)], dtype)
    got = unpacked(sorted_by_device(scores, 1), dtype)
    first = [(NAN, 1003), (NAN, 1006), (INF, 1002)]
    last = [(5.0, 1007), (0.0, 1000), (-0.0, 1001), (0.0, 1005), (-INF, 1004)]
    assert same(got[:3], first)
    assert same(got[-5:], last)
    assert [x for x, _ in got[3:-5]] == [float(x) for x in range(30, 6, -1)]
    assert got[3][1] == 1008 + 17  # 17 * 7 % 24 = 23: score 30


def test_sort32_half_pairs_have_two_free_bytes() -> None:
    raw = sorted_by_device(np.arange(32, dtype=np.float16), 1)
    # 31.0 is 0x4FC0; its index 1031 is 0x0407.
    assert raw[:8].tolist() == [0xC0, 0x4F, 0, 0, 0x07, 0x04, 0, 0]


def test_every_nan_is_like_every_other() -> None:
    # Quiet and signalling ones, of either sign; infinity and the rest follow in order.
    bits = [0x7F800000, 0xFFC00000, 0x7FC00001, 0xFF800001, 0x7F800001, 0xFF800000] + [0x3F800000] * 26
    raw = sorted_by_device(np.array(bits, np.uint32).view(np.float32), 1).view(np.uint32).reshape(-1, 2)
    assert raw[:, 1].tolist() == [1001, 1002, 1003, 1004, 1000, *range(1006, 1032), 1005]
    assert raw[:5, 0].tolist() == [0xFFC00000, 0x7FC00001, 0xFF800001, 0x7F800001, 0x7F800000]


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from([np.float16, np.float32]),
    st.integers(1, 3),
    st.lists(
        st.sampled_from([-INF, -2.5, -1.0, -0.0, 0.0, 6e-8, 1.0, 1.5, 2.0, 60000.0, INF, NAN]), min_size=96, max_size=96
    ),
)
def test_sort32_against_loops(dtype: type, times: int, values: list[float]) -> None:
    scores = np.array(values[: 32 * times], dtype)
    got = unpacked(sorted_by_device(scores, times), dtype)
    for run in range(times):
        part = slice(32 * run, 32 * run + 32)
        expected = reference_sort.sorted_run(scores[part].tolist(), list(range(1000 + 32 * run, 1032 + 32 * run)))
        assert same(got[part], expected)


def test_sort32_reports_operands() -> None:
    assert found(lambda: sort32(F(4096, 64), F(0, 32), U(2048, 32), 0)) == ["ZERO_LENGTH"]
    assert found(lambda: sort32(F(4096, 64), F(0, 32), U(2048, 32), 2)) == ["OOB_BUF"]
    assert found(lambda: sort32(F(0, 64), F(128, 32), U(2048, 32), 1)) == ["OVERLAP_PARTIAL"]
    assert found(lambda: sort32(F(4096 + 128, 64), F(0, 32), U(2048, 32), 1)) == ["MISALIGNED_ADDR"]
    assert found(lambda: sort32(H(4096, 128), H(64, 32), U(2048, 32), 1)) == []
    assert found(lambda: sort32(H(4096, 128), H(32, 32), U(2048 + 32, 32), 1)) == ["MISALIGNED_ADDR"]
    for bad, text in (
        (lambda: sort32(F(4096, 64), F(0, 32), U(2048, 32), 256), r"BAD_REPEAT.*256.*nearest legal value: 255"),
        (lambda: sort32(F(4096, 64), H(0, 32), U(2048, 32), 1), r"BAD_DTYPE.*src0 has type float16, dst has float32"),
        (lambda: sort32(F(4096, 64), F(0, 32), F(2048, 32), 1), r"BAD_DTYPE.*src1 has type float32.*uint32"),
    ):
        with pytest.raises(OperandError, match=text):
            launch(bad)
    with pytest.raises(MemoryFault, match=r"MISALIGNED_ADDR.*src0 starts at byte 4 "):
        launch(lambda: sort32(F(4096, 64), F(4, 32), U(2048, 32), 1))


# ------------------------------------------------------------------ sort


@pytest.mark.parametrize("runs", [1, 2, 3, 4, 5, 7, 16, 17])
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_full_sort(runs: int, dtype: type) -> None:
    kind = dt.float16 if dtype is np.float16 else dt.float32
    count = 32 * runs
    scores = np.random.default_rng(runs).integers(-40, 40, count).astype(dtype)  # many equal ones
    image = np.zeros(16384, np.uint8)
    image[: scores.nbytes] = scores.view(np.uint8)
    image[4096 : 4096 + 4 * count] = np.arange(count, dtype=np.uint32).view(np.uint8)
    many = 8 * count // kind.size

    def call() -> None:
        sort(ub(kind, 8192, many), ub(kind, 0, count), U(4096, count), ub(kind, 65536, many), runs, True)

    after, device = on_image(image, call, COLLECT)
    expected = sorted(((float(x), i) for i, x in enumerate(scores)), key=lambda pair: (-pair[0], pair[1]))
    assert unpacked(after[8192 : 8192 + 8 * count], dtype) == expected
    assert codes(device) == []


def test_sort_of_runs_is_sort32() -> None:
    image = np.zeros(1024, np.uint8)
    image[:256] = np.arange(64, dtype=np.float32).view(np.uint8)

    def call() -> None:
        sort(F(512, 128), F(0, 64), U(256, 64), F(65536, 128), 2)

    after, _ = on_image(image, call, COLLECT)
    assert [x for x, _ in unpacked(after[512:])] == [*range(31, -1, -1), *range(63, 31, -1)]


def test_sort_reports_its_own_operands() -> None:
    with pytest.raises(OperandError, match=r"BAD_DTYPE: sort: concat has type float16, dst has float32"):
        launch(lambda: sort(F(512, 64), H(0, 32), U(256, 32), F(1024, 64), 1))
    with pytest.raises(OperandError, match=r"BAD_DTYPE: sort: tmp has type float16, dst has float32"):
        launch(lambda: sort(F(512, 64), F(0, 32), U(256, 32), H(1024, 64), 1))


def test_sort_sizes_are_in_elements_of_float() -> None:
    def body() -> None:
        assert (get_sort_len(100), get_sort_offset(10)) == (200, 20)
        assert (get_sort_len(100).dtype, get_sort_offset(10).dtype) == (dt.uint32, dt.uint32)

    launch(body)


@pytest.mark.parametrize(
    ("name", "arguments"), [("rp_sort16", 3), ("mrg_sort4", 3), ("proposal_concat", 4), ("proposal_extract", 4)]
)
def test_region_proposals_are_refused_by_name(name: str, arguments: int) -> None:
    with pytest.raises(BackendError, match=f"^{name}: platform = 'Ascend910B1': this chip has no such instruction"):
        launch(lambda: getattr(basic, name)(*[None] * arguments))


def test_a_cube_core_of_a_mix_kernel_does_nothing() -> None:
    done: list[str] = []

    def body() -> None:
        if basic.ascend_is_aic():
            sort32(F(4096, 64), F(0, 32), U(2048, 32), 1)
            merge_call([4, 4])()
            sort(F(512, 64), F(0, 32), U(256, 32), F(1024, 64), 1)
            done.append("aic")

    launch(body, kind="mix")
    assert done == ["aic"]


def test_two_elements_are_sorted_a_cycle() -> None:
    spent: list[int] = []

    def body() -> None:
        pipe = running("test").pipes["V"]
        for call in (lambda: sort32(F(4096, 256), F(0, 128), U(1024, 128), 4), merge_call([10, 20])):
            before = pipe.free
            call()
            spent.append(pipe.free - before)

    launch(body, checks=Checks.off())
    assert spent == [22 + 128 // 2, 22 + 30 // 2]
