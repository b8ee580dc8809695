"""Notebooks: what of them is Python, where it stands, and that nothing else in the file is touched."""

from __future__ import annotations

import ast
import codecs
import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlint.findings import Edit, Position
from torchlint.fixes.apply import apply_edits
from torchlint.source.notebook import Notebook, masked
from torchlint.source.text import UnreadableError


def cell(source: Any, kind: str = "code", **more: Any) -> dict[str, Any]:
    return {"cell_type": kind, "metadata": {}, "source": source, **more}


def notebook(*cells: Any, **more: Any) -> bytes:
    return json.dumps({"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}).encode()


def read(*cells: Any, **more: Any) -> Notebook:
    return Notebook.from_bytes(notebook(*cells, **more), "a.ipynb")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("%matplotlib inline\nx = 1\n", "pass\nx = 1\n"),
        ("x = 1\n!ls 'it\ny = 2\n", "x = 1\npass\ny = 2\n"),
        ("if a:\n    !ls\n    %time f()\n", "if a:\n    pass\n    pass\n"),
        ("!pip install \\\n    torch\nx\n", "pass\n\nx\n"),
        ("files = !ls\n", "files = get_ipython()\n"),
        ("a.b[0], c = %sql select 'x\n", "a.b[0], c = get_ipython()\n"),
        ("torch.cat?\n?torch\nx??\nx\n", "pass\npass\npass\nx\n"),
        ("x = 5\nx %= 3\nx = 7 \\\n  % 2\ny = (1\n%2)\n", "x = 5\nx %= 3\nx = 7 \\\n  % 2\ny = (1\n%2)\n"),
        ('s = """\n%time\n!ls\nreally?\n"""\n!ls\n', 's = """\n%time\n!ls\nreally?\n"""\npass\n'),
        ("x = 1  # really?\n", "x = 1  # really?\n"),
        ("y = 'really?'\n", "y = 'really?'\n"),
        ("f'''{x}\n%a\n{y!r}'''\n%a\n", "f'''{x}\n%a\n{y!r}'''\npass\n"),
        (", = %a\n", "pass\n"),
        ("%a\n" * 3, "pass\n" * 3),
        ("%a", "pass"),
        ("", ""),
    ],
)
def test_magics_are_masked_row_by_row(text: str, code: str) -> None:
    assert masked(text) == code


def test_masking_takes_no_longer_for_rows_of_blanks() -> None:
    masked(" " * 200_000 + "?x\n" + "a" * 200_000 + "\n" + "x " * 100_000 + "=\n")


@given(st.text(alphabet="%!?=,;/ \\\n'\"#([{x", max_size=60))
def test_masking_keeps_rows_and_leaves_nothing_to_mask(text: str) -> None:
    code = masked(text)
    assert code.count("\n") == text.count("\n")
    assert masked(code) == code


@pytest.mark.parametrize("magic", ["bash", "html", "writefile a.py", "cython", "sql", "python2", "R -i x", ""])
def test_cells_of_other_languages_are_left_out(magic: str) -> None:
    found = read(cell("import torch"), cell(f"\n%%{magic}\necho it's\n"), cell("x = 1"))
    assert [one.number for one in found.cells] == [1, 3]


@pytest.mark.parametrize("first", ["%sql", "%md # Title", "%sh ls", "%scala", "%fs ls /"])
def test_cells_of_databricks_in_other_languages_are_left_out(first: str) -> None:
    found = read(cell(f"{first}\nSELECT ("), cell(f"x = 1\n{first}\n"))
    assert [one.number for one in found.cells] == [2]


@pytest.mark.parametrize("magic", ["time", "timeit -n 3", "capture out", "prun"])
def test_python_under_a_cell_magic_is_read(magic: str) -> None:
    (one,) = read(cell(f"%%{magic}\nx = 1")).cells
    assert one.code.text == "pass\nx = 1\n"


