"""Model files: the container, the formats of models in it, loading and saving."""

from lpcfg.io.models import StoredModel, examine, load, save

__all__ = ["StoredModel", "examine", "load", "save"]
