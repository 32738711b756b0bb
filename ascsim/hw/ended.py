"""A core between two launches: what a kernel has kept of it (a tensor, a queue, a pipe) reaches nobody.

Nothing is looked up for this while a kernel runs: a core that ends changes its class, and back when it is used again.
A tensor that was kept is taken for one of the next launch where that uses the core again.
"""

from __future__ import annotations

from typing import Any, NoReturn

from .core import Core
from .errors import LaunchError


def refuse(operation: str, operand: str = "") -> NoReturn:
    """Refuse what belongs to a core other than the one that runs."""
    problem = "is of another core, or of a kernel that has ended"
    rule = "tensors, queues and buffers are made anew by each core in each launch"
    raise LaunchError(operation, problem, operand=operand or "a tensor or queue", rule=rule)


class EndedCore(Core):
    """Refuses instructions and flags."""

    __slots__ = ()

    def issue(self, plan: Any, *more: Any) -> NoReturn:
        refuse(plan.name)

    def set_flag(self, *more: Any) -> NoReturn:
        refuse("set_flag")

    def wait_flag(self, *more: Any) -> NoReturn:
        refuse("wait_flag")
