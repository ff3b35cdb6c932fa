# SPDX-License-Identifier: Apache-2.0
"""The matrix in docs/engines.md as a whole. The tests of the forms check its cells."""
import pathlib
import re

from support.forms import PAGE, ROWS, Matrix


def test_the_page_has_each_form_and_each_row():
    """Fails with: a column of the page removed, or a row of ROWS renamed."""
    matrix = Matrix(PAGE.read_text(encoding="utf-8"))
    tests = [path.read_text(encoding="utf-8") for path in pathlib.Path(__file__).parent.glob("test_*.py")]
    forms = {form for text in tests for form in re.findall(r'^(?:    cell\(|FORM_[A-Z]+ = )"(.*?)"', text, re.MULTILINE)}
    assert forms == matrix.cells.keys()
    for form, column in matrix.cells.items():
        assert list(column) == list(ROWS) and all(column.values()), form


def test_the_page_is_what_would_be_written():
    """Fails with: a refusal that no cell has."""
    text = PAGE.read_text(encoding="utf-8")
    assert Matrix(text).text() == text
