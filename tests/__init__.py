"""The tests, importable so that their support code can be run as programs."""
