"""Small networks around the objects you care about, chosen from a data cube."""

__version__ = "0.1.0"
