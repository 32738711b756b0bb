"""What a launch is asked for, worked out once for whoever runs it: the simulator, a device, or a check beside them."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError

from .arguments import arranged
from .function import Function
from .options import COMPILING, LAUNCHING, LaunchOptions, check_options

MOST_BLOCKS = 65535  # numBlocks of a launch has 16 bits


@dataclass(frozen=True)
class Request:
    """`function[where.core_num, where.stream](*args, **kwargs)`; `defaults` are the options of its decorator."""

    function: Function
    where: LaunchOptions
    defaults: Mapping[str, Any]
    args: Sequence[Any]
    kwargs: Mapping[str, Any]

    @property
    def name(self) -> str:
        return self.function.fn.__name__

    @cached_property
    def blocks(self) -> int:
        """The number of blocks."""
        try:
            blocks = operator.index(self.where.core_num)
        except TypeError:
            value = self.where.core_num
            raise ArgumentTypeError(self.name, "is not an int", operand="core_num", value=value) from None
        if not 1 <= blocks <= MOST_BLOCKS:
            rule, nearest = f"1 to {MOST_BLOCKS} blocks", 1 if blocks < 1 else MOST_BLOCKS
            raise ArgumentValueError(self.name, operand="core_num", value=blocks, rule=rule, nearest=nearest)
        return blocks

    @cached_property
    def options(self) -> dict[str, Any]:
        """The options of the decorator and of the call; those of the call count."""
        given = {key: value for key, value in self.kwargs.items() if key in COMPILING | LAUNCHING}
        check_options(given)
        return {**self.defaults, **given}

    def bound(self) -> inspect.BoundArguments:
        """The arguments by parameter, defaults filled in; a new object each time."""
        own = {key: value for key, value in self.kwargs.items() if key not in COMPILING | LAUNCHING}
        return arranged(self.function.fn, self.function.signature, self.args, own)
