"""What the author of a kernel sees of it: their own lines and names in errors and in the debugger, their own prints.

All through `kernel[...]`, as a script does it.
"""

# ruff: noqa: F841 - a name that nobody reads is what these tests look for; breakpoint() is under test

from __future__ import annotations

import ast
import inspect
import linecache
import sys
import threading
import traceback

import numpy as np
import pytest

import ascsim as asc

TILE = 64  # float32 elements
UB = 192 * 256  # as many fill the unified buffer, 192 KiB


def line_of(marker: str) -> int:
    """The line of this file that ends with a comment."""
    (line,) = (n for n, text in enumerate(linecache.getlines(__file__), 1) if text.endswith(f"# {marker}\n"))
    return line


def names(frame) -> dict[str, object]:
    """The local names of a frame; the simulator's own begin with a dot."""
    return {name: value for name, value in frame.f_locals.items() if not name.startswith(".")}


@pytest.fixture(autouse=True)
def _default_checks():
    with asc.settings(checks=asc.Checks()):
        yield


# --- errors ----------------------------------------------------------------------------------------------------------


@asc.jit
def past_the_memory(x: asc.GlobalAddress, tiles: int):
    whole = asc.LocalTensor(x.dtype, asc.TPosition.VECCALC, 0, UB)
    for turn in range(tiles):
        part = whole[UB - (2 - turn) * TILE :]
        asc.duplicate(part, 1.0, TILE)  # past the memory


@asc.jit
def bad_mask(x: asc.GlobalAddress, tiles: int):
    part = asc.LocalTensor(x.dtype, asc.TPosition.VECCALC, 0, 4 * TILE)
    for turn in range(tiles):
        mask = TILE - 1 + turn
        asc.duplicate(part, 1.0, mask, 1, 1, 8)  # bad mask


@asc.jit
def bad_event_id(x: asc.GlobalAddress, tiles: int):
    for turn in range(tiles):
        number = 6 + turn
        asc.set_flag(asc.HardEvent.MTE2_V, number)  # bad event id
        asc.wait_flag(asc.HardEvent.MTE2_V, number)


@asc.jit
def freed_twice(x: asc.GlobalAddress, tiles: int):
    pipe = asc.TPipe()
    queue = asc.TQue(asc.TPosition.VECIN, 1)
    pipe.init_buffer(queue, 1, 256)
    for turn in range(tiles):
        tensor = queue.alloc_tensor(x.dtype)
        queue.enque(tensor)
        tensor = queue.deque(x.dtype)
        queue.free_tensor(tensor)
        if turn == 2:
            queue.free_tensor(tensor)  # freed twice


@asc.jit
def not_waited_for(x: asc.GlobalAddress, tiles: int):
    x_gm = asc.GlobalTensor()
    x_gm.set_global_buffer(x)
    part = asc.LocalTensor(x.dtype, asc.TPosition.VECIN, 0, TILE)
    total = asc.LocalTensor(x.dtype, asc.TPosition.VECCALC, 256, TILE)
    for turn in range(tiles):
        asc.data_copy(part, x_gm, TILE)
        asc.set_flag(asc.HardEvent.MTE2_V, 0)
        if turn < 2:
            asc.wait_flag(asc.HardEvent.MTE2_V, 0)
        asc.add(total, part, part, TILE)  # not waited for
        asc.set_flag(asc.HardEvent.V_MTE2, 0)
        asc.wait_flag(asc.HardEvent.V_MTE2, 0)


WRONG = {  # kernel: class, code, the turn that fails, local names beside the arguments
    past_the_memory: (asc.MemoryFault, "OOB_PHYS", 2, {"whole", "turn", "part"}),
    bad_mask: (asc.OperandError, "BAD_MASK", 2, {"part", "turn", "mask"}),
    bad_event_id: (asc.SyncError, "FLAG_BAD_ID", 2, {"turn", "number"}),
    freed_twice: (asc.QueueError, "QUE_DOUBLE_FREE", 2, {"pipe", "queue", "turn", "tensor"}),
    not_waited_for: (asc.HazardError, "RAW", 2, {"x_gm", "part", "total", "turn"}),
}


