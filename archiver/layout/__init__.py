"""Each object of an archive, value to bytes and back: pure."""
