"""Changes states, properties and picture-in-picture at random from three threads and from the main thread.

With the argument "loop" the main thread runs GTK's main loop, as a GTK app does. Without it there is no main loop.
"""

import random
import sys
import threading
import time

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

Gst.init(None)
if "loop" in sys.argv:
    gi.require_version("Gtk", "3.0")
    from gi.repository import Gtk  # noqa: E402

random.seed(7)
STATES = [Gst.State.NULL, Gst.State.READY, Gst.State.PAUSED, Gst.State.PLAYING, Gst.State.PLAYING]
names = ["one", "two", "three"]
pipelines = [Gst.parse_launch(f"videotestsrc ! pipsink name={name} session=call") for name in names]
sinks = [pipeline.get_by_name(name) for pipeline, name in zip(pipelines, names)]
for sink in sinks:
    # A handler may start picture-in-picture again.
    sink.connect("pip-did-stop", lambda sink, reason: random.random() < 0.3 and sink.emit("start-pip"))


def change(seed):
    choice = random.Random(seed)
    for _ in range(250):
        index = choice.randrange(3)
        kind = choice.randrange(6)
        if kind < 3:
            pipelines[index].set_state(choice.choice(STATES))
        elif kind == 3:
            sinks[index].emit(choice.choice(["start-pip", "stop-pip", "toggle-pip", "focus-pip"]))
        elif kind == 4:
            sinks[index].props.mode = choice.randrange(2)
        else:
            sinks[index].props.pip_stream_id = choice.choice([None] + names)
        time.sleep(choice.random() * 0.01)


threads = [threading.Thread(target=change, args=(seed,)) for seed in range(3)]
for thread in threads:
    thread.start()


def change_on_main_thread():
    random.choice(pipelines).set_state(random.choice(STATES))
    if any(thread.is_alive() for thread in threads):
        return True
    for pipeline in pipelines:
        pipeline.set_state(Gst.State.NULL)
    if "loop" in sys.argv:
        Gtk.main_quit()
    return False


if "loop" in sys.argv:
    GLib.timeout_add(5, change_on_main_thread)
    Gtk.main()
else:
    while change_on_main_thread():
        time.sleep(0.005)
print("done")
