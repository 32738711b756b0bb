"""High-level operations: none is built yet."""
