"""Transcripts: what Cursor writes of a chat as text (specs/decoders/transcript-v1.md, transcript-v2.md)."""
