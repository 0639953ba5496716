"""Grammars, trees and treebanks that several tests use."""
