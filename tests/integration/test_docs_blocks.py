# SPDX-License-Identifier: Apache-2.0
"""Runs the shell blocks of README.md and docs/getting-started.md in their order, extracted from the pages."""
import pytest

from support.pages import RUN_PAGES, Reader, blocks


@pytest.fixture(scope="module")
def reader(engine, tmp_path_factory):
    found = Reader(tmp_path_factory.mktemp("reader") / "home", engine)
    yield found
    found.leave()


@pytest.mark.parametrize("text", blocks("sh"))
def test_a_block_of_the_pages_runs(reader, text):
    reader.follow(text)


def test_most_blocks_are_run_and_the_rest_says_why():
    assert all(blocks("sh", [page]) for page in RUN_PAGES)
    told = [mark.kwargs["reason"] for block in blocks("sh") + blocks("python") for mark in block.marks]
    assert len(told) < len(blocks("sh") + blocks("python")) - 5 and all(len(reason) > 20 for reason in told), told
