"""Raw data becomes a corpus."""

from cube2net.interfaces import Source
from cube2net.sources.acl import Acl
from cube2net.sources.tables import Tables

SOURCES: dict[str, type[Source]] = {"tables": Tables, "acl": Acl}

__all__ = ["SOURCES", "Acl", "Tables"]
