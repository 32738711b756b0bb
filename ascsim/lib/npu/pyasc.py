"""pyasc's own classes, turned to two ends: the text of a kernel without a compiler, and a timed launch on a device.

Derived at run time, for their bases exist only where pyasc is installed. Everything here is called inside
`front_end`.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ..function import Function
from ..reach import UNKNOWN, meaning, reached, uses


@dataclass(slots=True)
class Text:
    """What the front end makes of a kernel: Ascend C, the intermediate form after its passes, the kernel's type."""

    source: str
    intermediate: str = ""
    kernel_type: str = ""


def text_maker(asc: ModuleType) -> Callable[..., Any]:
    """A jit function that stops at the text: a launch of it leaves a `Text` in its attribute `text`."""
    jit, compiler, specialization = asc.runtime.jit, asc.runtime.compiler, asc.codegen.specialization

    class TextCompiler(compiler.Compiler):  # type: ignore[name-defined]
        def __init__(self, options: Any) -> None:  # the base looks for the compiler and the linker
            self.options, self.dump_dir, self.enable_debug = options, None, False

        def run_compilation(self, source: str, kernel_args: Any = None) -> Text:
            return Text(source)

    class TextFunction(jit.JITFunction):  # type: ignore[name-defined]
        compiler = TextCompiler
        text: Text

        def _cache_kernel(self, runtime_args: Any, constexprs: Any, codegen_options: Any, compile_options: Any) -> Text:
            types = {name: self.get_arg_type(value) for name, value in runtime_args.items()}
            _ = self.cache_key  # the walk that makes the key refuses functions that are no jit functions
            module = self._run_codegen(specialization.Specialization(types, constexprs), codegen_options)
            text: Text = self._run_compiler(module, compile_options)
            text.intermediate, text.kernel_type = str(module), compile_options.kernel_type.name
            return text

        def _run_launcher(self, kernel: Text, options: Any, runtime_args: Any) -> None:
            self.text = kernel

    return TextFunction


def device_maker(asc: ModuleType, function: Function) -> Callable[..., Any]:
    """A jit function for a device: a launch of it leaves its duration in microseconds in its attribute `task_us`.

    The duration is the host's, from the launch to the end of its stream. pyasc keeps compiled kernels under a key
    that leaves out the globals that are baked into them; here the key has them.
    """
    jit, launcher, runtime = asc.runtime.jit, asc.runtime.launcher, asc.lib.runtime

    class Stopwatch(launcher.MsprofLauncher):  # type: ignore[name-defined]
        def start(self) -> None:
            super().start()
            self.began = time.perf_counter()

        def process(self, *task: Any) -> None:
            super().process(*task)
            runtime.synchronize()
            self.task_us = (time.perf_counter() - self.began) * 1e6

    class TimedLauncher(launcher.Launcher):  # type: ignore[name-defined]
        def __init__(self, options: Any) -> None:
            super().__init__(options)
            self.msprof = Stopwatch(False)

    class DeviceFunction(jit.JITFunction):  # type: ignore[name-defined]
        launcher = TimedLauncher
        task_us = 0.0

        @property
        def cache_key(self) -> str:
            return hashlib.sha256(f"{super().cache_key} {_baked_in(function)}".encode()).hexdigest()

        def _run_launcher(self, kernel: Any, options: Any, runtime_args: Any) -> None:
            timed = self.launcher(options)
            timed.run(kernel, self.fn.__name__, runtime_args)
            self.task_us = timed.msprof.task_us

    return DeviceFunction


def _baked_in(function: Function) -> list[tuple[str, str]]:
    """The global values that become constants of the compiled kernel."""
    values = []
    for known in reached(function):
        for use in uses(known.fn):
            value = meaning(use.path[:1], known.fn.__globals__) if use.value is UNKNOWN else use.value
            if not isinstance(value, (ModuleType, type, Function)) and not callable(value):
                values.append((".".join(use.path), repr(value)))
    return values
