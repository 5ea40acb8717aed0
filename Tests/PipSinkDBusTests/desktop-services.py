"""Stands in for what a desktop has on its buses, and prints what it is asked for.

The arguments are the services: "screensaver" (org.freedesktop.ScreenSaver), "portal" (org.freedesktop.portal.Desktop)
and "logind" (org.freedesktop.login1, with one session, whose lock SetLockedHint changes, and a machine that Suspend has
sleep for no time). All are on the session bus.
"""

import sys

from gi.repository import Gio, GLib

SERVICES = {
    "screensaver": "org.freedesktop.ScreenSaver",
    "portal": "org.freedesktop.portal.Desktop",
    "logind": "org.freedesktop.login1",
}
SESSION = "/org/freedesktop/login1/session/_31"
REQUEST = "/org/freedesktop/portal/desktop/request/1"
NODE = Gio.DBusNodeInfo.new_for_xml(
    """
<node>
  <interface name="org.freedesktop.ScreenSaver">
    <method name="Inhibit"><arg type="s" direction="in"/><arg type="s" direction="in"/>
      <arg type="u" direction="out"/></method>
    <method name="UnInhibit"><arg type="u" direction="in"/></method>
  </interface>
  <interface name="org.freedesktop.portal.Inhibit">
    <method name="Inhibit"><arg type="s" direction="in"/><arg type="u" direction="in"/>
      <arg type="a{sv}" direction="in"/><arg type="o" direction="out"/></method>
  </interface>
  <interface name="org.freedesktop.portal.Request"><method name="Close"/></interface>
  <interface name="org.freedesktop.login1.Manager">
    <method name="GetSession"><arg type="s" direction="in"/><arg type="o" direction="out"/></method>
    <method name="Suspend"><arg type="b" direction="in"/></method>
    <method name="GetSessionByPID"><arg type="u" direction="in"/><arg type="o" direction="out"/></method>
  </interface>
  <interface name="org.freedesktop.login1.Session">
    <method name="SetLockedHint"><arg type="b" direction="in"/></method>
    <property name="LockedHint" type="b" access="read"/>
  </interface>
</node>
"""
)
bus = Gio.bus_get_sync(Gio.BusType.SESSION)
is_locked = False
cookie = 0


def call(connection, sender, path, interface, method, arguments, invocation):
    global is_locked, cookie
    values = arguments.unpack()
    print(method, *[v for v in values if not isinstance(v, dict)], sep=" | ", flush=True)
    if method == "Inhibit" and interface == "org.freedesktop.ScreenSaver":
        cookie += 1
        # A screen saver ends what a program has asked for when the program leaves the bus.
        vanished = lambda connection, name: print("vanished", flush=True)
        Gio.bus_watch_name_on_connection(bus, sender, Gio.BusNameWatcherFlags.NONE, None, vanished)
        invocation.return_value(GLib.Variant("(u)", (cookie,)))
    elif method == "Inhibit":
        invocation.return_value(GLib.Variant("(o)", (REQUEST,)))
    elif method == "GetSession" and values[0] != "1":
        invocation.return_dbus_error("org.freedesktop.login1.NoSuchSession", "there is no such session")
    elif method in ("GetSession", "GetSessionByPID"):
        invocation.return_value(GLib.Variant("(o)", (SESSION,)))
    else:
        if method == "SetLockedHint":
            is_locked = values[0]
            changed = GLib.Variant("(sa{sv}as)", (interface, {"LockedHint": GLib.Variant("b", is_locked)}, []))
            bus.emit_signal(None, SESSION, "org.freedesktop.DBus.Properties", "PropertiesChanged", changed)
        if method == "Suspend":
            for sleeps in (True, False):
                bus.emit_signal(None, path, interface, "PrepareForSleep", GLib.Variant("(b)", (sleeps,)))
        invocation.return_value(None)


def get(connection, sender, path, interface, name):
    return GLib.Variant("b", is_locked)


PATHS = {
    "org.freedesktop.ScreenSaver": "/org/freedesktop/ScreenSaver",
    "org.freedesktop.portal.Inhibit": "/org/freedesktop/portal/desktop",
    "org.freedesktop.portal.Request": REQUEST,
    "org.freedesktop.login1.Manager": "/org/freedesktop/login1",
    "org.freedesktop.login1.Session": SESSION,
}
for interface in NODE.interfaces:
    bus.register_object(PATHS[interface.name], interface, call, get, None)
for service in sys.argv[1:]:
    bus.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName",
                  GLib.Variant("(su)", (SERVICES[service], 4)), None, 0, -1, None)
print("ready", flush=True)
GLib.MainLoop().run()
