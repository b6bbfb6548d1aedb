"""Named bytes, written once."""
