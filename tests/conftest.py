"""Settings of all property tests."""

from hypothesis import settings

# How long an example takes depends on what else the machine does.
settings.register_profile("lpcfg", deadline=None, max_examples=60)
settings.load_profile("lpcfg")
