"""pyasc's exceptions for a kernel that its compiler refuses.

They exist so that `except CodegenError` can be written. The simulator runs a kernel instead of compiling it:
an error in the body is the author's own, raised at the author's line, and is never wrapped in one of these.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence


class CodegenError(Exception):
    """A syntax node that could not be compiled, with the source it comes from."""

    def __init__(self, node: ast.AST, src: Sequence[str] | None = None, message: str | None = None) -> None:
        self.node, self.src = node, src
        line = getattr(node, "lineno", None)
        parts = [] if line is None else [f"line {line}"]
        if src is not None and line is not None and 0 < line <= len(src):
            parts.append(src[line - 1].strip())
        self.message = ": ".join([*parts, *([message] if message else [])])
        super().__init__(self.message)


class UnsupportedSyntaxError(CodegenError):
    """A statement or expression that kernel Python does not have."""
