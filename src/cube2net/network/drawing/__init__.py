"""Pictures of networks: places of nodes, one model of what is drawn, and Matplotlib and SVG to draw it."""
