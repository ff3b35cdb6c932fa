# SPDX-License-Identifier: Apache-2.0
"""A Chromium without a window, controlled over a pipe by the Chrome DevTools Protocol."""
import base64
import json
import os
import select
import shutil
import subprocess
import time

from .wait import wait_until


def chromium():
    """Returns the path of the program, or None."""
    names = [os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"]
    return next((path for path in (shutil.which(name) for name in names if name) if path), None)


class Browser:
    """One page; use it in a `with`."""

    def __init__(self, directory, program=None):
        self.directory, self.program = directory, program or chromium()
        self.number, self.buffer, self.session, self.events = 0, b"", None, []
        self.breaks = {}  # words in a URL: how many requests for it are still to be broken off

    def __enter__(self):
        from_us, self.to_browser = os.pipe()
        self.from_browser, to_us = os.pipe()

        def place():  # Chromium reads commands from descriptor 3 and writes answers to descriptor 4
            os.dup2(from_us, 103), os.dup2(to_us, 104)
            os.dup2(103, 3), os.dup2(104, 4)

        self.process = subprocess.Popen(
            [self.program, "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
             "--no-first-run", "--remote-debugging-pipe", f"--user-data-dir={self.directory}", "about:blank"],
            preexec_fn=place, pass_fds=(3, 4), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(from_us), os.close(to_us)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        os.close(self.to_browser), os.close(self.from_browser)

    def _message(self, timeout):
        end = time.monotonic() + timeout
        while b"\0" not in self.buffer:
            readable, _, _ = select.select([self.from_browser], [], [], max(0, end - time.monotonic()))
            assert readable, "the browser does not answer"
            data = os.read(self.from_browser, 1 << 16)
            assert data, "the browser has ended"
            self.buffer += data
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def _send(self, method, params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        return self.number

    def call(self, method, **params):
        number = self._send(method, params)
        while True:
            answer = self._message(60)
            if answer.get("method") == "Fetch.requestPaused":
                self._paused(answer["params"])
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def open(self, url):
        """Opens a page. A network change during that time is not the page's fault, so the page is opened again, as a user
        would."""
        def navigated():
            return self.call("Page.navigate", url=url).get("errorText") != "net::ERR_NETWORK_CHANGED"
        wait_until(navigated, 30, f"{url} is loaded")

    def break_off(self, words, times=1, stage="Request"):
        """Makes the next `times` requests whose method and URL contain `words` fail as after a network change: before they
        are sent, or, with stage "Response", once they are answered. Requests are intercepted only
        while a method of this class runs; `breaks` has the number that is still to fail."""
        self.breaks[words] = times
        self.call("Fetch.enable", patterns=[{"urlPattern": "*", "requestStage": stage}])

    def mend(self):
        self.breaks = {}
        self.call("Fetch.disable")

    def _paused(self, params):
        asked = f"{params['request']['method']} {params['request']['url']}"
        words = next((words for words, left in self.breaks.items() if left and words in asked), None)
        if words:
            self.breaks[words] -= 1
            self._send("Fetch.failRequest", {"requestId": params["requestId"], "errorReason": "ConnectionAborted"})
        else:
            self._send("Fetch.continueRequest", {"requestId": params["requestId"]})

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def until(self, expression, timeout=30):
        return wait_until(lambda: self.value(expression), timeout, expression)

    def type(self, text):
        """Types the text, one key press for each character."""
        for character in text:
            special = {"\n": ("Enter", "\r"), "\t": ("Tab", "\t")}.get(character, (character, character))
            self.call("Input.dispatchKeyEvent", type="keyDown", key=special[0], text=special[1])
            self.call("Input.dispatchKeyEvent", type="keyUp", key=special[0])

    def press(self, key):
        """Presses a key that has a name, such as Escape, ArrowDown or Tab."""
        number = {"Tab": {"windowsVirtualKeyCode": 9}}.get(key, {})
        for kind in ("rawKeyDown" if number else "keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, **number)

    def click(self, words, tag="*"):
        """Clicks the element whose text is exactly `words`."""
        self.until("(() => { const found = [...document.querySelectorAll(%s)].find((each) => each.textContent.trim() === %s && !each.querySelector(%s)); "
                   "found?.click(); return Boolean(found); })()" % tuple(json.dumps(each) for each in (tag, words, tag)))

    def texts(self, selector):
        return self.value(f"[...document.querySelectorAll({json.dumps(selector)})].map((each) => each.innerText.trim())")

    def until_says(self, words, selector="main"):
        self.until(f"(document.querySelector({json.dumps(selector)})?.innerText ?? '').includes({json.dumps(words)})")

    def look(self, width, height, dark=False):
        """Sets the size of the window, and whether the system asks for dark colours."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def picture(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def complaints(self):
        """Texts of the page's errors: failed scripts, and requests that failed or were refused."""
        return [event["params"] for event in self.events
                if event.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded")]
