"""Random words, labels, sentences and pieces of treebanks."""

from lpcfg.treebank.escaping import escape

_ODD = (
    *"()[]{}<>|\\/'\"`~@#$%^&*_+=-.,;:!?",
    *(
        "-LRB-",
        "-RRB-",
        "-U+",
        "-U+-",
        "-U+00A0-",
        "-U+002D-",
        "-NONE-",
        "*T*-1",
        "((",
        "))",
        "(())",
    ),
    *("\x00", "\x07", "\x1b[31m", "\x7f", "\x85", "\xa0", "\u2028", "\u3000", "\ufeff", "\ufffd"),
    *(
        "é",
        "e\u0301",
        "雨",
        "ボンベイ",
        "\u200f\u05d0",
        "👩\u200d👧",
        "\U0010ffff",
        "ß",
        "İ",
        "ﬁ",
        "\uff11\uff12",
    ),
    *(
        "0",
        "-1",
        "1e309",
        "3.14",
        "1,000",
        "nan",
        "inf",
        "NP",
        "ROOT",
        "TOP",
        "@NP",
        "NP^S",
        "S+NP",
    ),
    *("NP-SBJ-1", "NP=2", "UNK", "unk", "<s>", "None", "a" * 300, "x-" * 50),
)


def word(draw, known):
    """A word that a parser may be given: known, odd, or of random characters."""
    kind = draw.random()
    if kind < 0.6:
        return draw.choice(known)
    if kind < 0.8:
        return draw.choice(_ODD)
    if kind < 0.9:
        return draw.choice(known) + draw.choice(_ODD)
    return "".join(character(draw) for _ in range(draw.randrange(1, 6)))


def character(draw):
    code = draw.randrange(draw.choice((0x80, 0x100, 0x3000, 0x110000)))
    return "x" if 0xD800 <= code < 0xE000 else chr(code)


def sentence(draw, known):
    """Words; most sentences are short, a few are long."""
    kind = draw.random()
    length = draw.randrange(1, 9) if kind < 0.97 else draw.randrange(9, 60)
    words = [word(draw, known) for _ in range(length)]
    if draw.random() < 0.05:
        words = words[:1] * length
    return words


def line(draw, known):
    """A line of an input of sentences, as bytes that may not be text."""
    text = draw.choice((" ", " ", "\t", "  ")).join(sentence(draw, known))
    data = text.replace("\n", " ").replace("\r", " ").encode()
    if draw.random() < 0.1:
        at = draw.randrange(len(data) + 1)
        data = data[:at] + draw.randbytes(draw.randrange(1, 4)).replace(b"\n", b"") + data[at:]
    return draw.choice((data, data, data, b"", b" ")) if draw.random() < 0.2 else data


_TOKENS = (
    *(
        "(",
        "(",
        "(",
        ")",
        ")",
        ")",
        " ",
        "\n",
        "\t",
        "\r\n",
        "( (S ",
        "(())",
        "()",
        "))",
        "(-NONE- *)",
    ),
    *("(NP ", "(DT the)", "(X (X (X x)))", "\ufeff", "\\", "%", "#", "(S1 ", "(TOP ", "(ROOT "),
)


def fragment(draw, trees):
    """A piece of a treebank: trees with some of their characters changed, or random tokens."""
    if draw.random() < 0.3:
        return "".join(_token(draw) for _ in range(draw.randrange(1, 40))).encode()
    text = draw.choice(("\n", " ", "")).join(
        str(draw.choice(trees)) if draw.random() < 0.5 else str_tree(draw)
        for _ in range(draw.randrange(1, 4))
    )
    for _ in range(draw.choice((0, 0, 1, 2, 5))):
        at = draw.randrange(len(text) + 1)
        text = text[:at] + _token(draw) + text[at + draw.choice((0, 1, 3)) :]
    return text.encode()


def _token(draw):
    return draw.choice(_TOKENS) if draw.random() < 0.7 else draw.choice(_ODD)


def str_tree(draw, depth=0):
    """A well-formed tree in brackets, with odd labels and words."""
    label = (
        escape(draw.choice(_ODD)) if draw.random() < 0.3 else draw.choice(("S", "NP", "VP", "X"))
    )
    if depth > 4 or draw.random() < 0.4:
        return f"({label} {escape(draw.choice(_ODD))})"
    children = " ".join(str_tree(draw, depth + 1) for _ in range(draw.randrange(1, 4)))
    return f"({label} {children})"
