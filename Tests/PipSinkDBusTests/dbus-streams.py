"""Starts streams in a session one after another, and stops each as soon as it plays.

The arguments are the number of the first stream, which is a part of its ID, and the number of streams.
"""

import sys
import time

from gi.repository import Gio, GLib

NAME, PATH = "org.pipsink.Session1", "/org/pipsink/Session1"
SOURCE = "videotestsrc is-live=true ! video/x-raw,width=160,height=120,framerate=30/1 ! appsink name=video"
bus = Gio.bus_get_sync(Gio.BusType.SESSION)


def call(interface, method, arguments):
    return bus.call_sync(NAME, PATH, interface, method, arguments, None, 0, 60000, None).unpack()


first, count = int(sys.argv[1]), int(sys.argv[2])
for number in range(first, first + count):
    call(NAME, "StartPlayingStream", GLib.Variant("(ss)", (f"guest-{number}", SOURCE)))
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        streams = call("org.freedesktop.DBus.Properties", "Get", GLib.Variant("(ss)", (NAME, "Streams")))[0]
        if streams[f"guest-{number}"] == "playing":
            break
        time.sleep(0.005)
    call(NAME, "StopPlayingStream", GLib.Variant("(s)", (f"guest-{number}",)))
