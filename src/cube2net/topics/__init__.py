"""Phrases and topic models."""
