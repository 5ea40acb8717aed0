"""Sends calls to a session without waiting for their answers, and ends when all of them are answered.

The argument is the number of calls. The program prints how often each kind of answer came.
"""

import sys
from collections import Counter

from gi.repository import Gio, GLib

SESSION = ("org.pipsink.Session1", "/org/pipsink/Session1")
calls = [
    ("org.pipsink.Session1", "Enable", GLib.Variant("(s)", ("a",))),
    ("org.freedesktop.DBus.Properties", "GetAll", GLib.Variant("(s)", ("org.pipsink.Session1",))),
    ("org.pipsink.Session1", "Statistics", None),
    ("org.pipsink.Session1", "SetSource", GLib.Variant("(s)", ("nobody",))),
    ("org.pipsink.Session1", "Stop", None),
    ("org.pipsink.Session1", "Init", None),
    ("org.pipsink.Session1", "Uninit", None),
]
count = int(sys.argv[1])
answers = Counter()
loop = GLib.MainLoop()


def answered(connection, result):
    try:
        connection.call_finish(result)
        answers["done"] += 1
    except GLib.Error as error:
        answers[Gio.DBusError.get_remote_error(error) or error.message] += 1
    if answers.total() == count:
        loop.quit()


bus = Gio.bus_get_sync(Gio.BusType.SESSION)
for number in range(count):
    bus.call(*SESSION, *calls[number % len(calls)], None, 0, -1, None, answered)
loop.run()
for answer, times in answers.items():
    print(answer, times)
