"""Hand-written grammars: texts in the notation of NLTK, damaged."""

import math

import lpcfg
from fuzz.cases import about
from fuzz.samples import MEMORY, WEATHER
from fuzz.soundness import check_message, check_parse, check_printed
from fuzz.texts import word
from lpcfg.errors import GrammarError
from lpcfg.grammar.notation import read_rules

_TOKENS = (
    *("->", "→", "|", "[0.5]", "[1]", "[0]", "[-1]", "[nan]", "[1e-400]", "[", "]", "'", '"', "''"),
    *(
        "'it'",
        '"it"',
        "S",
        "NP",
        "VP",
        "X",
        "%start",
        "#",
        "\\",
        "\n",
        "\r\n",
        "\t",
        " ",
        "@S",
        "S^S",
    ),
)
#: The number of texts of a case.
BATCH = 20


class GrammarTexts:
    """A text is a grammar whose parses are sound and which can be written, or a GrammarError."""

    unit = "grammar texts"

    def run(self, draw):
        for _ in range(BATCH):
            text = self._text(draw)
            with about(text):
                self._use(text)
        return BATCH

    @staticmethod
    def _text(draw):
        tokens = WEATHER.split(" ")
        for _ in range(draw.choice((1, 1, 2, 3, 8))):
            at = draw.randrange(len(tokens) + 1)
            new = draw.choice(_TOKENS) if draw.random() < 0.8 else word(draw, ["it", "'rained'"])
            tokens[at : at + draw.choice((0, 1, 2))] = [new]
        return " ".join(tokens)

    @staticmethod
    def _use(text):
        try:
            grammar = lpcfg.Grammar.from_string(text)
        except GrammarError as error:
            check_message(error)
            return
        rules = read_rules(text)
        assert all(0 < total <= 1 + 1e-6 for total in rules.totals().values())
        assert all(math.isfinite(rule.probability) for rule in rules.rules)
        try:
            written = str(rules)
        except GrammarError as error:
            check_message(error)
        else:
            assert read_rules(written) == rules, "the rules are not read back"
        words = ["it", "rained", "the", "rain"]
        check_printed(
            [
                check_parse(
                    lpcfg.Parser(grammar, n_jobs=1, memory=MEMORY).analyze(words=words), words
                )
            ]
        )
