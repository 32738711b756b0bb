"""pyasc's module path `codegen.errors`. There is no code generator here."""

from . import errors

__all__ = ["errors"]
