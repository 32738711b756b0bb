"""Launches: what arguments become, what is refused, results in place."""

from __future__ import annotations

import sys
import threading

import ml_dtypes
import numpy as np
import pytest

from ascsim.hw import current
from ascsim.hw.checks import Checks
from ascsim.hw.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    BackendError,
    ConstExprError,
    LaunchError,
    OptionError,
    ScalarRangeError,
)
from ascsim.language.core import dtype as dt
from ascsim.language.core.address import GlobalAddress
from ascsim.language.core.constexpr import ConstExpr
from ascsim.language.core.ir_value import PlainValue
from ascsim.language.core.struct import Field, Struct
from ascsim.lib.arguments import MockTensor, MockValue
from ascsim.lib.jit import jit
from ascsim.lib.platform import Backend, KernelType
from ascsim.lib.settings import settings
from ascsim.report.table import Report

SEEN: list[object] = []


@pytest.fixture(autouse=True)
def _clean():
    SEEN.clear()
    with settings(checks=Checks()):
        yield


@jit
def look(*things):
    SEEN.extend(things)


def poke(address, byte, value):
    """Write one byte of an argument, as an instruction would."""
    array = address.array
    array.claim(byte, byte + 1, fill=False)
    array.stores += 1
    array.data[byte] = value


def as_seen(argument):
    with settings(record=True):  # a launch that keeps no record lets go of its arrays
        look[1](argument)
    value = SEEN[-1]
    return (value.v, value.dtype.name) if isinstance(value, PlainValue) else value


# --- numbers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argument", "value", "dtype"),
    [
        (True, 1, "int8"),
        (7, 7, "int32"),
        (-(2**31), -(2**31), "int32"),
        (0.1, float(np.float32(0.1)), "float32"),
        (np.int64(2**40), 2**40, "int64"),
        (np.uint8(200), 200, "uint8"),
        (np.float16(0.1), float(np.float16(0.1)), "float16"),
        (np.float64(0.1), float(np.float32(0.1)), "float32"),  # a Python float too, and passed as one
        (ml_dtypes.bfloat16(0.1), float(ml_dtypes.bfloat16(0.1)), "bfloat16"),
        (np.bool_(True), 1, "int8"),
        (ConstExpr(3), 3, "int32"),
        (MockValue(dt.uint16), 1, "uint16"),
    ],
)
def test_numbers_become_runtime_scalars(argument, value, dtype):
    assert as_seen(argument) == (value, dtype)


@pytest.mark.parametrize(("number", "nearest"), [(2**31, 2**31 - 1), (-(2**31) - 1, -(2**31))])
def test_an_int_outside_int32_is_refused_by_name(number, nearest):
    @jit
    def kernel(length):
        pass

    with pytest.raises(ScalarRangeError, match=f"length = {number}.*nearest legal value: {nearest}"):
        kernel[1](number)


# --- arrays --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("np_dtype", "dtype"),
    [
        (np.float32, "float32"),
        (np.int8, "int8"),
        (np.uint64, "uint64"),
        (np.bool_, "int8"),
        (ml_dtypes.bfloat16, "bfloat16"),
    ],
)
def test_arrays_become_addresses(np_dtype, dtype):
    address = as_seen(np.ones((2, 3), np_dtype))
    assert isinstance(address, GlobalAddress)
    assert address.dtype.name == dtype
    assert address.array.nbytes == 6 * np.dtype(np_dtype).itemsize


def test_odd_shapes():
    for shape in ((), (0,), (3, 0, 2), (1, 1, 1, 1), (2, 3, 4, 5)):
        assert as_seen(np.zeros(shape, np.int16)).array.nbytes == 2 * int(np.prod(shape))


def test_results_appear_in_place_in_any_shape():
    @jit
    def kernel(x, y):
        poke(y, 5, 7)

    x = np.zeros((2, 4), np.uint8)
    y = np.zeros((2, 4), np.uint8)
    kernel[1](x, y)
    assert y.tolist() == [[0, 0, 0, 0], [0, 7, 0, 0]]
    assert not x.any()


def test_a_contiguous_part_of_an_array_is_written_in_place():
    whole = np.zeros((4, 4), np.uint8)

    @jit
    def kernel(x):
        poke(x, 0, 9)

    kernel[1](whole[2])
    assert whole[2].tolist() == [9, 0, 0, 0]
    assert whole.sum() == 9


def test_the_same_array_twice_is_two_buffers():
    @jit
    def kernel(x, y):
        poke(x, 0, 1)
        SEEN.append(y.array.data[0])

    array = np.zeros(4, np.uint8)
    kernel[1](array, array)
    assert SEEN == [0]
    assert array[0] == 1


