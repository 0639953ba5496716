"""PCFGs and spectral L-PCFGs on GUM dev by markovisation, as a table (Peng 2021, table 5.1).

Run from the top of the repository: .venv/bin/python benches/latent_markovisation.py
"""

from development import no_options, print_row, score, training

from lpcfg import SpectralEstimator, Transform


def transforms():
    for binarize in ("right", "left"):
        for vertical, annotate in ((0, "original"), (1, "original"), (1, "all"), (2, "original")):
            for horizontal in (0, 1, 2, None):
                made = "<" if vertical and annotate == "original" else "="
                order = "inf" if horizontal is None else horizontal
                name = f"{binarize}, v{made}{vertical}, h={order}"
                yield name, Transform(binarize, horizontal, vertical, annotate)
    yield "right, v<1, h=1, tags not annotated", Transform(annotate_preterminals=False)


def main():
    no_options(__doc__)
    print_row("trees", "symbols", "rules", "PCFG F1", "/ CPU s", "L-PCFG F1", "/ CPU s")
    print_row(*["---"] * 7)
    for name, transform in transforms():
        decomposition = SpectralEstimator().decompose(training(transform))
        cells = [
            name,
            len(decomposition.projected.backbone.symbols),
            len(decomposition.projected.backbone.binary_rules),
        ]
        for grammar in (decomposition.projected.backbone, decomposition.grammar()):
            scores, speed = score(grammar)
            cells += [f"{scores.f1:.2f}", f"{speed:.0f}"]
        print_row(*cells)


if __name__ == "__main__":
    main()
