"""Shared by all tests: the Hypothesis profiles and the way to the strategies."""

import os
import pathlib
import sys

import hypothesis

TESTS = pathlib.Path(__file__).parent
sys.path.insert(0, str(TESTS))

hypothesis.settings.register_profile("fast", max_examples=50, deadline=None)
hypothesis.settings.register_profile(
    "ci", max_examples=200, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.register_profile("long", parent=hypothesis.settings.get_profile("ci"), max_examples=5_000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))
