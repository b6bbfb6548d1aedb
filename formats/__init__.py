"""Other people's file formats as pure functions over bytes: no I/O, nothing of the archiver."""
