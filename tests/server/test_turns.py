"""Requests share the threads of the server fairly."""

import asyncio
import time

import anyio
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lpcfg import Grammar, Parser, split_text
from lpcfg.server import _chart
from lpcfg.server._turns import Share, Turns
from lpcfg.server.app import create_app
from lpcfg.server.model import ServedModel


class Clock:
    """Time that passes only while a sentence is parsed."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(anyio, "current_time", lambda: self.now)


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def run(*requests):
    async def together():
        await asyncio.gather(*requests)

    asyncio.run(together())


async def request(turns, clock, name, costs, log):
    share = Share()
    for cost in costs:
        async with turns.turn(share):
            clock.now += cost
            log.append(name)


def test_a_short_request_waits_for_one_sentence_of_a_long_one(clock):
    turns, log = Turns(1), []
    run(
        request(turns, clock, "long", [5.0] * 4, log),
        request(turns, clock, "short", [0.1] * 3, log),
    )
    assert log == ["long", *["short"] * 3, *["long"] * 3]


def test_newer_requests_do_not_keep_an_older_one_from_its_turn(clock):
    """They begin with the time that the older one has used, not with nothing."""
    turns, log = Turns(1), []

    async def newer():
        for _ in range(20):
            await request(turns, clock, "newer", [1.0], log)

    run(request(turns, clock, "older", [1.0] * 10, log), newer())
    assert log[:20].count("older") == 10


@given(st.lists(st.floats(0.01, 10.0), min_size=2, max_size=5))
def test_requests_that_always_wait_have_the_same_time(costs):
    """Within the cost of the two dearest sentences, as the theorem says."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        clock, turns, log = Clock(monkeypatch), Turns(1), []
        sentences = [[cost] * int(100 / cost) for cost in costs]
        run(*(request(turns, clock, name, each, log) for name, each in enumerate(sentences)))
    used = [0.0] * len(costs)
    remaining = [len(each) for each in sentences]
    for name in log:
        used[name] += costs[name]
        remaining[name] -= 1
        if not all(remaining):
            break
        assert max(used) - min(used) <= 2 * max(costs) + 1e-6


def test_long_sentences_never_have_all_threads():
    turns, running, seen = Turns(3), [], []

    async def sentence(name, long):
        async with turns.turn(Share(), long=long):
            running.append(long)
            seen.append((sum(running), len(running)))
            await asyncio.sleep(0.01)
            running.remove(long)

    run(*(sentence(number, number < 8) for number in range(12)))
    assert max(long for long, _ in seen) == 2
    assert max(all_of_them for _, all_of_them in seen) == 3
    assert len(seen) == 12


def test_the_only_thread_takes_long_sentences_too(clock):
    turns, log = Turns(1), []

    async def long():
        async with turns.turn(Share(), long=True):
            log.append("long")

    run(long(), long())
    assert log == ["long"] * 2


@pytest.mark.parametrize("waiting", [True, False])
def test_a_request_that_is_cancelled_gives_its_thread_back(waiting):
    turns, done = Turns(1), []

    async def hold(seconds):
        async with turns.turn(Share()):
            await asyncio.sleep(seconds)
            done.append(seconds)

    async def cancel():
        tasks = [asyncio.create_task(hold(0.05 if waiting else 60)) for _ in range(2)]
        await asyncio.sleep(0.01)
        for task in tasks[1:] if waiting else tasks:
            task.cancel()
        await asyncio.wait_for(hold(0), 5)

    run(cancel())
    assert done == ([0.05, 0] if waiting else [0])


class Sleeper(ServedModel):
    """A model for which sentences with the word "slow" take long."""

    def analyze(self, sentence, **options):
        time.sleep(0.05 if "slow" in sentence.text else 0)
        return super().analyze(sentence, **options)


def test_the_server_answers_short_requests_before_the_end_of_a_long_one():
    finished = []
    app = create_app([Sleeper("toy", Parser(Grammar.from_string("S -> 'Go' '.'")))], workers=1)
    transport = httpx.ASGITransport(app)

    async def ask(text):
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            answer = await client.post("/api/parse", json={"text": text})
        finished.append((text[:4], len(answer.json()["sentences"])))

    run(ask("It is slow. " * 20), *(ask("Go.") for _ in range(5)))
    assert finished == [*[("Go.", 1)] * 5, ("It i", 20)]


def test_a_chart_for_which_time_is_short_has_one_pass(monkeypatch):
    monkeypatch.setattr(_chart, "_SECONDS", 1e-9)
    model = ServedModel("english", Parser.load("english"))
    chart = model.analyze(next(split_text("It rained.")), chart=True)["chart"]
    assert chart["passes"] == 1
    assert {cell["first"] for cell in chart["cells"]} == {None}
    assert all(cell["count"] for cell in chart["cells"])
