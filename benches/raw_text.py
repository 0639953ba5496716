"""Tokenisers and sentence splitters against gold tokens and sentences: F1 by character offsets.

Run from the top of the repository: .venv/bin/python benches/raw_text.py
It needs `pip install spacy syntok sacremoses nltk segtok pysbd sentencex blingfire`; a library that
is absent is left out. No library downloads a model. A token or a sentence is right if both of its
offsets are. The text has one paragraph per line. Sentences are compared without the white space
around them.
"""

import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

from development import GUM, no_options

from lpcfg import read_trees
from lpcfg.treebank.escaping import unescape

#: The tokens of each sentence of a paragraph, as offsets.
Sentences = list[list[tuple[int, int]]]


def main() -> None:
    no_options(__doc__)
    text = Path(GUM, "dev.text.txt").read_text("utf-8")
    gold = align(text, [tree.words() for tree in read_trees(GUM / "dev.mrg", unescape=True)])
    print("| splitter | tokeniser | token F1 | sentence F1 | CPU s |")
    print("|---|---|---|---|---|")
    for splitter, tokeniser, library, make in SYSTEMS:
        if any(find_spec(name) is None for name in library.split()):
            print(f"| {splitter} | {tokeniser} | not installed | | |")
            continue
        analyze = make()
        analyze("The first call loads the library.")
        started = time.process_time()
        found = list(analyzed(text, analyze))
        seconds = time.process_time() - started
        tokens = f1(flat(gold), flat(found))
        sentences = f1(extents(gold), extents(found))
        print(f"| {splitter} | {tokeniser} | {tokens:.2f} | {sentences:.2f} | {seconds:.2f} |")


def align(text: str, sentences: list[list[str]]) -> Sentences:
    """The offsets of gold tokens, which differ from the text in white space and quotes only."""
    aligned, place = [], 0
    for words in sentences:
        tokens = []
        for word in words:
            start = end = None
            for character in unescape(word):
                while text[place].isspace():
                    place += 1
                start = place if start is None else start
                place += 1
                end = place
                if text[end - 1] != character:
                    raise SystemExit(f"gold {word!r}, text {text[start : end + 20]!r}")
            tokens.append((start, end))
        aligned.append(tokens)
    return aligned


def analyzed(text: str, analyze: Callable[[str], Sentences]) -> Iterator[list[tuple[int, int]]]:
    offset = 0
    for line in text.splitlines(keepends=True):
        for tokens in analyze(line.rstrip("\n")):
            if tokens:
                yield [(offset + start, offset + end) for start, end in tokens]
        offset += len(line)


def flat(sentences):
    return {token for tokens in sentences for token in tokens}


def extents(sentences):
    return {(tokens[0][0], tokens[-1][1]) for tokens in sentences}


def f1(gold: set, found: set) -> float:
    return 200 * len(gold & found) / (len(gold) + len(found))


def located(paragraph: str, pieces: list[str], start: int = 0) -> list[tuple[int, int]]:
    """The offsets of pieces of text; where a library has changed one, it is left out."""
    found = []
    for piece in pieces:
        at = paragraph.find(piece, start)
        if at >= 0:
            found.append((at, at + len(piece)))
            start = at + len(piece)
    return found


def in_sentences(spans, tokenise):
    """The tokens of each sentence, tokenised on its own."""

    def analyze(paragraph: str) -> Sentences:
        return [
            [(start + a, start + b) for a, b in tokenise(paragraph[start:end])]
            for start, end in spans(paragraph)
        ]

    return analyze


# Sentence splitters: paragraph -> offsets of sentences.


def syntok_sentences():
    from syntok import segmenter

    def spans(paragraph):
        for block in segmenter.analyze(paragraph):
            for sentence in block:
                tokens = list(sentence)
                yield tokens[0].offset, tokens[-1].offset + len(tokens[-1].value)

    return spans


def sentencizer():
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    return lambda paragraph: [(s.start_char, s.end_char) for s in nlp(paragraph).sents]


