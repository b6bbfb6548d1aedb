"""One module a store and version; none of them imports another."""
