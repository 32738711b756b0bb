"""pyasc's module paths `runtime.config` and `runtime.jit`."""

from . import config, jit

__all__ = ["config", "jit"]