def pysbd_sentences():
    import pysbd

    segmenter = pysbd.Segmenter(language="en", clean=False)
    return lambda paragraph: located(paragraph, [s.strip() for s in segmenter.segment(paragraph)])


def sentencex_sentences():
    import sentencex

    return lambda paragraph: located(
        paragraph, [s.strip() for s in sentencex.segment("en", paragraph) if s.strip()]
    )


def segtok_sentences():
    from segtok.segmenter import split_single

    return lambda paragraph: located(
        paragraph, [s.strip() for s in split_single(paragraph) if s.strip()]
    )


def blingfire_sentences():
    import blingfire

    return lambda paragraph: located(
        paragraph, blingfire.text_to_sentences(paragraph).split("\n") if paragraph else []
    )


# Tokenisers: sentence -> offsets of tokens.


def spacy_tokens():
    import spacy

    tokenizer = spacy.blank("en").tokenizer
    return lambda sentence: [(t.idx, t.idx + len(t)) for t in tokenizer(sentence) if not t.is_space]


def syntok_tokens():
    from syntok.tokenizer import Tokenizer

    tokenizer = Tokenizer(emit_hyphen_or_underscore_sep=True)
    return lambda sentence: [
        (t.offset, t.offset + len(t.value)) for t in tokenizer.tokenize(sentence)
    ]


def treebank_tokens():
    from nltk.tokenize import NLTKWordTokenizer

    tokenizer = NLTKWordTokenizer()
    return lambda sentence: list(tokenizer.span_tokenize(sentence))


def toktok_tokens():
    from nltk.tokenize.toktok import ToktokTokenizer

    tokenizer = ToktokTokenizer()
    return lambda sentence: located(sentence, tokenizer.tokenize(sentence))


def moses_tokens():
    from sacremoses import MosesTokenizer

    tokenizer = MosesTokenizer(lang="en")
    return lambda sentence: located(
        sentence, tokenizer.tokenize(sentence, aggressive_dash_splits=False, escape=False)
    )


def segtok_tokens():
    from segtok.tokenizer import split_contractions, word_tokenizer

    return lambda sentence: located(sentence, split_contractions(word_tokenizer(sentence)))


def blingfire_tokens():
    import blingfire

    return lambda sentence: located(sentence, blingfire.text_to_words(sentence).split(" "))


def lpcfg_sentences():
    from lpcfg.text.segmentation import split_text

    return lambda paragraph: [
        [(token.start, token.end) for token in sentence.tokens]
        for sentence in split_text(paragraph)
    ]


def pair(spans, tokenise):
    return lambda: in_sentences(spans(), tokenise())


SYSTEMS = [
    ("lpcfg", "lpcfg", "sentencex spacy", lpcfg_sentences),
    ("sentencizer", "spaCy", "spacy", pair(sentencizer, spacy_tokens)),
    ("syntok", "spaCy", "syntok spacy", pair(syntok_sentences, spacy_tokens)),
    ("pysbd", "spaCy", "pysbd spacy", pair(pysbd_sentences, spacy_tokens)),
    ("sentencex", "spaCy", "sentencex spacy", pair(sentencex_sentences, spacy_tokens)),
    ("segtok", "spaCy", "segtok spacy", pair(segtok_sentences, spacy_tokens)),
    ("blingfire", "spaCy", "blingfire spacy", pair(blingfire_sentences, spacy_tokens)),
    ("syntok", "syntok", "syntok", pair(syntok_sentences, syntok_tokens)),
    ("syntok", "nltk Treebank", "syntok nltk", pair(syntok_sentences, treebank_tokens)),
    ("syntok", "nltk Toktok", "syntok nltk", pair(syntok_sentences, toktok_tokens)),
    ("syntok", "sacremoses", "syntok sacremoses", pair(syntok_sentences, moses_tokens)),
    ("syntok", "segtok", "syntok segtok", pair(syntok_sentences, segtok_tokens)),
    ("syntok", "blingfire", "syntok blingfire", pair(syntok_sentences, blingfire_tokens)),
]


if __name__ == "__main__":
    main()
