"""Reads what assistive technology knows of a program ("show"), or presses one of its buttons ("press NAME")."""

import sys
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402

Atspi.init()
STATES = ["active", "checked", "focused", "checkable"]
# The versions of libatspi have different names for some of them.
ROLES = {43: "button", 51: "slider", 62: "toggle button", 69: "window", 75: "application", 107: "video"}


def children(node):
    return [child for child in (node.get_child_at_index(index) for index in range(node.get_child_count())) if child]


def program():
    """The program, which may come to the bus a moment later."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        for child in children(Atspi.get_desktop(0)):
            if child.get_name() == "PipSink" and child.get_child_count() > 0:
                return child
        for _ in range(10):
            GLib.MainContext.default().iteration(False)
        time.sleep(0.05)
    sys.exit("the program is not there")


def show(node, depth=0):
    states = [state.value_nick for state in node.get_state_set().get_states()]
    parts = [ROLES[int(node.get_role())], node.get_name(), node.get_description(), *[s for s in STATES if s in states]]
    print("  " * depth + " | ".join(part for part in parts if part))
    for child in children(node):
        show(child, depth + 1)


def find(node, name):
    if node.get_name() == name and node.get_action_iface():
        return node
    return next((found for child in children(node) if (found := find(child, name))), None)


root = program()
if sys.argv[1] == "show":
    show(root)
else:
    button = find(root, sys.argv[2])
    print(bool(button and button.get_action_iface().do_action(0)))
