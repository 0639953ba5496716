"""``lpcfg serve``: a page to look at parses, and a JSON API."""
