#!/usr/bin/python3
"""A GTK 3 call window with two streams and a button that shows them in picture-in-picture, one after the other."""

import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("Gtk", "3.0")
gi.require_version("GstVideo", "1.0")
gi.require_version("GdkX11", "3.0")
from gi.repository import GdkX11, Gst, GstVideo, Gtk  # noqa: E402, F401

PIPELINE = "videotestsrc ! pipsink name=anna session=call videotestsrc pattern=ball ! pipsink name=ben session=call"


class Call:
    def __init__(self, description):
        self.pipeline = Gst.parse_launch(description)
        self.streams = [self.pipeline.get_by_name(name) for name in ("anna", "ben")]
        self.window = Gtk.Window(title="Call", default_width=800, default_height=400)
        self.window.connect("destroy", lambda window: self.stop())
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        tiles = Gtk.Box(homogeneous=True)
        button = Gtk.Button(label="Picture in picture")
        button.connect("clicked", lambda button: self.show_next())
        box.pack_start(tiles, True, True, 0)
        box.pack_start(button, False, False, 0)
        self.window.add(box)
        areas = [Gtk.DrawingArea() for stream in self.streams]
        for area in areas:
            tiles.pack_start(area, True, True, 0)
        self.window.show_all()
        button.grab_focus()
        for stream, area in zip(self.streams, areas):
            self.watch(stream)
            # On X11 the streams are in the call's own window, on Wayland in PipSink's.
            if isinstance(area.get_window(), GdkX11.X11Window):
                area.get_window().ensure_native()
                stream.set_window_handle(area.get_window().get_xid())
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message::error", lambda bus, message: self.fail(message.parse_error()[0]))
        bus.connect("message::eos", lambda bus, message: self.stop())
        self.pipeline.set_state(Gst.State.PLAYING)

    def watch(self, stream):
        stream.connect("pip-did-start", lambda stream, latency: print(stream.name, "started", flush=True))
        stream.connect("pip-did-stop", lambda stream, reason: print(stream.name, "stopped:", reason, flush=True))
        stream.connect("pip-failed", lambda stream, reason: print(stream.name, "failed:", reason, flush=True))
        stream.connect("restore-user-interface", lambda stream: self.window.present())

    def show_next(self):
        """First Anna, then Ben, then nobody."""
        anna, ben = self.streams
        if anna.props.mode.value_nick == "pip":
            ben.emit("start-pip")
        elif ben.props.mode.value_nick == "pip":
            ben.emit("stop-pip")
        else:
            anna.emit("start-pip")

    def fail(self, error):
        print(error.message, file=sys.stderr)
        self.stop()

    def stop(self):
        self.pipeline.set_state(Gst.State.NULL)
        Gtk.main_quit()


Gst.init(sys.argv)
call = Call(PIPELINE)
Gtk.main()
