#!/usr/bin/python3
"""A call whose SDK gives raw frames in callbacks: each participant has a pipeline `appsrc ! pipsink` of its own."""

import threading
import time

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import GLib, Gst, GstApp  # noqa: E402, F401
Gst.init(None)


class Call:
    """What an app does with the callbacks of the SDK, which come on the SDK's threads."""
    def __init__(self, loop):
        self.loop, self.streams = loop, {}

    def joined(self, name, width, height):
        pipeline = Gst.parse_launch(
            "appsrc name=source is-live=true format=time do-timestamp=true max-buffers=2 leaky-type=downstream "
            f"caps=video/x-raw,format=I420,width={width},height={height},framerate=0/1 "
            "! queue max-size-buffers=2 ! pipsink name=video")
        pipeline.get_by_name("video").props.stream_id = name
        (bus := pipeline.get_bus()).add_signal_watch()
        bus.connect("message::error", self.failed)
        pipeline.set_state(Gst.State.PLAYING)
        self.streams[name] = pipeline
        print(f"{name} has joined\n", end="")

    def frame(self, name, planes):
        self.streams[name].get_by_name("source").push_buffer(Gst.Buffer.new_wrapped(planes))

    def camera(self, name, is_on):
        self.streams[name].get_by_name("video").set_property("camera-off", not is_on)

    def left(self, name):
        self.streams.pop(name).set_state(Gst.State.NULL)

    def failed(self, bus, message):
        print(message.parse_error().gerror.message)  # closing the window is an error, too
        self.loop.quit()


def participant(call, name, luma, seconds):
    """Stands for the SDK: somebody who joins, moves, switches the camera off and on again, and leaves."""
    call.joined(name, 320, 180)
    for number in range(int(seconds * 30)):
        if name == "ben" and number in (30, 90):
            call.camera(name, number == 90)
        call.frame(name, bytes([luma + number % 20]) * (320 * 180) + bytes([128]) * (2 * 160 * 90))
        time.sleep(1 / 30)
    call.left(name)


call = Call(loop := GLib.MainLoop())
for name, luma, seconds in [("anna", 180, 3600), ("ben", 60, 4)]:
    threading.Thread(target=participant, args=(call, name, luma, seconds), daemon=True).start()
loop.run()
