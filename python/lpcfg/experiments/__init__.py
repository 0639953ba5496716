"""Experiments: tables and plots of estimators, treebank sizes, states and noise."""
