"""Tests of the explorer's server; a package, so that its conftest has a name of its own."""