def test_nothing_is_written_back_if_the_launch_raised_and_the_next_one_is_clean():
    @jit
    def kernel(x, fail):
        poke(x, 0, 1)
        if fail:
            raise ValueError("mine")

    array = np.zeros(4, np.uint8)
    with pytest.raises(ValueError, match=r"^mine$"):
        kernel[1](array, 1)
    assert not array.any()
    assert current.core.get() is None
    kernel[1](array, 0)
    assert array[0] == 1


def test_a_read_only_array_may_be_read_but_not_written():
    @jit
    def kernel(source, target, fail):
        if fail:
            poke(source, 0, 1)
        poke(target, 0, 1)

    source, target = np.zeros(4, np.uint8), np.zeros(4, np.uint8)
    source.flags.writeable = False
    with pytest.raises(ArgumentValueError, match=r"source: .*read-only"):
        kernel[1](source, target, 1)
    assert not target.any()
    kernel[1](source, target, 0)
    assert target[0] == 1


@pytest.mark.parametrize(
    ("array", "error", "text"),
    [
        (
            np.zeros((4, 4))[:, ::2],
            ArgumentValueError,
            "x: array of shape (4, 2) and strides (32, 16) is not C-contiguous",
        ),
        (np.zeros((4, 4), np.float32).T, ArgumentValueError, "nearest legal value: numpy.ascontiguousarray(x)"),
        (np.zeros(4, ">f4"), ArgumentValueError, "nearest legal value: x.astype('float32')"),
        (np.array([None]), ArgumentTypeError, "x = 'object'"),
        (np.array(["a"]), ArgumentTypeError, "x = '<U1'"),
        (np.zeros(4, np.complex64), ArgumentTypeError, "x = 'complex64'"),
        (np.zeros(4, "M8[s]"), ArgumentTypeError, "x = 'datetime64[s]'"),
        (np.ma.masked_array([1, 2], [0, 1]), ArgumentTypeError, "x: a masked array"),
    ],
)
def test_arrays_that_are_refused(array, error, text):
    @jit
    def kernel(x):
        SEEN.append(x)

    with pytest.raises(error) as caught:
        kernel[1](array)
    assert text in str(caught.value)
    assert SEEN == []


def test_a_mock_tensor_is_zeros_that_nobody_sees_afterwards():
    address = as_seen(MockTensor(dt.float16))
    assert address.dtype is dt.float16
    assert bytes(address.array.data) == bytes(1 << 20)

    @jit
    def kernel(x):
        poke(x, 0, 1)

    kernel[1](MockTensor(dt.int8))


@pytest.mark.parametrize("thing", ["text", None, [1, 2], dt.float32, KernelType.AIV_ONLY, object(), 1j])
def test_anything_else_is_refused_by_name(thing):
    @jit
    def kernel(x):
        pass

    text = f"x: Argument type in JIT function is not supported: {type(thing).__name__}; rule: a numpy array, a torch"
    with pytest.raises(TypeError) as caught:
        kernel[1](thing)
    assert isinstance(caught.value, ArgumentTypeError)
    assert text in str(caught.value)


# --- torch -----------------------------------------------------------------------------------------------------------


def test_torch_is_not_imported_by_a_launch():
    import subprocess

    text = (
        "import sys, numpy as np\n"
        "from ascsim.lib.jit import jit\n"
        "@jit\n"
        "def kernel(x): pass\n"
        "kernel[1](np.zeros(4, np.float32))\n"
        "sys.exit('torch' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", text], check=False).returncode == 0


def test_torch_tensors_share_their_memory():
    torch = pytest.importorskip("torch")

    @jit
    def kernel(x):
        SEEN.append((x.dtype.name, x.array.nbytes))
        poke(x, 2, 0x80)
        poke(x, 3, 0x3F)

    for dtype, name in ((torch.float32, "float32"), (torch.bfloat16, "bfloat16"), (torch.float16, "float16")):
        tensor = torch.zeros(2, 3, dtype=dtype)
        kernel[1](tensor)
        assert SEEN[-1] == (name, 6 * tensor.element_size())
        index = (0, 0) if dtype is torch.float32 else (0, 1)
        expected = {torch.float32: 1.0, torch.bfloat16: 1.0, torch.float16: 1.875}[dtype]  # 0x3f80 in each format
        assert tensor[index].item() == expected
    parameter = torch.nn.Parameter(torch.zeros(4))
    kernel[1](parameter)
    assert parameter[0].item() == 1.0


def test_torch_tensors_that_are_refused():
    torch = pytest.importorskip("torch")

    @jit
    def kernel(x):
        pass

    with pytest.raises(ArgumentValueError, match=r"x: tensor of shape \(4, 4\) is not contiguous.*x.contiguous\(\)"):
        kernel[1](torch.zeros(4, 4).T)
    with pytest.raises(ArgumentValueError, match="x = 'meta': tensor is elsewhere"):
        kernel[1](torch.zeros(4, device="meta"))
    with pytest.raises(ArgumentValueError, match="not contiguous"):
        kernel[1](torch.zeros(4, 4).to_sparse())
    with pytest.raises(ArgumentTypeError, match="complex64"):
        kernel[1](torch.zeros(4, dtype=torch.complex64))


