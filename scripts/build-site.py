#!/usr/bin/python3
"""Makes the pages of the documentation's site that DocC does not make, and the index of its search.

build-site.py --graphs FOLDER              points links between modules to the modules that have the symbols
build-site.py --graphs FOLDER --site SITE  writes the pages beside DocC's, which are in SITE/reference

Ends with 1 where a link leads to nothing.
"""

import argparse
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

from markdown_it import MarkdownIt

ROOT = pathlib.Path(__file__).resolve().parent.parent
ARTICLES = ROOT / "Sources/PipSink/PipSink.docc"
SKIPPED = {".build", ".git", ".swiftpm", "demo-output", "build"}
GROUPS = [  # The title of a part of the menu, and the documents in it.
    ("Start", ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "ARCHITECTURE.md"]),
    ("Guides", ["docs/*.md"]),
    ("Decisions", ["docs/decisions/*.md"]),
]

SCRIPT = """\
const field = document.getElementById("search");
const list = document.getElementById("results");
const root = document.documentElement.dataset.root;

// All words have to be there; those in a title count more, and most of all a title that is the word.
function score(entry, words) {
  let sum = 0;
  for (const word of words) {
    const place = entry.title.toLowerCase().indexOf(word);
    if (place < 0 && !entry.text.includes(word)) return 0;
    sum += place < 0 ? 1 : entry.title.length === word.length ? 30 : place === 0 ? 15 : 10;
  }
  return sum + (entry.kind === "page" ? 3 : 0);
}

function search() {
  const words = field.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const found = words.length === 0 ? [] : searchIndex
    .map(entry => ({ entry, score: score(entry, words) }))
    .filter(result => result.score > 0)
    .sort((first, second) => second.score - first.score || first.entry.title.length - second.entry.title.length)
    .slice(0, 40);
  list.replaceChildren(...found.map(({ entry }) => {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = root + entry.path;
    link.textContent = entry.title;
    const place = document.createElement("small");
    place.textContent = entry.place;
    item.append(link, " ", place);
    return item;
  }));
  list.hidden = words.length === 0;
  if (words.length > 0 && found.length === 0) list.textContent = "Nothing found.";
}

for (const entry of searchIndex) entry.text = entry.text.toLowerCase();
field.addEventListener("input", search);
field.value = new URLSearchParams(location.search).get("q") ?? "";
search();
"""

STYLE = """\
:root { color-scheme: light dark; --line: #8884; --accent: light-dark(#0b57a4, #79b8ff); }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; display: grid; grid-template-columns: 15rem minmax(0, 1fr); }
nav { padding: 1rem; border-right: 1px solid var(--line); font-size: 14px; }
nav h2 { font-size: 14px; margin: 1rem 0 .25rem; }
nav ul, #results { list-style: none; margin: 0; padding: 0; }
nav li { margin: .15rem 0; }
main { padding: 1rem 2rem 4rem; max-width: 56rem; }
a { color: var(--accent); }
nav a { text-decoration: none; }
nav a[aria-current] { font-weight: 600; }
#search { width: 100%; box-sizing: border-box; font: inherit; padding: .35rem .5rem; }
#results { border-bottom: 1px solid var(--line); margin-bottom: 1rem; padding: .5rem 2rem; grid-column: 2; }
#results small { opacity: .7; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid var(--line); border-radius: 6px; }
pre, code { font-size: 14px; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid var(--line); padding: .3rem .6rem; text-align: left; vertical-align: top; }
img { max-width: 100%; height: auto; }
table.head, table.foot { display: table; width: 100%; }
table.head td, table.foot td { border: none; }
h1.Sh { font-size: 1.3rem; margin-top: 2rem; }
h2.Ss { font-size: 1.1rem; }
a.permalink { color: inherit; text-decoration: none; }
dt { margin-top: .5rem; }
dd { margin-left: 2rem; }
@media (min-width: 50rem) { nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; box-sizing: border-box; } }
@media (max-width: 50rem) {
  body { grid-template-columns: minmax(0, 1fr); }
  nav { border: none; border-bottom: 1px solid var(--line); max-height: 12rem; overflow-y: auto; }
  main { padding: 1rem; }
  #results { grid-column: 1; }
}
"""


