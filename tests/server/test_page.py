"""The page in a real browser: Chromium, where it is installed."""

import re
import shutil
from urllib.parse import urlencode

import pytest

from lpcfg import save
from support.grammars import embedded_latent_grammar
from support.servers import Server

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine"),
    pytest.mark.slow,
]

TEXT = "She saw the dog with her new binoculars (from afar). It ran."
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A server with two models."""
    model = tmp_path_factory.mktemp("models") / "toy.lpcfg"
    save(embedded_latent_grammar(), model)
    server = Server(str(model))
    yield server.address
    server.close()


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        # The tests may run as root, for whom Chromium has no sandbox.
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, address):
    """Open the page in a state; at the end nothing may have gone wrong in it."""
    contexts, problems = [], []

    def visit(viewport=DESKTOP, scheme="light", **state):
        context = browser.new_context(viewport=viewport, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda line: problems.append(line.text))
        page.on("request", lambda request: problems.extend(elsewhere(request.url)))
        page.goto(f"{address}/#{urlencode({'text': TEXT} | state)}")
        page.wait_for_selector(".drawing")
        return page

    def elsewhere(url):
        return [] if url.startswith((address, "blob:")) else [f"request to {url}"]

    yield visit
    for context in contexts:
        context.close()
    assert problems == []


def words(page):
    return page.locator(".tree .word").all_text_contents()


def test_text_becomes_trees(visit):
    page = visit()
    assert " ".join(words(page)) == "She saw the dog with her new binoculars ( from afar ) ."
    page.get_by_role("button", name="It ran.").click()
    assert words(page) == ["It", "ran", "."]
    page.get_by_label("Text").fill("Dogs bark.")
    page.get_by_label("Text").press("Control+Enter")
    page.locator(".tree .word", has_text="Dogs").wait_for()
    assert page.locator("#sentences").is_hidden()


def test_pointing_at_a_label_shows_its_probability(visit):
    page = visit(sentence=1)
    page.locator(".node", has_text="VP").hover()
    detail = page.locator(".detail").text_content()
    assert detail.startswith("VP")
    assert "%" in detail
    assert "ran" in detail


def test_one_of_the_best_trees_can_be_chosen(visit):
    page = visit(k=3)
    assert page.locator(".best li").count() == 3
    second = page.locator(".best code").nth(1).text_content()
    page.locator(".best input").nth(1).check()
    with page.expect_download() as download:
        page.get_by_role("button", name="Brackets").click()
    assert download.value.path().read_text("utf-8").splitlines()[0] == second


def test_two_models_side_by_side_or_stacked(visit):
    for viewport, beside in ((DESKTOP, True), (PHONE, False)):
        page = visit(viewport, other="toy")
        left, right = (pane.bounding_box() for pane in page.locator(".pane").all())
        assert (left["y"] == right["y"]) is beside
        assert page.locator(".node.different").count() > 0


def test_the_chart_says_what_each_pass_pruned(visit):
    page = visit(view="chart", sentence=1)
    assert page.locator(".cell").count() == 6
    assert page.locator(".summary").text_content().startswith("6 spans")
    page.locator(".chart").focus()
    assert "ROOT" in page.locator(".detail").text_content()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.locator("#live").text_content().startswith("It: ")


def test_latent_states_are_explained(visit):
    page = visit(view="states", model="toy")
    page.wait_for_selector(".card.current")
    assert page.locator(".card").count() > 1
    assert "Typical words" in page.locator(".card").first.text_content()
    page = visit(view="states")
    assert "no latent states" in page.locator(".meaning").text_content()


def test_the_address_restores_what_is_shown(visit):
    page = visit()
    page.get_by_text("Chart", exact=True).click()
    page.get_by_role("button", name="It ran.").click()
    page.get_by_label("Compare with").select_option("toy")
    page.wait_for_selector(".two")
    page.get_by_role("button", name="It ran.").click()
    again = page.context.new_page()
    again.goto(page.url)
    again.wait_for_selector(".two .drawing")
    shown, restored = (
        re.sub(r'name="best-[^"]*"', "", one.locator("#panes").inner_html())
        for one in (page, again)
    )
    assert restored == shown
    assert again.locator(".cell").count() == 12
    assert again.get_by_label("Compare with").input_value() == "toy"


def test_downloads(visit):
    page = visit()
    files = {}
    for name in ("SVG", "PNG", "JSON"):
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        files[name] = download.value.path().read_bytes()
    assert files["PNG"].startswith(b"\x89PNG")
    svg = files["SVG"].decode()
    assert "binoculars" in svg
    # The picture needs no style sheet.
    assert "class=" not in svg
    assert "var(" not in svg
    assert 'fill="rgb(' in svg
    assert b'"sentences"' in files["JSON"]


def test_the_keyboard_reaches_everything(visit):
    page = visit(sentence=1)
    page.locator(".tree [tabindex='0']").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert label.startswith("VP, ran, probability ")
    page.keyboard.press("Enter")
    assert "node=" in page.url
    page.get_by_role("radio", name="Tree").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".chart")


def test_screen_readers_get_names(visit):
    page = visit(other="toy")
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, textarea, [role=tree], "
        + "[role=treeitem], section")].filter((element) => !(element.ariaLabel
            || element.getAttribute("aria-label") || element.labels?.length
            || element.textContent.trim())).map((element) => element.outerHTML)"""
    )
    assert nameless == []
    assert page.get_by_role("tree").count() == 2
    assert page.get_by_role("treeitem").count() > 20


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("view", ["tree", "chart", "states"])
def test_text_is_legible_and_nothing_overflows(visit, viewport, scheme, view):
    page = visit(viewport, scheme, view=view, model="toy" if view == "states" else "english")
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    contrasts = page.evaluate(CONTRASTS)
    assert len(contrasts) > 5
    assert {text: ratio for text, ratio in contrasts.items() if ratio < 4.5} == {}


#: The contrast (WCAG 2) of each text with the colour behind it.
CONTRASTS = """() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = (color) => {
    const [r, g, b] = channels(color).map((value) => {
      const share = value / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const box = element.parentElement?.querySelector(":scope > .box, :scope > .cell");
    const fill = box && getComputedStyle(box).fill;
    if (fill && fill !== "none" && !element.matches(".word, .number")) return fill;
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (channels(color)[3] !== 0) return color;
    }
  };
  const found = {};
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !element.checkVisibility() || element.matches("option, title, noscript")) continue;
    const style = getComputedStyle(element);
    const color = element instanceof SVGElement ? style.fill : style.color;
    const pair = [luminance(color), luminance(behind(element))].sort((a, b) => b - a);
    found[element.textContent.trim().slice(0, 40)] = (pair[0] + 0.05) / (pair[1] + 0.05);
  }
  return found;
}"""
