"""Formats of trees and sentences other than brackets: CoNLL-U, Penn, discbracket, NEGRA export."""