@pytest.mark.parametrize(
    "metadata",
    [
        {"vscode": {"languageId": "csharp"}},
        {"polyglot_notebook": {"kernelName": "javascript"}},
        {"dotnet_interactive": {"language": "fsharp"}},
    ],
)
def test_a_cell_may_say_its_language(metadata: dict[str, Any]) -> None:
    found = read({**cell("total += loss"), "metadata": metadata}, cell("x"))
    assert [one.number for one in found.cells] == [2]


@pytest.mark.parametrize(
    ("metadata", "language"),
    [
        ({"kernelspec": {"language": "R", "name": "ir"}}, "R"),
        ({"language_info": {"name": "julia"}, "kernelspec": {"language": "python"}}, "julia"),
        ({"language_info": {"name": "python"}}, ""),
        ({"language_info": {"name": "ipython"}}, ""),
        ({"kernelspec": {"name": "python3"}}, ""),
        ({"kernelspec": None, "language_info": 7}, ""),
        (None, ""),
    ],
)
def test_other_kernels_have_no_cells(metadata: Any, language: str) -> None:
    found = read(cell("x = 1"), metadata=metadata)
    assert found.language == language
    assert len(found.cells) == (0 if language else 1)


@pytest.mark.parametrize(
    "source",
    [
        "a\r\nb\rc",
        ["a\r\n", "b\r", "c"],
        ["a\r", "\nb\n", "", "c"],
        list("a\nb\nc"),
        ["a\nb\nc"],
        ["a\n", "b\n", "c", ""],
    ],
)
def test_pieces_are_joined_before_rows_are_counted(source: Any) -> None:
    found = read(cell(source))
    assert found.lines(1) == ["a", "b", "c"]


def test_nbformat_3_has_worksheets_and_inputs() -> None:
    cells = [
        {"cell_type": "heading", "source": "t", "level": 1},
        {"cell_type": "code", "language": "python", "input": ["x = 1\n", "y"], "outputs": []},
        {"cell_type": "code", "language": "ruby", "input": "puts 1", "outputs": []},
    ]
    data = json.dumps(
        {"metadata": {"name": ""}, "nbformat": 3, "worksheets": [{"cells": cells}, {"cells": cells[1:2]}]}
    )
    found = Notebook.from_bytes(data.encode(), "a.ipynb")
    assert [(one.number, one.code.text) for one in found.cells] == [(2, "x = 1\ny\n"), (4, "x = 1\ny\n")]
    assert not found.problems


@pytest.mark.parametrize(
    ("data", "row", "message"),
    [
        (b'{"cells": [],\n "a": 1,\n}', 2, "trailing comma"),
        (codecs.BOM_UTF8 + b'{\n"cells": [,]}', 2, "is no JSON"),
        (b'{"cells": [\n', 2, "is no JSON"),
        (b'{"cells": []}\n\n x', 3, "extra data"),
        (b"[]", 1, "no object"),
        (b'{\n"cells": 7}', 2, "`cells` is no list"),
        (b'{"worksheets": [7]}', 1, "a worksheet is no object"),
        (b'{"nbformat": 4}', 1, "no `cells`"),
        (b'{"cells":\n\xff}', 2, "cannot be decoded"),
        (b'{"cells": [{"a": ' + b"[" * 100_000, 1, "too deeply nested"),
        (b'{"a": "\n"}', 1, "is no JSON"),
        (b'{"nbformat": ' + b"9" * 10_000 + b', "cells": []}', 1, "too many digits"),
    ],
)
def test_what_is_no_notebook_says_where(data: bytes, row: int, message: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        Notebook.from_bytes(data, "a.ipynb")
    assert caught.value.row == row
    assert message in caught.value.message


@pytest.mark.parametrize("data", [b"", b" \n", codecs.BOM_UTF8])
def test_an_empty_file_is_a_notebook_without_cells(data: bytes) -> None:
    found = Notebook.from_bytes(data, "a.ipynb")
    assert (found.cells, found.problems, found.language) == ((), (), "")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (None, "no object"),
        ({"cell_type": "code"}, "`source` is missing"),
        ({"source": "x"}, "`cell_type` is missing"),
        ({"cell_type": 7, "source": "x"}, "`cell_type` is no string"),
        (cell(None), "something else than strings"),
        (cell({"a": 1}), "something else than strings"),
        (cell(["x", 1, None]), "something else than strings"),
    ],
)
def test_a_cell_of_the_wrong_shape_is_named_and_hides_no_other(wrong: Any, message: str) -> None:
    found = read(cell("x = 1"), wrong, cell("y = 2"))
    assert [one.number for one in found.cells] == [1, 3]
    ((number, _, error),) = found.problems
    assert number is None
    assert "cell 2" in error.message
    assert message in error.message


