"""The JSON interface without any transport: what may be asked of a cube, and what is answered.

A :class:`~cube2net.api.desk.Desk` answers the questions of :data:`~cube2net.api.routes.ROUTES` for one cube. The
explorer's server, the notebook's widget and the assistant's tools each hold one, so that all three say the same.
"""

from cube2net.api.desk import Desk
from cube2net.api.exports import ExportedFile
from cube2net.api.routes import ROUTES, Route
from cube2net.api.schema import openapi

__all__ = ["ROUTES", "Desk", "ExportedFile", "Route", "openapi"]
