"""A program with four streams that prints how large the pictures of each have to be, at every change: "a 640x360".

With the argument "paintable" it has one stream, which a window of GTK 4 of 320x180 shows.
"""

import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

Gst.init(None)
is_paintable = "paintable" in sys.argv
names = "a" if is_paintable else "abcd"
pipeline = Gst.parse_launch(
    " ".join(
        "videotestsrc is-live=true ! video/x-raw,format=I420,width=640,height=360,framerate=10/1 "
        f"! pipsink name={name} stall-timeout=0"
        for name in names
    )
)


def show(sink, _):
    print(sink.props.name, f"{sink.props.wanted_width}x{sink.props.wanted_height}", flush=True)


sinks = [pipeline.get_by_name(name) for name in names]
for sink in sinks:
    sink.connect("notify::wanted-height", show)
loop = GLib.MainLoop()
bus = pipeline.get_bus()
bus.add_signal_watch()
bus.connect("message::error", lambda _, message: (print(message.parse_error(), file=sys.stderr), loop.quit()))
if is_paintable:
    gi.require_version("Gtk", "4.0")
    from gi.repository import Gtk  # noqa: E402

    Gtk.init()
    window = Gtk.Window(title="Paintable", decorated=False, default_width=320, default_height=180)
    window.set_child(Gtk.Picture(paintable=sinks[0].props.paintable))
    window.connect("close-request", lambda _: loop.quit())
    window.present()
pipeline.set_state(Gst.State.PLAYING)
loop.run()
pipeline.set_state(Gst.State.NULL)
print("done", flush=True)
