"""Experiments: trials over estimators, treebank sizes, states and noise; tables and plots."""
