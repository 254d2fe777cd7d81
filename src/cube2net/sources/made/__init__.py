"""Corpora that come with the package or are made up, and tasks made of corpora."""