# --- compile-time arguments, structs ---------------------------------------------------------------------------------


def test_compile_time_arguments_stay_plain():
    @jit
    def kernel(a: ConstExpr[int], b: ConstExpr, c: ConstExpr[int] = 5):
        SEEN.extend((a, b, c))

    kernel[1](3, ["list"])
    assert SEEN == [3, ["list"], 5]
    assert type(SEEN[0]) is int
    for wrong in (np.int64(3), 3.0, "3"):
        with pytest.raises(ConstExprError, match="a = "):
            kernel[1](wrong, 0)


class Tiling(Struct):
    size = Field(dtype=dt.int32, default=4)


def test_every_core_has_a_copy_of_a_struct():
    @jit
    def kernel(tiling):
        SEEN.append(tiling.size.v)
        tiling.size = 9

    tiling = Tiling()
    kernel[3](tiling)
    assert SEEN == [4, 4, 4]
    assert tiling.size == 4


def test_keywords_defaults_and_wrong_calls():
    @jit
    def kernel(a: int, b=2) -> None:
        SEEN.append((a.v, b.v))

    kernel[1](1)
    kernel[1](b=3, a=1)
    assert SEEN == [(1, 2), (1, 3)]
    with pytest.raises(TypeError, match=r"kernel: missing a required argument: 'a'; rule: kernel\(a, b=2\)"):
        kernel[1]()
    with pytest.raises(ArgumentTypeError, match="unexpected keyword argument 'c'"):
        kernel[1](1, c=3)


# --- blocks, options, backends ----------------------------------------------------------------------------------------


def test_the_body_runs_once_a_block_and_a_report_comes_back():
    @jit
    def kernel():
        SEEN.append(current.core.get().index)

    report = kernel[4, None]()
    assert SEEN == [0, 1, 2, 3]
    assert isinstance(report, Report)
    assert (report.name, report.blocks) == ("kernel", 4)


def test_chosen_blocks_alone():
    @jit
    def kernel():
        SEEN.append(current.core.get().index)

    with settings(blocks=[2, 0]):
        kernel[4]()
        with pytest.raises(ArgumentValueError, match="numbers below 2"):
            kernel[2]()
    assert SEEN == [0, 2]


@pytest.mark.parametrize("count", [0, -1])
def test_a_launch_needs_blocks(count):
    with pytest.raises(ValueError, match=f"core_num = {count}; rule: 1 to 65535 blocks"):
        look[count]()


def test_wrong_square_brackets():
    for where in ("8", None, 2.0):
        with pytest.raises(ArgumentTypeError, match="core_num"):
            look[where]()
    with pytest.raises(ArgumentTypeError, match="kernel\\[core_num, stream\\]"):
        look[1, None, 2]
    look[np.int64(2)](1)
    assert len(SEEN) == 2


def test_options_as_keywords_do_not_reach_the_body():
    @jit(kernel_type=KernelType.AIC_ONLY)
    def kernel(x):
        SEEN.append(current.core.get().kind)

    kernel[1](1, always_compile=True)
    kernel[1](1, kernel_type=KernelType.AIV_ONLY)
    assert SEEN == ["aic", "aiv"]
    with pytest.raises(OptionError, match="opt_level = 9"):
        kernel[1](1, opt_level=9)
    with pytest.raises(OptionError, match="stream: belongs to the launch"):
        kernel[1](1, stream=None)


def test_mixed_kernels_run_on_all_cores_of_a_block():
    @jit(kernel_type=KernelType.MIX_AIC_1_2)
    def kernel():
        SEEN.append(current.core.get().kind)

    kernel[2]()
    assert sorted(SEEN) == ["aic", "aic", "aiv", "aiv", "aiv", "aiv"]


def test_a_kernel_cannot_launch_a_kernel():
    @jit
    def kernel():
        look[1]()

    with pytest.raises(LaunchError, match="look: a kernel cannot launch a kernel"):
        kernel[1]()


def test_the_npu_backend_says_what_works(monkeypatch):
    monkeypatch.setenv("PYASC_COMPILER", "no-such-compiler")
    with settings(backend=Backend.NPU), pytest.raises(BackendError, match=r"look: .*still works: Backend.Model runs"):
        look[1]()


def test_two_threads_may_launch_at_once():
    meeting = threading.Barrier(2, timeout=20)

    @jit
    def kernel(x, value):
        meeting.wait()
        poke(x, 0, value.v)

    arrays = [np.zeros(1, np.uint8), np.zeros(1, np.uint8)]
    threads = [threading.Thread(target=kernel[1], args=(array, 5 + k)) for k, array in enumerate(arrays)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [int(array[0]) for array in arrays] == [5, 6]
