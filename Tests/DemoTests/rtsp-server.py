"""An RTSP server with one H.264 test stream on the loopback interface.

The argument is its port. Without an argument it uses a free port. The program prints the URL of the stream.
"""

import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer

Gst.init(None)
server = GstRtspServer.RTSPServer()
server.set_address("127.0.0.1")
server.set_service(sys.argv[1] if len(sys.argv) > 1 else "0")
factory = GstRtspServer.RTSPMediaFactory()
factory.set_launch(
    "( videotestsrc is-live=true ! video/x-raw,format=I420,width=320,height=240,framerate=30/1"
    " ! x264enc tune=zerolatency speed-preset=ultrafast key-int-max=15 ! rtph264pay name=pay0 pt=96 )"
)
factory.set_shared(True)
server.get_mount_points().add_factory("/test", factory)
server.attach(None)
print(f"rtsp://127.0.0.1:{server.get_bound_port()}/test", flush=True)
GLib.MainLoop().run()
