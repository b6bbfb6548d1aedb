"""One verb a module, callable without a terminal."""
