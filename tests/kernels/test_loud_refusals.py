"""What Python alone would let pass without a word, or without an end, is refused or reported."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import ascsim as asc

UB = asc.TPosition.VECIN


def tensors(x):
    x_gm = asc.GlobalTensor()
    x_gm.set_global_buffer(x)
    return asc.LocalTensor(x.dtype, UB, 0, 64), x_gm


@pytest.mark.parametrize(
    "misuse",
    [
        lambda t: list(t),
        lambda t: 1.0 in t,
        lambda t: t[0] == 0.0,
        lambda t: t[0] != t[0],
        lambda t: bool(t[3]),
        lambda t: len(t),
        lambda t: t[0] < 1.0,
    ],
)
@pytest.mark.parametrize("which", [0, 1])
def test_a_tensor_is_no_scalar_and_no_sequence(misuse, which):
    @asc.jit
    def kernel(x):
        misuse(tensors(x)[which])

    with pytest.raises(asc.ScalarError, match=r"a tensor is no scalar and no sequence; rule: t\.get_value"):
        kernel[1](np.ones(64, np.float32))


@pytest.mark.parametrize(
    "misuse",
    [
        lambda t: t + t,
        lambda t: 1.0 / t,
        lambda t: np.float32(1.0) - t,
        lambda t: -t,
        lambda t: t[0] * 2.0,
        lambda t: np.exp(t),
        lambda t: np.max(t),
        lambda t: np.add(t, t, out=t),
        lambda t: np.concatenate([t, t]),
        lambda t: np.asarray(t),
    ],
)
@pytest.mark.parametrize("which", [0, 1])
def test_operators_and_numpy_on_a_tensor_are_refused_with_what_to_call(misuse, which):
    @asc.jit
    def kernel(x):
        misuse(tensors(x)[which])

    with pytest.raises(asc.ScalarError, match=r"Tensor: a tensor is no operand .* of numpy; rule: asc\.add\(dst,"):
        kernel[1](np.ones(64, np.float32))


def bits():
    return asc.LocalTensor(asc.uint8, UB, 512, 32)


def buffer_of(queue):
    asc.TPipe().init_buffer(queue, 1, 256)
    return queue.alloc_tensor(asc.float32)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda t: asc.adds(t, t, t, 8), r"adds: scalar = .*: a LocalTensor is no number; rule: a number; get_value"),
        (lambda t: asc.duplicate(t, "0", 8), "duplicate: scalar = '0': a str is no number"),
        (lambda t: asc.select(t, bits(), t, "0", asc.SelMode.VSEL_TENSOR_SCALAR_MODE, 8), "select: src1 = '0': a str"),
        (lambda t: asc.TQue(UB, 1).alloc_tensor(), r"alloc_tensor: dtype: is missing; rule: a data type"),
        (lambda t: asc.TQue("VECIN", 1), "TQue: pos = 'VECIN': a str is no integer; rule: a TPosition"),
        (lambda t: asc.cast(t, t, "rint", 8), "cast: round_mode = 'rint': a str is no integer; rule: a RoundMode"),
    ],
)
def test_what_a_wrong_operand_should_have_been_is_told(call, says):
    """A tensor of a queue is called what its author calls it: LocalTensor."""

    @asc.jit
    def kernel(x):
        call(buffer_of(asc.TQue(asc.TPosition.VECIN, 1)))

    with pytest.raises(asc.SimulatorError, match=says):
        kernel[1](np.ones(64, np.float32))


@asc.jit
def warned_twice(x):
    short = asc.LocalTensor(asc.float32, UB, 0, 50)
    asc.duplicate(short, 1.0, 64)
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)
    asc.duplicate(short, 1.0, 64)


def test_each_line_and_each_core_is_warned_about():
    with asc.settings(checks=asc.Checks.collect()):
        report = warned_twice[3](np.ones(8, np.float32))
    assert [(finding.code, finding.count, finding.cores) for finding in report.findings] == [
        ("OOB_BUF", 3, ["aiv 0", "aiv 1", "aiv 2"]),
        ("OOB_BUF", 3, ["aiv 0", "aiv 1", "aiv 2"]),
        ("DEAD_STORE", 3, ["aiv 0", "aiv 1", "aiv 2"]),  # a note: nobody reads what the first line writes
    ]


def test_a_fault_may_be_a_warning():
    @asc.jit
    def kernel(x):
        local, x_gm = tensors(x)
        asc.data_copy(local, x_gm, 64)
        asc.add(local, local, local, 64)

    with asc.settings(checks=asc.Checks(faults="warn")), pytest.warns(asc.SimulatorWarning, match="^RAW on UB local"):
        kernel[1](np.ones(64, np.float32))


def test_a_warning_made_an_error_comes_from_the_authors_line():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(asc.SimulatorWarning) as caught:
            warned_twice[1](np.ones(8, np.float32))
    frames = [entry.path.name for entry in caught.traceback]
    assert set(frames[1:]) <= {"test_loud_refusals.py", "jit.py"}


kept: list[asc.GlobalTensor] = []


def test_a_tensor_does_not_outlive_its_launch():
    @asc.jit
    def keep(x):
        kept.append(tensors(x)[1])

    @asc.jit
    def use(x):
        asc.data_copy(tensors(x)[0], kept[0], 64)

    @asc.jit
    def read(x):
        kept[0].get_value(0)

    @asc.jit
    def write(x):
        kept[0].set_value(0, 1.0)

    keep[1](np.ones(64, np.float32))
    for kernel in (use, read, write):
        with pytest.raises(asc.SimulatorError):
            kernel[1](np.ones(64, np.float32))


@asc.jit
def leaves_behind(x):
    pipe, queue = asc.TPipe(), asc.TQue(UB, 1)
    pipe.init_buffer(queue, 1, 256)
    left.extend([pipe, queue, asc.LocalTensor(asc.float32, UB, 1024, 64)])


left: list = []


@pytest.mark.parametrize(
    "use",
    [
        lambda own, x_gm, pipe, queue, old: asc.duplicate(old, 1.0, 64),
        lambda own, x_gm, pipe, queue, old: asc.add(own, own, old, 64),
        lambda own, x_gm, pipe, queue, old: asc.data_copy(old, x_gm, 64),
        lambda own, x_gm, pipe, queue, old: asc.duplicate(queue.alloc_tensor(asc.float32), 1.0, 64),
        lambda own, x_gm, pipe, queue, old: queue.enque(queue.alloc_tensor(asc.float32)),
        lambda own, x_gm, pipe, queue, old: pipe.init_buffer(asc.TQue(UB, 1), 1, 256),
        lambda own, x_gm, pipe, queue, old: old.get_value(0),
    ],
)
def test_what_a_kernel_keeps_of_its_core_is_refused_in_the_next_launch(use):
    @asc.jit
    def kernel(x):
        use(*tensors(x), *left[-3:])

    leaves_behind[1](np.ones(64, np.float32))
    x = np.ones(64, np.float32)
    with pytest.raises(asc.LaunchError, match="is of another core, or of a kernel that has ended") as caught:
        kernel[1](x)
    assert caught.traceback[-1].path.name == "test_loud_refusals.py"


def test_what_one_core_keeps_is_refused_on_another_that_runs_beside_it():
    shared = []

    @asc.jit(kernel_type=asc.runtime.config.KernelType.MIX_AIC_1_2)
    def kernel(x):
        if asc.ascend_is_aiv():
            shared.append(tensors(x)[0])
            asc.sync_all()
            asc.duplicate(shared[0], 1.0, 64)

    with pytest.raises(asc.LaunchError, match="duplicate: dst: is of another core"):
        kernel[1](np.ones(64, np.float32))


def test_a_launch_lets_go_of_its_copies():
    arrays = []

    @asc.jit
    def store(x):
        local, x_gm = tensors(x)
        asc.duplicate(local, 1.0, 64)
        asc.set_flag(asc.HardEvent.V_MTE3, 0)
        asc.wait_flag(asc.HardEvent.V_MTE3, 0)
        asc.data_copy(x_gm, local, 64)
        arrays.append((x.array, x.array.data.nbytes))

    x = np.zeros(1024, np.float32)
    store[1](x)
    assert x[:65].tolist() == [1.0] * 64 + [0.0]
    ((array, during),) = arrays
    assert during > x.nbytes
    assert array.data.nbytes == array.source.nbytes == 0


def test_words_of_two_cores_in_one_cache_line_that_nobody_cleans():
    @asc.jit
    def kernel(x):
        x_gm = asc.GlobalTensor()
        x_gm.set_global_buffer(x)
        x_gm.set_value(asc.get_block_idx(), 5)

    with asc.settings(checks=asc.Checks.collect()):
        report = kernel[2](np.zeros(16, np.int32))
    assert {finding.code for finding in report.findings} == {"CACHE_NOT_FLUSHED", "CACHE_LINE_SHARED"}


def test_an_element_assignment_is_the_authors_line():
    @asc.jit(auto_sync=False)
    def kernel(x):
        local, x_gm = tensors(x)
        asc.data_copy(local, x_gm, 64)
        local[0] = 1.0

    with pytest.raises(asc.HazardError, match=r"test_loud_refusals\.py:\d+ \(S\)"):
        kernel[1](np.ones(64, np.float32))


def test_a_copy_for_cube_cores_on_a_vector_core_names_the_kernel_type():
    @asc.jit
    def kernel(x):
        asc.data_copy(asc.LocalTensor(x.dtype, asc.TPosition.A1, 0, 64), tensors(x)[1], 64)

    with pytest.raises(asc.OperandError, match=r"no unit for it .* aic cores \(jit\(kernel_type=KernelType\.AIC_ONLY"):
        kernel[1](np.ones(64, np.float32))


def test_a_launch_without_the_cores_that_are_waited_for_tells_so():
    """A kernel for both kinds of core whose kernel_type was forgotten."""

    @asc.jit
    def kernel(x):
        if asc.ascend_is_aic():
            asc.cross_core_set_flag(3, 2, asc.PipeID.PIPE_FIX)
        else:
            asc.cross_core_wait_flag(3, 2, asc.PipeID.PIPE_MTE2)

    with pytest.raises(asc.DeadlockError, match="a launch of AIV_ONLY has no aic cores"):
        kernel[1](np.ones(8, np.float32))


def test_a_round_that_some_cores_never_join_is_no_matter_of_the_kernel_type():
    @asc.jit(kernel_type=asc.runtime.config.KernelType.MIX_AIV_1_0)
    def kernel(x):
        if asc.get_block_idx() == 0:
            asc.sync_all()

    with pytest.raises(asc.DeadlockError, match="aiv 1 did not") as caught:
        kernel[2](np.ones(8, np.float32))
    assert "MIX_AIV_1_0" not in str(caught.value)


@pytest.mark.parametrize("mode", [-1, 3, 99])
def test_a_mode_of_a_cross_core_flag(mode):
    @asc.jit(kernel_type=asc.runtime.config.KernelType.MIX_AIC_1_2)
    def kernel(x):
        asc.cross_core_set_flag(0, mode, asc.PipeID.PIPE_MTE3)

    with pytest.raises(asc.ArgumentValueError, match=f"mode_id = {mode}; rule: 0, 1 or 2"):
        kernel[1](np.ones(64, np.float32))


def test_a_huge_count_is_refused_at_once():
    @asc.jit
    def kernel(x):
        local, _ = tensors(x)
        asc.add(local, local, local[8:], 1 << 30)

    with pytest.raises(asc.MemoryFault, match="OOB_PHYS"):
        kernel[1](np.ones(64, np.float32))


def test_a_float_is_no_offset_even_where_the_int_was_one():
    @asc.jit
    def kernel(x):
        local, _ = tensors(x)
        local[8]
        local[8.0]

    with pytest.raises(asc.ArgumentTypeError, match="a float is no integer"):
        kernel[1](np.ones(64, np.float32))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda n: asc.number(3, n > 0), asc.ArgumentTypeError),
        (lambda n: asc.number(3, None), asc.ArgumentTypeError),
        (lambda n: asc.ShapeInfo(np.array(3), [1]), asc.ArgumentTypeError),
        (lambda n: asc.static_assert(False, n), asc.StaticAssertError),
        (lambda n: asc.no_such_name, asc.NoSuchNameError),
    ],
)
def test_bad_input_of_a_scalar_call_is_refused_by_name(call, error):
    @asc.jit
    def kernel(n):
        call(n)

    with pytest.raises(error) as caught:
        kernel[1](3)
    assert caught.traceback[-1].path.name == "test_loud_refusals.py"


@pytest.mark.parametrize("options", [{"auto_sync": "off"}, {"opt_level": True}, {"insert_sync": 1}, {"opt_level": [3]}])
def test_an_option_of_the_wrong_kind(options):
    with pytest.raises(asc.OptionError, match=next(iter(options))):
        asc.jit(**options)(lambda: None)


def test_an_address_has_no_elements():
    @asc.jit
    def indexed(x, store: asc.ConstExpr[bool]):
        if store:
            x[0] = 1.0
        else:
            x[0:8]

    for store in (True, False):
        with pytest.raises(asc.ArgumentTypeError, match=r"GlobalAddress\[\]: index = .*; rule: g = asc.GlobalTensor"):
            indexed[1](np.ones(8, np.float32), store)


def test_a_constant_in_a_parameter_that_is_not_annotated_as_one():
    @asc.jit
    def kernel(x, kind):
        pass

    with pytest.raises(asc.ArgumentTypeError, match=r"kind: .*: str; rule: .* annotated asc.ConstExpr"):
        kernel[1](np.ones(8, np.float32), "add")
