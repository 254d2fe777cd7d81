"""The HTTP server of the explorer: authentication, long work and the files of the page.

:class:`~cube2net.apps.server.serve.ExplorerServer` serves one cube. It needs the extra ``explore``, and is
imported only when it is used.
"""
