"""Pieces of treebanks: reading, cleaning, transforms, drawing, scores, training."""

import io

import lpcfg
from fuzz.cases import about
from fuzz.damage import damaged
from fuzz.samples import samples
from fuzz.soundness import check_kind_of_file, check_message, check_parse, check_printed
from fuzz.texts import fragment
from lpcfg.errors import TreebankError
from lpcfg.treebank.reader import ReadReport, read_forest
from lpcfg.treebank.sentence_lines import read_sentence_lines

#: The number of fragments of a case.
BATCH = 50


class _Pieces(io.BytesIO):
    """A file that is read in pieces of random length."""

    def __init__(self, data, draw):
        super().__init__(data)
        self._draw = draw

    def read1(self, size=-1):
        return super().read1(self._draw.randrange(1, 9))


class Treebanks:
    """Malformed text is a TreebankError or is skipped; what is read survives all that follows."""

    unit = "treebank fragments"

    def __init__(self):
        self.trees = samples().trees

    def run(self, draw):
        found = []
        for _ in range(BATCH):
            data = fragment(draw, self.trees)
            if draw.random() < 0.2:
                data = damaged(draw, data)
            with about(data):
                found += self._read(draw, data)
        check_printed(found)
        return BATCH

    def _read(self, draw, data):
        report = ReadReport()
        try:
            forest = read_forest(io.BytesIO(data), on_error="skip", report=report)
        except TreebankError as error:
            # Only the kind of a file is an error then, which is told by its first bytes.
            check_kind_of_file(error)
            return []
        trees = list(forest.trees())
        assert report.trees == len(trees)
        kind = draw.random()
        if kind < 0.1:
            self._read_strictly(data, None if report.skipped else trees)
        elif kind < 0.15:
            pieces = lpcfg.read_trees(_Pieces(data, draw), on_error="skip", report=ReadReport())
            assert list(pieces) == trees, "the result depends on the pieces in which it is read"
        elif kind < 0.2 and not report.skipped:
            lines = list(read_sentence_lines(io.BytesIO(data)))
            assert [tree for line in lines for tree in line] == trees
        elif kind < 0.3 and trees:
            self._transform(draw, trees)
        elif kind < 0.33 and trees:
            for tree in trees:
                tree.pretty()
                tree.to_svg()
        elif kind < 0.35 and trees:
            self._score(trees)
        elif kind < 0.37 and trees:
            self._train(draw, trees)
        return trees

    @staticmethod
    def _read_strictly(data, expected):
        """Without skipping: the same trees, or an error if something was skipped."""
        try:
            trees = list(lpcfg.read_trees(io.BytesIO(data)))
        except TreebankError as error:
            check_message(error)
            trees = None
        assert trees == expected

    @staticmethod
    def _transform(draw, trees):
        transform = lpcfg.Transform(
            binarize=draw.choice(("left", "right")),
            horizontal=draw.choice((None, 0, 1, 2)),
            vertical=draw.choice((0, 1, 2)),
            annotate=draw.choice(("original", "all")),
            annotate_preterminals=draw.random() < 0.5,
            collapse_root=draw.random() < 0.5,
            collapse_inside=draw.random() < 0.5,
            collapse_preterminals=draw.random() < 0.5,
        )
        assert transform.invert(transform.apply(trees)) == trees, "the transform is not undone"
        cleaning = lpcfg.Cleaning(
            function_tags=draw.choice(("phrases", "all", "keep")),
            remove_empty=draw.random() < 0.5,
            merge_repeated=draw.random() < 0.5,
            root_label=draw.choice((None, "ROOT", "é")),
        )
        bank = lpcfg.Treebank.from_trees(trees, cleaning=cleaning, transform=transform)
        cleaned = [tree for tree in map(cleaning.clean, trees) if tree is not None]
        assert bank.trees() == cleaned

    @staticmethod
    def _score(trees):
        scores = lpcfg.evaluate(trees, trees)
        assert scores.f1 == scores.coverage or scores.total.gold == 0, f"F1 {scores.f1} of itself"
        str(scores)
        scores.to_dict()

    @staticmethod
    def _train(draw, trees):
        bank = lpcfg.Treebank.from_trees(trees)
        if not len(bank):
            return
        grammar = lpcfg.PCFGEstimator().fit(bank).grammar_
        parser = lpcfg.Parser(grammar, n_jobs=1, memory=1 << 24)
        words, _ = draw.choice(bank.sentences())
        if all(words):
            check_printed([check_parse(parser.analyze(words=words), words)])
