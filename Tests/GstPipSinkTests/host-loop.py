"""Plays a stream in picture-in-picture until the user closes the window, in a program that runs a main loop.

The argument names the loop: "glib", "gtk3", "gtk4", "qt6" or "sdl2". Programs with a toolkit also open their own
window. The program prints "done" at the end.
"""

import ctypes
import sys
import threading

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

kind = sys.argv[1]
is_over = threading.Event()


def run_glib():
    loop = GLib.MainLoop()
    GLib.timeout_add(20, lambda: loop.quit() if is_over.is_set() else True)
    loop.run()


def run_gtk(version):
    gi.require_version("Gtk", version)
    from gi.repository import Gtk

    Gtk.init(None) if version == "3.0" else Gtk.init()
    window = Gtk.Window(title="Host")
    window.set_default_size(200, 150)
    window.show()
    run_glib()


def run_qt():
    from PyQt6.QtCore import QTimer
    from PyQt6.QtWidgets import QApplication, QWidget

    application = QApplication(sys.argv)
    window = QWidget()
    window.setWindowTitle("Host")
    window.show()
    timer = QTimer()
    timer.timeout.connect(lambda: application.quit() if is_over.is_set() else None)
    timer.start(20)
    application.exec()


def run_sdl():
    sdl = ctypes.CDLL("libSDL2-2.0.so.0")
    sdl.SDL_CreateWindow.restype = ctypes.c_void_p
    # 0x20 is SDL_INIT_VIDEO. The window may be anywhere.
    assert sdl.SDL_Init(0x20) == 0
    assert sdl.SDL_CreateWindow(b"Host", 0, 0, 200, 150, 0)
    event = ctypes.create_string_buffer(64)
    while not is_over.is_set():
        sdl.SDL_WaitEventTimeout(event, 20)
    # SDL_Quit is not called: in SDL 2.26 it sends an event to its own window on another connection, and the event may
    # arrive after the window's end.


loops = {
    "glib": run_glib,
    "gtk3": lambda: run_gtk("3.0"),
    "gtk4": lambda: run_gtk("4.0"),
    "qt6": run_qt,
    "sdl2": run_sdl,
}

Gst.init(None)
pipeline = Gst.parse_launch("videotestsrc pattern=red ! pipsink name=sink stream-id=a mode=pip")
pipeline.get_by_name("sink").connect("pip-did-stop", lambda *_: is_over.set())
pipeline.set_state(Gst.State.PLAYING)
loops[kind]()
pipeline.set_state(Gst.State.NULL)
print("done")
