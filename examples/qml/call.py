#!/usr/bin/python3
"""A call in a Qt Quick window, on X11 and on Wayland: call.qml has two items in whose places the streams are shown."""

import gi
from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication, QWindow
from PySide6.QtQml import QQmlApplicationEngine
from PySide6.QtQuick import QQuickItem

gi.require_versions({"Gst": "1.0", "GstVideo": "1.0"})
from gi.repository import Gst, GstVideo  # noqa: E402, F401

Gst.init(None)
pipeline = Gst.parse_launch(
    "videotestsrc is-live=true ! video/x-raw,width=1280,height=720 ! pipsink name=anna "
    "videotestsrc is-live=true pattern=ball ! pipsink name=ben "
    "audiotestsrc is-live=true ! volume name=sound ! audioconvert ! autoaudiosink"
)
anna, ben, sound = (pipeline.get_by_name(name) for name in ("anna", "ben", "sound"))
application = QGuiApplication([])
engine = QQmlApplicationEngine(__file__[:-2] + "qml")
window, bus = engine.rootObjects()[0], pipeline.get_bus()
places = {stream: window.findChild(QQuickItem, stream.name) for stream in (anna, ben)}
windows = {stream: QWindow(window) for stream in places} if application.platformName() == "xcb" else {}


def show(stream, place):
    """Shows a stream in the place of an item."""
    corner, size = place.mapToScene(place.boundingRect().topLeft()).toPoint(), place.size().toSize()
    if child := windows.get(stream):
        child.setGeometry(corner.x(), corner.y(), size.width(), size.height())
        child.show()
        stream.set_window_handle(child.winId())
    else:
        frame = window.frameMargins()
        stream.props.wayland_display = application.nativeInterface().display()
        stream.set_window_handle(window.winId())
        stream.set_render_rectangle(corner.x() + frame.left(), corner.y() + frame.top(), size.width(), size.height())


def look_at_messages():
    while message := bus.pop_filtered(Gst.MessageType.ELEMENT):
        if message.has_name("draw-window"):
            window.update()
        elif message.has_name("restore-user-interface"):
            window.requestActivate()


anna.bind_property("muted", sound, "mute")
window.closed.connect(lambda: pipeline.set_state(Gst.State.NULL))
window.pictureInPictureToggled.connect(lambda: anna.emit("toggle-pip"))
window.muteToggled.connect(lambda is_on: anna.set_property("muted", is_on))
window.cameraToggled.connect(lambda is_off: anna.set_property("camera-off", is_off))
for stream, place in places.items():
    for change in (place.xChanged, place.widthChanged, place.heightChanged):
        change.connect(lambda stream=stream, place=place: show(stream, place))
    show(stream, place)
QTimer(window, interval=20, timeout=look_at_messages).start()
pipeline.set_state(Gst.State.PLAYING)
application.exec()
