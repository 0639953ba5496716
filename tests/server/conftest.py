"""Applications and a running server to test."""

import pytest
from starlette.testclient import TestClient

from lpcfg import Parser
from lpcfg.server.app import create_app
from lpcfg.server.limits import Limits
from lpcfg.server.model import ServedModel
from support.grammars import embedded_latent_grammar
from support.servers import Server


@pytest.fixture(scope="package")
def models():
    toy = Parser(embedded_latent_grammar(), n_jobs=2)
    return [ServedModel("english", Parser.load("english", n_jobs=2)), ServedModel("toy", toy)]


@pytest.fixture
def client(models):
    app = create_app(models, limits=Limits(characters=2000, sentences=3, words=12, candidates=5))
    return TestClient(app, base_url="http://localhost:8000")


@pytest.fixture
def start():
    """Start a server with options; all are ended with the test."""
    servers = []

    def start(*options):
        servers.append(Server(*options))
        return servers[-1]

    yield start
    for server in servers:
        server.close()
