"""No test depends on a clock: hypothesis must not fail an example for being slow."""

from hypothesis import settings

settings.register_profile("house", deadline=None)
settings.load_profile("house")
