"""Its folder goes on the import path: `reference` and `basic_machine` serve the tests of the folders below."""
