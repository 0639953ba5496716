"""The aggregate bigram model on the Brown corpus, as in table 2 of Cohen & Collins (2014).

Run from the top of the repository: .venv/bin/python benches/aggregate_bigram.py
"""

import argparse
import time
from itertools import pairwise

from development import SHARED

from lpcfg.lm import AggregateBigram, KneserNey, PivotOptions

# Perplexity on the second half of the development part, and iterations.
PAPER = {
    "em": {2: (737, 14), 4: (599, 14), 8: (488, 19), 16: (468, 12), 32: (430, 10),
           128: (388, 9), 256: (365, 8)},
    "pivot": {2: (852, 0), 4: (718, 0), 8: (605, 0), 16: (559, 0), 32: (537, 0), 128: (426, 0),
              256: (597, 0)},
    "pivot+em": {2: (758, 2), 4: (582, 3), 8: (502, 2), 16: (425, 1), 32: (374, 1),
                 128: (310, 1), 256: (327, 1)},
}  # fmt: skip

# Interpolated Kneser-Ney bigrams and trigrams, by SRILM: perplexities on dev and test.
PAPER_KNESER_NEY = {2: (408, 415), 3: (386, 394)}

# No smoothing, and the concave EM runs until it has converged.
AS_IN_THE_PAPER = PivotOptions(dimensions=0, kappa=0, smoothing=0, backoff=0, iterations=200)

# What each row of the table is: a method, and options of the model.
ROWS = {
    "EM, uniformly random starts": ("em", {"symmetry_breaking": 1e6}),
    "EM": ("em", {}),
    "pivot": ("pivot", {}),
    "pivot+EM": ("pivot+em", {}),
    "pivot, as in the paper": ("pivot", {"pivot": AS_IN_THE_PAPER}),
    "pivot+EM, as in the paper": ("pivot+em", {"pivot": AS_IN_THE_PAPER}),
}


def report(name, states, restarts, parts):
    method, options = ROWS[name]
    train, choose, develop, test = ([part] for part in parts)
    started = time.process_time()
    model = AggregateBigram(states, restarts=restarts, n_jobs=1, **options)
    model.fit(train, method, held_out=choose)
    seconds = time.process_time() - started
    paper, iterations = PAPER[method][states]
    found = model.perplexity(develop)
    print(
        f"| {name} | {states} | {found:.0f} | {paper} | {100 * (found / paper - 1):+.1f} % "
        f"| {model.iterations_} | {iterations} | {model.perplexity(test):.0f} | {seconds:.1f} |",
        flush=True,
    )


def report_kneser_ney(order, parts):
    train, _, develop, test = ([part] for part in parts)
    started = time.process_time()
    model = KneserNey(order).fit(train)
    seconds = time.process_time() - started
    paper, _ = PAPER_KNESER_NEY[order]
    found = model.perplexity(develop)
    difference = 100 * (found / paper - 1)
    print(
        f"| Kneser-Ney | order {order} | {found:.0f} | {paper} | {difference:+.1f} % "
        f"| | | {model.perplexity(test):.0f} | {seconds:.1f} |",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, nargs="+", default=list(PAPER["em"]))
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=list(ROWS))
    parser.add_argument("--restarts", type=int, default=5, help="random starts of EM")
    options = parser.parse_args()
    path = SHARED / "corpora" / "brown.txt"
    if not path.is_file():
        print(f"no corpus at {path}: set LPCFG_SHARED to the folder that holds corpora/brown.txt")
        return
    words = path.read_text(encoding="utf-8").split()
    ends = (0, 800_000, 900_000, 1_000_000, len(words))
    parts = [words[start:end] for start, end in pairwise(ends)]
    print("| method | states | dev | paper | difference | iterations | paper | test | CPU s |")
    print("|---|---|---|---|---|---|---|---|---|")
    for order in PAPER_KNESER_NEY:
        report_kneser_ney(order, parts)
    for name in options.rows:
        for states in options.states:
            report(name, states, options.restarts, parts)


if __name__ == "__main__":
    main()
