"""The JSON interface without any transport: what may be asked of a cube, and what is answered.

A :class:`~cube2net.apps.service.service.Desk` answers the questions of :data:`~cube2net.apps.service.service.ROUTES` for one cube. The
explorer's server, the notebook's widget and the assistant's tools each hold one, so that all three say the same.
"""

from cube2net.apps.service.exports import ExportedFile
from cube2net.apps.service.openapi import openapi
from cube2net.apps.service.service import ROUTES, Desk, Route

__all__ = ["ROUTES", "Desk", "ExportedFile", "Route", "openapi"]
