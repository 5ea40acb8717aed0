"""A player that consists of playbin with pipsink. It checks the picture after every seek and every change of the track.

The arguments are a folder for the films, and the X display whose screen shows the window. The colour of a frame encodes
its film and its number. The program prints each part that has passed, and "done" at the end. When a picture is wrong,
an error is posted or nothing arrives in time, the program prints the fault and ends with exit status 1.
"""

import os
import random
import subprocess
import sys
import time

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstVideo  # noqa: E402

Gst.init(None)
folder, screen = sys.argv[1:3]
FRAME = Gst.SECOND // 10
COUNT = 160
PATIENCE = 30


def fail(text):
    print("FAILED:", text, flush=True)
    os._exit(1)


def color(film, frame):
    return 32 + 64 * film, frame % 10 * 24 + 12, frame // 10 * 15 + 8


def read(red, green, blue):
    """The film and the frame that a colour encodes; None when it encodes none."""
    found = round((red - 32) / 64), round((green - 12) / 24) + 10 * round((blue - 8) / 15)
    if not (0 <= found[0] < 4 and 0 <= found[1] < COUNT):
        return None
    return found if max(abs(a - b) for a, b in zip(color(*found), (red, green, blue))) <= 7 else None


def make_film(film):
    path = f"{folder}/{film}.mkv"
    pipeline = Gst.parse_launch(
        "appsrc name=source format=time caps=video/x-raw,format=RGB,width=64,height=48,framerate=10/1 "
        f"! videoconvert ! jpegenc quality=100 ! queue ! matroskamux name=mux ! filesink location={path} "
        f"audiotestsrc num-buffers={COUNT // 10 * 8} samplesperbuffer=1000 ! audio/x-raw,rate=8000 ! queue ! mux."
    )
    source = pipeline.get_by_name("source")
    pipeline.set_state(Gst.State.PLAYING)
    for frame in range(COUNT):
        buffer = Gst.Buffer.new_wrapped(bytes(color(film, frame)) * (64 * 48))
        buffer.pts, buffer.duration = frame * FRAME, FRAME
        source.emit("push-buffer", buffer)
    source.emit("end-of-stream")
    message = pipeline.get_bus().timed_pop_filtered(
        PATIENCE * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR
    )
    if not message or message.type != Gst.MessageType.EOS:
        fail(f"the film was not written: {message and message.parse_error()}")
    pipeline.set_state(Gst.State.NULL)
    return Gst.filename_to_uri(path)


films = [make_film(film) for film in range(4)]
player = Gst.ElementFactory.make("playbin")
sink = Gst.ElementFactory.make("pipsink")
player.props.video_sink = sink
player.props.audio_sink = Gst.parse_bin_from_description("fakesink sync=true", True)
bus = player.get_bus()


def look_for_errors():
    message = bus.timed_pop_filtered(0, Gst.MessageType.ERROR | Gst.MessageType.WARNING)
    if message:
        is_error = message.type == Gst.MessageType.ERROR
        fail(f"{message.parse_error() if is_error else message.parse_warning()}")


def eventually(condition, text):
    """Waits until a condition holds. `text` returns the message for a failure."""
    end = time.monotonic() + PATIENCE
    while not condition():
        look_for_errors()
        if time.monotonic() > end:
            fail(text())
        time.sleep(0.005)


def go(state):
    player.set_state(state)
    settle()


def settle():
    if player.get_state(PATIENCE * Gst.SECOND)[0] != Gst.StateChangeReturn.SUCCESS:
        look_for_errors()
        fail("the state was not reached")


def last():
    """The film and the frame of the sink's last sample."""
    sample = sink.props.last_sample
    if not sample:
        return None
    picture = GstVideo.video_convert_sample(sample, Gst.Caps.from_string("video/x-raw,format=RGB"), 5 * Gst.SECOND)
    found = read(*picture.get_buffer().extract_dup(0, 3))
    if found and sample.get_buffer().pts // FRAME != found[1]:
        fail(f"frame {found} has the time of another: {sample.get_buffer().pts}")
    return found


def points():
    """The colours of points on the screen, which are 16 pixels apart."""
    command = ["import", "-display", screen, "-window", "root", "-depth", "8", "ppm:-"]
    kind, size, _, pixels = subprocess.run(command, capture_output=True, check=True).stdout.split(b"\n", 3)
    width, height = map(int, size.split())
    for start in range(0, width * height, 16 * width):
        for point in range(3 * start, 3 * (start + width), 48):
            yield tuple(pixels[point : point + 3])


