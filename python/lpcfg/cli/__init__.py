"""The command line: one module per command, which declares its options and calls the library."""
