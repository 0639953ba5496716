"""Run the fuzzers for minutes or days: ``make soak``.

Cases run in worker processes, one target at a time. A worker that crashes or hangs is a finding;
the next one goes on after that case.
"""

import argparse
import contextlib
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

from fuzz.cases import Finding, run_case
from fuzz.state import Findings, Progress

#: Seconds without a new case after which a worker hangs: many more than a case takes, because a run
#: in the background of a busy machine may get a hundredth of a core.
HANGS = 900
#: Seconds for all targets once; then they start over.
ROUND = 600
#: Bytes that a worker may have; damaged models must not make it ask for more.
ADDRESS_SPACE = 8 << 30


def work(name, seed, folder, seconds):
    """The life of a worker: cases of one target until the time is up."""
    from fuzz.targets import TARGETS

    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    progress, findings = Progress(folder, name, seed), Findings(folder)
    end = time.monotonic() + seconds
    target = TARGETS[name][0]()
    while True:
        units, finding = run_case(target, name, seed, progress.case)
        if finding is not None:
            findings.add(finding)
        progress.advance(units)
        if time.monotonic() > end:
            return


def supervise(name, seed, folder, seconds):
    """Run workers for a target until the time is up, whatever happens to them."""
    end = time.monotonic() + seconds
    progress = Progress(folder, name, seed)
    while (left := end - time.monotonic()) > 0:
        worker = _start(name, seed, folder, left)
        case, since = progress.case, time.monotonic()
        try:
            while worker.poll() is None:
                time.sleep(0.2)
                if progress.case != case:
                    case, since = progress.case, time.monotonic()
                elif time.monotonic() - since > HANGS:
                    worker.kill()
                    worker.wait()
                    _lost(folder, progress, name, seed, f"no result in {HANGS} s")
        finally:
            # Also when the run is interrupted. Its children are in its group.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()
        if worker.returncode not in (0, -signal.SIGKILL):
            _lost(folder, progress, name, seed, f"exit code {worker.returncode}")


def _start(name, seed, folder, seconds):
    arguments = ["--worker", name, "--seed", seed, "--state", folder, "--seconds", f"{seconds:.0f}"]
    command = [sys.executable, "-m", "fuzz.soak", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)


def _lost(folder, progress, name, seed, problem):
    """Record the case that a worker was lost in, and leave it out."""
    Findings(folder).add(Finding(name, seed, progress.case, f"Lost: {problem}", "a worker"))
    progress.advance(0)


def table(folder, seed):
    """The numbers of cases and units of all targets, and the findings."""
    from fuzz.targets import TARGETS

    kinds = Findings(folder).kinds()
    lines = [f"{'target':15} {'cases':>10} {'units':>12}  {'':20} {'kinds of findings':>17}"]
    for name, (target, _) in TARGETS.items():
        progress = Progress(folder, name, seed)
        found = sum(kind.first.target == name for kind in kinds)
        lines.append(
            f"{name:15} {progress.case:>10,} {progress.units:>12,}  {target.unit:20} {found:>17}"
        )
    for kind in kinds:
        lines += ["", f"{kind.number} like this: {kind.first}"]
    return "\n".join(lines)


def again(name, seed, case):
    """Run one case and print what it finds."""
    from fuzz.targets import TARGETS

    _, finding = run_case(TARGETS[name][0](), name, seed, case)
    print(finding or "nothing was found")
    return finding is not None


def soak(names, seed, folder, minutes):
    """Run targets in rounds for a time."""
    from fuzz.targets import TARGETS

    end = time.monotonic() + 60 * minutes
    shares = {name: TARGETS[name][1] for name in names}
    total = sum(shares.values())
    while (left := end - time.monotonic()) > 1:
        for name, share in shares.items():
            supervise(name, seed, folder, min(left, ROUND) * share / total)


def main():
    from fuzz.targets import TARGETS

    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--state", type=Path, default=Path(".soak"))
    parser.add_argument("--only", choices=TARGETS, action="append")
    parser.add_argument("--case", type=int, help="run this case of the target again")
    parser.add_argument("--worker", choices=TARGETS, help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.state.mkdir(parents=True, exist_ok=True)
    if options.worker:
        return work(options.worker, options.seed, options.state, options.seconds)
    names = options.only or list(TARGETS)
    if options.case is not None:
        return again(names[0], options.seed, options.case)
    with contextlib.suppress(KeyboardInterrupt):
        soak(names, options.seed, options.state, options.minutes)
    print(table(options.state, options.seed))
    return any(finding.target in names for finding in Findings(options.state))


if __name__ == "__main__":
    sys.exit(main())
