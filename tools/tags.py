"""What headers declare, as Universal Ctags finds it."""
import json
import pathlib
import re
import subprocess
import tempfile

from floors import LIBRARY

OPTIONS = ["--regex-C++=/^concept (\\w+)/\\1/C,concept/", "--fields=+aisnZ",
           "--output-format=json", "--sort=no", "-f", "-", "-L", "-"]


def tags_of(headers, kinds):
    """The tags of `kinds` (letters of Ctags for C++), in order, of the headers of the library."""
    with tempfile.TemporaryDirectory() as folder:
        for header in headers:  # without lines of template parameters, with which Ctags loses functions
            copy = pathlib.Path(folder) / header
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(re.sub(r"^ *template <.+>$", "", (LIBRARY / header).read_text(), flags=re.M))
        found = subprocess.run(["ctags", "--language-force=C++", f"--kinds-C++={kinds}", *OPTIONS], cwd=folder,
                               input="\n".join(headers), capture_output=True, text=True, check=True)
    return [json.loads(line) for line in found.stdout.splitlines()]
