"""ascsim: run, check and time Ascend AI-core kernels written with the pyasc API, without a device.

The public names: everything a kernel author may write (as in `import asc`), `jit`, the launch settings, the report,
the checks, and the error classes.
"""

from typing import NoReturn as _NoReturn

from . import codegen, language, lib, runtime
from .codegen.errors import CodegenError, UnsupportedSyntaxError
from .hw.checks import Checks
from .hw.errors import *
from .hw.errors import NoSuchNameError
from .language import *
from .lib.jit import jit
from .lib.npu.device import emit
from .lib.options import CodegenOptions, CompileOptions, LaunchOptions
from .lib.settings import settings
from .report.table import Report

__version__ = "0.1.0"
_STRUCTS = [f"language.core.struct.{name}" for name in ("Struct", "Field", "StructField")]  # as in pyasc


def __getattr__(name: str) -> _NoReturn:
    deeper = [*(f"adv.{known}" for known in dir(language.adv)), *_STRUCTS]
    raise NoSuchNameError.among(__name__, name, [*deeper, *globals()])