@pytest.mark.parametrize("kernel", WRONG, ids=lambda kernel: kernel.__name__)
def test_an_error_ends_at_the_authors_line_with_the_authors_names(kernel):
    kind, code, turn, own = WRONG[kernel]
    with pytest.raises(kind) as caught:
        kernel[1](np.ones(2 * TILE, np.float32), 3)
    assert type(caught.value) is kind
    assert caught.value.code == code
    line = line_of(kernel.__name__.replace("_", " "))
    trace = traceback.extract_tb(caught.value.__traceback__)
    assert (trace[-1].filename, trace[-1].name, trace[-1].lineno) == (__file__, kernel.__name__, line)
    *_, (last, _) = traceback.walk_tb(caught.value.__traceback__)
    assert set(names(last)) == {"x", "tiles", *own}
    assert (last.f_locals["turn"].v, last.f_locals["tiles"].v) == (turn, 3)
    assert last.f_locals["x"].dtype == asc.float32


@asc.jit
def no_such_slice(x: asc.GlobalAddress, tiles: int):
    shapes = (1, 2)
    shapes[x:]  # no such slice


def test_pythons_own_error_in_a_slice_ends_at_the_authors_line():
    with pytest.raises(TypeError, match="slice indices must be integers") as caught:
        no_such_slice[1](np.ones(TILE, np.float32), 1)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.name, last.lineno) == (__file__, "no_such_slice", line_of("no such slice"))


@asc.jit
def emptied(queue: asc.TQue, dtype: asc.ConstExpr):
    tensor = queue.deque(dtype)  # nothing in it
    queue.free_tensor(tensor)


@asc.jit
def calls_another(x: asc.GlobalAddress):
    pipe = asc.TPipe()
    queue = asc.TQue(asc.TPosition.VECIN, 1)
    pipe.init_buffer(queue, 1, 256)
    emptied(queue, x.dtype)  # the call


def test_an_error_in_a_device_function_shows_who_called_it():
    with pytest.raises(asc.QueueError) as caught:
        calls_another[1](np.ones(TILE, np.float32))
    trace = traceback.extract_tb(caught.value.__traceback__)
    mine = [(frame.name, frame.lineno) for frame in trace if frame.filename == __file__]
    assert mine[1:] == [("calls_another", line_of("the call")), ("emptied", line_of("nothing in it"))]
    assert trace[-1].filename == __file__
    frames = [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__)]
    assert set(names(frames[-1])) == {"queue", "dtype"}


def test_every_error_is_exported_and_is_a_simulator_error():
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("ascsim.")]
    defined = {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if inspect.isclass(value) and issubclass(value, Exception) and value.__module__.startswith("ascsim.")
        if not name.startswith("_")
    }
    assert {"SimulatorError", "HazardError", "LaunchError", "SimulatorWarning", "CodegenError"} <= set(defined)
    for name, value in defined.items():
        assert getattr(asc, name) is value
    warning = defined.pop("SimulatorWarning")  # what warnings.warn takes: a warning, made an exception by a filter only
    assert issubclass(warning, Warning)
    assert all(issubclass(value, asc.SimulatorError) for value in defined.values())


def test_pyascs_errors_of_a_compiler_name_the_line():
    source = ["x = 1", "  break"]
    node = ast.parse("x = 1\ny").body[1]
    assert str(asc.CodegenError(node, source, "no such statement")) == "line 2: break: no such statement"
    assert str(asc.UnsupportedSyntaxError(node)) == "line 2"
    assert asc.CodegenError(ast.Pass(), None, "nowhere").message == "nowhere"


# --- debugger and print ----------------------------------------------------------------------------------------------


@asc.jit
def stops(x: asc.GlobalAddress, tiles: int):
    block = asc.get_block_idx()
    for turn in range(tiles):
        twice = 2 * turn
        breakpoint()  # here


def test_breakpoint_stops_at_the_authors_line_with_the_authors_names(monkeypatch):
    stopped, values = [], []

    def hook():
        frame = sys._getframe(1)
        own = names(frame)
        stopped.append((frame.f_code.co_filename, frame.f_code.co_name, frame.f_lineno, set(own)))
        values.append(tuple(own[name].v for name in ("block", "turn", "twice", "tiles")))

    monkeypatch.setattr(sys, "breakpointhook", hook)
    stops[2](np.ones(TILE, np.float32), 2)
    here = (__file__, "stops", line_of("here"), {"x", "tiles", "block", "turn", "twice"})
    assert stopped == [here] * 4
    assert values == [(0, 0, 0, 2), (0, 1, 2, 2), (1, 0, 0, 2), (1, 1, 2, 2)]


