"""What surrounds a kernel: `jit`, launches, settings, and the runtime library. Holds no names of its own."""
