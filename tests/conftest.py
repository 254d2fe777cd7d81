"""No test depends on a clock: hypothesis must not fail an example for being slow.

With CUBE2NET_SAME_EXAMPLES set, hypothesis draws the same examples every time, so that what passed once passes again:
`.ci/run` sets it. Without, every run draws new ones and may find what nobody has seen.
"""

import os

from hypothesis import settings

settings.register_profile("house", deadline=None, derandomize=bool(os.environ.get("CUBE2NET_SAME_EXAMPLES")))
settings.load_profile("house")
