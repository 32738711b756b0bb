"""Arguments of a kind that a call does not take: the error is the package's, and names operand, value and rule."""

from __future__ import annotations

import numpy as np
import pytest

import ascsim as asc

UB = asc.TPosition.VECIN
HUGE = np.uint64(2**64 - 1)
TWO = np.array([1, 2])


def ub(number: int, dtype=asc.float32):
    return asc.LocalTensor(dtype, UB, 1024 * number, 64)


def queue():
    pipe, out = asc.TPipe(), asc.TQue(UB, 1)
    pipe.init_buffer(out, 1, 256)
    return out


NOT_SO = [
    (lambda x: asc.add(ub(0), ub(1), ub(2), HUGE), asc.MemoryFault, "OOB_PHYS"),
    (
        lambda x: asc.compare(ub(0, asc.uint8), ub(1), ub(2), asc.CMPMODE.LT, 1 << 40),
        asc.MemoryFault,
        r"OOB_PHYS: compare: dst touches UB bytes \[0:137438953472\)",
    ),
    (
        lambda x: asc.select(ub(0), ub(1, asc.uint8), ub(2), 1.0, asc.SelMode.VSEL_TENSOR_SCALAR_MODE, HUGE),
        asc.MemoryFault,
        "OOB_PHYS",
    ),
    (lambda x: asc.scalar_cast(1.5, asc.int32, TWO), asc.ArgumentTypeError, "round_mode = .*: a ndarray is no integer"),
    (lambda x: asc.printf("%f", TWO), asc.ArgumentTypeError, "printf: %f = .*: got a ndarray; rule: %f takes a float"),
    (lambda x: asc.printf("%f", np.float32), asc.ArgumentTypeError, "%f = .*: got a type; rule: %f takes a float"),
    (
        lambda x: asc.set_vector_mask(64, dtype=asc.void, mode=asc.MaskMode.NORMAL),
        asc.ArgumentTypeError,
        "dtype = void: has no elements",
    ),
    (lambda x: queue().alloc_tensor(asc.void), asc.ArgumentTypeError, "alloc_tensor: dtype = void: has no elements"),
    (lambda x: asc.MrgSort4Info({0: 1}), asc.ArgumentTypeError, "element_lengths = .*: a dict is no sequence"),
    (lambda x: asc.ShapeInfo(asc.LocalTensor), asc.ArgumentTypeError, "shape = .*: a type is no sequence"),
    (lambda x: asc.ShapeInfo(UB), asc.ArgumentTypeError, "shape = .*: a TPosition is no sequence"),
    (
        lambda x: asc.ShapeInfo([8], data_format=9),
        asc.ArgumentValueError,
        r"data_format = 9: is no DataFormat; rule: one of DataFormat.ND \(0\)",
    ),
    (
        lambda x: asc.adv.MatmulType(asc.TPosition.GM, asc.CubeFormat.ND, asc.float16, TWO),
        asc.ArgumentTypeError,
        "is_trans = .*: a ndarray is no integer",
    ),
]


@pytest.mark.parametrize(("call", "error", "text"), NOT_SO)
def test_a_wrong_argument_is_refused_by_name(call, error, text):
    kernel = asc.jit(lambda x: call(x))
    with pytest.raises(error, match=text):
        kernel[1](np.ones(64, np.float32))


def again(call):
    """The call with 64, then with what equals 64 as a key but is no integer."""

    def twice(x):
        for kind in (int, float):
            asc.pipe_barrier(asc.PipeID.PIPE_ALL)
            call(x, kind(64))

    return twice


def load(x, n):
    x_gm = asc.GlobalTensor()
    x_gm.set_global_buffer(x)
    asc.data_copy(ub(0), x_gm, n)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, n: asc.add(ub(0), ub(1), ub(1), n),
        lambda x, n: asc.exp(ub(0), ub(1), n),
        lambda x, n: asc.muls(ub(0), ub(1), 2.0, n),
        lambda x, n: asc.axpy(ub(0), ub(1), 2.0, n),
        lambda x, n: asc.duplicate(ub(0), 2.0, n),
        lambda x, n: asc.cast(ub(0, asc.int32), ub(1), asc.RoundMode.CAST_RINT, n),
        lambda x, n: asc.add_relu_cast(ub(0, asc.float16), ub(1), ub(1), n),
        lambda x, n: asc.compare(ub(0, asc.uint8), ub(1), ub(2), asc.CMPMODE.LT, n),
        lambda x, n: asc.compare_scalar(ub(0, asc.uint8), ub(1), 2.0, asc.CMPMODE.LT, n),
        lambda x, n: asc.select(ub(0), ub(3, asc.uint8), ub(1), 1.0, asc.SelMode.VSEL_TENSOR_SCALAR_MODE, n),
        load,
    ],
)
def test_a_float_is_no_count_even_where_the_int_was_one(call):
    with (
        asc.settings(checks=asc.Checks.off()),
        pytest.raises(asc.ArgumentTypeError, match=r"count = 64\.0: a float is no integer"),
    ):
        asc.jit(again(call))[1](np.ones(64, np.float32))


