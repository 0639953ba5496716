"""The JSON API: answers, limits, and what is refused."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lpcfg import Parser, Tree

TEXT = "The dog saw him (and ran). It's late!"


def parse(client, **document):
    return client.post("/api/parse", json=document)


def refused(response, status):
    assert response.status_code == status
    return response.json()["error"]


def test_models_and_limits_are_described(client):
    description = client.get("/api").json()
    assert [model["name"] for model in description["models"]] == ["english", "toy"]
    assert description["models"][0]["states"] == "the grammar has no latent states"
    assert description["models"][1]["states"] is True
    assert description["limits"]["words"] == 12


def test_trees_are_those_of_the_parser_with_offsets(client):
    answer = parse(client, text=TEXT, candidates=3).json()
    expected = list(Parser.load("english").parse_text(TEXT, candidates=3))
    assert [sentence["tree"] for sentence in answer["sentences"]] == [
        str(sentence.tree) for sentence in expected
    ]
    for sentence, other in zip(answer["sentences"], expected, strict=True):
        assert TEXT[sentence["start"] : sentence["end"]] == sentence["text"] == other.sentence.text
        assert [TEXT[slice(*token)] for token in sentence["tokens"]] == [
            token.text for token in other.tokens
        ]
        trees = [candidate["tree"] for candidate in sentence["candidates"]]
        assert trees == [str(tree) for tree, _ in other.parse.candidates]
        for span, theirs in zip(sentence["spans"], other.parse.spans, strict=True):
            assert span["probability"] == pytest.approx(theirs.probability, abs=1e-6)
    assert answer["message"] is None
    assert answer["model"] == "english"


def test_every_pass_keeps_less(client):
    text = "The old dog saw the cat."
    sentence = parse(client, text=text, model="toy", chart=True).json()
    (sentence,) = sentence["sentences"]
    cells = {(cell["start"], cell["end"]): cell for cell in sentence["chart"]["cells"]}
    assert sentence["chart"]["passes"] == 2
    assert len(cells) < 7 * 8 / 2
    assert any(cell["count"] < cell["first"] for cell in cells.values())
    for span in sentence["spans"]:
        cell = cells[span["start"], span["end"]]
        assert cell["first"] >= cell["count"] >= 1
        assert dict(cell["labels"])[span["label"]] == span["probability"]


def test_a_network_has_one_pass(client):
    answer = parse(client, text="The dog saw the cat in the park.", chart=True).json()
    (sentence,) = answer["sentences"]
    assert sentence["chart"]["passes"] == 1
    assert all(cell["first"] is None for cell in sentence["chart"]["cells"])


def test_states_of_a_parse_and_their_meaning(client):
    answer = parse(client, text="The old dog saw him.", model="toy", states=True).json()
    (sentence,) = answer["sentences"]
    assert len(sentence["states"]) == len(sentence["spans"])
    for span, (symbol, _) in zip(sentence["spans"], sentence["states"], strict=True):
        # All nodes of a unary chain have the symbol of the chain.
        assert span["label"] in symbol.replace("^", "+").split("+")
    symbol, state = sentence["states"][2]
    explained = client.get("/api/states", params={"model": "toy", "symbol": symbol}).json()
    assert state in [one["state"] for one in explained["states"]]
    assert sum(one["prior"] for one in explained["states"]) == pytest.approx(1)
    english = parse(client, text="The dog saw him.", states=True).json()
    assert "states" not in english["sentences"][0]


def test_what_is_beyond_the_limits_is_said(client):
    answer = parse(client, text="One. Two. Three. Four.").json()
    assert len(answer["sentences"]) == 3
    assert answer["message"] == "only the first 3 sentences were parsed"
    answer = parse(client, text="It rained. " + "very " * 20).json()
    assert "tree" in answer["sentences"][0]
    assert answer["sentences"][1]["error"] == "this sentence has 20 words, the limit is 12"
    assert "2001 characters" in refused(parse(client, text="a" * 2001), 413)
    body = b'{"text": "' + b"a" * 40_000
    headers = {"content-type": "application/json"}
    assert "bytes" in refused(client.post("/api/parse", content=body, headers=headers), 413)
    assert "1 to 5" in refused(parse(client, text="a", candidates=6), 400)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "not valid JSON"),
        (b"\xff\xfe", "not valid JSON"),
        (b"[" * 20_000, "not valid JSON"),
        (b"[]", "must be a JSON object"),
        (b"{}", "text is missing or empty"),
        (b'{"text": " "}', "text is missing or empty"),
        (b'{"text": 3}', "text has the wrong type"),
        (b'{"text": "a", "candidates": true}', "candidates has the wrong type"),
        (b'{"text": "a", "file": "/etc/passwd"}', "there is no field 'file'"),
        (b'{"text": "\\ud800"}', "surrogate"),
        (b'{"text": "a", "language": "../x"}', "no tokeniser"),
    ],
)
def test_malformed_requests_are_refused_with_a_reason(client, body, message):
    headers = {"content-type": "application/json"}
    response = client.post("/api/parse", content=body, headers=headers)
    assert message in refused(response, 400)


def test_unknown_models_symbols_and_addresses(client):
    assert "there are english, toy" in refused(parse(client, text="a", model="x"), 404)
    assert "no symbol" in refused(client.get("/api/states?symbol=NOPE"), 404)
    assert "no latent states" in refused(client.get("/api/states?symbol=NP"), 404)
    refused(client.get("/nothing"), 404)
    refused(client.get("/api/parse"), 405)
    refused(client.get("/static/../app.py"), 404)
    refused(client.get("/static/%2e%2e/app.py"), 404)
    refused(client.get("/static/..%2f..%2ferrors.py"), 404)


def test_other_sites_cannot_use_the_server(client):
    plain = client.post(
        "/api/parse", content=b'{"text": "a"}', headers={"content-type": "text/plain"}
    )
    assert "application/json" in refused(plain, 415)
    rebound = client.get("/api", headers={"host": "evil.example:8000"})
    assert "evil.example" in refused(rebound, 421)
    for host in ("localhost", "127.0.0.1:80", "[::1]:8000", "LOCALHOST:1"):
        assert client.get("/api", headers={"host": host}).status_code == 200


def test_every_answer_has_a_strict_policy(client):
    for response in (client.get("/"), client.get("/api"), client.get("/nothing")):
        policy = response.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert "unsafe" not in policy
        assert response.headers["x-content-type-options"] == "nosniff"
    page = client.get("/").text
    assert "http://" not in page
    assert "https://" not in page


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=40))
def test_any_text_gets_trees_or_a_refusal(client, text):
    response = client.post("/api/parse", json={"text": text, "chart": True, "states": True})
    assert response.status_code in {200, 400}
    if response.status_code == 200:
        # Numbers are finite: strict JSON has no other.
        answer = json.loads(response.content, parse_constant=pytest.fail)
        for sentence in answer["sentences"]:
            if "tree" in sentence:
                assert len(Tree.from_string(sentence["tree"])) == len(sentence["words"])
