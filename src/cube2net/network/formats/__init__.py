"""One module a format: each writes a network to one path, or turns it into another library's graph."""
