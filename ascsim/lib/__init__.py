"""What surrounds a kernel: `jit`, launches, settings, and the runtime library."""

from . import host, runtime

__all__ = ["host", "runtime"]
