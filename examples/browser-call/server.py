#!/usr/bin/python3
"""Shows the camera of a browser that calls from http://localhost:8000/ in picture-in-picture: `server.py [PORT]`."""

import http.server
import pathlib
import re
import sys
import threading

import gi

for name in "Gst", "GstSdp", "GstWebRTC":
    gi.require_version(name, "1.0")
from gi.repository import Gst, GstSdp, GstWebRTC  # noqa: E402

Gst.init(None)
page = pathlib.Path(__file__).with_name("index.html").read_bytes()
call = None
SURVIVES_LOSS = "automatic-request-sync-points", "discard-corrupted-frames", "request-keyframe", "wait-for-keyframe"
CAMERA = "videotestsrc is-live=true pattern=ball ! video/x-raw,width=640,height=360 ! vp8enc deadline=1 ! rtpvp8pay"


def on_element(_, __, element):
    # webrtcbin 1.22 leaves do-retransmission off. With rtx-next-seqnum the first packet after a pause counts as lost.
    is_jitter_buffer = element.get_name().startswith("rtpjitterbuffer")
    for name in ["do-retransmission", "rtx-next-seqnum"] if is_jitter_buffer else SURVIVES_LOSS:
        if element.find_property(name):
            element.set_property(name, name != "rtx-next-seqnum")


def on_pad(webrtc, pad):
    if pad.direction != Gst.PadDirection.SRC:
        return
    is_video = (pad.get_current_caps() or pad.query_caps(None)).get_structure(0).get_value("media") == "video"
    rest = "videoconvert ! pipsink mode=pip" if is_video else "audioconvert ! audioresample ! autoaudiosink"
    part = Gst.parse_bin_from_description(f"decodebin name=d ! {rest}", False)
    part.add_pad(Gst.GhostPad.new("sink", part.get_by_name("d").get_static_pad("sink")))
    part.set_property("async-handling", True)  # No track waits for another one.
    webrtc.get_parent().add(part)
    part.sync_state_with_parent()
    pad.link(part.get_static_pad("sink"))


def ask(webrtc, signal, *arguments):
    promise = Gst.Promise.new()
    webrtc.emit(signal, *arguments, promise)
    promise.wait()
    return promise.get_reply()


def answer(offer):
    """Begins a call, and returns it with the answer."""
    number = re.search(r"a=rtpmap:(\d+) VP8/90000", offer)[1]  # the browser's name for VP8
    pipeline = Gst.parse_launch(
        f"{CAMERA} pt={number} ! application/x-rtp,media=video,encoding-name=VP8,payload={number} "
        "! webrtcbin name=w bundle-policy=max-bundle latency=200")
    webrtc, gathered, state = pipeline.get_by_name("w"), threading.Event(), "ice-gathering-state"
    done = GstWebRTC.WebRTCICEGatheringState.COMPLETE
    pipeline.connect("deep-element-added", on_element)
    webrtc.connect("pad-added", on_pad)
    webrtc.connect("on-new-transceiver", lambda _, transceiver: transceiver.set_property("do-nack", True))
    webrtc.connect(f"notify::{state}", lambda *_: webrtc.get_property(state) == done and gathered.set())
    pipeline.set_state(Gst.State.PLAYING)
    _, sdp = GstSdp.SDPMessage.new_from_text(offer)
    description = GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.OFFER, sdp)
    ask(webrtc, "set-remote-description", description)
    reply = ask(webrtc, "create-answer", None)
    ask(webrtc, "set-local-description", reply.get_value("answer"))
    gathered.wait(5)  # All of this machine's addresses go with the answer.
    return pipeline, webrtc.props.local_description.sdp.as_text()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.reply(page, "text/html")

    def do_POST(self):  # /call or /end: there is one call at a time.
        global call
        if self.headers["Origin"] != f"http://{self.headers['Host']}":
            return self.send_error(403)  # A page of somebody else may not call.
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if call:
            call.set_state(Gst.State.NULL)
        call, text = answer(body) if self.path == "/call" else (None, "")
        self.reply(text.encode(), "application/sdp")

    def reply(self, body, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8000), Handler)
print(f"http://localhost:{server.server_port}/", flush=True)
server.serve_forever()