@pytest.mark.parametrize("text", ["x = 1\ny = '\ud800'", "x = 1\ny = '\0'"])
def test_what_cannot_be_source_code_is_named_with_its_row(text: str) -> None:
    found = read(cell("a"), cell(text))
    ((number, _, error),) = found.problems
    assert (number, error.row) == (2, 2)
    assert [one.number for one in found.cells] == [1]


def test_positions_go_from_the_module_to_cells() -> None:
    found = read(cell("a\nb"), cell("t", "markdown"), cell("c\n"), cell(""), cell("d"))
    view = found.view(found.cells)
    rows = {line: row for row, line in enumerate(view.source.lines, 1) if line}
    places = {line: view.locate(Position(row, 1)) for line, row in rows.items()}
    assert places == {
        "a": (1, Position(1, 1)),
        "b": (1, Position(2, 1)),
        "c": (3, Position(1, 1)),
        "d": (5, Position(1, 1)),
    }
    # What is put behind a cell's last row belongs to that cell.
    assert view.locate(Position(rows["b"] + 1, 1)) == (1, Position(3, 1))
    assert view.locate(Position(rows["c"] + 1, 1)) == (3, Position(2, 1))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("  x = 1\n  if x:\n    y", "x = 1\nif x:\n  y\n"),
        ("\n \n\tx\n\t%time y\n", "\n \nx\npass\n"),
        ("  # note\nx", "# note\nx\n"),  # rows that stand further left stay, as IPython leaves them
        ("  s = '''\n  a\n b'''", "s = '''\na\n b'''\n"),
        ("x\n  y", "x\n  y\n"),
        ("  %%time\n  x", "pass\nx\n"),
        ("%%time\n  x\n", "pass\nx\n"),
        ("   \n", "   \n"),
    ],
)
def test_a_cell_that_is_indented_as_a_whole_is_dedented(text: str, code: str) -> None:
    (one,) = read(cell(text)).cells
    assert one.code.text == code
    assert len(one.code.lines) == len(one.source.lines)


@given(
    st.lists(st.sampled_from(["a", "  b", "", "c = (", ")"]), min_size=1, max_size=6),
    st.sampled_from(["", "x\n", "x\n  y\n", "z", "z\nx", "x\n\ny\n"]),
    st.data(),
)
def test_an_edit_of_an_indented_cell_does_what_it_does_to_the_code(rows: list[str], new: str, data: Any) -> None:
    rows = ["first", *rows, "last"]
    found = read(cell("a"), cell("".join(f"   {row}\n" if row else "\n" for row in rows)))
    indented, view = found.cells[1], found.view(found.cells)
    if new.startswith("z"):  # within a row; else whole rows, the first apart, which says how far all are indented
        first = last = data.draw(st.integers(1, len(rows)))
        column = data.draw(st.integers(1, len(rows[first - 1]) + 1))
    else:
        first = data.draw(st.integers(2, len(rows) + 1))
        last, column = data.draw(st.integers(first, len(rows) + 1)), 1
    before = view.source.lines.index("first")
    mapped = view.edit(Edit(Position(before + first, column), Position(before + last, column), new))
    assert mapped.cell == 2
    after = read(cell("a"), cell(apply_edits(indented.source, [mapped])))
    expected = apply_edits(indented.code, [Edit(Position(first, column), Position(last, column), new)])
    assert after.cells[1].code.text == expected


