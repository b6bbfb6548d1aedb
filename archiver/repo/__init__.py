"""The trusted state of an open archive: blobs, packs, index, snapshots."""
