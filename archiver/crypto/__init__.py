"""Keys and sealing: bytes to bytes, no I/O."""
