"""Whatever is handed to an instruction, an error that it raises is one of the package's own; none works on the host."""

from __future__ import annotations

import importlib
import inspect
import random
from contextlib import suppress
from typing import Any

import front_end_calls  # noqa: F401  # fills the table
import front_end_methods  # noqa: F401  # fills the table
import front_end_table as table
import numpy as np
import pytest
from basic_machine import at, launch, ub, whole

import ascsim as asc
from ascsim.hw.checks import Checks
from ascsim.hw.errors import LaunchError, SimulatorError
from ascsim.language.core import (
    BinaryRepeatParams,
    DataCopyExtParams,
    DataCopyPadExtParams,
    DataCopyParams,
    GlobalTensor,
    HardEvent,
    LocalMemAllocator,
    LocalTensor,
    LocalTensorAuto,
    PipeID,
    SliceInfo,
    TPosition,
    UnaryRepeatParams,
    number,
)
from ascsim.language.core import dtype as dt

ALL = {
    name: getattr(asc.adv if "." in name else asc, name.rpartition(".")[2])
    for name in table.ACCEPTED
    if name.rpartition(".")[0] in ("", "adv")
}
MODULES = "block_sync common data_copy sys_var vec_binary vec_binary_scalar vec_duplicate vec_unary".split()
FUNCTIONS = {
    name: getattr(module, name)
    for module in (importlib.import_module(f"ascsim.language.basic.{name}") for name in MODULES)
    for name in module.__all__
}
JUNK = [
    None,
    "a",
    "",
    b"x",
    1.5,
    float("nan"),
    float("inf"),
    -1,
    1 << 80,
    -(1 << 80),
    [],
    [1],
    [None, 1],
    (1, 2, 3),
    {},
]
JUNK += [object(), print, int, np.zeros(3), np.float32(2), True, {1: 2}, 3j]
DRAWS = 40  # calls a form; each argument is junk or something that another argument may be
FEW = 5  # calls made of a legal one; an argument or two are junk


def legal(address: Any) -> list[Any]:
    """Things that arguments of some call may be. Made in a kernel."""
    tensors = [ub(dt.float32, 0, 64), ub(dt.int16, 512, 64), ub(dt.float16, 33, 9), ub(dt.float32, 0, 8, TPosition.A1)]
    params = [BinaryRepeatParams(), UnaryRepeatParams(), DataCopyParams(2, 1, 0, 0), DataCopyExtParams(1, 8, 0, 0, 0)]
    params += [DataCopyPadExtParams(dt.float32, True, 1, 0, 0), [SliceInfo(0, 7, 0, 1, 8)]]
    numbers = [0, 1, 2, 8, 64, 255, [1, 0], number(3, dt.int32), number(2, dt.int64), number(0.5, dt.float32)]
    others = [HardEvent.MTE2_V, PipeID.PIPE_V, dt.float32, TPosition.VECIN, GlobalTensor(), at(address)]
    return [*tensors, *tensors, *params, *numbers, *others, LocalTensor(dt.float32)]


def forms(function: Any) -> list[inspect.Signature]:
    return list(getattr(function, "__overloads__", None) or [inspect.signature(function)])


def tried(function: Any, arguments: list[Any], named: dict[str, Any]) -> None:
    """Make a call; what it raises is an error of the package, or Python's because it does not fit the signature."""
    try:
        function(*arguments, **named)
    except SimulatorError:
        pass
    except Exception as error:
        step = error.__traceback__
        while step is not None and step.tb_next is not None:
            step = step.tb_next
        if not (isinstance(error, TypeError) and step is not None and step.tb_frame.f_code.co_filename == __file__):
            raise AssertionError(f"{function.__name__}{tuple(arguments)} {named or ''}: {error!r}") from error


def fuzzed(body: Any, kind: str) -> None:
    """Run a kernel of such calls: what they leave behind may be reported at its end."""
    with suppress(SimulatorError):
        launch(body, np.ones(4096, np.float32), checks=Checks.collect(), kind=kind)


