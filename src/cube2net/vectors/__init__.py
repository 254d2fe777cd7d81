"""Cell vectors from word vectors, and nearest cells."""
