#!/usr/bin/python3
"""A call in a GTK 4 window: two streams in GtkPictures, and buttons for picture-in-picture, sound and camera."""

import gi

gi.require_version("Gst", "1.0")
gi.require_version("Gtk", "4.0")
from gi.repository import Gst, Gtk  # noqa: E402

Gst.init(None)
pipeline = Gst.parse_launch(
    "videotestsrc is-live=true ! video/x-raw,width=1280,height=720 ! pipsink name=anna "
    "videotestsrc is-live=true pattern=ball ! video/x-raw,width=1280,height=720 ! pipsink name=ben "
    "audiotestsrc is-live=true ! volume name=sound ! audioconvert ! autoaudiosink"
)
anna, ben, sound = (pipeline.get_by_name(name) for name in ("anna", "ben", "sound"))


def open_call(application):
    window = Gtk.ApplicationWindow(application=application, title="Call", default_width=800, default_height=400)
    grid = Gtk.Grid(column_homogeneous=True)
    # This is all that is needed to show a stream in the window.
    pictures = [Gtk.Picture.new_for_paintable(stream.props.paintable) for stream in (anna, ben)]
    pip, mute = Gtk.Button(label="Picture in picture"), Gtk.ToggleButton(label="Mute")
    camera = Gtk.ToggleButton(label="Camera off")
    for column, picture in enumerate(pictures):
        picture.set_vexpand(True)
        grid.attach(picture, 3 * column, 0, 3, 1)
    for column, button in enumerate((pip, mute, camera)):
        grid.attach(button, 2 * column, 1, 2, 1)
    window.set_child(grid)
    pip.connect("clicked", lambda _: anna.emit("toggle-pip"))
    anna.bind_property("muted", sound, "mute")
    mute.bind_property("active", anna, "muted")
    camera.bind_property("active", anna, "camera-off")
    bus = pipeline.get_bus()
    bus.add_signal_watch()
    # This presents the window when the user goes back to the app from picture-in-picture.
    bus.connect("message::element", lambda _, message: message.has_name("restore-user-interface") and window.present())
    bus.connect("message::error", lambda _, message: (print(message.parse_error()[0].message), application.quit()))
    window.present()
    pipeline.set_state(Gst.State.PLAYING)


application = Gtk.Application(application_id="org.pipsink.Call")
application.connect("activate", open_call)
application.run()
pipeline.set_state(Gst.State.NULL)
