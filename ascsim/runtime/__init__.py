"""pyasc's module paths `runtime.config` and `runtime.jit`. Holds re-exports only."""
