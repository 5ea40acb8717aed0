#!/usr/bin/python3
"""Plays a film in picture-in-picture without a toolkit: `pip.py [URI]`. It prints the window's events, and ends with it."""

import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

Gst.init(None)
if len(sys.argv) > 1:
    pipeline = Gst.parse_launch('playbin name=film video-sink="pipsink name=video mode=pip"')
    pipeline.set_property("uri", sys.argv[1])
else:
    pipeline = Gst.parse_launch("videotestsrc ! pipsink name=video mode=pip")
loop = GLib.MainLoop()


def on_message(bus, message):
    if message.type == Gst.MessageType.ERROR:
        print(message.parse_error().gerror.message, file=sys.stderr)
        loop.quit()
    elif message.type == Gst.MessageType.EOS:
        loop.quit()
    elif message.type == Gst.MessageType.REQUEST_STATE and message.src.get_name() == "video":
        pipeline.set_state(message.parse_request_state())
    elif message.type == Gst.MessageType.ELEMENT and message.get_structure().get_name().startswith("pip-"):
        print(message.get_structure().to_string())
        if message.has_name("pip-did-stop"):
            loop.quit()


bus = pipeline.get_bus()
bus.add_signal_watch()
bus.connect("message", on_message)
pipeline.set_state(Gst.State.PLAYING)
loop.run()
pipeline.set_state(Gst.State.NULL)
