#!/usr/bin/python3
"""A call in a Qt 6 window, on X11 and on Wayland: two streams, and buttons for picture-in-picture, sound and camera."""

import gi
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QGridLayout, QPushButton, QWidget

gi.require_versions({"Gst": "1.0", "GstVideo": "1.0"})
from gi.repository import Gst, GstVideo  # noqa: E402, F401

Gst.init(None)
pipeline = Gst.parse_launch(
    "videotestsrc is-live=true ! video/x-raw,width=1280,height=720 ! pipsink name=anna "
    "videotestsrc is-live=true pattern=ball ! pipsink name=ben "
    "audiotestsrc is-live=true ! volume name=sound ! audioconvert ! autoaudiosink"
)
anna, ben, sound = (pipeline.get_by_name(name) for name in ("anna", "ben", "sound"))
application = QApplication([])
window, bus = QWidget(windowTitle="Call"), pipeline.get_bus()
window.resize(800, 400)


def show(stream, area):
    """Shows a stream in an X11 window of the area, or on Wayland in the area's place in the window's surface."""
    if application.platformName() == "wayland":
        frame = window.windowHandle().frameMargins()
        stream.props.wayland_display = application.nativeInterface().display()
        stream.set_window_handle(window.winId())
        stream.set_render_rectangle(area.x() + frame.left(), area.y() + frame.top(), area.width(), area.height())
    else:
        stream.set_window_handle(area.winId())


def look_at_messages():
    while message := bus.pop_filtered(Gst.MessageType.ELEMENT):
        if message.has_name("draw-window"):
            window.update()
        elif message.has_name("restore-user-interface"):
            window.activateWindow()


grid = QGridLayout(window, spacing=0)
grid.setContentsMargins(0, 0, 0, 0)
buttons = [QPushButton("Picture in picture"), QPushButton("Mute", checkable=True), QPushButton("Camera off", checkable=True)]
areas = [QWidget(minimumHeight=100, updatesEnabled=False) for _ in (anna, ben)]
for parts, row, width in ((areas, 0, 3), (buttons, 1, 2)):
    for index, part in enumerate(parts):
        grid.addWidget(part, row, index * width, 1, width)
buttons[0].clicked.connect(lambda: anna.emit("toggle-pip"))
buttons[1].toggled.connect(lambda is_on: anna.set_property("muted", is_on))
buttons[2].toggled.connect(lambda is_on: anna.set_property("camera-off", is_on))
anna.bind_property("muted", sound, "mute")
for stream, area in zip((anna, ben), areas):
    area.resizeEvent = lambda _, stream=stream, area=area: show(stream, area)
window.closeEvent = lambda _: pipeline.set_state(Gst.State.NULL)
QTimer(window, interval=20, timeout=look_at_messages).start()
window.show()
pipeline.set_state(Gst.State.PLAYING)
application.exec()
