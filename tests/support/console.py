# SPDX-License-Identifier: Apache-2.0
"""Helpers for the tests of the page in the browser."""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import secrets
import socket
import threading

from .daemon import ROOT, program
from .engine import IMAGE

TOP = "/_trainyard/console/"
FILES = {path.name: path for path in [*(ROOT / "api/console/page").iterdir(), *(ROOT / "api/emulator/web_shell").iterdir()] if path.name[:5] != "page."}
PICTURES = pathlib.Path(os.environ.get("TRAINYARD_PICTURES") or pathlib.Path(program()).parent / "tests/console/pictures")
SIZES = [(360, 740, False), (360, 740, True), (1024, 768, False), (1024, 768, True), (3840, 2160, False), (3840, 2160, True)]
HOSTILE = "<img src=x onerror=document.title='hit'><script>document.title='hit'</script>"


def daemon_with_token(new_daemon, tmp_path, *options):
    """A started daemon that asks for a token."""
    token = tmp_path / "token"
    token.write_text("a-token-of-some-length-1234567890\n")
    token.chmod(0o600)
    daemon = new_daemon("--offline", "--token-file", str(token), *options)
    daemon.token = token.read_text().strip()
    return daemon.start()


def opened(browser, yard, path=""):
    browser.open(yard.base + TOP + path)
    browser.until("document.readyState === 'complete' && document.querySelector('main > :not(noscript)') !== null")


def pictures(browser, name):
    for width, height, dark in SIZES:
        browser.look(width, height, dark)
        assert browser.value("[document.documentElement, document.querySelector('main')].every((each) => each.scrollWidth <= each.clientWidth)"), f"{name} is wider than {width} pixels"
        assert browser.value(FAINT) == [], f"{name}, {'dark' if dark else 'light'}"
        browser.picture(PICTURES / f"{name}-{width}{'-dark' if dark else ''}.png")
    browser.look(1280, 800)


def asked(browser):
    """The URLs that the page has requested since it was opened, and those whose requests have ended."""
    browser.value("0")  # reads the pending messages of the browser
    sent = {event["params"]["requestId"]: event["params"]["request"]["url"] for event in browser.events if event.get("method") == "Network.requestWillBeSent"}
    over = {event["params"]["requestId"] for event in browser.events if event.get("method") in ("Network.loadingFinished", "Network.loadingFailed")}
    return list(sent.values()), [url for number, url in sent.items() if number in over]


def hide(browser, hidden):
    browser.value("(() => { Object.defineProperty(document, 'hidden', {configurable: true, get: () => %s}); "
                  "document.dispatchEvent(new Event('visibilitychange')); })()" % json.dumps(hidden))


def lines_said(browser):
    """All log lines of the form "line N" that the page shows, in their order."""
    texts = browser.value("(() => { const seen = new Map(), lines = document.querySelector('.lines'); for (let top = 0; top < lines.scrollHeight; top += 300) { lines.scrollTop = top; "
                          "lines.dispatchEvent(new Event('scroll')); for (const each of lines.querySelectorAll('.line')) seen.set(each.dataset.line, each.lastChild.textContent); } return [...seen.values()]; })()")
    return [text for text in texts if text.startswith("line ")]


def lines_of(browser, tag):
    """The points of each curve of a plot in pixels, by run."""
    drawn = browser.value("[...document.querySelectorAll('[data-tag=%s] path.line')].map((each) => [each.dataset.run, each.getAttribute('d')])" % json.dumps(tag))
    return [(run, points_of(path)) for run, path in drawn]


def points_of(path):
    """The points of an SVG path of lines, in pixels."""
    return [tuple(map(float, point.split())) for point in re.split("[MLZ]", path) if point.strip()]


def assert_straight(points, values):
    """Fails unless the points are these (x, y) values, each axis scaled by a constant."""
    assert len(points) == len(values) > 1
    for axis in (0, 1):
        first, last = (min(range(len(values)), key=lambda i: values[i][axis]), max(range(len(values)), key=lambda i: values[i][axis]))
        low, high = values[first][axis], values[last][axis]
        begins, ends = points[first][axis], points[last][axis]
        assert low == high or abs(begins - ends) > 1, (points, values)
        for point, value in zip(points, values):
            share = (value[axis] - low) / (high - low) if high != low else 0
            assert abs(point[axis] - (begins + share * (ends - begins))) < 0.2, (points, values)


@contextlib.contextmanager
def networks_that_come_and_go(engine):
    """Makes and removes networks with a container, as jobs do. Each change makes the browser break off all its requests."""
    end = threading.Event()

    def change():
        while not end.is_set():
            network = engine.call("POST", "/networks/create", {"Name": f"comes-and-goes-{secrets.token_hex(8)}"})["Id"]
            container = engine.call("POST", "/containers/create", {"Image": IMAGE, "Entrypoint": ["sleep", "600"], "HostConfig": {"NetworkMode": network}})["Id"]
            engine.call("POST", f"/containers/{container}/start")
            end.wait(0.3)
            engine.remove(container)
            engine.call("DELETE", f"/networks/{network}")

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        changing = pool.submit(change)
        try:
            yield
        finally:
            end.set()
            changing.result()


class Relay:
    """Forwards connections to a port of this machine, and can cut all of them at once, even in the middle of an answer."""

    def __init__(self, port):
        self.far, self.ends = port, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                near = self.listener.accept()[0]
                far = socket.create_connection(("127.0.0.1", self.far))
                self.ends += [near, far]
                for ends in ((near, far), (far, near)):
                    threading.Thread(target=self.copy, args=ends, daemon=True).start()

    @staticmethod
    def copy(source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def break_off(self):
        for end in self.ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.listener.close()
        self.break_off()
        for end in self.ends:
            end.close()


# Accessibility for screen readers: each usable element has a name.
NAMELESS = """[...document.querySelectorAll('a, button, input, select, textarea, th, .scrolls, [tabindex="0"], svg[role=img]')].filter((each) =>
    !(each.getAttribute('aria-label') || (each.className !== 'scrolls' && each.textContent.trim()) || each.labels?.length)).map((each) => each.outerHTML)"""
# WCAG 2.1, 1.4.3: 4.5 to 1. Source: https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio
FAINT = """(() => {
    const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
    const behind = (each) => { for (; each; each = each.parentElement) { const c = numbers(getComputedStyle(each).backgroundColor); if (c.length < 4 || c[3] === 1) return c; } return [255, 255, 255]; };
    return [...document.querySelectorAll('body *')].filter((each) => each.getClientRects().length && !each.closest('svg, noscript, select') &&
        [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim())).map((each) => {
            const [a, b] = [light(numbers(getComputedStyle(each).color)), light(behind(each))];
            return [(Math.max(a, b) + .05) / (Math.min(a, b) + .05), each.className, each.textContent.slice(0, 40)];
        }).filter(([ratio]) => ratio < 4.5);
})()"""
