"""jit functions: options, calls from a kernel, what is known of them before they run."""

from __future__ import annotations

import types

import numpy as np
import pytest

import ascsim.lib.options as options_module
from ascsim.hw.checks import Checks
from ascsim.hw.errors import (
    ArgumentTypeError,
    ConstExprError,
    LaunchError,
    OptionError,
    SimulatorWarning,
)
from ascsim.language.core import dtype as dt
from ascsim.language.core.constexpr import ConstExpr
from ascsim.language.core.ir_value import PlainValue
from ascsim.lib.function import Facts, scan
from ascsim.lib.jit import JITFunction, jit
from ascsim.lib.launch import kernel_type
from ascsim.lib.options import CodegenOptions, CompileOptions, LaunchOptions
from ascsim.lib.platform import KernelType
from ascsim.lib.settings import settings

SEEN: list[object] = []


@pytest.fixture(autouse=True)
def _clean():
    SEEN.clear()
    with settings(checks=Checks()):
        yield


def seen_types():
    return [(value.v, value.dtype.name) if isinstance(value, PlainValue) else value for value in SEEN]


def run(body):
    """Launch a function without arguments on one block."""
    return jit(body)[1]()


# --- options -------------------------------------------------------------------------------------------------------


def test_with_and_without_brackets():
    def body(x):
        """What it does."""

    plain, chosen = jit(body), jit(debug=True, kernel_type=KernelType.AIC_ONLY)(body)
    assert isinstance(plain, JITFunction)
    assert plain.fn is body
    assert plain.default_options == {}
    assert chosen.default_options == {"debug": True, "kernel_type": KernelType.AIC_ONLY}
    assert plain.launch_options == LaunchOptions(core_num=0, stream=None)
    assert (plain.__name__, plain.__doc__, plain.__wrapped__) == ("body", "What it does.", body)


@pytest.mark.parametrize("level", [1, 2, 3, None])
def test_opt_levels(level):
    jit(opt_level=level)(lambda: None)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"opt_level": 0}, "opt_level = 0; rule: 1, 2 or 3; nearest legal value: 1"),
        ({"optimize": 3}, "optimize: unknown option; rule: one of always_compile, auto_sync,"),
        ({"core_num": 8}, r"core_num: belongs to the launch: kernel[core_num, stream](...)"),
        ({"stream": None}, "stream: belongs to the launch"),
        ({"kernel_type": 1}, "kernel_type = 1; rule: a member of KernelType: AIV_ONLY, AIC_ONLY"),
    ],
)
def test_wrong_options_are_refused_when_decorating(options, text):
    with pytest.raises(RuntimeError) as caught:
        jit(**options)(lambda: None)
    assert isinstance(caught.value, OptionError)
    assert text in str(caught.value)


def test_a_parameter_named_like_an_option_is_refused():
    with pytest.raises(OptionError, match="parameter of body named like an option"):

        @jit
        def body(x, debug):
            pass


def test_what_is_no_function_is_refused():
    with pytest.raises(ArgumentTypeError, match="not a Python function"):
        jit(int)
    with pytest.raises(ArgumentTypeError, match="runs nothing"):

        @jit
        def body():
            yield


def test_option_classes_have_the_documented_defaults():
    assert CodegenOptions() == CodegenOptions(capture_exceptions=True, ir_multithreading=True)
    now = CompileOptions()
    assert (now.debug, now.strip_loc, now.verify_sync, now.print_ir_before_all, now.run_passes) == (
        *(False, False, False, False),
        True,
    )
    assert (now.kernel_type, now.opt_level, now.auto_sync, now.auto_sync_log) == (None, 3, True, "")
    assert (now.bisheng_options, now.always_compile, now.matmul_cube_only, now.insert_sync) == (
        None,
        False,
        False,
        None,
    )
    with pytest.raises(AttributeError):
        LaunchOptions().core_num = 4


