#!/usr/bin/python3
"""A call in a GTK 3 window, on X11 and on Wayland: two streams, and buttons for picture-in-picture, sound and camera."""

import ctypes

import gi

gi.require_versions({"Gst": "1.0", "GstVideo": "1.0", "Gtk": "3.0", "GdkX11": "3.0"})
from gi.repository import GdkX11, Gst, GstVideo, Gtk  # noqa: E402, F401

Gst.init(None)
pipeline = Gst.parse_launch(
    "videotestsrc is-live=true ! video/x-raw,width=1280,height=720 ! pipsink name=anna "
    "videotestsrc is-live=true pattern=ball ! pipsink name=ben "
    "audiotestsrc is-live=true ! volume name=sound ! audioconvert ! autoaudiosink"
)
anna, ben, sound = (pipeline.get_by_name(name) for name in ("anna", "ben", "sound"))
gdk = ctypes.CDLL("libgdk-3.so.0")


def address(function, of):
    """The address that a function of GDK returns for one of its objects, for functions that Python does not have."""
    gdk[function].restype = ctypes.c_void_p
    return gdk[function](ctypes.c_void_p(hash(of)))


def show(area, stream):
    """Shows a stream in an X11 window of the area, or on Wayland in the area's place in the window's surface."""
    if isinstance(area.get_window(), GdkX11.X11Window):
        area.get_window().ensure_native()
        stream.set_window_handle(area.get_window().get_xid())
    else:
        place = area.get_allocation()
        stream.props.wayland_display = address("gdk_wayland_display_get_wl_display", area.get_display())
        stream.set_window_handle(address("gdk_wayland_window_get_wl_surface", window.get_window()))
        stream.set_render_rectangle(place.x, place.y, place.width, place.height)


window = Gtk.Window(title="Call", default_width=800, default_height=400)
grid = Gtk.Grid(parent=window, column_homogeneous=True)
areas = [Gtk.DrawingArea(expand=True) for _ in (anna, ben)]
buttons = [Gtk.Button(label="Picture in picture"), Gtk.ToggleButton(label="Mute"), Gtk.ToggleButton(label="Camera off")]
for parts, row, width in ((areas, 0, 3), (buttons, 1, 2)):
    for index, part in enumerate(parts):
        grid.attach(part, index * width, row, width, 1)
buttons[0].connect("clicked", lambda _: anna.emit("toggle-pip"))
anna.bind_property("muted", sound, "mute")
buttons[1].bind_property("active", anna, "muted")
buttons[2].bind_property("active", anna, "camera-off")
bus = pipeline.get_bus()
bus.add_signal_watch()
for name, action in (("draw-window", window.queue_draw), ("restore-user-interface", window.present)):
    bus.connect("message::element", lambda _, message, name, action: message.has_name(name) and action(), name, action)
window.connect("delete-event", lambda *_: pipeline.set_state(Gst.State.NULL) and Gtk.main_quit())
window.show_all()
for area, stream in zip(areas, (anna, ben)):
    show(area, stream)
    area.connect("size-allocate", lambda area, _, stream: show(area, stream), stream)
pipeline.set_state(Gst.State.PLAYING)
Gtk.main()
