"""A program whose second element draws a green rectangle over the picture-in-picture window of the first one, and
prints what the pointer does there. A press with the right button removes the rectangle for a second; the next one stops
the pipeline of the element that has drawn it.
"""

import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import GLib, Gst, GstVideo  # noqa: E402

Gst.init(None)
source = "videotestsrc is-live=true pattern=red ! video/x-raw,width=640,height=360,framerate=10/1 ! pipsink"
pipelines = [Gst.parse_launch(f"{source} name=a mode=pip"), Gst.parse_launch(f"{source} name=b")]
sink = pipelines[1].get_by_name("b")

buffer = Gst.Buffer.new_wrapped(bytes((0, 255, 0, 255)) * (50 * 25))
GstVideo.buffer_add_video_meta(buffer, GstVideo.VideoFrameFlags.NONE, GstVideo.VideoFormat.BGRA, 50, 25)
rectangle = GstVideo.VideoOverlayRectangle.new_raw(buffer, 100, 60, 100, 50, GstVideo.VideoOverlayFormatFlags.NONE)
composition = GstVideo.VideoOverlayComposition.new(rectangle)
sink.props.pip_overlay = composition
presses = []


def pointer(_, event, x, y, button):
    print(event, round(x), round(y), button, flush=True)
    if event == "pressed" and button == 3:
        presses.append(button)
        if len(presses) == 1:
            sink.props.pip_overlay = None
            GLib.timeout_add(1000, sink.set_property, "pip-overlay", composition)
        else:
            GLib.idle_add(lambda: pipelines[1].set_state(Gst.State.NULL) and False)


sink.connect("pip-pointer", pointer)
loop = GLib.MainLoop()
for pipeline in pipelines:
    bus = pipeline.get_bus()
    bus.add_signal_watch()
    bus.connect("message::error", lambda _, message: (print(message.parse_error(), file=sys.stderr), loop.quit()))
    pipeline.set_state(Gst.State.PLAYING)
loop.run()
for pipeline in pipelines:
    pipeline.set_state(Gst.State.NULL)
