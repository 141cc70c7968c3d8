"""report.html in a real browser: it opens alone, silent, at every width, with its figures and links."""

from __future__ import annotations

import re
import shutil
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.cli.running import Ran, run
from tests.cli.test_statuses import refuted

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage")
WIDTHS = {"desktop": (1280, 900, False), "phone": (390, 844, True)}
pytestmark = [pytest.mark.browser, pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed")]


@dataclass
class Opened:
    """A page, and what it said and asked for while it was opened."""

    page: Page
    said: list[str] = field(default_factory=list[str])
    asked: list[str] = field(default_factory=list[str])


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    """Start one browser with a fresh profile."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=list(ARGUMENTS))
        yield started
        started.close()


@pytest.fixture(scope="module")
def reports(raised: dict[str, tuple[Path, Ran]], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The reports that are looked at: small ones, the main example, a refuted one, one with hostile names."""
    folder = tmp_path_factory.mktemp("reports")
    made = {technology: out / "report.html" for technology, (out, _) in raised.items()}
    main = Path(__file__).parents[2] / "examples" / "sovereign-512.yaml"
    assert run("report", main, "--out", folder / "main").status == 0
    assert run("report", refuted(folder), "--out", folder / "refuted").status == 2
    place = folder / "hostile.yaml"
    text = (folder / "infiniband.yaml").read_text(encoding="utf-8")
    facility = "</p><script>console.error(1)</script> <img src=http://127.0.0.1/x> &amp; {{ name }} {% endif %}"
    place.write_text(f"site:\n  facility: '{facility}'\n{text}", encoding="utf-8")
    assert run("report", place, "--out", folder / "hostile").status == 2
    return made | {name: folder / name / "report.html" for name in ("main", "refuted", "hostile")}


def open_report(browser: Browser, path: Path, width: str) -> Opened:
    columns, rows, is_phone = WIDTHS[width]
    context = browser.new_context(
        viewport={"width": columns, "height": rows}, is_mobile=is_phone, device_scale_factor=2 if is_phone else 1
    )
    opened = Opened(context.new_page())
    opened.page.on("console", lambda message: opened.said.append(f"{message.type}: {message.text}"))
    opened.page.on("pageerror", lambda error: opened.said.append(f"error: {error}"))
    opened.page.on("request", lambda request: opened.asked.append(request.url))
    opened.page.goto(path.as_uri(), wait_until="networkidle")
    return opened


NAMES = ("infiniband", "roce", "main", "refuted", "hostile")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_opens_alone_and_fits(name: str, width: str, reports: dict[str, Path], browser: Browser) -> None:
    opened = open_report(browser, reports[name], width)
    opened.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert opened.said == []
    assert opened.asked == [reports[name].as_uri()]
    assert opened.page.evaluate("document.documentElement.scrollWidth") == WIDTHS[width][0]
    assert opened.page.evaluate("window.innerWidth") == WIDTHS[width][0]
    opened.page.context.close()


@pytest.mark.parametrize("name", NAMES)
def test_has_its_figures(name: str, reports: dict[str, Path], browser: Browser) -> None:
    opened = open_report(browser, reports[name], "desktop")
    page = opened.page
    boxes = page.locator("svg.topology rect")
    assert boxes.count() >= 3
    box = boxes.first.bounding_box()
    assert box is not None
    assert box["width"] * box["height"] > 0
    assert page.locator("svg.topology line, svg.topology path").count() >= 2
    assert page.locator("rect[class*='load-']").count() >= (64 if name == "main" else 4)
    assert page.locator(".verdict").count() >= 3
    assert page.locator("h2").count() >= 5
    assert page.locator("script, link, iframe, img").count() == 0
    page.context.close()


@pytest.mark.parametrize("name", NAMES)
def test_every_link_leads_somewhere(name: str, reports: dict[str, Path], browser: Browser) -> None:
    opened = open_report(browser, reports[name], "phone")
    targets = opened.page.evaluate("[...document.querySelectorAll('a[href]')].map(a => a.getAttribute('href'))")
    assert len(targets) >= 5
    for target in targets:
        assert target.startswith("#"), target
        assert opened.page.locator(f"[id='{target[1:]}']").count() == 1, target
    opened.page.locator("nav a").last.click()
    assert opened.page.evaluate("window.scrollY") > 0
    assert opened.said == []
    opened.page.context.close()


def test_shows_the_verdict_and_the_device_files(reports: dict[str, Path], browser: Browser) -> None:
    opened = open_report(browser, reports["roce"], "desktop")
    text = opened.page.inner_text("main")
    assert "Every required claim is proved." in text
    assert "config_db.json" in opened.page.content()
    opened.page.context.close()
    opened = open_report(browser, reports["refuted"], "desktop")
    assert "A required claim is not proved." in opened.page.inner_text("main")
    opened.page.context.close()


def test_can_be_read_in_the_dark(reports: dict[str, Path], browser: Browser) -> None:
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    page.goto(reports["roce"].as_uri())
    colours = page.evaluate("[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]")
    ink, paper = (sum(int(part) for part in re.findall(r"\d+", colour)[:3]) for colour in colours)
    assert ink - paper > 400
    context.close()
