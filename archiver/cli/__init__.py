"""The command line: reads terminal, environment and clock, calls one operation, renders its result."""
