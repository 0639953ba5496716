"""Settings of all tests."""

import signal

from hypothesis import settings

# How long an example takes depends on what else the machine does.
settings.register_profile("lpcfg", deadline=None, max_examples=60)
settings.load_profile("lpcfg")

# Shells start background jobs with Ctrl-C ignored, and the commands under test would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
