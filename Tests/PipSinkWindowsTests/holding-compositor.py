"""A Wayland compositor that shows nothing. It asks for the next picture at once, and reads all pictures until it may not.

The arguments are the path of its socket, the path of a file, and the number of a clock. When the file exists, it
releases all buffers of shared memory, and those DMABufs that no surface shows, the last one first. By the clock it says
when pictures are on the screen: each at once, except for every third one, which it says was never there. Further
arguments are global objects that it has, too. Of zwp_linux_dmabuf_v1 it has the formats in DMABUF_FORMATS, which is
"NV12:0 XR24:0" for instance, with the modifiers' numbers. It refuses DMABufs while the file in DMABUF_REFUSED exists.

It prints the size of each picture in pixels, and the size at which it would show it. Of a DMABuf it prints more: the
format, the planes, the part that is shown, how YUV becomes RGB, and the first byte of that part. Of a picture with alpha
it prints the place and the first pixel. It also prints what a compositor would end the connection for.
"""

import array
import mmap
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
descriptors = []
questions_of_buffers = {}
device_buffers = {}
next_server_id = 0xFF000000
sources = {}
representations = {}
colors = {}
attached = {}
pools = {}
parts = {}
positions = {}
overlays = {}
formats = dict(pair.split(":") for pair in os.environ.get("DMABUF_FORMATS", "").split())
refusal = os.environ.get("DMABUF_REFUSED", "/nonexistent")


def create(params, width, height, code, flags):
    """Answers whether it can read a DMABuf."""
    global next_server_id
    name = struct.pack("=I", code).decode()
    planes = questions_of_buffers[params]
    for descriptor, index, offset, stride, upper, lower in planes:
        rows = (height + 1) // 2 if index and name in ("NV12", "YU12") else height
        if offset + stride * rows > os.fstat(descriptor).st_size:
            print("error: a plane is beyond its memory", flush=True)
        if formats.get(name) != str(upper << 32 | lower):
            print(f"error: {name} with the modifier {upper << 32 | lower}", flush=True)
    if os.path.exists(refusal):
        for plane in planes:
            os.close(plane[0])
        send(params, 1)
        return
    device_buffers[next_server_id] = (name, width, height, planes)
    kinds[next_server_id] = "wl_buffer"
    send(params, 0, next_server_id)
    next_server_id += 1


