"""The tools for language models: a cube that is asked over the Model Context Protocol.

:data:`~cube2net.apps.mcp.tools.TOOLS` are the tools by name; nothing of them knows the protocol, which
:mod:`~cube2net.apps.mcp.protocol` speaks.
"""

from cube2net.apps.mcp.protocol import serve
from cube2net.apps.mcp.tools import TOOLS, Tool

__all__ = ["TOOLS", "Tool", "serve"]
