"""Damaged folders of ensembles and rerankers."""

import lpcfg
from fuzz.cases import about
from fuzz.damage import ModelBytes, damaged
from fuzz.samples import MEMORY, samples
from fuzz.scratch import scratch_folder
from fuzz.soundness import check_message, check_parse, check_printed
from lpcfg.errors import ModelFileError
from lpcfg.io.models import save


class ModelFolders:
    """One file of a folder is damaged: loading is a ModelFileError, or results are sound."""

    unit = "model folders"

    def __init__(self):
        scratch = scratch_folder(self)
        self.files = {}
        for name, model in samples().folder_models.items():
            folder = scratch / name
            save(model, folder)
            self.files[folder] = {
                file: file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()
            }

    def run(self, draw):
        folder = draw.choice(list(self.files))
        files = self.files[folder]
        # The main file is the one that only folders have.
        main = folder / f"{folder.name}.lpcfg"
        file = main if draw.random() < 0.7 else draw.choice(list(files))
        try:
            kind = draw.random()
            if kind < 0.6:
                file.write_bytes(ModelBytes(files[file]).edited(draw))
            elif kind < 0.95:
                file.write_bytes(damaged(draw, files[file], list(files.values())))
            else:
                file.unlink()
            with about(folder.name, file.name):
                self._use(draw, folder)
        finally:
            file.write_bytes(files[file])
        return 1

    @staticmethod
    def _use(draw, folder):
        try:
            parser = lpcfg.Parser.load(folder, memory=MEMORY, n_jobs=1)
        except (ModelFileError, FileNotFoundError) as error:
            check_message(error)
            return
        words = draw.choice(samples().sentences)
        check_printed([check_parse(parser.analyze(words=words), words)])
        parser.summary()
