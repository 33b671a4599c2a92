#!/usr/bin/env python3
"""Makes the documentation's static site: the pages of docs/, samples/ and
integrations/, a reference of the public headers, and a search over all.

usage: site.py [DIRECTORY]        default: build/site
needs: mkdocs-material (scripts/site.sh installs it)
"""
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
GROUPS = {
    "Start": ["guide", "models", "python", "glossary", "migrating"],
    "Program": ["embedding", "async", "streams", "fences", "memory", "signatures", "native_modules", "threads",
                "headers"],
    "Real time": ["scheduling", "executor", "realtime", "planning", "simulation", "tracing", "analysis"],
    "Kernels and NPUs": ["native_kernels", "npu", "performance", "networks"],
    "Run it": ["tools", "limits", "security", "reliability", "ports", "bare_metal"],
    "Inside": ["architecture", "module_format", "coverage"],
}
LINK = re.compile(r"(\]\()([^)#\s:]+)((?:#[^)\s]*)?\))")
STYLE = """\
.md-typeset table:not([class]) { font-size: .66rem; }
.md-typeset table:not([class]) th { min-width: 3.5rem; }
.md-typeset table:not([class]) th, .md-typeset table:not([class]) td { padding: .6em .8em; }
.md-typeset table:not([class]) td:first-child { min-width: 8rem; }
.md-typeset h1, .md-typeset h2 { font-weight: 600; color: var(--md-default-fg-color); }
.md-typeset img { background: #fff; }
@media (max-width: 44em) {
  .md-typeset p:has(> img[src$=".svg"]) { overflow-x: auto; }
  .md-typeset img[src$=".svg"] { max-width: none; width: 760px; }
}
.contract { white-space: pre-wrap; overflow-wrap: break-word; font-size: .68rem; line-height: 1.5; margin: 0 0 1.6em;
  padding-left: .8rem; border-left: .15rem solid var(--md-default-fg-color--lightest); }
"""


def title_of(text, fallback):
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    return found.group(1) if found else fallback


def pages():
    """All pages, by their path from the top of the repository."""
    found = {pathlib.PurePosixPath("README.md")}
    for folder in ("docs", "samples", "integrations"):
        found |= {pathlib.PurePosixPath(p.relative_to(TOP).as_posix()) for p in (TOP / folder).rglob("*.md")}
    return sorted(found)


def target_of(path):
    """Where a page lies in the site: README.md is the index of its folder."""
    if str(path) == "docs/README.md":
        return pathlib.PurePosixPath("docs/contents.md")
    return path.with_name("index.md") if path.name == "README.md" else path


def relative(start, target):
    """A link from the page `start` to `target`."""
    up = len(start.parent.parts)
    return "../" * up + str(target)


