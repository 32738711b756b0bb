"""pyasc's module path for the platform in force: re-exports only."""

from __future__ import annotations

from ascsim.lib.platform import Backend, KernelType, Platform
from ascsim.lib.settings import set_platform

__all__ = ["Backend", "KernelType", "Platform", "set_platform"]