def fail(faults):
    for fault in faults:
        print(f"build-site.py: {fault}", file=sys.stderr)
    sys.exit(1 if faults else 0)


def slug(text):
    """What GitHub makes of a heading."""
    return "".join("-" if c == " " else c for c in text.lower() if c.isalnum() or c in " -_")


def graphs(folder):
    return sorted(pathlib.Path(folder).glob("*.symbols.json"))


def point_to_modules(folder):
    """DocC looks for a symbol in the module whose comment it is in; of a symbol of another it has to know the module."""
    modules = {}
    for path in graphs(folder):
        graph = json.loads(path.read_text())
        modules[path] = graph
    owners = {}
    for graph in modules.values():
        for symbol in graph["symbols"]:
            if len(symbol["pathComponents"]) == 1:
                owners[symbol["pathComponents"][0]] = graph["module"]["name"]
    for path, graph in modules.items():
        name = graph["module"]["name"]
        own = {symbol["pathComponents"][0] for symbol in graph["symbols"]}

        def point(match):
            first, _, rest = match[1].partition("/")
            if owners.get(rest.split("/")[0]) == first:
                return f"``/{match[1]}``"
            owner = owners.get(first)
            return f"``/{owner}/{match[1]}``" if first not in own and owner not in (None, name) else match[0]

        for symbol in graph["symbols"]:
            for line in symbol.get("docComment", {}).get("lines", []):
                line["text"] = re.sub(r"``([A-Z][^`\s]*)``", point, line["text"])
        path.write_text(json.dumps(graph))


