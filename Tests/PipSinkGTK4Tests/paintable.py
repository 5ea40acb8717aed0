"""Programs with and without GTK 4 that ask the element for its paintable.

The first argument is the name of the function that runs. The program prints "done" at the end.
"""

import gc
import os
import subprocess
import sys
import time

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, GObject, Gst  # noqa: E402

Gst.init(None)
context = GLib.MainContext.default()


def wait(condition, seconds=30):
    """Runs the main loop until `condition` holds."""
    is_over = []
    GLib.timeout_add(int(seconds * 1000), lambda: is_over.append(True))
    GLib.timeout_add(10, lambda: not is_over)
    while not condition():
        if is_over:
            sys.exit(f"{sys._getframe(1).f_lineno}: it did not happen within {seconds} s")
        context.iteration(True)
    is_over.append(True)


def gtk():
    gi.require_version("Gtk", "4.0")
    from gi.repository import Gtk

    Gtk.init()
    return Gtk


def window_for(paintable, size=(640, 360)):
    window = gtk().Window(title="Paintable", decorated=False, default_width=size[0], default_height=size[1])
    picture = gtk().Picture.new_for_paintable(paintable)
    window.set_child(picture)
    window.present()
    return window, picture


def received(sink):
    return sink.props.stats.get_uint64("received").value


class Contents:
    """Counts how often a paintable has announced a new picture."""

    def __init__(self, paintable):
        self.count = 0
        self.handler = paintable.connect("invalidate-contents", self.note)

    def note(self, paintable):
        self.count += 1


def without_gtk():
    pipeline = Gst.parse_launch("videotestsrc ! pipsink name=sink surface=offscreen")
    sink = pipeline.get_by_name("sink")
    assert sink.props.paintable is None
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(30 * Gst.SECOND, Gst.MessageType.WARNING | Gst.MessageType.ERROR)
    warning = message.parse_warning()
    print(warning[0].message, warning[1])
    wait(lambda: received(sink) > 5)
    assert sink.props.paintable is None
    message = pipeline.get_bus().timed_pop_filtered(30 * Gst.SECOND, Gst.MessageType.WARNING)
    assert message, "the element did not warn at once while it plays"
    # A program that loads GTK later gets the paintable later.
    gtk()
    assert sink.props.paintable is not None
    pipeline.set_state(Gst.State.NULL)


def show():
    """Shows a stream in a window until the user closes it. The further arguments are DESCRIPTION WIDTH HEIGHT."""
    gtk()
    pipeline = Gst.parse_launch(sys.argv[2] + " ! pipsink name=sink stream-id=a")
    sink = pipeline.get_by_name("sink")
    window, _ = window_for(sink.props.paintable, (int(sys.argv[3]), int(sys.argv[4])))
    is_closed = []
    window.connect("close-request", lambda _: is_closed.append(True))
    pipeline.set_state(Gst.State.PLAYING)
    wait(lambda: is_closed, 300)
    pipeline.set_state(Gst.State.NULL)


def sizes():
    """Checks that the paintable has the stream's size and aspect ratio, and follows their changes."""
    gtk()
    pipeline = Gst.parse_launch(
        "videotestsrc ! capsfilter name=caps caps=video/x-raw,width=720,height=576,pixel-aspect-ratio=16/15,framerate=30/1 "
        "! taginject name=tags ! pipsink name=sink"
    )
    paintable = pipeline.get_by_name("sink").props.paintable
    assert (paintable.get_intrinsic_width(), paintable.get_intrinsic_aspect_ratio()) == (0, 0)
    changes = []
    paintable.connect("invalidate-size", lambda paintable: changes.append(paintable.get_intrinsic_width()))
    window, picture = window_for(paintable, (64, 64))
    pipeline.set_state(Gst.State.PLAYING)

    def is_shown(width, height):
        wait(lambda: changes[-1:] == [width])
        assert paintable.get_intrinsic_height() == height
        assert abs(paintable.get_intrinsic_aspect_ratio() - width / height) < 1e-6

    is_shown(768, 576)
    pipeline.get_by_name("caps").props.caps = Gst.Caps.from_string("video/x-raw,width=320,height=180,framerate=30/1")
    is_shown(320, 180)
    pipeline.get_by_name("sink").props.video_direction = 1
    is_shown(180, 320)
    still = paintable.get_current_image()
    assert (still.get_intrinsic_width(), still.get_intrinsic_height()) == (180, 320)
    assert len(changes) == 3, changes
    pipeline.set_state(Gst.State.NULL)


