"""Many threads that use one parser have the results of one thread."""

from concurrent.futures import ThreadPoolExecutor

import lpcfg
from fuzz.cases import about
from fuzz.samples import MEMORY, samples
from fuzz.texts import sentence

THREADS = 6


class Threads:
    """Results do not depend on the number of threads, in Python or in the core."""

    unit = "calls in threads"

    def __init__(self):
        # Results of a parser with a time limit depend on the load of the machine.
        self.parsers = {
            name: parser for name, parser in samples().parsers.items() if name != "hurried"
        }
        grammars = samples().grammars
        for name in ("pcfg", "spectral", "crf"):
            self.parsers[f"{name} on two threads"] = lpcfg.Parser(
                grammars[name], memory=MEMORY, n_jobs=2
            )

    def run(self, draw):
        name = draw.choice(list(self.parsers))
        parser = self.parsers[name]
        words = [sentence(draw, samples().words) for _ in range(8)]
        candidates = draw.choice((1, 3))

        def parse(_):
            return list(parser.analyze_many(words=words, candidates=candidates))

        with about(name, words):
            expected = parse(0)
            with ThreadPoolExecutor(THREADS) as pool:
                for parses in pool.map(parse, range(THREADS)):
                    assert parses == expected, "the result of a thread differs"
        return THREADS + 1
