"""Tests of the JSON interface; a package, so that its conftest has a name of its own."""
