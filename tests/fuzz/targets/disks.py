"""Full disks: commands end with a message, and what was there before stays."""

from fuzz.cases import about
from fuzz.children import can_mount_disks, run
from fuzz.jobs import all_jobs

#: Bytes that the messages of a command may take.
_MESSAGES = 1024


class Disks:
    """The disk is full after a random number of bytes, or files may not grow beyond it."""

    unit = "full disks"

    def __init__(self):
        self.jobs = all_jobs()
        self.can_mount = can_mount_disks()

    def run(self, draw):
        job = draw.choice(self.jobs)
        size = sum(map(len, job.expected.values()))
        room = draw.choice((0, 1, draw.randrange(size + 1), draw.randrange(size + 1)))
        mounted = self.can_mount and draw.random() < 0.5
        with about(job.name, "small disk" if mounted else "limit on files", room):
            # The limit holds for the files of standard output and error as well.
            limit = {"full_disk": room} if mounted else {"largest_file": room + _MESSAGES}
            outcome = run(job.fresh(), job.arguments, **limit)
            outcome.check_message()
            folder = "seen" if mounted else "out"
            contents = job.contents(folder)
            job.check_target(contents, complete=outcome.code == 0)
            assert not job.workspace.hidden(folder), "temporary files are left over"
            if outcome.code == 0 and job.target is None:
                assert contents == job.expected
            if job.target is None and not mounted:
                again = run(job.folder, job.arguments)
                assert again.code == 0, again.errors
                assert job.contents() == job.expected, "a stopped corpus does not go on"
        return 1
