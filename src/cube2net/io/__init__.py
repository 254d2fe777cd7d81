"""Readers from raw data to a Corpus."""
