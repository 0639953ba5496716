"""A process of ``lpcfg serve``."""

import os
import subprocess
import sys
import time
from pathlib import Path


class Server:
    """A process of ``lpcfg serve``."""

    def __init__(self, *options):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "lpcfg", "serve", "english", *options, "--port", "0"],
            stderr=subprocess.PIPE,
            text=True,
        )
        self.messages = [self.process.stderr.readline()]
        if "http://" not in self.messages[0]:
            raise RuntimeError(self.messages[0] + self.process.communicate()[1])
        _, _, address = self.messages[0].partition("http://")
        self.address = "http://" + address.split("/")[0]
        self.host, _, port = self.address.removeprefix("http://").partition(":")
        self.port = int(port)

    def memory(self):
        """The resident memory in bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text("utf-8")
        (line,) = (line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) << 10

    def processor_seconds(self):
        """The CPU time that the server has used."""
        fields = (
            Path(f"/proc/{self.process.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        )
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self, signal):
        """Send a signal; the exit code, what the server said, and the seconds until its end."""
        started = time.monotonic()
        self.process.send_signal(signal)
        _, messages = self.process.communicate(timeout=60)
        return self.process.returncode, messages, time.monotonic() - started

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
