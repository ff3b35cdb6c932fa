# SPDX-License-Identifier: Apache-2.0
"""With a token, the daemon gives the page a session to use in its place."""
import json

from support.console import FAINT, NAMELESS, TOP, daemon_with_token, opened, pictures
from support.daemon import UNTIL_RELEASED, script


def test_a_token_comes_by_the_link_and_leaves_the_address(browser, new_daemon, tmp_path):
    daemon = daemon_with_token(new_daemon, tmp_path)
    browser.open(f"{daemon.base}{TOP}#token={daemon.token}")
    browser.until_says("No jobs yet")
    assert "token" not in browser.value("location.href")
    # Fails with: signIn() that keeps it.
    assert daemon.token not in browser.value("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, history.state])")
    opened(browser, daemon, "faults")
    browser.until_says("No fault is ordered")
    # ends the session, as twelve hours do
    browser.value("fetch('/_trainyard/console/session', {method: 'DELETE'}).then(() => null)")
    browser.until_says("This daemon asks for a token")
    assert browser.value(NAMELESS) == [] and browser.value(FAINT) == []
    pictures(browser, "signin")
    browser.value("document.querySelector('input[type=password]').focus()")
    browser.type("wrong-token-of-some-length\n")
    browser.until_says("does not accept this token")
    browser.value("document.querySelector('input[type=password]').value = ''")
    browser.type(f"{daemon.token}\n")
    browser.until_says("No fault is ordered")
    browser.click("Sign out", "button")
    browser.until_says("This daemon asks for a token")
    ticket = daemon.post("/_trainyard/console/ticket").json["ticket"]
    browser.open("about:blank")
    browser.open(f"{daemon.base}{TOP}queue#ticket={ticket}")
    browser.until_says("No job waits")
    browser.click("Sign out", "button")
    browser.open("about:blank")
    browser.open(f"{daemon.base}{TOP}queue#ticket={ticket}")
    browser.until_says("This link was used before")


def test_a_shell_needs_no_more_than_the_session(browser, new_daemon, tmp_path):
    """Fails with: what is typed goes without the session's proof; a key that is listed among the requests."""
    daemon = daemon_with_token(new_daemon, tmp_path, "--stop-grace", "1")
    job = daemon.create(script(UNTIL_RELEASED))
    daemon.until(job, "RUNNING")
    browser.open(f"{daemon.base}{TOP}jobs/{daemon.project}/{job}#token={daemon.token}")
    browser.until("document.querySelector('button[aria-label^=Shell]') !== null")
    browser.value("document.querySelector('button[aria-label^=Shell]').click()")
    shown = "(document.querySelector('.terminal')?.innerText ?? '')"
    browser.until(f"{shown}.includes('#')")
    browser.type("echo $((6 * 7)):\n")
    browser.until(f"{shown}.includes('\\n42:')")
    listed = [json.loads(line) for line in daemon.get("/_trainyard/v1/requests").data.splitlines()]
    assert [each["path"] for each in listed if ":shell" in each["path"]] and not [each for each in listed if "/shells/" in each["path"]]
    browser.open("about:blank")
    daemon.release(job)
    daemon.until(job, "SUCCEEDED")
