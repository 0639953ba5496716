"""Signals at random times: nothing is half written, and exit codes tell what happened."""

import signal
import time

from fuzz.cases import about
from fuzz.children import Child, run
from fuzz.jobs import all_jobs

#: The exit codes after a signal; a command that had already finished has code 0.
CODES = {
    signal.SIGINT: (0, 130),
    signal.SIGTERM: (0, -signal.SIGTERM),
    signal.SIGKILL: (0, -signal.SIGKILL),
}


class Kills:
    """A killed command leaves the old output or the new one, and can be run again."""

    unit = "kills"

    def __init__(self):
        self.jobs = all_jobs()

    def run(self, draw):
        job = draw.choice(self.jobs)
        number = draw.choice(list(CODES))
        delay = draw.random() * job.duration * 1.1
        with about(job.name, number.name, f"{delay:.3f} s"):
            child = Child(job.fresh(), job.arguments)
            time.sleep(delay)
            child.send(number)
            outcome = child.wait()
            assert "Traceback" not in outcome.errors, outcome.errors
            assert outcome.code in CODES[number], f"exit code {outcome.code}: {outcome.errors}"
            job.check_target(job.contents(), complete=outcome.code == 0)
            if number == signal.SIGINT:
                assert not job.workspace.hidden(), "temporary files are left over"
                if outcome.code:
                    # Nothing is said if the signal comes before or after the command itself.
                    assert outcome.errors in ("lpcfg: interrupted\n", ""), outcome.errors
            if job.target is None or draw.random() < 0.1:
                again = run(job.folder, job.arguments)
                assert again.code == 0, again.errors
                if job.target is None:
                    assert job.contents() == job.expected, "a stopped corpus does not go on"
                else:
                    job.check_target(job.contents(), complete=True)
        return 1
