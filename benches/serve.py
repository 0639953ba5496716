"""``lpcfg serve`` under load on the loopback interface: answers, waiting times, memory.

Run from the top of the repository: .venv/bin/python benches/serve.py [SECONDS]
Eight ordinary clients ask without a pause for one to three sentences with charts, every fifth time
with latent states. Beside them are two with random and hostile requests, one with oversized ones,
four that send slowly, four that do not read, and 300 connections with half a header. The first
fifth of the time warms up and is not counted for memory.
"""

import argparse
import asyncio
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.load import Clients
from support.servers import Server


def main():
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    parser.add_argument("seconds", nargs="?", type=float, default=60)
    seconds = parser.parse_args().seconds
    server = Server()
    try:
        warm = Clients(server.host, server.port, seconds=seconds / 5, seed=1)
        asyncio.run(warm.run())
        before = server.memory()
        alone = Clients(server.host, server.port, seconds=seconds / 5, seed=2)
        report("eight ordinary clients alone", server, alone.run(8, 0, 0, 0, 0))
        loaded = Clients(server.host, server.port, seconds=seconds, seed=3)
        report("with all others", server, loaded.run())
        after = server.memory()
        print(f"\nmemory: {before >> 20} MB before, {after >> 20} MB after")
        code, messages, waited = server.stop(signal.SIGTERM)
        print(f"SIGTERM: exit {code} after {waited:.1f} s {messages.strip()}")
    finally:
        server.close()


def report(title, server, run):
    used, started = server.processor_seconds(), time.monotonic()
    outcome = asyncio.run(run)
    seconds = time.monotonic() - started
    used = server.processor_seconds() - used
    answered = outcome.statuses["ordinary"][200]
    print(f"\n{title}: {answered / seconds:.1f} answers a second to ordinary clients")
    shares = ((0.5, "median"), (0.95, "95 %"), (1.0, "longest"))
    times = ", ".join(f"{name} {1000 * outcome.quantile(share):.0f} ms" for share, name in shares)
    print(f"{times}; the server had {used:.0f} CPU seconds in {seconds:.0f} seconds")
    print("\n| requests | answers |\n|---|---|")
    for kind, statuses in outcome.statuses.items():
        counts = ", ".join(f"{status}: {count}" for status, count in statuses.most_common())
        print(f"| {kind} | {counts} |", flush=True)


if __name__ == "__main__":
    main()