def seen():
    """The films and frames that the screen shows, each with the number of points that show it."""
    found = {}
    for point in points():
        key = read(*point)
        if key:
            found[key] = found.get(key, 0) + 1
    return found


def gray_count():
    """The number of points on the screen that are grey and not black."""
    return sum(1 for point in points() if max(point) - min(point) <= 2 and min(point) > 40)


def iterate(iterator):
    while True:
        result, element = iterator.next()
        if result != Gst.IteratorResult.OK:
            return
        yield element


def expect(film, frame, on_screen=False):
    if last() != (film, frame):
        fail(f"the last sample is {last()} and not {(film, frame)}")
    if on_screen:
        eventually(lambda: seen().get((film, frame), 0) > 400, lambda: f"{(film, frame)} is not on the screen: {seen()}")


def seek(frame, rate=1.0, flags=Gst.SeekFlags.FLUSH | Gst.SeekFlags.ACCURATE, stop=None):
    kind = Gst.SeekType.NONE if stop is None else Gst.SeekType.SET
    start = (Gst.SeekType.SET, frame * FRAME) if rate > 0 else (Gst.SeekType.SET, 0)
    if rate < 0:
        kind, stop = Gst.SeekType.SET, frame
    if not player.seek(rate, Gst.Format.TIME, flags, *start, kind, (stop or 0) * FRAME):
        fail(f"the seek to {frame} was refused")
    settle()


choice = random.Random(20)
player.props.uri = films[0]
go(Gst.State.PAUSED)
expect(0, 0, on_screen=True)

for number in range(100):
    target = choice.randrange(COUNT - 40)
    if number % 20 == 10:
        go(Gst.State.PLAYING)
    if number % 20 == 0:
        go(Gst.State.PAUSED)
    seek(target)
    if number % 20 < 10:
        expect(0, target, on_screen=number % 20 == 5)
    else:
        eventually(lambda: last() and 0 <= last()[1] - target < 40, lambda: f"plays {last()} and not from {target} on")
print("100 seeks", flush=True)

go(Gst.State.PAUSED)
for number in range(1, 21):
    go(Gst.State.READY)
    player.props.uri = films[number % 4]
    go(Gst.State.PAUSED)
    expect(number % 4, 0, on_screen=number % 5 == 0)
    if number % 2:
        go(Gst.State.PLAYING)
        eventually(lambda: last() and last()[1] > 0, lambda: "it does not play")
print("20 tracks", flush=True)

# The player steps frame by frame.
go(Gst.State.PAUSED)
seek(20)
for frame in range(21, 41):
    sink.send_event(Gst.Event.new_step(Gst.Format.BUFFERS, 1, 1.0, True, False))
    if not bus.timed_pop_filtered(PATIENCE * Gst.SECOND, Gst.MessageType.STEP_DONE):
        fail("the step did not end")
    settle()
    expect(0, frame, on_screen=frame == 40)
print("20 steps", flush=True)

# The player plays faster, then backwards, and then changes its rate instantly.
seek(20, rate=2.0)
go(Gst.State.PLAYING)
eventually(lambda: last()[1] > 40, lambda: "it does not play faster")
seek(100, rate=-1.0)
eventually(lambda: 50 < last()[1] < 95, lambda: "it does not play backwards")
seek(20)
instant = Gst.SeekFlags.INSTANT_RATE_CHANGE
if not player.seek(3.0, Gst.Format.TIME, instant, Gst.SeekType.NONE, 0, Gst.SeekType.NONE, 0):
    fail("the instant change of the rate was refused")
eventually(lambda: last()[1] > 70, lambda: "it does not play at another rate")
print("rates", flush=True)

# playbin uses the sink's colour balance, and needs no element in front of the sink for it.
go(Gst.State.PAUSED)
if any(type(element).__name__ == "GstVideoBalance" for element in iterate(player.iterate_recurse())):
    fail("playbin changes the colours by itself")
channel = next(c for c in GstVideo.ColorBalance.list_channels(player) if c.label == "SATURATION")
GstVideo.ColorBalance.set_value(player, channel, channel.min_value)
# playbin rounds towards zero.
if sink.props.saturation > -999:
    fail(f"the sink's saturation is {sink.props.saturation}")
eventually(lambda: gray_count() > 400, lambda: "there is no grey on the screen")
print("colours", flush=True)

go(Gst.State.NULL)
print("done", flush=True)
