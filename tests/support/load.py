"""Clients that load a server: ordinary, hostile, slow, oversized, and many at once."""

import asyncio
import json
import random
import time
from collections import Counter
from dataclasses import dataclass, field

TEXT = "the a dog cat park saw ran with binoculars of in she it that old new quickly ( ) , - 7"
WORDS = TEXT.split()


@dataclass
class Outcome:
    """What clients have seen: statuses by kind of request, and seconds of ordinary requests."""

    statuses: dict[str, Counter] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)

    def add(self, kind, status):
        self.statuses.setdefault(kind, Counter())[status] += 1

    def quantile(self, share):
        return sorted(self.seconds)[int(share * (len(self.seconds) - 1))]


class Clients:
    """Clients of a server until a deadline; all random choices come from a seed."""

    def __init__(self, host, port, *, seconds, seed=0):
        self.host, self.port = host, port
        self.deadline = time.monotonic() + seconds
        self.random = random.Random(seed)
        self.outcome = Outcome()

    async def run(self, ordinary=8, hostile=2, oversized=1, slow=4, connections=300):
        """Run clients side by side, with many idle connections open meanwhile."""
        idle = [asyncio.create_task(self.idle()) for _ in range(connections)]
        await asyncio.gather(
            *(self.repeat("ordinary", self.ordinary) for _ in range(ordinary)),
            *(self.repeat("hostile", self.hostile) for _ in range(hostile)),
            *(self.repeat("oversized", self.oversized) for _ in range(oversized)),
            *(self.repeat("slow body", self.slow_body) for _ in range(slow)),
            *(self.repeat("slow reader", self.slow_reader) for _ in range(slow)),
        )
        for task in idle:
            task.cancel()
        await asyncio.gather(*idle, return_exceptions=True)
        return self.outcome

    async def repeat(self, kind, request):
        while time.monotonic() < self.deadline:
            try:
                status = await request()
            except (ConnectionError, asyncio.IncompleteReadError):
                # The server has closed the connection without an answer.
                status = "closed"
            self.outcome.add(kind, status)

    def sentence(self, words):
        return " ".join(self.random.choices(WORDS, k=words)).capitalize() + "."

    async def ordinary(self):
        count = self.random.randint(1, 3)
        text = " ".join(self.sentence(self.random.randint(3, 30)) for _ in range(count))
        states = self.random.random() < 0.2
        wanted = {"text": text, "candidates": 5, "chart": True, "states": states}
        started = time.monotonic()
        status, body = await self.post(json.dumps(wanted).encode())
        self.outcome.seconds.append(time.monotonic() - started)
        if status == 200:
            assert len(json.loads(body)["sentences"]) >= 1
        return status

    async def hostile(self):
        pick = self.random.randrange(8)
        if pick == 0:
            return (await self.post(self.random.randbytes(self.random.randint(0, 3000))))[0]
        if pick == 1:
            return (await self.post(b"[" * self.random.randint(1, 50_000)))[0]
        if pick == 2:
            # As much work as the limits allow.
            text = " ".join(self.sentence(100) for _ in range(5))
            return (await self.post(json.dumps({"text": text, "candidates": 20}).encode()))[0]
        if pick == 3:
            text = "".join(chr(self.random.randint(1, 0xD7FF)) for _ in range(2000))
            return (await self.post(json.dumps({"text": text}).encode()))[0]
        if pick == 4:
            # Runs of quotes take a tokeniser longest.
            kinds = self.random.choice(("().!?'\"-\u2019/:@ab1", '"'))
            letters = self.random.choices(kinds, k=10_000)
            return (await self.post(json.dumps({"text": "".join(letters)}).encode()))[0]
        if pick == 5:
            # Not HTTP at all.
            return await self.raw(self.random.randbytes(500) + b"\r\n\r\n")
        if pick == 6:
            header = b"GET / HTTP/1.1\r\nx: " + b"a" * 100_000
            return await self.raw(header + b"\r\n\r\n")
        return await self.raw(b"GET /static/../../app.py HTTP/1.1\r\nhost: localhost\r\n\r\n")

    async def oversized(self):
        await asyncio.sleep(1)
        return (await self.post(b" " * 5_000_000))[0]

    async def slow_body(self):
        """A body of which a byte comes now and then, and never the end."""
        reader, writer = await asyncio.open_connection(self.host, self.port)
        try:
            writer.write(self.header(1000))
            while time.monotonic() < self.deadline + 15:
                writer.write(b" ")
                await writer.drain()
                answered = asyncio.create_task(reader.readline())
                done, _ = await asyncio.wait([answered], timeout=0.5)
                if done:
                    return status_of(answered.result())
                answered.cancel()
                await asyncio.gather(answered, return_exceptions=True)
            return "unanswered"
        finally:
            writer.close()

    async def slow_reader(self):
        """A client that asks for much and does not read the answer."""
        _, writer = await asyncio.open_connection(self.host, self.port, limit=1)
        try:
            text = " ".join(self.sentence(40) for _ in range(3))
            body = json.dumps({"text": text, "candidates": 20, "chart": True}).encode()
            writer.write(self.header(len(body)) + body)
            await asyncio.sleep(min(15, max(1, self.deadline - time.monotonic())))
            return "not read"
        finally:
            writer.transport.abort()

    async def idle(self):
        """A connection on which a header begins and never ends."""
        while time.monotonic() < self.deadline:
            try:
                reader, writer = await asyncio.open_connection(self.host, self.port)
            except OSError:
                await asyncio.sleep(0.5)
                continue
            try:
                writer.write(b"GET / HTTP/1.1\r\nhost: local")
                await asyncio.wait_for(reader.read(), 60)
                self.outcome.add("idle connection", "closed")
            except (ConnectionError, TimeoutError) as error:
                closed = isinstance(error, ConnectionError)
                self.outcome.add("idle connection", "closed" if closed else "open after 60 s")
            finally:
                writer.close()
            await asyncio.sleep(0.5)

    def header(self, length):
        return (
            f"POST /api/parse HTTP/1.1\r\nhost: {self.host}\r\nconnection: close\r\n"
            f"content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        ).encode()

    async def post(self, body):
        return await self.exchange(self.header(len(body)) + body)

    async def raw(self, data):
        return (await self.exchange(data))[0]

    async def exchange(self, data):
        """Send everything and read everything: the status, and the body."""
        reader, writer = await asyncio.open_connection(self.host, self.port)
        try:
            writer.write(data)
            # An early refusal is read even if the rest of the request is not wanted.
            answer = await asyncio.wait_for(reader.read(), 60)
            header, _, body = answer.partition(b"\r\n\r\n")
            return status_of(header), body
        finally:
            writer.close()


def status_of(header):
    """The status in the first line of an answer."""
    parts = header.split(b" ", 2)
    return int(parts[1]) if len(parts) > 1 and parts[1].isdigit() else "closed"
