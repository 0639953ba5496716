"""The application: the page and the JSON API."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from importlib.resources import files
from itertools import islice
from typing import Any, TypeVar

import anyio
from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from lpcfg._core import __version__
from lpcfg.errors import GrammarError, InputError
from lpcfg.server._protection import Protection
from lpcfg.server._requests import ParseRequest, RefusalError, read_document
from lpcfg.server._turns import Share, Turns
from lpcfg.server.limits import Limits
from lpcfg.server.model import ServedModel
from lpcfg.text.segmentation import TextSentence, split_text

__all__ = ["LOOPBACK", "create_app"]

#: The names by which a browser on this machine calls it.
LOOPBACK = ("localhost", "127.0.0.1", "::1")

T = TypeVar("T")

#: The number of words above which a sentence is long: it may take more than a tenth of a second.
_LONG = 60

_STATIC = files("lpcfg.server") / "static"


def create_app(
    models: Sequence[ServedModel],
    *,
    limits: Limits | None = None,
    hosts: Collection[str] = LOOPBACK,
    workers: int = 1,
) -> Starlette:
    """The ASGI application.

    Parameters
    ----------
    models : sequence of ServedModel
        The parsers, at least one, with different names. The first is the default.
    limits : Limits, optional
        What a request may ask for.
    hosts : collection of str
        The names of this machine that requests may use (default: those of the loopback interface).
        ``*`` allows all.
    workers : int
        The number of sentences that are parsed at the same time (default 1). The parsers should
        have at least as many threads.

    Examples
    --------
    >>> from lpcfg import Parser
    >>> from starlette.testclient import TestClient
    >>> app = create_app([ServedModel("english", Parser.load("english"))])
    >>> client = TestClient(app, base_url="http://localhost")
    >>> answer = client.post("/api/parse", json={"text": "The dog slept."}).json()
    >>> answer["sentences"][0]["tree"]
    '(ROOT (S (NP (DT The) (NN dog)) (VP (VBD slept)) (. .)))'

    """
    service = _Service(models, limits or Limits(), workers)
    return Starlette(
        routes=[
            Route("/", _page, methods=["GET"]),
            Route("/api", service.describe, methods=["GET"]),
            Route("/api/parse", service.parse, methods=["POST"]),
            Route("/api/states", service.states, methods=["GET"]),
            Mount("/static", StaticFiles(directory=str(_STATIC))),
        ],
        middleware=[Middleware(Protection, hosts=[host.lower() for host in hosts])],
        exception_handlers={HTTPException: _refuse, RefusalError: _refuse},
    )


async def _page(_: Request) -> Response:
    return FileResponse(str(_STATIC / "index.html"))


async def _refuse(_: Request, error: Exception) -> Response:
    if isinstance(error, RefusalError):
        headers = {"retry-after": "1"} if error.status == 429 else None
        return JSONResponse({"error": error.message}, error.status, headers)
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


class _Service:
    """The endpoints of the API.

    Sentences are parsed one by one in a few threads, and waiting requests take turns: a short one
    does not wait for the end of a long one.
    """

    def __init__(self, models: Sequence[ServedModel], limits: Limits, workers: int) -> None:
        self.models = {model.name: model for model in models}
        self.default = models[0].name
        self.limits = limits
        self.turns = Turns(workers)
        # Turns have as many threads; this one only lets them run.
        self.parsing = CapacityLimiter(workers)
        # Work that is quick does not wait for sentences.
        self.other = CapacityLimiter(2)
        self.requests = 0

    async def describe(self, _: Request) -> Response:
        """The models and the limits."""
        return JSONResponse(
            {
                "version": __version__,
                "models": [model.as_json() for model in self.models.values()],
                "limits": self.limits.as_json(),
            }
        )

    async def parse(self, request: Request) -> Response:
        """The parses of a text."""
        if self.requests >= self.limits.requests:
            raise RefusalError(429, "too many requests are waiting; try again")
        self.requests += 1
        try:
            document = await read_document(request, self.limits)
            wanted = ParseRequest.from_document(document, self.limits)
            return await self._answer(request, wanted)
        finally:
            self.requests -= 1

    async def _answer(self, request: Request, wanted: ParseRequest) -> Response:
        deadline = anyio.current_time() + self.limits.seconds
        model = self._model(wanted.model)
        most = self.limits.sentences
        try:
            found = await self._in_thread(
                lambda: list(islice(split_text(wanted.text, language=wanted.language), most + 1))
            )
        except InputError as error:
            raise RefusalError(400, str(error)) from None
        message = f"only the first {most} sentences were parsed" if len(found) > most else None
        sentences: list[dict[str, Any]] = []
        share = Share()
        for sentence in found[:most]:
            if anyio.current_time() > deadline:
                message = f"only {len(sentences)} sentences were parsed within the time limit"
                break
            long = _LONG < len(sentence.tokens) <= self.limits.words
            async with self.turns.turn(share, long=long):
                if await request.is_disconnected():
                    break
                sentences.append(await self._analyze(model, sentence, wanted))
        if wanted.states:
            parsed = [sentence for sentence in sentences if "error" not in sentence]
            await self._in_thread(lambda: model.add_states(parsed))
        return await self._in_thread(
            lambda: JSONResponse({"model": model.name, "message": message, "sentences": sentences})
        )

    async def _analyze(
        self, model: ServedModel, sentence: TextSentence, wanted: ParseRequest
    ) -> dict[str, Any]:
        words = len(sentence.tokens)
        if words > self.limits.words:
            error = f"this sentence has {words} words, the limit is {self.limits.words}"
            return sentence.as_json() | {"error": error}
        return await run_sync(
            lambda: model.analyze(sentence, candidates=wanted.candidates, chart=wanted.chart),
            limiter=self.parsing,
        )

    async def states(self, request: Request) -> Response:
        """What the latent states of a symbol are used for."""
        model = self._model(request.query_params.get("model"))
        symbol = request.query_params.get("symbol", "")
        try:
            explained = await self._in_thread(lambda: model.explain(symbol))
        except GrammarError as error:
            raise RefusalError(404, str(error)) from None
        except InputError:
            raise RefusalError(404, f"the model has no symbol {symbol[:80]!r}") from None
        return JSONResponse({"model": model.name, "symbol": symbol, "states": explained})

    def _model(self, name: str | None) -> ServedModel:
        model = self.models.get(self.default if name is None else name)
        if model is None:
            known = ", ".join(self.models)
            raise RefusalError(404, f"there is no model {str(name)[:80]!r}; there are {known}")
        return model

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await run_sync(work, limiter=self.other)
