"""Memories that were extracted from sessions (specs/decoders/memory-v1.md)."""
