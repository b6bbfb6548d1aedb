"""The SQLite file format as functions over bytes (specs/sqlite.md).

Every function is total: whatever the bytes are, it ends, in time and memory that grow with the file. A function
that reads one thing raises ``FormatError``. A function that walks many things takes a ``report``, hands it a
``FormatError`` for each thing that it skips, and goes on.
"""