# --- calls from a kernel ---------------------------------------------------------------------------------------------


@jit
def device(a, b=2, *, c=3.5):
    SEEN.extend((a, b, c))


def test_numbers_become_runtime_scalars_defaults_too():
    def body():
        device(1)
        device(True, b=np.uint8(7), c=-1)

    run(body)
    assert seen_types() == [(1, "int32"), (2, "int32"), (3.5, "float32"), (True, "int1"), (7, "uint8"), (-1, "int32")]


def test_objects_are_shared_and_scalars_pass_unchanged():
    thing: list[int] = []

    def body():
        device(thing, dt.float16, c="text")
        thing.append(1)

    run(body)
    assert SEEN[0] is thing
    assert SEEN[1:] == [dt.float16, "text"]


@jit
def gives(what):
    return what.made()


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (5, (5, "int32")),
        (2.5, (2.5, "float32")),
        (None, None),
        ("text", "text"),
        ((1, "x", 2.0), ((1, "int32"), "x", (2.0, "float32"))),
    ],
)
def test_returned_numbers_become_runtime_scalars(made, expected):
    def show(value):
        if isinstance(value, tuple):
            return tuple(map(show, value))
        return (value.v, value.dtype.name) if isinstance(value, PlainValue) else value

    class Made:
        def made(self):
            return made

    def body():
        SEEN.append(gives(Made()))

    run(body)
    assert show(SEEN[0]) == expected


@jit
def halves(n, many: ConstExpr[int], anything: ConstExpr = None):
    SEEN.append((n / 4, many / 4))


def test_division_of_constants_and_of_runtime_numbers():
    run(lambda: halves(10, 10))
    n, many = SEEN[0]
    assert (n.v, many) == (2, 2.5)


def test_a_constant_is_checked_and_unwrapped():
    run(lambda: halves(10, ConstExpr(8)))
    assert SEEN[0][1] == 2.0
    with pytest.raises(ConstExprError, match=r"many.*float"):
        run(lambda: halves(10, 8.0))

    @jit
    def body(n):
        halves(10, n)

    with pytest.raises(ConstExprError, match="many = 6: is known at run time only"):
        body[1](6)


def test_a_constant_is_checked_and_unwrapped_though_it_equals_that_of_the_first_call():
    @jit
    def keep(many: ConstExpr[int]):
        SEEN.append(type(many))

    with pytest.raises(ConstExprError, match=r"many.*float"):
        run(lambda: (keep(8), keep(8.0)))
    SEEN.clear()
    run(lambda: (keep(8), keep(ConstExpr(8))))
    assert len(SEEN) == 2
    assert set(SEEN) == {int}


def test_a_constant_that_differs_from_the_first_call_is_honoured_with_a_warning():
    def body():
        for many in (8, 8, 4, 2):
            halves(10, many)

    with pytest.warns(SimulatorWarning) as given:
        run(body)
    assert [many for _, many in SEEN] == [2.0, 2.0, 1.0, 0.5]
    assert [str(warning.message) for warning in given] == [
        "halves: compile-time arguments (4, None) differ from (8, None) of the first call; "
        "the compiler would use the code made for the first again"
    ]
    assert given[0].filename == __file__
    SEEN.clear()
    run(lambda: halves(10, 2))  # another launch starts anew
    assert SEEN[0][1] == 0.5


def test_string_annotations_are_resolved():
    run(lambda: halves(10, 3))  # this file's annotations are strings
    assert SEEN[0][1] == 0.75

    @jit
    def body(n: nowhere.ConstExpr[int]):  # noqa: F821
        pass

    with pytest.raises(OptionError, match="annotation cannot be resolved"):
        body[1](1)


def test_a_wrong_number_of_arguments_names_the_function():
    with pytest.raises(TypeError, match=r"halves\(\) missing 1 required positional argument: 'many'"):
        run(lambda: halves(1))


