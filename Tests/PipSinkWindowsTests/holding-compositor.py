"""A Wayland compositor that shows nothing. It asks for the next picture at once, and reads all pictures until it may not.

The arguments are the path of its socket, the path of a file, and the number of a clock. When the file exists, it
releases all buffers. By the clock it says when pictures are on the screen: each at once, except for every third one,
which it says was never there. Further arguments are global objects that it has, too. It prints the size of each picture
in pixels, and the size at which it would show it.
"""

import array
import os
import select
import socket
import struct
import sys
import time

listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
print("ready", flush=True)
client, _ = listener.accept()
globals = ["wl_compositor", "wl_subcompositor", "wl_shm", "wp_presentation"] + sys.argv[4:]
clock = int(sys.argv[3])
kinds = {1: "wl_display"}
callbacks = []
questions = []
question_count = 0
pending = {}
sizes = {}
viewports = {}
destinations = {}
held = []
data = b""


def send(number, event, *arguments):
    body = b""
    for argument in arguments:
        if isinstance(argument, str):
            text = argument.encode() + b"\0"
            body += struct.pack("=I", len(text)) + text + bytes(-len(text) % 4)
        else:
            body += struct.pack("=I", argument)
    client.sendall(struct.pack("=IHH", number, event, 8 + len(body)) + body)


def answer(callback):
    send(callback, 0, 0)
    send(1, 1, callback)


def show():
    global question_count
    now = time.clock_gettime_ns(clock)
    while questions:
        question_count += 1
        question = questions.pop(0)
        if question_count % 3 == 0:
            send(question, 2)
        else:
            send(question, 1, 0, now // 10**9, now % 10**9, 16666667, 0, question_count, 0)
        send(1, 1, question)


def handle(number, request, body):
    words = struct.unpack(f"={len(body) // 4}I", body)
    call = (kinds.get(number), request)
    if call == ("wl_display", 0):
        answer(words[0])
    elif call == ("wl_display", 1):
        kinds[words[0]] = "wl_registry"
        for name, interface in enumerate(globals):
            send(words[0], 0, name, interface, 4 if interface == "wl_compositor" else 1)
    elif call == ("wl_registry", 0):
        kinds[words[-1]] = globals[words[0]]
        if globals[words[0]] == "wp_presentation":
            send(words[-1], 0, clock)
    elif call == ("wp_presentation", 1):
        questions.append(words[1])
    elif call == ("wl_compositor", 0):
        kinds[words[0]] = "wl_surface"
    elif call == ("wl_shm", 0):
        kinds[words[0]] = "wl_shm_pool"
    elif call == ("wl_shm_pool", 0):
        sizes[words[0]] = words[2:4]
    elif call == ("wp_viewporter", 1):
        kinds[words[0]] = "wp_viewport"
        viewports[words[0]] = words[1]
    elif call == ("wp_viewport", 2):
        destinations[viewports[number]] = words[0:2]
    elif call == ("wl_surface", 1):
        pending[number] = words[0]
    elif call == ("wl_surface", 3):
        callbacks.append(words[0])
    elif call == ("wl_surface", 6):
        buffer = pending.pop(number, 0)
        if buffer:
            width, height = sizes[buffer]
            shown = destinations.get(number, (width, height))
            print(f"{width}x{height} at {shown[0]}x{shown[1]}", flush=True)
        if buffer and buffer not in held:
            held.append(buffer)
        show()
        while callbacks:
            answer(callbacks.pop(0))


while True:
    if held and os.path.exists(sys.argv[2]):
        while held:
            send(held.pop(0), 0)
    if not select.select([client], [], [], 0.02)[0]:
        continue
    more, ancillary, _, _ = client.recvmsg(65536, socket.CMSG_SPACE(64))
    for _, _, descriptors in ancillary:
        for descriptor in array.array("i", descriptors):
            os.close(descriptor)
    if not more:
        break
    data += more
    while len(data) >= 8:
        number, size = struct.unpack("=II", data[:8])
        if len(data) < size >> 16:
            break
        handle(number, size & 0xFFFF, data[8 : size >> 16])
        data = data[size >> 16 :]