def copy_page(path, known, source):
    text = (TOP / path).read_text()

    def link(match):
        goal = (TOP / path).parent.joinpath(match[2]).resolve()
        if not goal.is_relative_to(TOP) or not goal.exists():
            return match[0]
        goal = pathlib.PurePosixPath(goal.relative_to(TOP).as_posix())
        if (TOP / goal).is_dir():
            goal = goal / "README.md"
        if goal in known:
            place = target_of(goal)
        elif re.fullmatch(r"include/takt/\w+\.h(pp)?", str(goal)):
            place = reference_of(goal)
        elif (TOP / goal).is_file():
            # Sources are shown, not downloaded.
            place = goal if goal.suffix in (".svg", ".png", ".gif") else goal.with_name(goal.name + ".txt")
            (source / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(TOP / goal, source / place)
        else:
            return match[0]
        return match[1] + relative(target_of(path), place) + match[3]

    # A list or a table after a paragraph needs an empty line here, not on GitHub.
    text = re.sub(r"(?m)^(?![-*|\d#>\s])(.+)\n(?=- )", r"\1\n\n", text)
    # Headers are named in the text: `takt/stream.h`.
    text = re.sub(
        r"`(takt/\w+\.h(?:pp)?)`",
        lambda m: f"[`{m[1]}`]({relative(target_of(path), reference_of(pathlib.PurePosixPath(m[1])))})"
        if (TOP / "include" / m[1]).exists() else m[0], text)
    place = source / target_of(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(LINK.sub(link, text))
    return title_of(text, path.stem)


def reference_of(header):
    return pathlib.PurePosixPath("api") / (header.name.replace(".", "_") + ".md")


def name_of(code):
    """What a declaration declares."""
    for pattern in (r"#define (\w+)", r"^typedef (?:struct|enum|union) (\w+)", r"^(?:enum )?(?:class|struct) (\w+)",
                    r"\b(takt_\w+)\(", r"\(\*(\w+)\)\(", r"^(?:inline|template|constexpr).*?\b(\w+)\(", r"^using (\w+)"):
        found = re.search(pattern, code, re.MULTILINE | re.DOTALL)
        if found:
            return found.group(1)
    return None


def blocks_of(text):
    """(comment, code) of each declaration at the outermost level."""
    comment, code, depth = [], [], 0
    for line in text.splitlines() + [""]:
        if depth == 0 and not code and line.startswith("//"):
            comment.append(line[2:].removeprefix(" "))
        elif line.strip() or depth > 0:
            code.append(line)
            depth += line.count("{") - line.count("}")
            depth += line.count("(") - line.count(")") if not line.lstrip().startswith("//") else 0
            depth = max(depth, 0)
            if re.match(r'^(extern "C" \{|}|namespace .*\{|inline namespace .*\{|#)', line) and len(code) == 1:
                depth = 0
                if not line.startswith("#define"):
                    code = []
        else:
            if comment or code:
                yield "\n".join(comment), "\n".join(code)
            comment, code = [], []


def write_reference(header, source):
    blocks = list(blocks_of(header.read_text()))
    name = f"takt/{header.name}"
    intro = blocks[0][0] if blocks else ""
    summary, _, rest = intro.removeprefix(name).removeprefix(" - ").partition("\n\n")
    lines = [f"# {name}", "", f'<div class="contract">{html.escape(summary)}\n\n{html.escape(rest)}</div>', ""]
    for comment, code in blocks:
        named = name_of(code)
        if not named or named.startswith("TAKT_TAKT_") or named.endswith("_H_") or named.endswith("_HPP_"):
            continue
        if "TAKT_EXPORT" in code:  # Two functions may share a comment.
            named = ", ".join(dict.fromkeys(re.findall(r"\b(takt_\w+)\(", code))) or named
        lines += [f"## {named}", "", "```cpp" if header.suffix == ".hpp" else "```c", code, "```", ""]
        if comment and comment != intro:
            lines += [f'<div class="contract">{html.escape(comment)}</div>', ""]
    place = source / reference_of(header)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("\n".join(lines))
    return name


def navigation(titles, headers):
    """The groups, then what is in none of them."""
    nav = [{"Takt": "index.md"}]
    left = {str(target_of(p)): t for p, t in titles.items() if str(p) != "README.md"}
    for group, names in GROUPS.items():
        entries = [{left.pop(f"docs/{n}.md"): f"docs/{n}.md"} for n in names if f"docs/{n}.md" in left]
        nav.append({group: entries})
    for group, folder in (("Samples", "samples/"), ("Integrations", "integrations/"), ("All pages", "docs/")):
        entries = [{t: p} for p, t in sorted(left.items()) if p.startswith(folder)]
        if entries:
            nav.append({group: entries})
    for kind, suffix in (("C", ".h"), ("C++", ".hpp")):
        entries = [{f"takt/{h.name}": str(reference_of(h))} for h in headers if h.suffix == suffix]
        nav.append({f"Reference: {kind}": entries})
    return nav


def configuration(nav):
    def palette(media, scheme, icon, other):
        return {"media": f"(prefers-color-scheme: {media})", "scheme": scheme, "primary": "blue grey",
                "accent": "deep orange", "toggle": {"icon": icon, "name": f"Switch to {other}"}}

    return {
        "site_name": "Takt", "docs_dir": "source", "site_dir": "site", "use_directory_urls": False, "nav": nav,
        "theme": {
            "name": "material", "font": False, "icon": {"logo": "material/metronome"},
            "features": ["navigation.top", "navigation.footer", "search.suggest",
                         "search.highlight", "content.code.copy", "toc.follow"],
            "palette": [palette("light", "default", "material/weather-night", "dark"),
                        palette("dark", "slate", "material/weather-sunny", "light")],
        },
        "extra_css": ["takt.css"],
        "plugins": ["search"],
        "markdown_extensions": ["tables", "attr_list", "toc", "pymdownx.superfences",
                                {"pymdownx.highlight": {"use_pygments": True}}],
        "validation": {"links": {"not_found": "warn", "anchors": "warn"}},
    }


def main():
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else TOP / "build" / "site").resolve()
    source = out / "source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    known = set(pages())
    titles = {page: copy_page(page, known, source) for page in sorted(known)}
    headers = sorted((TOP / "include" / "takt").glob("*.h")) + sorted((TOP / "include" / "takt").glob("*.hpp"))
    for header in headers:
        write_reference(header, source)
    for picture in (TOP / "docs").rglob("*.svg"):
        shutil.copyfile(picture, source / picture.relative_to(TOP))
    (source / "takt.css").write_text(STYLE)
    # JSON is YAML.
    (out / "mkdocs.yml").write_text(json.dumps(configuration(navigation(titles, headers)), indent=1))
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "-q", "--strict", "-f", str(out / "mkdocs.yml")],
                   check=True)
    print(f"{len(titles)} pages and {len(headers)} headers; to see them: python3 -m http.server -d {out}/site")


if __name__ == "__main__":
    main()
