"""pyasc's exceptions for a kernel that its compiler refuses.

They exist so that `except CodegenError` can be written. The simulator runs a kernel instead of compiling it:
an error in the body is the author's own, raised at the author's line, and is never wrapped in one of these.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..hw.errors import SimulatorError


class CodegenError(SimulatorError):
    """A syntax node that could not be compiled, with the source it comes from."""

    def __init__(self, node: ast.AST, src: Sequence[str] | None = None, message: str | None = None) -> None:
        self.node, self.src = node, src
        line: int = getattr(node, "lineno", 0)
        text = src[line - 1].strip() if src is not None and 0 < line <= len(src) else ""
        super().__init__(f"line {line}" if line else "", message or "", operand=text)
        self.message = str(self)


class UnsupportedSyntaxError(CodegenError):
    """A statement or expression that kernel Python does not have."""
