#!/usr/bin/env python3
"""Checks the pages: links lead somewhere, tables have a head and rows of its width, the index names every page, docs/run.md every option;
recipes of packages have the version and the options of the library; comments of examples/deploy name files that exist; every message between tasks is in the list of tests/fuzz.

Usage: tools/check_pages.py
"""
import pathlib
import re
import subprocess
import sys

from floors import INCLUDE

ROOT = INCLUDE.parent
CONAN, SPACK = "conan/conanfile.py", "spack/spack_repo/distribute/packages/distribute/package.py"
LINK = re.compile(r"(?<!\!)\[[^\]]*\]\(([^()\s]+)\)|!\[[^\]]*\]\(([^()\s]+)\)")


def pages():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT,
                            capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.split() if (ROOT / name).is_file()]


def prose(page):
    """Without code, in which brackets are no links."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", lambda match: re.sub(r"[\[\]()]", "_", match[0]), text)


def anchors(page):
    """As GitHub makes them of headings."""
    found = set()
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", heading).strip().replace(" ", "-"))
    return found


def broken_links(page):
    for first, second in LINK.findall(prose(page)):
        link = first or second
        if re.match(r"\w+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists():
            yield f"{page.relative_to(ROOT)}: links to {link}, which does not exist"
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            yield f"{page.relative_to(ROOT)}: links to {link}, but there is no such heading"


def broken_tables(page):
    """Tables without a head, and rows with another number of cells."""
    text = re.sub(r"^ *```.*?^ *```$", lambda match: "\n" * match[0].count("\n"), page.read_text(), flags=re.M | re.S)
    width = 0  # of the table that the line is in
    for number, line in enumerate(lines := text.split("\n"), 1):
        if not line.startswith("|"):
            width = 0
            continue
        cells = len(re.findall(r"(?<!\\)\|", line)) - 1
        if not width and not re.fullmatch(r"\|[ :|-]+\|", lines[number]):
            yield f"{page.relative_to(ROOT)}:{number}: a table without a head"
        width = width or cells
        if cells != width:
            yield f"{page.relative_to(ROOT)}:{number}: a row of {cells} cells in a table of {width}"


def missing_options():
    source, page = (ROOT / "tools/run_command.cpp").read_text(), (ROOT / "docs/run.md").read_text()
    names = re.findall(r'\{"([\w-]+)[="].*?&O::', source)
    if not names:
        yield "tools/check_pages.py: found no row of an option in tools/run_command.cpp"
    for name in names:
        if not re.search(rf"^\| `--?{name}\b", page, re.M):
            yield f"docs/run.md: has no row for the option {name} of tools/run_command.cpp"


def unlisted_pages():
    index = (ROOT / "docs/README.md").read_text()
    for page in sorted((ROOT / "docs").glob("*.md")):
        if page.name != "README.md" and f"({page.name})" not in index:
            yield f"docs/README.md: does not name {page.name}"


def wrong_versions():
    text = (INCLUDE / "distribute/base/config.hpp").read_text()
    version = ".".join(re.findall(r"#define DISTRIBUTE_VERSION_\w+ (\d+)", text))
    for name in ("vcpkg/distribute/vcpkg.json", CONAN, SPACK):
        if f'"{version}"' not in (ROOT / "packaging" / name).read_text():
            yield f"packaging/{name}: the library has version {version}"
    if f"## {version}" not in (ROOT / "CHANGELOG.md").read_text():
        yield f"CHANGELOG.md: has no section of version {version}"


def wrong_recipe_options():
    """Recipes must decide on each optional package: what the machine happens to have is left out."""
    cmake = "".join((ROOT / f"cmake/Distribute{name}.cmake").read_text() for name in ("Dependencies", "Engines"))
    known = set(re.findall(r"^distribute_dependency\((\w+) OPTIONAL|^distribute_engine\(\w+ OPTION (\w+)", cmake, re.M))
    known = {first or second for first, second in known}
    for name in ("vcpkg/distribute/portfile.cmake", CONAN, SPACK):
        text = (ROOT / "packaging" / name).read_text()
        for option in sorted(known - set(re.findall(r"[A-Z]\w+", re.sub("-?D?DISTRIBUTE_WITH_", "", text)))):
            yield f"packaging/{name}: does not set DISTRIBUTE_WITH_{option}"
        quoted = r'"([A-Z][A-Z0-9_]{2,})"' if name.endswith(".py") else r"DISTRIBUTE_WITH_([A-Z]\w*)"
        for option in sorted(set(re.findall(quoted, text)) - known - {"OFF", "DISTRIBUTE_BUILD_PROGRAMS", "LICENSE", "NOTICE"}):
            yield f"packaging/{name}: there is no option DISTRIBUTE_WITH_{option}"


def missing_manifests():
    for path in sorted((ROOT / "examples/deploy").rglob("*")):
        if path.suffix not in (".yaml", ".sh", ".sbatch"):
            continue
        for line in re.findall(r"^#(.*)$", path.read_text(), re.M):
            for name in re.findall(r"(?<![\w/.$}-])([\w-]+\.(?:yaml|sh|sbatch))\b", line):
                if not list((ROOT / "examples/deploy").rglob(name)):
                    yield f"{path.relative_to(ROOT)}: names {name}, which does not exist"


def unlisted_messages():
    """Structs that travel, in the list of messages, from which fuzzers, tests and docs/protocol.md are made."""
    listed = set(re.findall(r"\w+", (ROOT / "tests/fuzz/all_messages.hpp").read_text()))
    for path in sorted((INCLUDE / "distribute").rglob("*.hpp")):
        text = path.read_text()
        for match in re.finditer(r"^ *void fields\((?:net::)?FieldVisitor&", text, re.M):
            owners = re.findall(r"^ *(?:struct|class) (\w+)[^;]*?\{", text[:match.start()], re.M)
            if owners and owners[-1] not in listed:
                yield f"tests/fuzz/all_messages.hpp: does not name {owners[-1]} of {path.relative_to(ROOT)}"


def main():
    bad = [fault for page in pages() for fault in [*broken_links(page), *broken_tables(page)]]
    bad += [*missing_options(), *unlisted_pages(), *wrong_versions(), *wrong_recipe_options(), *missing_manifests(),
            *unlisted_messages()]
    print("\n".join(bad) if bad else f"pages: {len(pages())}, whose links lead somewhere and whose tables are whole")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
