"""How a page's text is read."""

from __future__ import annotations

import pytest

from torchlint.rules import pages

PAGE = """\
# some-name (TL999)

One line
of summary.

## Example

```python bad
## not a heading
x = 1  # TL999
```

Said between.

```sh
torchlint src
```

## Use instead

```python good
x = 2
```

```python inputs
ENTRY = "x"
```
"""


def test_blocks_and_sections() -> None:
    page = pages.parse(PAGE, "page.md")
    assert (page.code, page.name, page.title) == ("TL999", "some-name", "some-name (TL999)")
    assert page.summary == "One line of summary."
    assert list(page.sections) == ["Example", "Use instead"]
    assert "Said between." in page.sections["Example"]
    assert [(block.kind, block.section) for block in page.blocks] == [
        ("bad", "Example"),
        ("", "Example"),
        ("good", "Use instead"),
        ("inputs", "Use instead"),
    ]


def test_a_block_knows_its_rows() -> None:
    lines = PAGE.splitlines()
    for block in pages.parse(PAGE, "page.md").blocks:
        source = block.source.splitlines()
        assert lines[block.row - 1 : block.row - 1 + len(source)] == source


def test_the_pair_is_the_first_bad_and_good_with_the_inputs() -> None:
    page = pages.parse(PAGE, "page.md")
    assert page.pair is not None
    assert [block.kind for block in page.pair] == ["bad", "good", "inputs"]
    assert pages.parse(PAGE.replace("python inputs", "python"), "page.md").pair is None


NEXT_ROW = PAGE.count("\n") + 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "page.md:1: the first line"),
        ("# some-name\n", "page.md:1: the first line"),
        (PAGE + "```python ok\nx = 3\n", f"page.md:{NEXT_ROW}: this block is not closed"),
        (PAGE + "## Example\n", f"page.md:{NEXT_ROW}: a second section 'Example'"),
    ],
)
def test_what_is_wrong_is_said_with_its_row(text: str, message: str) -> None:
    with pytest.raises(pages.PageError, match=message):
        pages.parse(text, "page.md")


def test_a_code_without_a_page() -> None:
    with pytest.raises(pages.PageError, match="TL998 has no page"):
        pages.load("TL998")


def test_pages_are_found_by_code() -> None:
    assert "TL101" in pages.codes()
    assert pages.load("TL101").title == "sync-scalar-read (TL101)"
