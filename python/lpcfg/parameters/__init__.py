"""Parameters that are declared once, with their defaults, allowed values and help texts."""
