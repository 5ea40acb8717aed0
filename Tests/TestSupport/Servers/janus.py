"""A room of Janus, a media server that forwards what its participants send. It shares nothing with GStreamer's
implementation of WebRTC: `janus.py FOLDER`. FOLDER is for the server's configuration.

It prints its port, and then a line for each request: method, path and status. /whip publishes in the room by WHIP. Who
watches what was published last gets an offer of Janus by GET /offer, with a Location to which the answer is posted.
"""

import ctypes
import json
import pathlib
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
import signalling  # noqa: E402

ROOM = 1


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(folder):
    """Starts Janus, which ends with this program (PR_SET_PDEATHSIG)."""
    # Janus loads every plugin that it finds.
    for kind, name in (("plugins", "videoroom"), ("transports", "http")):
        (folder / kind).mkdir(parents=True, exist_ok=True)
        library = next(pathlib.Path("/usr/lib").glob(f"*/janus/{kind}/libjanus_{name}.so"))
        (folder / kind / library.name).symlink_to(library)
    port = free_port()
    files = {
        "janus.jcfg": f'general: {{ plugins_folder = "{folder}/plugins", transports_folder = "{folder}/transports" }}',
        "janus.transport.http.jcfg": f'general: {{ http = true, port = {port}, ip = "127.0.0.1", https = false }}',
        "janus.plugin.videoroom.jcfg": f'room-{ROOM}: {{ publishers = 6, videocodec = "vp8", audiocodec = "opus" }}',
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    subprocess.Popen(
        ["janus", "-F", folder], stdin=subprocess.DEVNULL, stdout=sys.stderr, stderr=sys.stderr,
        preexec_fn=lambda: ctypes.CDLL(None).prctl(1, signal.SIGKILL))
    return f"http://127.0.0.1:{port}/janus"


def ask(url, **fields):
    data = json.dumps({"transaction": "t", **fields}).encode() if fields else None
    with urllib.request.urlopen(url, data, 20) as reply:
        return json.load(reply)


class Handle:
    """What one participant does in the room."""

    def __init__(self):
        self.session = f"{server}/{ask(server, janus='create')['data']['id']}"
        attached = ask(self.session, janus="attach", plugin="janus.plugin.videoroom")
        self.url = f"{self.session}/{attached['data']['id']}"

    def send(self, body, jsep=None):
        """Sends a request, and returns the event that answers it."""
        fields = {"jsep": jsep} if jsep else {}
        ask(self.url, janus="message", body=body, **fields)
        while True:
            event = ask(self.session + "?maxev=1")
            if "plugindata" in event:
                data = event["plugindata"]["data"]
                if "error" in data:
                    raise RuntimeError(data["error"])
                return data, event.get("jsep", {}).get("sdp")

    def end(self):
        ask(self.session, janus="destroy")


class Handler(signalling.Handler):
    def keep(self, handle):
        with signalling.lock:
            handles[str(len(handles) + 1)] = handle
            return {"Location": f"/session/{len(handles)}", "Content_Type": "application/sdp"}

    def do_POST(self):
        text = self.body()
        if self.path == "/whip":
            handle = Handle()
            publishers.append(handle.send({"request": "join", "ptype": "publisher", "room": ROOM})[0]["id"])
            _, sdp = handle.send({"request": "publish"}, {"type": "offer", "sdp": text})
            return self.reply(201, sdp, **self.keep(handle))
        handles[self.path.split("/")[-1]].send({"request": "start"}, {"type": "answer", "sdp": text})
        self.reply(200)

    def do_GET(self):
        handle = Handle()
        _, sdp = handle.send(
            {"request": "join", "ptype": "subscriber", "room": ROOM, "streams": [{"feed": publishers[-1]}]})
        self.reply(200, sdp, **self.keep(handle))

    def do_DELETE(self):
        handles[self.path.split("/")[-1]].end()
        self.reply(200)


handles, publishers = {}, []
server = start(pathlib.Path(sys.argv[1]))
for _ in range(200):
    try:
        ask(server + "/info")
        break
    except urllib.error.URLError:
        time.sleep(0.05)
signalling.run(signalling.make(Handler))
