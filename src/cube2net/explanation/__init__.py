"""Why objects and cells are in a network, and what tells sets of objects apart."""
