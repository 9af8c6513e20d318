"""The page in a real browser: no script of the trace runs, nothing is fetched or broken."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from runtape.reports.html.page import why_page
from runtape.reports.html.picture import why_picture
from tests.support.evil import evil_report
from tests.support.hostile import PAYLOADS
from tests.support.markup import OWNED, Seen, payloads

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--virtual-time-budget=3000",
)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine"),
]


@dataclass
class Listener:
    """A server that only notes what was asked of it."""

    url: str = ""
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def listener():
    """A loopback server that attacks point to."""
    noted = Listener()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            noted.asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    noted.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield noted
    server.shutdown()
    thread.join()
    server.server_close()


def dom(path, folder) -> str:
    """The page as the browser holds it after everything had its chance to run."""
    done = subprocess.run(
        [BROWSER, *FLAGS, f"--user-data-dir={folder / 'profile'}", "--dump-dom", path.as_uri()],
        capture_output=True,
        timeout=90,
        check=True,
    )
    return done.stdout.decode()


def everything(listener) -> str:
    return "\n".join([*payloads(listener.url).values(), *PAYLOADS.values()])


def test_the_browser_would_run_and_fetch_what_is_not_escaped(tmp_path, listener):
    """The control: put in raw, the same attacks work here."""
    attacks = payloads(listener.url)
    page = tmp_path / "raw.html"
    page.write_text(f"<title>t</title><body>{attacks['script']}{attacks['img']}")
    assert OWNED in dom(page, tmp_path)
    assert "/img.png" in listener.asked


@pytest.mark.parametrize("guarded", [True, False], ids=["with its policy", "escaping alone"])
def test_no_attack_of_a_trace_runs_or_fetches(tmp_path, listener, guarded):
    """All attacks at once and each by itself; the policy is a second wall, not the only one."""
    html = why_page(evil_report(everything(listener)))
    if not guarded:
        html = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
    page = tmp_path / "page.html"
    page.write_bytes(html.encode())
    seen = Seen(dom(page, tmp_path))
    assert seen.dangers() == []
    assert seen.title.endswith("· runtape")
    assert not any(name == "data-x" for name, _ in seen.attributes)
    assert listener.asked == []


def test_every_attack_by_itself_leaves_the_page_whole(tmp_path, listener):
    """One page after another within one document: each still has its footer."""
    pages = [why_page(evil_report(attack)) for attack in payloads(listener.url).values()]
    bodies = [html.split("<body>")[1].split("</body>")[0] for html in pages]
    page = tmp_path / "pages.html"
    page.write_bytes(f"<!doctype html><title>t</title><body>{''.join(bodies)}</body>".encode())
    shown = dom(page, tmp_path)
    assert Seen(shown).dangers() == []
    assert shown.count("<footer>") == len(pages)
    assert listener.asked == []


def test_the_picture_opened_by_itself_runs_nothing(tmp_path, listener):
    """An SVG is a document too: opened alone, it could run scripts."""
    picture = tmp_path / "heat.svg"
    picture.write_bytes(why_picture(evil_report(everything(listener))).encode())
    shown = dom(picture, tmp_path)
    assert "<script" not in shown
    assert 'class="headline cause"' in shown
    assert listener.asked == []
