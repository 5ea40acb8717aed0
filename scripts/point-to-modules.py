#!/usr/bin/python3
"""Has links between modules, in the symbol graphs in a folder, name the modules that have the symbols.

point-to-modules.py FOLDER
"""

import json
import pathlib
import re
import sys


def point_to_modules(folder):
    """DocC looks for a symbol in the module whose comment it is in; of a symbol of another it has to know the module."""
    modules = {}
    for path in sorted(pathlib.Path(folder).glob("*.symbols.json")):
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


point_to_modules(sys.argv[1])