def describe(number, buffer):
    """Describes a DMABuf that a surface shows from now on."""
    name, width, height, planes = device_buffers[buffer]
    source = sources.get(number, (0, 0, width, height))
    x, y = int(source[0]), int(source[1])
    if x + source[2] > width or y + source[3] > height:
        print("error: the part is beyond the buffer", flush=True)
    if number in colors and name[1] == "R":
        print(f"error: {name} has the colors {colors.get(number)}", flush=True)
    descriptor, _, offset, stride, _, _ = planes[0]
    with mmap.mmap(descriptor, 0, mmap.MAP_SHARED, mmap.PROT_READ) as memory:
        first = memory[offset + y * stride + x * (4 if name[1] == "R" else 1)]
    places = " ".join(f"{plane[2]}+{plane[3]}" for plane in planes)
    part = ",".join(f"{value:g}" for value in source)
    how = ",".join(map(str, colors.get(number, ())))
    shown = destinations.get(number, (width, height))
    print(f"{name} {width}x{height} {places} part {part} at {shown[0]}x{shown[1]} as {how or 'RGB'}: {first}", flush=True)


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
            version = {"wl_compositor": 4, "zwp_linux_dmabuf_v1": 3}.get(interface, 1)
            send(words[0], 0, name, interface, version)
    elif call == ("wl_registry", 0):
        kinds[words[-1]] = globals[words[0]]
        if globals[words[0]] == "wp_presentation":
            send(words[-1], 0, clock)
        elif globals[words[0]] == "zwp_linux_dmabuf_v1":
            for name, modifier in formats.items():
                code = struct.unpack("=I", name.encode())[0]
                send(words[-1], 1, code, int(modifier) >> 32, int(modifier) & 0xFFFFFFFF)
        elif globals[words[0]] == "wp_color_representation_manager_v1":
            for coefficients in (2, 4):
                send(words[-1], 1, coefficients, 2)
            send(words[-1], 2)
    elif call == ("wp_presentation", 1):
        questions.append(words[1])
    elif call == ("wl_compositor", 0):
        kinds[words[0]] = "wl_surface"
    elif call == ("wl_shm", 0):
        kinds[words[0]] = "wl_shm_pool"
        pools[words[0]] = descriptors.pop(0)
    elif call == ("wl_shm_pool", 1):
        os.close(pools.pop(number))
    elif call == ("wl_subcompositor", 1):
        kinds[words[0]] = "wl_subsurface"
        parts[words[0]] = words[1]
    elif call == ("wl_subsurface", 1):
        positions[parts[number]] = struct.unpack("=2i", body)
    elif call == ("zwp_linux_dmabuf_v1", 1):
        kinds[words[0]] = "params"
        questions_of_buffers[words[0]] = []
    elif call == ("params", 0):
        del questions_of_buffers[number], kinds[number]
        send(1, 1, number)
    elif call == ("params", 1):
        questions_of_buffers[number].append((descriptors.pop(0),) + words)
    elif call == ("params", 2):
        create(number, *words)
    elif number in overlays and request == 0 and number not in device_buffers:
        del overlays[number]
        sizes.pop(number)
        if number in held:
            held.remove(number)
        send(1, 1, number)
    elif call == ("wl_buffer", 0) and number in device_buffers:
        for plane in device_buffers.pop(number)[3]:
            os.close(plane[0])
        if number in held:
            held.remove(number)
    elif call == ("wp_color_representation_manager_v1", 1):
        kinds[words[0]] = "representation"
        representations[words[0]] = words[1]
    elif call == ("representation", 0):
        colors.pop(representations.pop(number), None)
        del kinds[number]
        send(1, 1, number)
    elif call == ("representation", 2):
        colors[representations[number]] = words
    elif call == ("wl_shm_pool", 0):
        sizes[words[0]] = words[2:4]
        if words[5] == 0:
            overlays[words[0]] = mmap.mmap(pools[number], 0, mmap.MAP_SHARED, mmap.PROT_READ)
    elif call == ("wp_viewporter", 1):
        kinds[words[0]] = "wp_viewport"
        viewports[words[0]] = words[1]
    elif call == ("wp_viewport", 1):
        numbers = struct.unpack("=4i", body)
        sources[viewports[number]] = [value / 256 for value in numbers]
        if numbers[2] < 0:
            del sources[viewports[number]]
    elif call == ("wp_viewport", 2):
        destinations[viewports[number]] = words[0:2]
    elif call == ("wl_surface", 1):
        pending[number] = words[0]
    elif call == ("wl_surface", 3):
        callbacks.append(words[0])
    elif call == ("wl_surface", 6):
        if number in pending:
            attached[number] = pending[number]
        buffer = pending.pop(number, 0)
        if buffer in device_buffers:
            describe(number, buffer)
        elif buffer:
            if number in colors or number in sources:
                print("error: shared memory with the part or the colors of a frame", flush=True)
            width, height = sizes[buffer]
            shown = destinations.get(number, (width, height))
            over = ""
            if buffer in overlays:
                x, y = positions[number]
                over = f" over {x},{y}: {overlays[buffer][:4].hex()}"
            print(f"{width}x{height} at {shown[0]}x{shown[1]}{over}", flush=True)
        if buffer and buffer not in held:
            held.append(buffer)
        show()
        while callbacks:
            answer(callbacks.pop(0))


while True:
    if held and os.path.exists(sys.argv[2]):
        for buffer in list(reversed(held)):
            if buffer not in device_buffers or buffer not in attached.values():
                held.remove(buffer)
                send(buffer, 0)
    if not select.select([client], [], [], 0.02)[0]:
        continue
    more, ancillary, _, _ = client.recvmsg(65536, socket.CMSG_SPACE(4 * 28))
    for _, _, numbers in ancillary:
        descriptors.extend(array.array("i", numbers))
    if not more:
        break
    data += more
    while len(data) >= 8:
        number, size = struct.unpack("=II", data[:8])
        if len(data) < size >> 16:
            break
        handle(number, size & 0xFFFF, data[8 : size >> 16])
        data = data[size >> 16 :]
