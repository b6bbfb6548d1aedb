"""The bytes of one source at one moment, as a tree of blobs."""