@asc.jit
def prints(tiles: int):
    for turn in range(tiles):
        print("turn", turn, "of", tiles, end=";\n")


def test_print_prints(capsys):
    prints[2](2)
    assert capsys.readouterr().out == "turn 0 of 2;\nturn 1 of 2;\n" * 2


# --- two threads -----------------------------------------------------------------------------------------------------


@asc.jit
def adds_with_queues(x: asc.GlobalAddress, z: asc.GlobalAddress, tiles: int, bad: int):
    first = asc.get_block_idx() * tiles * TILE
    x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x + first, tiles * TILE)
    z_gm.set_global_buffer(z + first, tiles * TILE)
    pipe = asc.TPipe()
    taken, given = asc.TQue(asc.TPosition.VECIN, 2), asc.TQue(asc.TPosition.VECOUT, 2)
    pipe.init_buffer(taken, 2, 4 * TILE)
    pipe.init_buffer(given, 2, 4 * TILE)
    for turn in range(tiles):
        at = turn * TILE
        tensor = taken.alloc_tensor(x.dtype)
        asc.data_copy(tensor, x_gm[at:], TILE)
        taken.enque(tensor)
        tensor = taken.deque(x.dtype)
        total = given.alloc_tensor(z.dtype)
        asc.add(total, tensor, tensor, TILE)
        taken.free_tensor(tensor)
        if turn == bad:
            taken.free_tensor(tensor)
        given.enque(total)
        total = given.deque(z.dtype)
        asc.data_copy(z_gm[at:], total, TILE)
        given.free_tensor(total)


@pytest.fixture
def _quick_switches():
    """The interpreter changes threads many times within a launch."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_quick_switches")
def test_two_threads_keep_results_and_errors_apart():
    """Launch by launch they start together; every third launch of the second thread fails, at a turn of its own."""
    launches, tiles, blocks = 24, 4, 2
    meeting = threading.Barrier(2, timeout=60)
    seen: dict[int, list[object]] = {0: [], 1: []}

    def work(me: int) -> None:
        for k in range(launches):
            bad = k % tiles if me == 1 and k % 3 == 0 else -1
            x = np.arange(blocks * tiles * TILE, dtype=np.float32) + 1000 * (me + 1) + k
            z = np.zeros_like(x)
            meeting.wait()
            try:
                report = adds_with_queues[blocks](x, z, tiles, bad)
                seen[me].append((report.findings, report.blocks, np.array_equal(z, 2 * x)))
            except Exception as error:
                seen[me].append((error, z.any()))

    threads = [threading.Thread(target=work, args=(me,)) for me in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    good = ([], blocks, True)
    assert seen[0] == [good] * launches
    assert [outcome for k, outcome in enumerate(seen[1]) if k % 3] == [good] * (launches * 2 // 3)
    for k in range(0, launches, 3):
        error, written = seen[1][k]
        assert getattr(error, "code", error) == "QUE_DOUBLE_FREE"
        assert not written
        *_, (last, _) = traceback.walk_tb(error.__traceback__)
        assert (last.f_locals["turn"].v, last.f_locals["bad"].v) == (k % tiles, k % tiles)


@asc.jit
def left_set(x: asc.GlobalAddress, tiles: int):
    for turn in range(tiles):
        asc.set_flag(asc.HardEvent.MTE2_V, turn)  # left set


@asc.jit
def waits_for_ever(x: asc.GlobalAddress, tiles: int):
    for turn in range(tiles):
        asc.wait_flag(asc.HardEvent.MTE2_V, turn)  # waits for ever


@pytest.mark.parametrize(("kernel", "marker"), [(left_set, "left set"), (waits_for_ever, "waits for ever")])
def test_a_fault_that_is_found_when_the_kernel_has_ended(kernel, marker):
    with pytest.raises(asc.SyncError) as caught:
        kernel[1](np.ones(TILE, np.float32), 1)
    last = traceback.extract_tb(caught.tb)[-1]
    assert (last.filename, last.lineno) == (__file__, line_of(marker))
