"""Keeps an encrypted, deduplicated history of Cursor's chats."""

__version__ = "0.1.0.dev0"
