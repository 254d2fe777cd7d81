"""The JSON interface without a transport: requests about a cube, and their answers.

The explorer's server, the notebook's widget and the MCP tools each hold a ``CubeService``, which answers the requests
of ``ROUTES`` for one cube, so that all of them give the same answers.
"""

from cube2net.apps.service.exports import ExportedFile
from cube2net.apps.service.openapi import openapi
from cube2net.apps.service.service import ROUTES, CubeService, Route

__all__ = ["ROUTES", "CubeService", "ExportedFile", "Route", "openapi"]