def hidden():
    """Checks that a hidden picture is not drawn, and that a picture in several widgets is drawn once."""
    gtk()
    pipeline = Gst.parse_launch("videotestsrc ! video/x-raw,width=320,height=180,framerate=60/1 ! pipsink name=sink")
    sink = pipeline.get_by_name("sink")
    paintable = sink.props.paintable
    contents = Contents(paintable)
    pipeline.set_state(Gst.State.PLAYING)

    def stands_still():
        """Checks that at most one more picture comes, which was already in flight."""
        (frames, pictures) = (received(sink), contents.count)
        wait(lambda: received(sink) > frames + 60)
        assert contents.count <= pictures + 1, f"{contents.count - pictures} pictures"

    wait(lambda: received(sink) > 0)
    stands_still()
    window, picture = window_for(paintable)
    wait(lambda: contents.count > 30)
    window.set_visible(False)
    stands_still()
    window.set_visible(True)
    before = contents.count
    wait(lambda: contents.count > before + 30)
    stack = gtk().Stack()
    window.set_child(stack)
    stack.add_named(picture, "picture")
    stack.add_named(gtk().Label(label="Something else"), "label")
    stack.set_visible_child_name("label")
    stands_still()
    stack.set_visible_child_name("picture")
    before = contents.count
    wait(lambda: contents.count > before + 30)
    other, _ = window_for(paintable, (200, 100))
    (frames, before) = (received(sink), contents.count)
    wait(lambda: received(sink) > frames + 60)
    assert 10 < contents.count - before <= received(sink) - frames + 2, contents.count - before
    # A stream that is paused does not draw again.
    pipeline.set_state(Gst.State.PAUSED)
    pipeline.get_state(Gst.CLOCK_TIME_NONE)
    wait(lambda: not context.pending())

    def rests():
        """Whether no picture comes within half a second. Those that were in flight come first."""
        (before, is_over) = (contents.count, [])
        GLib.timeout_add(500, lambda: is_over.append(True))
        wait(lambda: is_over)
        return contents.count == before

    assert any(rests() for _ in range(20)), "it draws again and again"
    pipeline.set_state(Gst.State.NULL)


def pixels(step=1):
    """Every `step`th pixel of the screen, after GTK has had the time to draw."""
    for _ in range(100):
        context.iteration(False)
    command = ["import", "-window", "root", "-depth", "8", "rgb:-"]
    screen = subprocess.run(command, capture_output=True, check=True).stdout
    return zip(screen[0 :: 3 * step], screen[1 :: 3 * step], screen[2 :: 3 * step])


def count(*colour, step=1):
    """How many pixels of the screen have a colour, as red, green and blue."""
    return sum(all(abs(value - wanted) < 6 for value, wanted in zip(pixel, colour)) for pixel in pixels(step))


def shows(*colour):
    """Whether a colour fills a part of the screen."""
    return count(*colour, step=21) > 500


def text():
    """How many pixels of the screen the bright text of a placeholder has."""
    return sum(min(pixel) > 120 for pixel in pixels())


