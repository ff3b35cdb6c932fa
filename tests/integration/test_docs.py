# SPDX-License-Identifier: Apache-2.0
"""README.md and docs/: pages are short, and all links work."""
import errno
import os
import re
import subprocess

import pytest

from support.daemon import ROOT

ROOMS = [ROOT / room / "README.md" for room in ("api", "scheduler", "store", "daemon", "daemon/cli", "tests")]
# README files of folders. A page of docs/ or one beside the folder links to each.
BESIDE = [*ROOMS, *sorted((ROOT / "deploy").rglob("*.md"))]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md")), *BESIDE]
LINK = re.compile(r"\]\(([^)\s]+)\)")


def text_outside_code(page):
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def anchors(page):
    """The anchors that GitHub makes of a page's headings."""
    titles = re.findall(r"^#+ (.*)$", text_outside_code(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def name(page):
    return str(page.relative_to(ROOT))


def test_the_rooms_name_their_files():
    """Paths in backticks exist. Fails with: decide.c as judge.c in scheduler/README.md."""
    for page in [*ROOMS, ROOT / "CONTRIBUTING.md", ROOT / "docs/architecture.md"]:
        for path in re.findall(r"`((?:[\w.*-]+/)*[\w.*-]+(?:/|\.(?:c|h|py|sh|md|mk|cfg|js)))`", page.read_text()):
            folders = [page.parent, ROOT, *ROOT.glob("*/"), *ROOT.glob("*/*/")]
            assert "NAME" in path or any(any(folder.glob(path)) for folder in folders), f"{name(page)}: {path}"


def git(*words):
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=True).stdout


def test_the_example_of_each_recipe_changes_the_recipes_files():
    """Fails with: an example whose commit is rebased away; the commit of another recipe as the example."""
    try:
        is_whole = (ROOT / ".git").exists() and git("rev-parse", "--is-shallow-repository").strip() == "false"
    except (OSError, subprocess.CalledProcessError):  # no git, or a checkout that belongs to another user
        is_whole = False
    if not is_whole:
        pytest.skip("an archive or a shallow clone has no history to look into")
    recipes = re.split(r"^### ", (ROOT / "CONTRIBUTING.md").read_text().split("## Tests")[0], flags=re.MULTILINE)[1:]
    assert len(recipes) > 4
    for recipe in recipes:
        examples = re.findall(r"`git show ([0-9a-f]{8,})`", recipe)
        named = {path.rpartition("/")[2] for row in re.findall(r"^\|.*", recipe, re.MULTILINE) for path in re.findall(r"`([\w/.-]+\.\w+)`", row)}
        assert examples, recipe.partition("\n")[0]
        for example in examples:
            changed = {path.rpartition("/")[2] for path in git("show", "--format=", "--name-only", example).split()}
            assert len(named & changed) > 1, f"{example}: {changed}"


# Fails with: a page that is renamed, or a heading that is, while another page links to it.
@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_of_a_page_leads_somewhere(page):
    for link in LINK.findall(text_outside_code(page)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), f"{page.name}: {link}"
        assert not anchor or anchor in anchors(target), f"{page.name}: {link}"


def test_the_readme_is_short_and_names_every_page():
    readme = ROOT / "README.md"
    assert readme.stat().st_size <= 8192
    linked = {link.partition("#")[0] for link in LINK.findall(text_outside_code(readme))}
    assert {str(page.relative_to(ROOT)) for page in PAGES if page != readme} <= linked | {name(page) for page in BESIDE}


def texts_of_the_code():
    """The string literals of the program, adjacent ones joined, with … in place of conversions."""
    literal = r'"((?:[^"\\\n]|\\.)*)"'
    found = set()
    for room in ("api", "daemon", "scheduler", "store"):
        for path in (ROOT / room).rglob("*.c"):
            text = re.sub(r"/\*.*?\*/", " ", path.read_text(), flags=re.DOTALL)
            for match in re.finditer(rf"{literal}(?:\s*{literal})*", text):
                whole = "".join(re.findall(literal, match[0])).replace('\\"', '"')
                found.add(re.sub(r"%[-+ #0-9.*]*(?:ll|l|z|j|h)?[a-zA-Z]", "…", whole))
    return found


def test_the_messages_of_troubleshooting_are_those_of_the_code():
    """Fails with: a message of the page that says it otherwise than the code: "is used by process"."""
    of_the_system = {os.strerror(number) for number in errno.errorcode}
    texts = texts_of_the_code()
    page = (ROOT / "docs/troubleshooting.md").read_text()
    cells = [line.split(" | ")[0] for line in page.splitlines() if line.startswith("| ")]
    messages = [message for cell in cells for message in re.findall(r"`([^`]+)`", cell) if " " in message or "-" in message]
    assert len(messages) > 40
    for message in messages:
        for piece in re.split(r"…", message):
            piece = piece.strip(' ,;:"').removeprefix(": ")
            assert len(piece) < 4 or piece in of_the_system or any(piece in text for text in texts) or any(
                piece.endswith(word) and any(piece.removesuffix(word).strip(": ") in text for text in texts) for word in of_the_system
            ), f"{message!r}: {piece!r}"
