"""What a Matmul refuses, and what it says."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matmul_machine import ND, NZ, How, kind, run, tiling

import ascsim as asc

HALF, SINGLE, BYTE = kind("float16"), kind("float32"), kind("int8")
UB = kind("float32", position=asc.TPosition.VECIN)
Calls = Callable[..., Any]


def launch(calls: Calls, config: Any = None, c: Any = SINGLE, cube: bool = False, **fields: Any) -> None:
    """32 x 32 x 32 in blocks of 16 x 16 x 16; `c`: the type of C, or all four types."""
    a, b, c, bias = c if isinstance(c, tuple) else (HALF, HALF, c, SINGLE)
    matrix = np.ones((64, 64), a.dtype.np)
    tile = tiling(32, 32, 32, (16, 16, 16), **fields)
    result = np.zeros((64, 64), c.dtype.np)
    run(How(a, b, c, bias, calls, config), tile, matrix, matrix, np.ones(64, bias.dtype.np), result, cube)


def refused(error: type[BaseException], *words: str) -> Any:
    return pytest.raises(error, match=".*".join(map(re.escape, words)))


def calls(*made: Calls) -> Calls:
    """Calls after both operands have been set; each is given the object and the tensors."""

    def run(mm: Any, a: Any, b: Any, bias: Any, c: Any, tile: Any) -> None:
        mm.set_tensor_a(a)
        mm.set_tensor_b(b)
        for call in made:
            call(mm, a, b, bias, c)

    return run


def alone(call: Calls) -> Calls:
    """One call on an object that has no operands."""
    return lambda mm, a, b, bias, c, tile: call(mm, a, b, bias, c)


def whole(mm: Any, a: Any, b: Any, bias: Any, c: Any) -> None:
    mm.iterate_all(c)


def step(mm: Any, a: Any, b: Any, bias: Any, c: Any) -> None:
    mm.iterate()


def ub(elements: int = 256, dtype: Any = asc.float32) -> Any:
    return asc.LocalTensor(dtype, asc.TPosition.VECIN, 0, elements)


OUT_OF_ORDER: dict[str, tuple[Calls, str]] = {
    "no operand": (alone(whole), "new operands"),
    "b missing": (alone(lambda mm, a, b, bias, c: (mm.set_tensor_a(a), mm.iterate_all(c))), "set_tensor_b before it"),
    "twice": (calls(whole, whole), "set_tensor_a or set_tensor_b before each round"),
    "results not taken": (calls(step, step), "L0C holds 1 blocks"),
    "nothing to take": (calls(lambda mm, a, b, bias, c: mm.get_tensor_c(c)), "iterate before it"),
    "nothing to wait for": (calls(whole, lambda mm, *_: mm.wait_iterate_all()), "nothing to wait for"),
    "no batch to wait for": (calls(whole, lambda mm, *_: mm.wait_iterate_batch()), "nothing to wait for"),
    "no block to place": (calls(lambda mm, *_: mm.get_offset_c()), "no block of C has been computed"),
    "sizes after a tensor": (
        alone(lambda mm, a, b, bias, c: (mm.set_tensor_b(b), mm.set_org_shape(32, 32, 32))),
        "set_org_shape: comes late",
    ),
    "no workspace": (calls(lambda mm, *_: mm.iterate(sync=False)), "set_workspace before"),
    "no block by sync": (calls(lambda mm, *_: mm.get_tensor_c(sync=True)), "where no tensor is given"),
    "no block": (calls(lambda mm, *_: mm.async_get_tensor_c(ub())), "no block waits to be taken"),
    "no batch": (calls(lambda mm, *_: mm.get_batch_tensor_c(1, 1, sync=False)), "no results wait to be taken"),
    "partial sum of many blocks": (
        calls(lambda mm, *_: mm.iterate(True)),
        "single_core_m = base_m and single_core_n = base_n",
    ),
}


@pytest.mark.parametrize("name", OUT_OF_ORDER)
def test_calls_out_of_order(name: str) -> None:
    made, words = OUT_OF_ORDER[name]
    with refused(asc.ArgumentValueError, words):
        launch(made)


VALUES: dict[str, tuple[Calls, tuple[str, ...]]] = {
    "transpose": (
        alone(lambda mm, a, *_: mm.set_tensor_a(a, True)),
        ("set_tensor_a", "transpose = True", "is_trans = True in the MatmulType of a"),
    ),
    "en_atomic": (calls(lambda mm, a, b, bias, c: mm.iterate_all(c, 4)), ("en_atomic = 4", "3 (min)")),
    "atomic to UB": (
        calls(step, lambda mm, a, b, bias, c: mm.get_tensor_c(ub(), 1)),
        ("get_tensor_c", "en_atomic = 1", "0 to UB"),
    ),
    "wait parameter": (
        calls(lambda mm, a, b, bias, c: mm.iterate_all(c, wait_iterate_all=True)),
        ("wait_iterate_all", "sync=False"),
    ),
    "fake message": (calls(lambda mm, a, b, bias, c: mm.iterate_all(c, fake_msg=True)), ("do_ib_share_norm",)),
    "block in L0C": (
        calls(lambda mm, *_: mm.iterate(local_c_matrix=ub())),
        ("local_c_matrix", "with C declared in CO1"),
    ),
    "number of a matrix": (alone(lambda mm, a, b, bias, c: (mm.set_tensor_a(2.0), mm.set_tensor_b(b),
                                                           mm.iterate_all(c))), ("scalar = 2.0", "single_m = 1")),
    "set_hf32": (alone(lambda mm, *_: mm.set_hf32(True)), ("set_hf32", "matmul_cube_only")),
    "set_batch_num": (alone(lambda mm, *_: mm.set_batch_num(1, 1)), ("set_batch_num", "matmul_cube_only")),
    "needless factor": (
        calls(lambda mm, *_: mm.set_quant_scalar(1), whole),
        ("float16 to float32 takes no factors",),
    ),
    "set_tail": (alone(lambda mm, *_: mm.set_tail(0)), ("set_tail", "m = 0", "1 or more elements")),
    "batch of no layout": (calls(lambda mm, a, b, bias, c: mm.iterate_batch(c, 1, 1, False)), ("a.layout = 'NONE'",)),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_values_that_are_refused(name: str) -> None:
    made, words = VALUES[name]
    with refused(asc.ArgumentValueError, *words):
        launch(made)


def test_types_of_16_bits_alone_may_be_taken_either_way() -> None:
    half = kind("float16", True)
    launch(calls(), c=(half, half, SINGLE, SINGLE))
    for dtype in ("float32", "int8"):
        turned, sums = kind(dtype, True), kind("int32" if dtype == "int8" else "float32")
        with refused(asc.ArgumentValueError, "set_tensor_b: transpose = False", f"True for {dtype}"):
            launch(alone(lambda mm, a, b, *_: mm.set_tensor_b(b)), c=(turned, turned, sums, sums), base_k=32)


def test_a_bias_that_the_tiling_does_not_have() -> None:
    with refused(asc.ArgumentValueError, "set_bias", "tiling.is_bias = 0"):
        launch(alone(lambda mm, a, b, bias, c: mm.set_bias(bias)), is_bias=0)


@pytest.mark.parametrize(
    ("fields", "words"),
    [({"base_m": 24}, "base_m = 24"), ({"base_m": 256, "base_n": 256}, "L0C"), ({"single_core_m": 0}, "single_core_m"),
     ({"base_k": 1024, "single_core_k": 1024, "k_a": 1024, "k_b": 1024, "base_m": 128, "base_n": 128}, "L0A"),
     ({"depth_b1": 0}, "depth_b1"), ({"iterate_order": 2}, "iterate_order")],
)  # fmt: skip
def test_impossible_tilings(fields: dict[str, int], words: str) -> None:
    with refused(asc.ArgumentValueError, words):
        launch(calls(whole), **fields)


def test_bytes_in_fractals_are_32_columns_wide() -> None:
    """So are the blocks of C, or the last fractal of one and the first of the next would share a column."""
    types = (BYTE, BYTE, kind("int8", format=NZ), kind("int32"))
    scaled = calls(lambda mm, *_: mm.set_quant_scalar(0x3F800000), whole)
    with refused(asc.ArgumentValueError, "tiling.base_n = 16", "a multiple of 32"):
        launch(scaled, c=types, base_k=32)
    half = calls(lambda mm, *_: (mm.set_quant_scalar(0x3F800000), mm.set_tail(-1, 16)), whole)
    with refused(asc.ArgumentValueError, "n = 16", "a multiple of 32 where C lies in fractals"):
        launch(half, c=types, base_n=32, base_k=32)


FOUND = {
    "a of another type": (alone(lambda mm, a, b, bias, c: mm.set_tensor_a(c)), "BAD_DTYPE", "tensor has type float32"),
    "a elsewhere": (
        alone(lambda mm, *_: mm.set_tensor_a(ub(256, asc.float16))), "BAD_POSITION", "lies in VECIN; rule: GM"
    ),
    "bias of another type": (
        alone(lambda mm, a, b, bias, c: mm.set_bias(a)), "BAD_DTYPE", "tensor has type float16; rule: float32"
    ),
    "c in UB": (calls(lambda mm, *_: mm.iterate_all(ub())), "BAD_POSITION", "tensor lies in VECIN"),
    "factors of another type": (
        alone(lambda mm, a, b, bias, c: mm.set_quant_vector(bias)), "BAD_DTYPE", "rule: uint64"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_tensors_that_are_not_as_declared(name: str) -> None:
    made, code, words = FOUND[name]
    with refused(asc.FoundError, words) as caught:
        launch(made)
    assert caught.value.code == code


def test_a_promised_wait_that_never_comes() -> None:
    started = calls(lambda mm, a, b, bias, c: mm.iterate_all(c, sync=False, wait_iterate_all=True))
    with refused(asc.SyncError, "no wait_iterate_all has taken the answer of Matmul.iterate_all") as caught:
        launch(started)
    assert caught.value.code == "XFLAG_LEFT_SET"
    launch(
        calls(lambda mm, a, b, bias, c: (mm.iterate_all(c, sync=False, wait_iterate_all=True), mm.wait_iterate_all()))
    )


def there(position: str, dtype: Any = asc.float32) -> Any:
    return asc.LocalTensor(dtype, asc.TPosition[position], 0, 256)


def later(mm: Any, a: Any, b: Any, bias: Any, c: Any) -> None:
    mm.set_workspace(c)
    mm.iterate(sync=False)


@pytest.mark.filterwarnings("ignore:.*iterate.sync=False. as a statement:ascsim.SimulatorWarning")
def test_blocks_that_are_never_taken() -> None:
    def most(mm: Any, a: Any, b: Any, bias: Any, c: Any, many: int) -> None:
        for _ in range(many):
            mm.get_tensor_c(sync=False)

    with refused(asc.SyncError, r"no get_tensor_c(sync=False) has taken the answer of Matmul.iterate (") as caught:
        launch(calls(later, lambda *given: most(*given, 3)))
    assert caught.value.code == "XFLAG_LEFT_SET"
    launch(calls(later, lambda *given: most(*given, 4)))


def test_a_block_that_goes_to_its_place_in_c_beyond_the_tensor_in_ub() -> None:
    """Of 32 x 32 elements the second block of 16 x 16 begins at 16 * 32; the tensor has 256."""
    first = calls(step, lambda mm, a, b, bias, c: mm.get_tensor_c(c), step, lambda mm, *_: mm.get_tensor_c(ub(256)))
    words = r"past its tensor \(256 elements of float32 in UB; .* without en_sequential_write it goes to its place"
    with pytest.warns(asc.SimulatorWarning, match=words):
        launch(first)


NO_WAY = "lies in VECIN; rule: GM: L0C to UB has no path on this chip"
# Types of A and C (None: in global memory), calls, whether on a cube core alone, what is said
PLACES: dict[str, tuple[Any, Any, Calls, bool, str]] = {
    "a in UB": (kind("float16", position=asc.TPosition.VECOUT), None,
                alone(lambda mm, *_: mm.set_tensor_a(there("VECIN", asc.float16))), True, "a cube core has no UB"),
    "block in UB": (None, None, calls(step, lambda mm, *_: mm.get_tensor_c(there("VECIN"))), True, NO_WAY),
    "second block in UB": (None, None, calls(step, lambda mm, a, b, bias, c: mm.get_tensor_c(
        c, optional_tensor=there("VECIN"))), True, "optional_tensor " + NO_WAY),
    "block in L1": (None, None, calls(step, lambda mm, *_: mm.get_tensor_c(there("A1"))), False, "in A1; rule: GM"),
    "second block in GM": (None, None, calls(step, lambda mm, a, b, bias, c: mm.get_tensor_c(
        c, optional_tensor=c)), False, "optional_tensor lies in GM; rule: VECIN"),
    "second block of another type": (None, None, calls(step, lambda mm, a, b, bias, c: mm.get_tensor_c(
        c, optional_tensor=there("VECIN", asc.int32))), False, "optional_tensor.dtype = int32; rule: float32"),
    "block taken in UB": (None, None, calls(later, lambda mm, *_: mm.get_tensor_c(there("VECIN"), sync=False)),
                          True, NO_WAY),
    "block taken to GM": (None, None, calls(later, lambda mm, a, b, bias, c: mm.get_tensor_c(c, sync=False)), False,
                          "tensor lies in GM; rule: VECIN"),
    "block taken in another type": (None, None, calls(later, lambda mm, *_: mm.async_get_tensor_c(
        there("VECIN", asc.float16))), False, "tensor.dtype = float16; rule: float32"),
    "wait for UB": (None, None, calls(lambda mm, *_: mm.wait_get_tensor_c()), True, "nothing to wait for"),
    "all in L1": (None, None, calls(lambda mm, *_: mm.iterate_all(there("A1"))), False, "a vector core has no L1"),
    "all of C in L0C": (None, kind("float32", format=NZ, position=asc.TPosition.CO1), calls(whole), True,
                        "iterate_all: c.position = 'CO1'; rule: GM or VECIN"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*iterate.sync=False. as a statement:ascsim.SimulatorWarning")
@pytest.mark.parametrize("name", PLACES)
def test_tensors_where_nothing_can_take_or_bring_them(name: str) -> None:
    a, c, made, cube, words = PLACES[name]
    with refused(asc.SimulatorError, words):
        launch(made, c=(a or HALF, HALF, c or SINGLE, SINGLE), cube=cube)


TYPES: dict[str, tuple[tuple[Any, ...], dict[str, Any], str]] = {
    "b of another type": ((HALF, BYTE, SINGLE, SINGLE), {}, "b.dtype = 'int8'"),
    "c of a type that cannot be": ((HALF, HALF, kind("int32"), SINGLE), {}, "c.dtype = 'int32'"),
    "bias of a type that cannot be": ((BYTE, BYTE, kind("int32"), SINGLE), {}, "bias.dtype = 'float32'"),
    "b of another layout": ((kind("float16", layout=asc.LayoutMode.BSNGD), HALF, SINGLE, SINGLE), {}, "b.layout"),
    "L0C in rows": ((HALF, HALF, kind("float32", position=asc.TPosition.CO1), SINGLE), {}, "c.format"),
    "channels of half": (
        (HALF, HALF, kind("float16", format=NZ), SINGLE), {"is_enable_channel_split": True}, "C in NZ, float32"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TYPES)
def test_types_that_cannot_be(name: str) -> None:
    types, config, words = TYPES[name]
    with refused(asc.ArgumentValueError, words):
        launch(calls(whole), asc.adv.MatmulConfig(**config) if config else None, types)


def test_a_policy_that_is_none() -> None:
    matrix, how = np.ones((16, 16), np.float16), How(HALF, HALF, SINGLE, SINGLE, calls(whole), policy=9)
    with refused(asc.ArgumentValueError, "matmul_policy = 9", "TrianUpperMatmulPolicy (1)"):
        run(how, tiling(16, 16, 16, (16, 16, 16)), matrix, matrix, np.ones(16, np.float32), matrix.astype(np.float32))


BATCHES: dict[str, tuple[str, tuple[int, ...], dict[str, Any], str]] = {
    "unequal": ("NORMAL", (3, 2), {}, "batch_a = 3; rule: one a multiple of the other, batch_b = 2"),
    "past G": ("SBNGD", (4, 2), {"g": 4}, "batch_a = 4; rule: batch_a / batch_b as the axes G of A and B, 4 / 4"),
    "two rows": ("BSNGD", (4, 4), {"b": 2, "g": 2}, "batch_a = 4; rule: parts of N . G, .* 2 of A and 2 of B"),
    # A and B of 32 x 32 half, 2048 bytes each
    "too many": (
        "NORMAL",
        (129, 129),
        {},
        "batch_a = 129; rule: all matrices .* in L1: they take 528384 bytes of 524288",
    ),
    "fractals": ("BSNGD", (1, 1), {"format": NZ}, "c.format = 'NZ'; rule: ND in the layout BSNGD"),
    "strides of C": ("NORMAL", (1, 1, False, 0, 0, 64), {}, "matrix_stride_c = 64; rule: 0: it is reserved"),
    "ragged rows": ("NORMAL", (1, 1, True), {"n": 20}, "n = 20; rule: a multiple of 8 in UB"),
}


@pytest.mark.parametrize("name", BATCHES)
def test_batches_that_cannot_be(name: str) -> None:
    layout, given, more, words = BATCHES[name]
    infos = {}
    if layout != "NORMAL":
        for x, sizes in (("a", ("s", "d")), ("b", ("s", "d")), ("c", ("s1", "s2"))):
            infos |= {f"{x}_layout_info_{axis}": more.get(axis, 1) for axis in "bng"}
            infos |= {f"{x}_layout_info_{axis}": 32 for axis in sizes}
    mode = getattr(asc.LayoutMode, layout)
    half, c = kind("float16", layout=mode), kind("float32", format=more.get("format", ND), layout=mode)

    def call(mm: Any, a: Any, b: Any, bias: Any, c: Any) -> None:
        mm.set_tail(-1, more.get("n", 32))
        many_a, many_b, sequential, *strides = (*given, False)[: max(len(given), 3)]
        mm.iterate_batch(ub() if sequential else c, many_a, many_b, sequential, *strides)

    with pytest.raises(asc.ArgumentValueError, match=words):
        launch(calls(call), c=(half, half, c, SINGLE), **infos)


def test_one_bias_for_all_products_of_large_matrices() -> None:
    half, single = (kind(name, layout=asc.LayoutMode.NORMAL) for name in ("float16", "float32"))
    large = asc.adv.MatmulConfig(batch_mode=asc.BatchMode.SINGLE_LARGE_THAN_L1, is_bias_batch=False)
    batch = calls(lambda mm, a, b, bias, c: (mm.set_bias(bias), mm.iterate_batch(c, 1, 1, False)))
    with refused(asc.ArgumentValueError, "is_bias_batch = False", "True with SINGLE_LARGE_THAN_L1"):
        launch(batch, large, (half, half, single, SINGLE))


def test_results_of_bytes_need_factors() -> None:
    with refused(asc.ArgumentValueError, "int8 to float16 needs factors", "set_quant_scalar"):
        launch(calls(whole), c=(BYTE, BYTE, HALF, kind("int32")))


def test_a_with_whose_source_cannot_be_read() -> None:
    made: dict[str, Any] = {}
    exec("def block(mm, *_):\n    with mm.iterate() as count:\n        pass", made)
    with refused(asc.LaunchError, "with over its blocks would run once"):
        launch(calls(made["block"]))


def test_blocks_are_no_sequence_of_pythons() -> None:
    with refused(asc.LaunchError, "Matmul.iterate: for: is no loop of Python's; rule: with mm.iterate() as count"):
        launch(calls(lambda mm, *_: list(mm.iterate())))