def test_a_view_without_cells_is_empty() -> None:
    assert read().text == ""


# Writing

SHAPES = st.sampled_from(["string", "rows", "characters", "random"])
TEXTS = st.text(alphabet='ab\n\ré"\\/', max_size=25)


@st.composite
def sources(draw: Any) -> Any:
    """A cell's source in some shape."""
    text, shape = draw(TEXTS), draw(SHAPES)
    if shape == "string":
        return text
    if shape == "rows":
        return text.splitlines(keepends=True)
    if shape == "characters":
        return list(text)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=4)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@given(st.lists(sources(), min_size=1, max_size=3), TEXTS, st.randoms(use_true_random=False), st.booleans())
def test_writing_a_cell_changes_that_cell_alone(
    all_sources: list[Any], text: str, rng: random.Random, plain: bool
) -> None:
    indent = rng.choice([None, 1, "\t"])
    document = {
        "nbformat": 4,
        "metadata": {"z": 1, "a": {"ü": [1, 2.50]}},
        "cells": [cell(source, outputs=[{"text": "é\u2028"}]) for source in all_sources],
    }
    data = (json.dumps(document, indent=indent, ensure_ascii=plain) + rng.choice(["", "\n", "\r\n"])).encode()
    before = Notebook.from_bytes(data, "a.ipynb")
    number = rng.randrange(len(all_sources)) + 1
    chosen = before.cell(number)
    text = text.rstrip("\r")  # what a row's end is made of is not to be told apart from what pads the cell
    after = before.with_sources({number: text + ("\n" if chosen.padded else "")})

    (was, now) = (json.loads(data), json.loads(after.data))
    new = now["cells"][number - 1].pop("source")
    old = was["cells"][number - 1].pop("source")
    assert "".join(new) == text
    assert type(new) is type(old)
    assert was == now
    # The rest, byte for byte: what is left of both files once the literals of the sources are out.
    if text == "".join(old):
        assert after.data == data
    else:
        head = data[: data.index(b'"source"')]
        assert after.data.startswith(head)
        assert after.data.endswith(data[-10:])
        assert after.data.isascii() or not data.isascii()


def test_rows_that_stay_are_written_as_they_were() -> None:
    data = (
        '{"cells": [{"cell_type": "code", "source": [ "a = \'\\u00e9\\/\'\\n" ,  "b\\n" ,  "c = \'é\\/\'\\n" ]}]}'
    ).encode()
    before = Notebook.from_bytes(data, "a.ipynb")
    text = before.cell(1).source.written
    after = before.with_sources({1: text.replace("b\n", "b\nB\n")})
    assert after.data.decode() == data.decode().replace('"b\\n"', '"b\\n" ,  "B\\n"')
    gone = before.with_sources({1: text.replace("b\n", "")})
    assert gone.data.decode() == data.decode().replace('"b\\n" ,  ', "")


def test_a_mark_in_front_stays() -> None:
    data = codecs.BOM_UTF8 + notebook(cell("a"))
    after = Notebook.from_bytes(data, "a.ipynb").with_sources({1: "b\n"})
    assert after.data == data.replace(b'"a"', b'"b"')


@pytest.mark.parametrize("text", ["def f(:\n", "x = (\n", "'''", "if x:", "return \\\n", "  x = 1\n y\n", "x\n?\n)"])
def test_a_cell_that_does_not_parse_says_so_alone(text: str) -> None:
    with pytest.raises(SyntaxError):
        ast.parse(masked(text))
    with pytest.raises(UnreadableError):
        read(cell(text)).cells[0].check()


@pytest.mark.parametrize("text", ["await f()", "x;", "", "# nothing", "%%time\nx", "!ls\n"])
def test_what_runs_in_a_notebook_parses(text: str) -> None:
    read(cell(text)).cells[0].check()