@pytest.mark.parametrize("name", ALL)
def test_an_error_of_a_junk_call_is_one_of_the_package(name):
    """All arguments at random; then an argument or two of calls that are accepted."""
    function, draw = ALL[name], random.Random(name)
    kind = "aic" if table.KIND.get(name) == "aic" else "aiv"

    def anything(address):
        good = legal(address)
        for form in forms(function):
            for _ in range(DRAWS if form.parameters else 1):
                chosen = {key: draw.choice(draw.choice([JUNK, good, good])) for key in form.parameters}
                if name == "set_vector_mask":  # two of its parameters can only be named
                    tried(function, [], chosen)
                else:
                    tried(function, list(chosen.values()), {})

    def nearly_right(address):
        if kind == "aiv":
            whole("UB", np.zeros(180 << 10, np.uint8))
        good = legal(address)
        space = {"asc": asc, "given": lambda *arguments, **named: (list(arguments), named)}
        space |= dict.fromkeys("xyzw", address)
        for call in table.ACCEPTED[name]:
            exec("\n".join(table.operands([call])), space)
            for _ in range(FEW):
                arguments, named = eval(f"given({call})", space)
                slots = [*range(len(arguments)), *named]
                for slot in draw.choices(slots, k=draw.choice([1, 1, 2])) if slots else []:
                    holder = arguments if isinstance(slot, int) else named
                    holder[slot] = draw.choice(draw.choice([JUNK, JUNK, good]))
                tried(function, arguments, named)

    fuzzed(anything, kind)
    fuzzed(nearly_right, kind)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_outside_a_kernel(name):
    """The arguments are those of a legal call, as far as there are any outside a kernel."""
    known = {"event": HardEvent.MTE2_V, "pipe": PipeID.PIPE_V, "dtype": dt.float32, "mode": 0, "arg0": 0, "pos": 9}
    known |= {"dst": GlobalTensor(), "src": GlobalTensor(), "data_copy_params": DataCopyParams()}
    known |= {"pad_params": None}
    known["repeat_params"] = DataCopyParams() if name == "data_copy" else BinaryRepeatParams()
    for form in forms(FUNCTIONS[name]):
        own = inspect.signature(FUNCTIONS[name]).parameters
        with pytest.raises(LaunchError, match=r"works inside a kernel, launched as kernel\[blocks\]"):
            FUNCTIONS[name](**{key: known.get(key, 1) for key in form.parameters if key in own})


@pytest.mark.parametrize(
    "make", [lambda: LocalTensor(dt.float32), LocalMemAllocator, lambda: LocalTensorAuto(dt.float32, 8)]
)
def test_tensors_outside_a_kernel(make):
    with pytest.raises(LaunchError, match="works inside a kernel"):
        make()


METHODS: list[tuple[str, int]] = [
    *[("__getitem__", 1), ("__call__", 1), ("__setitem__", 2), ("get_value", 1), ("set_value", 2), ("get_phy_addr", 1)],
    *[("set_shape_info", 1), ("set_size", 1), ("set_buffer_len", 1), ("set_addr_with_offset", 2), ("set_user_tag", 1)],
    *[("reinterpret_cast", 1), ("print", 1), ("to_file", 1), ("set_global_buffer", 2), ("set_l2_cache_hint", 2)],
]


@pytest.mark.parametrize(("method", "many"), METHODS)
def test_an_error_of_a_junk_method_call_is_one_of_the_package(method, many, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw = random.Random(method)
    for _ in range(DRAWS):
        chosen: list[Any] = []

        def body(address, chosen=chosen):
            good = legal(address)
            tensor = draw.choice([t for t in (*good[:4], good[-1], GlobalTensor(), at(address)) if hasattr(t, method)])
            chosen += [tensor, *(draw.choice(draw.choice([JUNK, good])) for _ in range(many))]
            getattr(tensor, method)(*chosen[1:])

        try:
            launch(body, np.ones(64, np.float32), checks=Checks.collect())
        except SimulatorError:
            pass
        except FileNotFoundError:
            assert chosen[1] == ""
        except Exception as error:
            raise AssertionError(f"{method}{tuple(chosen)}: {error!r}") from error


@pytest.mark.parametrize(
    ("make", "many"),
    [
        (LocalTensor, 4),
        (LocalTensorAuto, 2),
        (LocalMemAllocator, 1),
        (lambda *given: LocalMemAllocator().alloc(*given), 3),
        (lambda *given: DataCopyPadExtParams(*given), 5),
        (lambda *given: SliceInfo(*given), 5),
    ],
)
def test_an_error_of_a_junk_construction_is_one_of_the_package(make, many):
    draw = random.Random(many)
    for _ in range(DRAWS):
        chosen: list[Any] = []

        def body(address, chosen=chosen):
            good = legal(address)
            chosen += [draw.choice(draw.choice([JUNK, good, [dt.float32, TPosition.VECIN]])) for _ in range(many)]
            make(*chosen)

        try:
            launch(body, np.ones(64, np.float32), checks=Checks.collect())
        except SimulatorError:
            pass
        except Exception as error:
            raise AssertionError(f"{chosen}: {error!r}") from error
