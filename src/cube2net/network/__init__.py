"""Methods that follow links, assembly, export and drawing."""
