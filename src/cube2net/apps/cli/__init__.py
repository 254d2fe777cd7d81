"""The command line: what a person types becomes calls of the pipeline, and answers become tables and files."""
