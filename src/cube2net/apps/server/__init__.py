"""The server of the explorer's page: who may ask, long work, the page's files.

:class:`~cube2net.apps.server.serve.ExplorerServer` serves one cube. It needs the extra ``explore``; nothing here is
loaded before it is asked for.
"""