def test_variadic_parameters():
    @jit
    def many(*values, **more):
        SEEN.extend((*values, *more.values()))

    run(lambda: many(1, "x", k=2))
    assert seen_types() == [(1, "int32"), "x", (2, "int32")]


def test_a_loop_in_a_device_function_counts_in_runtime_scalars():
    @jit
    def loop(n):
        for i in range(n):
            SEEN.append(i)

    run(lambda: loop(2))
    assert seen_types() == [(0, "int32"), (1, "int32")]


def test_a_device_function_may_be_a_method():
    class Tile:
        size = 4

        @jit
        def half(self, n):
            SEEN.append((self.size, n))

    run(lambda: Tile().half(3))
    assert SEEN[0][0] == 4
    assert isinstance(SEEN[0][1], PlainValue)
    with pytest.raises(LaunchError, match=r"half: a kernel cannot be a method"):
        Tile().half[1](3)
    assert isinstance(Tile.half, JITFunction)


def test_called_on_the_host_it_says_how_to_launch():
    for _ in range(2):  # the first call and later ones
        with pytest.raises(LaunchError, match=r"device: called on the host; rule: device\[core_num\]\(...\) launches"):
            device(1)


def test_an_exception_in_a_device_function_is_the_authors_own():
    @jit
    def fails():
        raise ValueError("mine")

    with pytest.raises(ValueError, match=r"^mine$") as caught:
        run(lambda: fails())
    assert caught.traceback[-1].name == "fails"
    assert str(caught.traceback[-1].path) == __file__


# --- what is known beforehand ----------------------------------------------------------------------------------------

library = types.SimpleNamespace(register_matmul=lambda: None, LocalTensorAuto=lambda: None)


@jit
def registers():
    library.register_matmul()


@jit
def allocates(x: library.LocalTensorAuto):
    library.LocalTensorAuto()


def helper():
    allocates(0)


@jit
def recursive(n):
    recursive(n)


def test_scan_reads_names_of_all_reached_functions():
    module = types.ModuleType("device_functions")
    module.registers = registers

    def nothing(x: library.LocalTensorAuto):
        """register_matmul"""  # neither a comment, register_matmul, nor text or annotations count

    def through_a_module():
        module.registers()

    def through_a_plain_function():
        helper()

    def nested():
        def inner():
            return registers

        return inner

    def imported_as():
        renamed()

    def register_matmul():
        pass

    renamed = register_matmul
    assert scan(nothing) == Facts()
    assert scan(registers.fn) == Facts(matmul=True)
    assert scan(allocates.fn) == Facts(auto_tensors=True)
    assert scan(through_a_module) == Facts(matmul=True)
    assert scan(through_a_plain_function) == Facts(auto_tensors=True)
    assert scan(nested) == Facts(matmul=True)
    assert scan(imported_as) == Facts(matmul=True)
    assert scan(recursive.fn) == Facts()


@pytest.mark.parametrize(
    ("options", "facts", "kind"),
    [
        ({}, Facts(), KernelType.AIV_ONLY),
        ({"matmul_cube_only": True}, Facts(), KernelType.AIV_ONLY),
        ({}, Facts(matmul=True), KernelType.MIX_AIC_1_2),
        ({"matmul_cube_only": True}, Facts(matmul=True), KernelType.AIC_ONLY),
        ({"kernel_type": KernelType.MIX_AIC_1_1}, Facts(matmul=True), KernelType.MIX_AIC_1_1),
    ],
)
def test_kernel_type(options, facts, kind):
    assert kernel_type(CompileOptions(**options), facts) is kind


def test_the_table_of_options_names_real_options():
    rows = [line.split("|")[1].strip() for line in (options_module.__doc__ or "").splitlines() if line.startswith("| ")]
    names = [name for row in rows[1:] for name in row.split(", ")]
    assert set(names) <= options_module.COMPILING | options_module.LAUNCHING
