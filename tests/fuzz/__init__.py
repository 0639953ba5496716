"""Fuzzing: random cases against the invariants of the package, as long as one wants.

A target (``fuzz.targets``) makes a random case from a seed and a number, runs it, and raises an
exception if an invariant is broken. ``pytest tests/fuzz`` runs a few cases of each target;
``make soak`` runs them for ``SOAK_MINUTES`` and goes on where the last run was.
"""
