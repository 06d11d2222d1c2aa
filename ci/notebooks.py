#!/usr/bin/env python3
"""The notebooks of docs/notebooks, with the Python that has the package, nbclient and ipykernel:

    ci/notebooks.py            runs all and writes their outputs
    ci/notebooks.py --check    runs all; an error of a cell is an error

Without their outputs they are small texts; with them the book shows what a reader gets (ci/book.py).
"""

import base64
import json
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))


def run(path):
    """The notebook with fresh outputs. Its files go to a folder of their own."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    # Progress bars and times of the machine are no results.
    os.environ.update(TQDM_DISABLE="1", COLUMNS="100", PYDEVD_DISABLE_FILE_VALIDATION="1")
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, timeout=600, resources={"metadata": {"path": folder}}).execute()
    for cell in notebook.cells:
        cell.metadata.clear()
        if cell.cell_type == "code":
            cell.outputs = joined(o for o in cell.outputs if o.get("name") != "stderr")
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return notebook


def joined(outputs):
    """Outputs in which what was printed in several pieces is one."""
    all = []
    for output in outputs:
        if all and output.output_type == all[-1].output_type == "stream":
            all[-1].text += output.text
        else:
            all.append(output)
    return all


def markdown(path):
    """The notebook as Markdown, and its pictures by name."""
    lines, pictures = [], {}
    for cell in json.loads(path.read_text())["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            lines += [source, ""]
            continue
        lines += ["```python", source, "```", ""]
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "image/png" in data:
                name = f"{path.stem}-{len(pictures) + 1}.png"
                pictures[name] = base64.b64decode(data["image/png"])
                lines += [f"![]({name})", ""]
            elif text := "".join(output.get("text") or data.get("text/plain") or []):
                lines += ["```text", text.rstrip(), "```", ""]
    return "\n".join(lines), pictures


def main():
    import nbformat

    for path in NOTEBOOKS:
        notebook = run(path)
        print(f"{path.relative_to(ROOT)}: {len(notebook.cells)} cells")
        if "--check" not in sys.argv:
            for i, cell in enumerate(notebook.cells):
                cell["id"] = f"cell-{i}"
            path.write_text(nbformat.writes(notebook, indent=1) + "\n")


if __name__ == "__main__":
    main()
