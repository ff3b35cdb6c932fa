# SPDX-License-Identifier: Apache-2.0
"""On every page: names for screen readers, contrast, and what the keyboard can reach."""
import pytest

from support.console import FAINT, NAMELESS, opened
from support.daemon import UNTIL_RELEASED, distributed, script
from support.engine import IMAGE
from support.marks import long
from support.storage import Storage
from support.verbs import verb


@pytest.fixture(scope="module")
def pages(yard):
    """Each page with some contents: [(path, words on it)]."""
    failed = yard.create(script("echo error >&2; exit 3"))
    yard.until(failed, "FAILED")
    runs = yard.create(distributed(UNTIL_RELEASED, UNTIL_RELEASED, workers=1))
    yard.until(runs, "RUNNING")
    search = yard.new_id("search")
    yard.post(yard.jobs_path, {"jobId": search, "trainingInput": {
        "region": "us-central1", "masterConfig": {"imageUri": IMAGE}, "scaleTier": "CUSTOM", "masterType": "n1-standard-4",
        "args": ["sh", "-c", 'printf \'{"global_step": "1", "timestamp": 1, "accuracy": "%s", "trial": "1"}\\n\' ${1#--x=} >> $CLOUD_ML_HP_METRIC_FILE', "trainer"],
        "hyperparameters": {"goal": "MAXIMIZE", "hyperparameterMetricTag": "accuracy", "maxTrials": 3, "maxParallelTrials": 3,
                            "params": [{"parameterName": "x", "type": "INTEGER", "minValue": 1, "maxValue": 9}]}}})
    verb(yard, "wait", search)
    assert Storage(yard, "access-bucket").put("folder/name.txt", b"text").status == 200
    assert yard.get("/v1/projects/p/jobs/nosuch").status == 404
    job = f"jobs/{yard.project}/"
    yield [("", runs), (job + runs, "Shell"), (job + failed, "non-zero"), (job + failed + "/log", "error"), (job + search, "What matters"),
           (job + search + "?trial=1", "trial 1"), (f"metrics?jobs={yard.project}/{search}", "accuracy"), ("metrics", "Choose the jobs"), ("queue", "This machine"),
           ("storage", "access-bucket"), ("storage?bucket=access-bucket", "folder"), ("faults", "Order a fault"), ("requests", "projects.jobs.get"), ("nosuch", "no such page")]
    yard.cancel(runs)
    yard.until(runs, "CANCELLED")


# Fails with: a link without words; a colour of style.css that is near what is behind it.
@pytest.mark.parametrize("dark", [False, long(True)])
def test_names_and_contrast(browser, yard, pages, dark):
    browser.look(1280, 800, dark)
    for path, words in pages:
        opened(browser, yard, path)
        browser.until_says(words)
        assert browser.value(NAMELESS) == [], path
        assert browser.value(FAINT) == [], path
    browser.look(1280, 800)


# Elements that Tab reaches, in the order of the document. There are no radio buttons, which would need other keys.
REACHED = """[...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')].filter((each) =>
    !each.disabled && each.checkVisibility({visibilityProperty: true}) && each.type !== 'file').map((each) => each.outerHTML.slice(0, 120))"""
AT = """(() => { const at = document.activeElement, style = getComputedStyle(at), box = at.getBoundingClientRect();
    return [at === document.body ? null : at.outerHTML.slice(0, 120), style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2, box.right > 0 && box.left < innerWidth && box.bottom > 0 && box.top < innerHeight]; })()"""


# Fails with: a positive tabindex; outline: none; a handler that keeps Tab; a table that is made anew while it is walked through.
def test_the_keyboard_reaches_all_of_a_page_in_its_order(browser, yard, pages):
    for path, words in pages:
        opened(browser, yard, path)
        browser.until_says(words)
        browser.value("(() => { document.activeElement.blur(); getSelection().removeAllRanges(); })()")
        wanted, found = browser.value(REACHED), []
        for _ in range(len(wanted) + 20):
            browser.press("Tab")
            at, ringed, within = browser.value(AT)
            if at is None or at in found[:1]:
                break
            assert ringed and within, (path, at)
            found += [at] if at not in found[-1:] or at.startswith("<pre") else []  # Tab stops several times inside a time field
        wanted = browser.value(REACHED)
        # a text that scrolls can be focused as well
        assert [each for each in found if each in wanted or not each.startswith("<pre")] == wanted, path


# Fails with: refill() and swap() that replace what looks the same, or do not give the focus back.
def test_what_has_the_focus_keeps_it(browser, yard, pages):
    created = "document.activeElement.closest('.trow')?.querySelector('.number').textContent"
    opened(browser, yard)
    browser.until("document.querySelector('.trow a') !== null")
    browser.value("document.querySelector('.trow a').focus()")
    before = browser.value(created)
    browser.until(f"{created} !== undefined && {created} !== {before!r}")
    opened(browser, yard, pages[1][0])
    browser.until("document.querySelector('button[aria-label^=Shell]') !== null")
    browser.value("document.querySelector('button[aria-label^=Shell]').focus()")
    seen = "document.querySelector('.facts dd').textContent"
    before = browser.value(seen)
    # "1m ago" becomes "2m ago" after a minute.
    browser.until(f"{seen} !== {before!r}", timeout=90)
    assert browser.value("document.activeElement.getAttribute('aria-label')").startswith("Shell")


# Fails with: #key() of the timeline; keys() of an axis; move() of the log.
def test_what_a_pointer_does_keys_do(browser, yard, pages):
    (_, (_, _), (failed, _), (log, _), (search, _)) = pages[:5]
    opened(browser, yard, failed)
    browser.until("document.querySelectorAll('rect.span').length > 0")
    times = "[...document.querySelectorAll('.plot.zooms text[text-anchor=middle]')].map((each) => [each.textContent, each.getAttribute('x')])"
    whole = browser.value(times)
    browser.value("document.querySelector('.plot.zooms').focus()")
    browser.type("+")
    near = browser.value(times)
    assert near != whole
    browser.press("ArrowRight")
    assert browser.value(times) not in (near, whole)
    browser.type("0")
    assert browser.value(times) == whole
    opened(browser, yard, search)
    browser.until("document.querySelectorAll('.handle').length === 2")
    browser.value("document.querySelector('.handle').focus()")
    browser.press("ArrowUp")
    browser.until_says("of 3 trials", "h2:has(+ .scrolls)")
    assert browser.value("document.activeElement.getAttribute('aria-valuenow')") == "90"
    browser.press("Escape")
    browser.until("document.querySelector('.brush') === null && document.activeElement.classList.contains('handle')")
    opened(browser, yard, log)
    browser.until_says("error", ".lines")
    browser.type("jj")
    browser.until("document.querySelectorAll('.line.at').length === 1")
    number = browser.value("document.querySelector('.line.at').dataset.line")
    assert browser.value("location.hash") == f"#L{int(number) + 1}"
    browser.type("k")
    browser.until(f"document.querySelector('.line.at').dataset.line === '{int(number) - 1}'")
