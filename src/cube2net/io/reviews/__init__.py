"""Readers of reviews and ratings, and the link tasks made of them."""
