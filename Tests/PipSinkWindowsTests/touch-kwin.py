"""Fingers on the screen of KWin, through its protocol for tests (org_kde_kwin_fake_input).

Each line of the file that is the argument, such as a FIFO, is a command: "down FINGER X Y", "move FINGER X Y", "up FINGER"
or "cancel". The program prints the number of commands that KWin has carried out. At the end of the file the touch screen
is gone.
"""

import os
import socket
import struct
import sys

server = socket.socket(socket.AF_UNIX)
server.connect(os.path.join(os.environ["XDG_RUNTIME_DIR"], os.environ["WAYLAND_DISPLAY"]))
REGISTRY, CALLBACK, INPUT = 2, 3, 4
data = b""


def send(number, request, *arguments):
    body = b""
    for argument in arguments:
        if isinstance(argument, str):
            text = argument.encode() + b"\0"
            body += struct.pack("=I", len(text)) + text + bytes(-len(text) % 4)
        elif isinstance(argument, float):
            body += struct.pack("=i", round(argument * 256))
        else:
            body += struct.pack("=I", argument)
    server.sendall(struct.pack("=IHH", number, request, 8 + len(body)) + body)


def read():
    global data
    while len(data) < 8 or len(data) < struct.unpack("=HH", data[4:8])[1]:
        part = server.recv(4096)
        if not part:
            sys.exit("KWin has closed the connection")
        data += part
    number, event, size = struct.unpack("=IHH", data[:8])
    body, data = data[8:size], data[size:]
    if number == 1 and event == 0:
        sys.exit(f"KWin refuses: {body}")
    return number, event, body


def synchronize():
    """Waits until KWin has carried out everything, and returns the globals that it has told."""
    send(1, 0, CALLBACK)
    found = {}
    while True:
        number, event, body = read()
        # The number of the callback may be used again.
        if number == 1 and event == 1:
            return found
        if number == REGISTRY and event == 0:
            name, size = struct.unpack("=II", body[:8])
            interface = body[8 : 8 + size - 1].decode()
            found[interface] = (name, struct.unpack("=I", body[-4:])[0])


send(1, 1, REGISTRY)
found = synchronize()
name, version = found.get("org_kde_kwin_fake_input") or sys.exit("KWin has no org_kde_kwin_fake_input")
send(REGISTRY, 0, name, "org_kde_kwin_fake_input", min(version, 4), INPUT)
send(INPUT, 0, "touch-kwin", "a test")
synchronize()
for count, line in enumerate(open(sys.argv[1]), 1):
    command, *numbers = line.split()
    if command in ("down", "move"):
        send(INPUT, 4 if command == "down" else 5, int(numbers[0]), float(numbers[1]), float(numbers[2]))
    elif command == "up":
        send(INPUT, 6, int(numbers[0]))
    else:
        send(INPUT, 7)
    send(INPUT, 8)
    synchronize()
    print(f"{count} done", flush=True)
