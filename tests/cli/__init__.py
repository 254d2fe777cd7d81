"""Tests of the commands; a package, so that its conftest has a name of its own."""