class Site:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.pages = {}  # Where a document's page is, by the document.
        self.index = []
        self.faults = []
        self.modules = []
        self.markdown = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])

    # Documents

    def documents(self):
        groups = []
        for title, patterns in GROUPS:
            paths = [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]
            if paths:
                groups.append((title, paths))
        return groups

    def target(self, link, source):
        """Where a link in a document leads to from the root of the site; None for another site's."""
        if re.match(r"(https?|mailto):", link) or link.startswith("#"):
            return None
        path, _, anchor = link.partition("#")
        file = (source.parent / urllib.parse.unquote(path)).resolve()
        anchor = f"#{anchor}" if anchor else ""
        if file in self.pages:
            return self.pages[file] + anchor
        if file.parent == ARTICLES and file.suffix == ".md":
            return f"reference/documentation/pipsink/{file.stem.lower()}/" + anchor
        if not file.is_relative_to(ROOT) or not file.exists():
            self.faults.append(f"{source.relative_to(ROOT)}: {link} leads to nothing")
            return None
        place = str(file.relative_to(ROOT))
        copy = self.folder / "files" / place
        if file.is_dir():
            names = sorted(child.name + ("/" if child.is_dir() else "") for child in file.iterdir())
            self.copy(file)
            copy.mkdir(parents=True, exist_ok=True)
            items = "".join(f'<li><a href="{html.escape(name)}">{html.escape(name)}</a></li>' for name in names)
            (copy / "index.html").write_text(f"<!doctype html><title>{html.escape(place)}</title><ul>{items}</ul>")
            return f"files/{place}/index.html"
        self.copy(file)
        return f"files/{place}"

    def copy(self, file):
        copy = self.folder / "files" / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if file.is_dir():
            shutil.copytree(file, copy, dirs_exist_ok=True)
        else:
            shutil.copyfile(file, copy)

    def add_document(self, source):
        page = self.pages[source]
        up = "../" * page.count("/")
        tokens = self.markdown.parse(source.read_text())
        title, counts = source.stem, {}
        entries = [{"title": None, "anchor": "", "words": []}]

        def link(url):
            target = self.target(url, source)
            return url if target is None else up + target

        def visit(tokens):
            for token in tokens:
                for name in ("href", "src"):
                    if token.attrGet(name):
                        token.attrSet(name, link(token.attrGet(name)))
                if token.type in ("html_block", "html_inline"):
                    token.content = re.sub(
                        r'\b(src|href|srcset)="([^"]*)"', lambda m: f'{m[1]}="{link(m[2])}"', token.content)
                if token.children:
                    visit(token.children)

        for number, token in enumerate(tokens):
            if token.type == "heading_open":
                text = "".join(
                    child.content for child in tokens[number + 1].children if child.type in ("text", "code_inline"))
                anchor = slug(text)
                count = counts.get(anchor, 0)
                counts[anchor] = count + 1
                anchor = anchor if count == 0 else f"{anchor}-{count}"
                token.attrSet("id", anchor)
                entries.append({"title": text, "anchor": anchor, "words": []})
                if token.tag == "h1" and title == source.stem:
                    title = text
            elif token.type in ("inline", "fence", "code_block"):
                entries[-1]["words"].append(token.content)
        visit(tokens)
        body = self.markdown.renderer.render(tokens, self.markdown.options, {})
        self.write(page, title, body)
        for entry in entries:
            if entry["title"]:
                place = str(source.relative_to(ROOT)) if entry["title"] == title else title
                anchor = "" if entry["title"] == title else f"#{entry['anchor']}"
                kind = "page" if not anchor else "part"
                self.find(entry["title"], place, page + anchor, " ".join(entry["words"]), kind)

    def add_manual(self, source):
        page = self.pages[source]
        body = subprocess.run(
            ["mandoc", "-T", "html", "-O", "fragment,man=%N.%S.html", str(source)], check=True, capture_output=True,
            text=True).stdout
        # Pages of other packages are not here.
        known = {pathlib.Path(name).name for name in self.pages.values()}
        body = re.sub(
            r'<a class="Xr" href="([^"]*)">(.*?)</a>', lambda m: m[0] if m[1] in known else m[2], body)
        name = f"{source.stem}({source.suffix[1:]})"
        self.write(page, name, f"<h1>{name}</h1>{body}")
        self.find(name, "Manual page", page, "", "page")
        for part in re.split(r"(?=<h[12] )", body)[1:]:
            heading = re.match(r'<h[12][^>]*id="([^"]*)"[^>]*>(.*?)</h[12]>', part, re.S)
            if heading:
                self.find(plain(heading[2]), name, f"{page}#{heading[1]}", plain(part[heading.end():]), "part")
            for term in re.finditer(r"<dt[^>]*>(.*?)</dt>\s*<dd>(.*?)</dd>", part, re.S):
                identifier = re.search(r'id="([^"]*)"', term[0])
                anchor = identifier[1] if identifier else heading[1] if heading else ""
                self.find(plain(term[1]), name, f"{page}#{anchor}", plain(term[2]), "part")

    # The reference

    def add_reference(self, folder):
        names = {}
        for path in graphs(folder):
            graph = json.loads(path.read_text())
            for symbol in graph["symbols"]:
                lines = symbol.get("docComment", {}).get("lines", [])
                place = "/".join([graph["module"]["name"]] + symbol["pathComponents"]).lower()
                names[f"/documentation/{place}"] = " ".join(line["text"] for line in lines)
        navigation = json.loads((self.folder / "reference/index/index.json").read_text())

        def visit(nodes, place):
            for node in nodes:
                if "path" in node:
                    article = ARTICLES / f"{node['path'].split('/')[-1]}.md"
                    text = names.get(node["path"], "")
                    for file in ARTICLES.glob("*.md"):
                        if file.stem.lower() == article.stem:
                            text = file.read_text()
                    kind = "page" if node["type"] in ("article", "module") else "symbol"
                    self.find(node["title"], place, f"reference{node['path']}/", text, kind)
                visit(node.get("children", []), node["title"] if "path" in node else place)

        visit(navigation["interfaceLanguages"]["swift"], "Reference")

    # Pages

    def find(self, title, place, path, text, kind):
        words = " ".join(dict.fromkeys(re.findall(r"[^\s`*|<>()\[\]{}\"',;]+", text)))
        self.index.append({"title": title, "place": place, "path": path, "text": words, "kind": kind})

    def menu(self, page):
        up = "../" * page.count("/")

        def item(path, text):
            current = ' aria-current="page"' if path == page else ""
            return f'<li><a href="{up}{path}"{current}>{html.escape(text)}</a></li>'

        parts = []
        for title, sources in self.documents():
            items = "".join(item(self.pages[source], heading_of(source)) for source in sources)
            parts.append(f"<h2>{title}</h2><ul>{items}</ul>")
        manuals = "".join(
            item(page, f"{source.stem}({source.suffix[1:]})")
            for source, page in self.pages.items() if source.suffix != ".md")
        articles = "".join(
            item(f"reference/documentation/pipsink/{name.lower()}/", heading_of(ARTICLES / f"{name}.md"))
            for name in re.findall(r"<doc:(\w+)>", (ARTICLES / "PipSink.md").read_text()))
        modules = "".join(item(f"reference/documentation/{name.lower()}/", name) for name in self.modules)
        parts.append(f"<h2>Manual pages</h2><ul>{manuals}</ul>")
        parts.append(f"<h2>The library</h2><ul>{articles}</ul>")
        parts.append(f"<h2>Modules</h2><ul>{modules}</ul>")
        return "".join(parts)

    def write(self, page, title, body):
        up = "../" * page.count("/")
        path = self.folder / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f'<!doctype html><html lang="en" data-root="{up}"><head><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width,initial-scale=1"><title>{html.escape(title)}</title>'
            f'<link rel="stylesheet" href="{up}site.css"></head><body>'
            f'<nav><input id="search" type="search" placeholder="Search" aria-label="Search">{self.menu(page)}</nav>'
            f'<div><ul id="results" hidden></ul><main>{body}</main></div>'
            f'<script src="{up}search-index.js"></script><script src="{up}search.js"></script></body></html>\n')

    def build(self, folder):
        self.modules = sorted(json.loads(path.read_text())["module"]["name"] for path in graphs(folder))
        for _, sources in self.documents():
            for source in sources:
                self.pages[source] = str(source.relative_to(ROOT).with_suffix(".html"))
        for source in sorted((ROOT / "docs").glob("*.[1-9]")):
            self.pages[source] = f"docs/{source.name}.html"
        for source in list(self.pages):
            self.add_document(source) if source.suffix == ".md" else self.add_manual(source)
        self.add_reference(folder)
        (self.folder / "index.html").write_text(
            '<!doctype html><title>PipSink</title><meta http-equiv="refresh" content="0; url=README.html">'
            '<a href="README.html">PipSink</a>\n')
        (self.folder / "site.css").write_text(STYLE)
        (self.folder / "search.js").write_text(SCRIPT)
        entries = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in self.index)
        (self.folder / "search-index.js").write_text(f"const searchIndex = [\n{entries}\n];\n")
        self.check()

    def check(self):
        """Every link of a page leads to a file, and to a place in it."""
        for page in self.pages.values():
            path = self.folder / page
            for link in re.findall(r'\b(?:href|src)="([^"]*)"', path.read_text()):
                link = html.unescape(link)
                if re.match(r"(https?|mailto):", link):
                    continue
                name, _, anchor = link.partition("#")
                file = (path.parent / urllib.parse.unquote(name)).resolve() if name else path
                if file.is_dir():
                    file = file / "index.html"
                if not file.exists():
                    self.faults.append(f"{page}: {link} leads to nothing")
                elif anchor and "reference" not in file.relative_to(self.folder.resolve()).parts:
                    if not re.search(rf'(?:id|name)="{re.escape(urllib.parse.unquote(anchor))}"', file.read_text()):
                        self.faults.append(f"{page}: {link} leads to no place in the page")
        for entry in self.index:
            file = self.folder / urllib.parse.unquote(entry["path"].partition("#")[0])
            if not (file / "index.html" if file.is_dir() else file).exists():
                self.faults.append(f"the search leads to {entry['path']}, which is not there")


def plain(text):
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", text)).split())


def heading_of(source):
    match = re.search(r"^# (.*)$", source.read_text(), re.M)
    return match[1].replace("`", "") if match else source.stem


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--graphs", required=True)
    parser.add_argument("--site")
    arguments = parser.parse_args()
    if not arguments.site:
        point_to_modules(arguments.graphs)
        return
    site = Site(arguments.site)
    site.build(arguments.graphs)
    print(f"{len(site.pages)} pages and {len(site.index)} entries of the search")
    fail(site.faults)


main()
