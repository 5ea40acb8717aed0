#!/usr/bin/python3
"""Controls a session of another program, `pipsink-demo play --dbus`, from its first stream to its end."""
from gi.repository import Gio, GLib

def proxy(path, name):
    return Gio.DBusProxy.new_for_bus_sync(Gio.BusType.SESSION, 0, None, "org.pipsink.Session1", path, name, None)

def wait_for(name, value):
    while session.get_cached_property(name).unpack() != value:
        GLib.MainContext.default().iteration(True)
    print(name, value, flush=True)

session = proxy("/org/pipsink/Session1", "org.pipsink.Session1")
session.Init()
session.StartPlayingStream("(ss)", "bars", "videotestsrc is-live=true ! appsink name=video")
session.StartPlayingStream("(ss)", "ball", "videotestsrc is-live=true pattern=ball ! appsink name=video")
wait_for("Streams", {"bars": "playing", "ball": "playing"})
session.Enable("(s)", "ball")
wait_for("PictureInPictureStream", "ball")
session.SetSource("(s)", "bars")
wait_for("PictureInPictureStream", "bars")
print("in picture-in-picture:", session.IsInPictureInPicture())
print("frames:", {id: counts["Received"] for id, counts in session.Statistics().items()})
session.Stop()
wait_for("PictureInPictureState", "PIPEnabled")
session.StopPlayingStream("(s)", "ball")
wait_for("Streams", {"bars": "playing"})
proxy("/org/mpris/MediaPlayer2", "org.mpris.MediaPlayer2").Quit()
