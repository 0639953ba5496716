"""Sentences of any words, with parsers of every kind."""

from fuzz.cases import about
from fuzz.samples import samples
from fuzz.soundness import check_parse, check_printed
from fuzz.texts import sentence

#: The number of sentences of a case: as many as keep the cost of a call small.
BATCH = 50


class Sentences:
    """Parses have all words, finite numbers, and can be printed and read back."""

    unit = "sentences"

    def __init__(self):
        self.parsers = samples().parsers
        # The simple ones are far quicker, and most sentences go through what all have in common.
        self.names = [*self.parsers, *["pcfg", "spectral", "em"] * 6]

    def run(self, draw):
        name = draw.choice(self.names)
        parser = self.parsers[name]
        words = [sentence(draw, samples().words) for _ in range(BATCH)]
        known = sorted(parser.tags)
        tags = None
        if draw.random() < 0.2:
            tags = [[draw.choice([None, None, draw.choice(known)]) for _ in row] for row in words]
        candidates = draw.choice((1, 1, 1, 2, 5))
        marginals = draw.random() < 0.1
        with about(name, f"{candidates=} {marginals=}"):
            parses = parser.analyze_many(
                tags, words=words, candidates=candidates, marginals=marginals
            )
            trees = []
            for parse, row in zip(parses, words, strict=True):
                with about(row, None if tags is None else tags[len(trees)]):
                    trees.append(check_parse(parse, row, candidates))
            check_printed(trees)
        return len(trees)
