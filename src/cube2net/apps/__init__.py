"""What people use: the command line, the explorer's server, notebooks and the MCP server."""
