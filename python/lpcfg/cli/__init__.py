"""The command line: one module a command, each of which declares its options and prints."""
