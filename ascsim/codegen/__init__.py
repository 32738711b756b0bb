"""pyasc's module path `codegen.errors`. There is no code generator here."""
