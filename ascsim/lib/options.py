"""The options of a jit function and of a launch, in pyasc's three groups, and how they are read from keywords.

Effect of each option here (those not named steer the device compiler alone and change nothing):

| option | effect in the simulator |
|---|---|
| kernel_type | which cores run the body; None is worked out from the kernel |
| matmul_cube_only | a kernel with a matmul object runs on the cube core alone |
| auto_sync | vector and scalar instructions of one vector core count as ordered |
| insert_sync | missing order inside a core is added instead of reported; None: if the kernel uses LocalTensorAuto |
| opt_level | checked (1, 2 or 3), no effect |
| verify_sync | no effect: queues are always checked |
| capture_exceptions | no effect: an error in the body is never wrapped |
| core_num, stream | given in square brackets alone; every stream runs at once and in order |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from ascsim.hw.errors import OptionError

from .platform import KernelType


@dataclass
class CodegenOptions:
    """How pyasc reads a kernel."""

    capture_exceptions: bool = True
    ir_multithreading: bool = True


@dataclass
class CompileOptions:
    """How pyasc compiles a kernel."""

    debug: bool = False
    strip_loc: bool = False
    verify_sync: bool = False
    print_ir_before_all: bool = False
    run_passes: bool = True
    kernel_type: KernelType | None = None
    opt_level: int | None = 3
    auto_sync: bool | None = True
    auto_sync_log: str | None = ""
    bisheng_options: tuple[str, ...] | None = None
    always_compile: bool = False
    matmul_cube_only: bool = False
    insert_sync: bool | None = None

    def __post_init__(self) -> None:
        if self.kernel_type is not None and not isinstance(self.kernel_type, KernelType):
            legal = "a member of KernelType: " + ", ".join(kind.name for kind in KernelType)
            raise OptionError("jit", operand="kernel_type", value=self.kernel_type, rule=legal)
        for name in ("auto_sync", "insert_sync", "matmul_cube_only"):
            if getattr(self, name) is not None and not isinstance(getattr(self, name), bool):
                raise OptionError("jit", operand=name, value=getattr(self, name), rule="True or False")
        if self.opt_level is not None and (type(self.opt_level) is not int or self.opt_level not in (1, 2, 3)):
            raise OptionError("jit", operand="opt_level", value=self.opt_level, rule="1, 2 or 3", nearest=1)


@dataclass(frozen=True)
class LaunchOptions:
    """What stands in the square brackets of a launch: the number of blocks, and a stream."""

    core_num: int = 0
    stream: Any = None


_COMPILE = frozenset(field.name for field in fields(CompileOptions))
COMPILING = frozenset(field.name for group in (CodegenOptions, CompileOptions) for field in fields(group))
LAUNCHING = frozenset(field.name for field in fields(LaunchOptions))


def check_options(options: Mapping[str, Any]) -> None:
    """Refuse an option that does not exist, or that belongs in the square brackets of a launch."""
    for name in options:
        if name in LAUNCHING:
            raise OptionError("jit", "belongs to the launch: kernel[core_num, stream](...)", operand=name)
        if name not in COMPILING:
            raise OptionError("jit", "unknown option", operand=name, rule="one of " + ", ".join(sorted(COMPILING)))
    compile_options(options)


def compile_options(options: Mapping[str, Any]) -> CompileOptions:
    """The CompileOptions among the keywords; its values are checked."""
    return CompileOptions(**{name: value for name, value in options.items() if name in _COMPILE})
