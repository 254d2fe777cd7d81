"""Readers: raw data become a Corpus."""
