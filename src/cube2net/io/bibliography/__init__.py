"""Readers of bibliographic data sets."""
