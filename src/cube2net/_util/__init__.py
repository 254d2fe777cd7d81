"""Helpers that know nothing of cubes."""
