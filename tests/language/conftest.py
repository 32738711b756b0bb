"""Its folder goes on the import path: `reference` serves the tests of the folders below."""