def test_a_float_is_no_event_id_and_an_array_of_no_axis_is_an_integer():
    @asc.jit
    def kernel(x, kind: asc.ConstExpr):
        asc.set_flag(asc.HardEvent.MTE2_V, 1)
        asc.wait_flag(asc.HardEvent.MTE2_V, kind(1))
        load(x, kind(64))
        asc.set_flag(asc.HardEvent.MTE2_V, kind(1))
        asc.wait_flag(asc.HardEvent.MTE2_V, 1)
        asc.exp(ub(1), ub(0), kind(64))

    with pytest.raises(asc.ArgumentTypeError, match=r"wait_flag: event_id = 1\.0: a float is no integer"):
        kernel[1](np.ones(64, np.float32), float)
    assert kernel[1](np.ones(64, np.float32), np.array).findings == []


def test_a_launch_has_16_bits_of_blocks_and_a_stream_that_is_one():
    kernel = asc.jit(lambda: None)
    with pytest.raises(ValueError, match="core_num = 65536; rule: 1 to 65535 blocks; nearest legal value: 65535"):
        kernel[65536]()
    with pytest.raises(asc.ArgumentTypeError, match="stream = 8: is no stream; rule: None, or one of"):
        kernel[8, 8]
    assert kernel[8, asc.lib.runtime.current_stream()]().blocks == 8


def test_a_kernel_is_no_sequence():
    kernel = asc.jit(lambda: None)
    with pytest.raises(TypeError, match="not iterable"):
        list(kernel)
    with pytest.raises(asc.ArgumentValueError, match=r"blocks = <jit function .*; rule: a non-empty list"):
        asc.settings(blocks=kernel)


def test_an_error_is_one_line_however_large_the_value():
    with pytest.raises(asc.ArgumentTypeError) as caught:
        asc.Checks(hold_sets=np.zeros((64, 64)))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: asc.Checks(faults=TWO), asc.ArgumentValueError, "faults = .*; rule: one of 'raise'"),
        (lambda: asc.settings(platform=TWO), asc.ArgumentValueError, "platform = .*: no such Platform"),
        (lambda: asc.settings(blocks=np.array(1)), asc.ArgumentValueError, "blocks = .*; rule: a non-empty list"),
        (lambda: asc.settings(blocks=asc.ConstExpr(1)), asc.ArgumentValueError, "blocks = .*; rule: a non-empty list"),
        (lambda: asc.runtime.config.set_platform("Model", check=TWO), asc.ArgumentTypeError, "check = .*True or False"),
        (lambda: asc.lib.runtime.malloc(1 << 80), asc.BackendError, "size = .*: there is not so much memory"),
        (
            lambda: asc.lib.runtime.memcpy(asc.lib.runtime.malloc(8), 8, asc.lib.runtime.malloc(8), 8, TWO),
            asc.BackendError,
            "kind = .*; rule: one of",
        ),
        (lambda: asc.testing.find_hazards(TWO, 1), asc.ArgumentTypeError, "kernel = .*: is no jit function"),
        (lambda: asc.testing.assert_order_independent(print, 1), asc.ArgumentTypeError, "kernel = .*: is no jit"),
    ],
)
def test_a_wrong_argument_on_the_host_is_refused_by_name(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_a_tensor_declared_far_larger_than_its_memory_costs_nothing():
    @asc.jit
    def kernel(x):
        wide = asc.LocalTensor(asc.float32, UB, 0, 1 << 40)
        asc.block_reduce_max(ub(0), wide, 1, 64, 1, 1, 8)

    with asc.settings(checks=asc.Checks.collect()):
        report = kernel[1](np.ones(64, np.float32))
    assert [finding.code for finding in report.findings] == ["UNINIT_READ"]
