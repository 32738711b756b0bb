"""Cells partition a memory exactly: against sets of byte numbers."""

from __future__ import annotations

import random

import numpy as np
import pytest

from ascsim.hw.memory import Memory, Piece, cells_of, overlap, runs_of, show_runs


def byte_set(pieces: tuple[Piece, ...]) -> set[int]:
    """The bytes of a footprint, one by one."""
    out = set()
    for first, dims in pieces:
        offsets = [0]
        for count, step in dims:
            offsets = [a + k * step for a in offsets for k in range(count)]
        out |= {first + a for a in offsets}
    return out


def random_pieces(rng: random.Random, size: int, *, gaps: bool) -> tuple[Piece, ...]:
    if not gaps:
        length = rng.choice((1, 8, 32, 100))
        return ((rng.randrange(size - length), ((length, 1),)),)
    pieces = []
    for _ in range(rng.choice((1, 1, 1, 2))):
        dims = rng.choice(
            (((8, 1),), ((4, 16), (8, 1)), ((3, 40), (2, 16), (4, 1)), ((5, 7), (3, 1)), ((2, 0), (6, 1)))
        )
        span = sum((n - 1) * step for n, step in dims) + 1
        pieces.append((rng.randrange(size - span), dims))
    return tuple(pieces)


@pytest.mark.parametrize("first_gap", [0, 7, 12], ids=["strided", "runs_then_strided", "runs"])
def test_cells_are_an_exact_partition_of_random_regions(first_gap: int) -> None:
    rng = random.Random(7)
    for _ in range(15):
        memory = Memory("UB", 256, 32)
        regions = [memory.region(random_pieces(rng, 256, gaps=number >= first_gap)) for number in range(12)]
        cells = memory.partition.cells
        members = {id(cell): set() for cell in cells}
        for byte, label in enumerate(memory.partition.labels().tolist()):
            members[id(cells[label])].add(byte)
        for cell in cells:
            assert cell.size == len(members[id(cell)])
        for region in regions:
            assert len({id(cell) for cell in region.cells}) == len(region.cells)
            assert set().union(*(members[id(cell)] for cell in region.cells)) == byte_set(region.pieces)
        for a in regions:
            for b in regions:
                common = byte_set(a.pieces) & byte_set(b.pieces)
                assert bool({id(c) for c in a.cells} & {id(c) for c in b.cells}) == bool(common)
                assert {k for lo, hi in overlap(a, b) for k in range(lo, hi)} == common


def test_a_split_cell_keeps_its_history() -> None:
    memory = Memory("UB", 256, 32)
    whole = memory.run(0, 64)
    write, read = [3, 1, None, None, 0, 0, [0]], [4, 2, None, None, 0, 0, [0]]
    (cell,) = whole.cells
    cell.write, cell.reader = write, read
    half = memory.run(32, 64)
    assert sorted(c.size for c in whole.cells) == [32, 32]
    inside = [c for c in half.cells if c in whole.cells]
    assert [(c.size, c.write, c.reads()) for c in inside] == [(32, write, {2: read})]
    inside[0].also(write)  # the halves no longer share what comes later
    assert [len(c.reads()) for c in whole.cells if c is not inside[0]] == [1]


def test_lists_of_several_regions_follow_splits_and_are_shared() -> None:
    memory = Memory("UB", 256, 32)
    a, b = memory.run(0, 64), memory.run(64, 64)
    both = cells_of((a, b, a))
    assert cells_of((a, b)) is both
    assert (cells_of((a, a)), cells_of(())) == (a.cells, [])
    memory.run(32, 64)  # cuts both
    assert sorted(cell.size for cell in both) == [32, 32, 32, 32]
    assert {id(cell) for cell in both} == {id(cell) for cell in (*a.cells, *b.cells)}


def test_equal_footprints_are_one_region() -> None:
    memory = Memory("UB", 256, 32)
    assert memory.run(0, 32) is memory.region(((0, ((32, 1),)),))
    assert memory.run(0, 32) is not memory.run(0, 33)


def test_undefined_bytes_are_a_nan_in_every_type_and_minus_one() -> None:
    memory = Memory("UB", 64, 32)
    assert np.isnan(memory.bytes.view(np.float32)).all()
    assert np.isnan(memory.bytes.view(np.float16)).all()
    assert (memory.bytes.view(np.int32) == -1).all()


def test_reset_forgets_bytes_definedness_and_accesses() -> None:
    memory = Memory("UB", 64, 32)
    region = memory.run(8, 8)
    memory.bytes[8:16], memory.defined[8:16] = 1, True
    region.cells[0].write = [1, 1, None, None, 0, 0, [0]]
    memory.reset()
    assert bytes(memory.bytes) == b"\xff" * 64
    assert not memory.defined.any()
    assert region.cells[0].write[0] == 0


def test_runs_and_their_words() -> None:
    assert runs_of(np.array([1, 1, 0, 1, 0, 0, 1], bool)) == [(0, 2), (3, 4), (6, 7)]
    assert show_runs([(0, 256)]) == "[0:256)"
    assert show_runs([(64, 96), (128, 160)], base=64) == "[0:32), [64:96)"
    assert show_runs([(0, 1), (2, 3), (4, 5), (6, 7)]) == "[0:1), [2:3) and 2 more runs"
    assert show_runs([(0, 1), (2, 3), (4, 5)]) == "[0:1), [2:3) and 1 more run"
    assert show_runs([]) == "[]"
