"""A corpus is added to a cube, or to an empty one: dimensions, cells, links and items grow."""