def still():
    """Checks the picture of a stream that stands still: a skipped frame is drawn, and a removed one is not."""
    gtk()
    pipeline = Gst.parse_launch(
        "appsrc name=source format=time is-live=true caps=video/x-raw,format=BGRx,width=64,height=64,framerate=0/1 "
        "! pipsink name=sink sync=false"
    )
    (source, sink) = (pipeline.get_by_name("source"), pipeline.get_by_name("sink"))
    window, picture = window_for(sink.props.paintable, (200, 200))
    picture.set_content_fit(gtk().ContentFit.FILL)
    contents = Contents(sink.props.paintable)
    pipeline.set_state(Gst.State.PLAYING)

    def push(red, green, blue):
        count = received(sink)
        source.emit("push-buffer", Gst.Buffer.new_wrapped(bytes([blue, green, red, 255]) * 64 * 64))
        while received(sink) == count:
            time.sleep(0.01)

    push(255, 0, 0)
    wait(lambda: shows(255, 0, 0))
    # GTK draws nothing meanwhile, so that the first of these frames waits to be drawn when the second one comes.
    for values in ((0, 255, 0), (0, 0, 255)):
        push(*values)
        time.sleep(0.2)
    wait(lambda: shows(0, 0, 255))
    # A window that grows in one direction only gets a picture of its size.
    for size in ((200, 400), (400, 400)):
        before = contents.count
        window.set_default_size(*size)
        wait(lambda: contents.count > before)
    window.set_default_size(200, 200)
    # The placeholder is grey.
    sink.props.camera_off = True
    wait(lambda: shows(28, 28, 28))
    # The text is not scaled with the window: there is as much of it as before.
    (before, grey) = (text(), count(28, 28, 28))
    window.set_default_size(300, 400)
    wait(lambda: count(28, 28, 28) > 2 * grey)
    assert 0 < text() < 1.5 * before, (before, text())
    window.set_default_size(200, 200)
    wait(lambda: count(28, 28, 28) < 1.5 * grey)
    sink.props.camera_off = False
    wait(lambda: not shows(28, 28, 28))
    assert not shows(0, 0, 255)
    push(255, 0, 0)
    wait(lambda: shows(255, 0, 0))
    pipeline.set_state(Gst.State.NULL)


def threads():
    return len(os.listdir("/proc/self/task"))


def lifetimes():
    """Checks that the element and the paintable outlive each other, and that nothing is left of both at the end."""
    gtk()
    gone = []

    def run(order):
        pipeline = Gst.parse_launch("videotestsrc ! video/x-raw,width=320,height=180 ! pipsink name=sink")
        sink = pipeline.get_by_name("sink")
        paintable = sink.props.paintable
        assert paintable == sink.props.paintable
        contents = Contents(paintable)
        paintable.weak_ref(lambda: gone.append("paintable"))
        window, picture = window_for(paintable)
        pipeline.set_state(Gst.State.PLAYING)
        wait(lambda: contents.count > 5)
        if order == "element first":
            pipeline.set_state(Gst.State.NULL)
            del pipeline, sink
            gc.collect()
            before = contents.count
            picture.queue_draw()
            assert paintable.get_intrinsic_width() == 320
            assert paintable.get_current_image() is not None
        paintable.disconnect(contents.handler)
        window.destroy()
        del window, picture, contents
        if order == "paintable first":
            del paintable
            gc.collect()
            frames = received(sink)
            wait(lambda: received(sink) > frames + 10)
            # The element owns the paintable, and a program that asks for it again gets it.
            paintable = sink.props.paintable
            contents = Contents(paintable)
            window, _ = window_for(paintable)
            wait(lambda: contents.count > 5)
            paintable.disconnect(contents.handler)
            window.destroy()
            del window, contents, _
            pipeline.set_state(Gst.State.NULL)
            del pipeline, sink
        elif order == "while it plays":
            # A program in a hurry stops the element while it plays, and drops it at once.
            pipeline.set_state(Gst.State.NULL)
            del pipeline, sink
        del paintable
        gc.collect()

    counts = []
    for round in range(6):
        for order in ("element first", "paintable first", "while it plays"):
            before = len(gone)
            run(order)
            wait(lambda: gc.collect() is not None and len(gone) == before + 1)
        wait(lambda: not context.pending())
        counts.append(threads())
    wait(lambda: threads() <= counts[0])


def looked_at():
    """Reads all properties, as tools do, after which the stream must still be shown in the element's own window."""
    gtk()
    pipeline = Gst.parse_launch("videotestsrc pattern=red ! pipsink name=sink")
    sink = pipeline.get_by_name("sink")
    Gst.debug_bin_to_dot_data(pipeline, Gst.DebugGraphDetails.ALL)
    sink.get_property("paintable")
    gc.collect()
    pipeline.set_state(Gst.State.PLAYING)
    print("playing", flush=True)
    wait(lambda: False, 120)


globals()[sys.argv[1]]()
print("done")
