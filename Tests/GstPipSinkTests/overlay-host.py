"""A program that draws a green rectangle over the picture-in-picture window of its element, and prints what the pointer
does there. A press with the right button removes the rectangle.
"""

import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import GLib, Gst, GstVideo  # noqa: E402

Gst.init(None)
pipeline = Gst.parse_launch(
    "videotestsrc is-live=true pattern=red ! video/x-raw,width=640,height=360,framerate=10/1 ! pipsink name=a mode=pip"
)
sink = pipeline.get_by_name("a")

buffer = Gst.Buffer.new_wrapped(bytes((0, 255, 0, 255)) * (50 * 25))
GstVideo.buffer_add_video_meta(buffer, GstVideo.VideoFrameFlags.NONE, GstVideo.VideoFormat.BGRA, 50, 25)
rectangle = GstVideo.VideoOverlayRectangle.new_raw(buffer, 100, 60, 100, 50, GstVideo.VideoOverlayFormatFlags.NONE)
sink.props.pip_overlay = GstVideo.VideoOverlayComposition.new(rectangle)


def pointer(_, event, x, y, button):
    print(event, round(x), round(y), button, flush=True)
    if event == "pressed" and button == 3:
        sink.props.pip_overlay = None


sink.connect("pip-pointer", pointer)
loop = GLib.MainLoop()
bus = pipeline.get_bus()
bus.add_signal_watch()
bus.connect("message::error", lambda _, message: (print(message.parse_error(), file=sys.stderr), loop.quit()))
pipeline.set_state(Gst.State.PLAYING)
loop.run()
pipeline.set_state(Gst.State.NULL)
