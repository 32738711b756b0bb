"""pyasc's module path for jit functions and stand-in arguments: re-exports only."""

from __future__ import annotations

from ascsim.lib.arguments import MockTensor, MockValue
from ascsim.lib.jit import JITFunction, jit

__all__ = ["JITFunction", "MockTensor", "MockValue", "jit"]
