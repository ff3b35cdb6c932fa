# SPDX-License-Identifier: Apache-2.0
"""Names for screen readers, contrast, and the keyboard."""
import pytest

from support.console import FAINT, NAMELESS, opened
from support.daemon import script


# What screen readers are told: everything that can be used has a name, and text is told apart from what is behind it.
@pytest.mark.parametrize("dark", [False, True])
def test_names_and_contrast(browser, yard, dark):
    job_id = yard.create(script("echo error >&2; exit 3"))
    yard.until(job_id, "FAILED")
    browser.look(1280, 800, dark)
    for path, words in (("", job_id), (f"jobs/{yard.project}/{job_id}", "non-zero"), (f"jobs/{yard.project}/{job_id}/log", "error"),
                        ("metrics", "Choose the jobs"), ("queue", "This machine"), ("faults", "The daemon's clock"), ("requests", "requests")):
        opened(browser, yard, path)
        browser.until_says(words)
        assert browser.value(NAMELESS) == []
        assert browser.value(FAINT) == []
    browser.look(1280, 800)
