"""A comparison, its verdict and its networks → one HTML page that needs nothing but itself, and tables beside it."""
