"""Finds what Cursor keeps and captures it consistently; nothing here writes to a source."""
