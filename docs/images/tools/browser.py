#!/usr/bin/env python3
"""A maximised GTK 3 window that looks like a web browser with a page of text, for the pictures in the README."""

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk  # noqa: E402

STYLE = b"""
window, .page, .page viewport { background: #ffffff; }
.page label { color: #24292f; font: 17px "DejaVu Sans"; }
.page label.title { font: bold 34px "DejaVu Serif"; }
.page label.lead { color: #57606a; font: italic 18px "DejaVu Serif"; }
.tabs { background: #dfe3e8; padding: 8px 8px 0 8px; }
.tab { background: #cfd5dc; border-radius: 8px 8px 0 0; padding: 8px 18px; margin-right: 4px; }
.tab.current { background: #f6f8fa; }
.tab label, .bar label { color: #24292f; font: 14px "DejaVu Sans"; }
.bar { background: #f6f8fa; padding: 8px 14px; border-bottom: 1px solid #d0d7de; }
.address { background: #e8ecf0; border-radius: 14px; padding: 6px 16px; }
.box { background: #eef2f6; border-radius: 8px; padding: 18px; }
"""

PARAGRAPHS = [
    "A meeting rarely asks for both eyes. Somebody shows a slide, somebody else answers a question, and in between "
    "there is a page to read, a table to fill in or a line of code to mend.",
    "A picture-in-picture window lets the meeting stay in sight. It is small, it floats above the page, and it does "
    "not take the focus: what you type goes to the page. You can drag it to another corner when it covers the "
    "paragraph that you want to read, and a click brings the whole call back.",
    "On Linux such a window has to ask its desktop for that place. X11 has a hint for windows that are to be above "
    "others. On Wayland the compositor decides, by a protocol for layers or, without one, through Xwayland.",
    "The rest is a matter of patience: the picture has to continue where it was, without a black frame in between, "
    "and the page below must not notice any of it.",
]


def styled(widget, *names):
    for name in names:
        widget.get_style_context().add_class(name)
    return widget


def text(content, *names):
    label = styled(Gtk.Label(label=content, xalign=0, wrap=True, max_width_chars=70), *names)
    return label


style = Gtk.CssProvider()
style.load_from_data(STYLE)
window = Gtk.Window(title="Reading while you listen")
Gtk.StyleContext.add_provider_for_screen(window.get_screen(), style, Gtk.STYLE_PROVIDER_PRIORITY_APPLICATION)

tabs = styled(Gtk.Box(), "tabs")
for title, names in [("Reading while you listen", ["tab", "current"]), ("Calendar", ["tab"]), ("Notes", ["tab"])]:
    tab = styled(Gtk.Box(spacing=10), *names)
    tab.add(Gtk.Label(label=title))
    tab.add(Gtk.Label(label="×"))
    tabs.add(tab)

bar = styled(Gtk.Box(spacing=14), "bar")
for sign in ["←", "→", "⟳"]:
    bar.add(Gtk.Label(label=sign))
address = styled(Gtk.Box(), "address")
address.add(Gtk.Label(label="https://example.org/reading-while-you-listen"))
bar.pack_start(address, True, True, 0)

page = styled(Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=18, margin=36, margin_start=90, margin_end=90), "page")
page.add(text("Reading while you listen", "title"))
page.add(text("Why a call belongs in a small window, and a page in a large one", "lead"))
for paragraph in PARAGRAPHS:
    page.add(text(paragraph))

everything = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
everything.add(tabs)
everything.add(bar)
everything.pack_start(styled(page, "page"), True, True, 0)
window.add(everything)
window.maximize()
window.connect("destroy", Gtk.main_quit)
window.show_all()
GLib.timeout_add_seconds(120, Gtk.main_quit)
Gtk.main()
