# SPDX-License-Identifier: Apache-2.0
"""How the daemon serves the page's files."""
import gzip

import pytest

from support.console import FILES, TOP


def test_only_browsers_are_led_to_the_page(yard):
    assert yard.get("/").status == 404 and yard.get("/").error["message"] == "Method not found: GET /."
    led = yard.request("GET", "/", headers={"Accept": "text/html,application/xhtml+xml"})
    assert (led.status, led.headers["Location"]) == (303, TOP)
    assert yard.get(TOP[:-1]).status == 308


@pytest.mark.parametrize("path", ["", "app.js", "style.css", "jobs/some-project/1"])
def test_the_files_come_with_a_policy_and_are_not_sent_twice(yard, path):
    answer = yard.get(TOP + path)
    assert answer.status == 200
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff" and "Accept-Encoding" in answer.headers.get_all("Vary")
    assert "Content-Encoding" not in answer.headers
    for form, tags in (("identity", '{}'), ("gzip", '"x", {}'), ("br;q=1.0, gzip;q=0.8, *;q=0.1", 'W/{}')):
        tag = yard.request("GET", TOP + path, headers={"Accept-Encoding": form}).headers["ETag"]
        assert (tag == answer.headers["ETag"]) == (form == "identity")
        again = yard.request("GET", TOP + path, headers={"If-None-Match": tags.format(tag), "Accept-Encoding": form})
        assert (again.status, again.data, again.headers["ETag"]) == (304, b"", tag)
    assert yard.get(TOP + "nosuch.js").status == 404


# Fails with: gzip_is_accepted() that looks for "gzip" anywhere; unpacked_append() that leaves out a byte.
@pytest.mark.parametrize("accepted,packed", [("gzip", True), ("deflate, GZIP;q=0.5", True), ("*", True), ("br, *;q=0.3", True), ("x-gzip", True),
                                             ("", False), ("identity", False), ("gzip;q=0", False), ("gzip; q=0.000, br", False),
                                             ("*, gzip;q=0", False), ("*;q=0", False), ("gzipped", False), ("br", False)])
def test_files_are_packed_for_clients_that_take_gzip(yard, accepted, packed):
    for name, path in FILES.items():
        answer = yard.request("GET", TOP + name, headers={"Accept-Encoding": accepted})
        assert (answer.headers.get("Content-Encoding") == "gzip") == packed, name
        assert (gzip.decompress(answer.data) if packed else answer.data) == path.read_bytes(), name


def test_the_files_are_small(yard):
    sizes = {name: len(yard.request("GET", TOP + name, headers={"Accept-Encoding": "gzip"}).data) for name in FILES}
    print(f"console: {len(sizes)} files, {sum(sizes.values()) / 1024:.1f} KiB of the program")
    assert sum(sizes.values()) < 600_000


# Fails with: a family whose query is checked: a bookmark of a search was refused.
def test_an_address_with_a_search_is_a_page(yard):
    assert yard.get(TOP + "?q=resnet&state=FAILED").status == 200
    assert yard.get(TOP + "jobs/some-project/1/log?trial=3").status == 200
