"""Which core runs in this thread: the one piece of global state, written by the scheduler alone.

A context variable and not a module global, so that two threads may launch at once.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

core: ContextVar[Any] = ContextVar("ascsim_core", default=None)
