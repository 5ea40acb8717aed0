#!/usr/bin/python3
"""Shows a call that a server sends by WHEP (WebRTC) in picture-in-picture: `whep.py URL`. It ends with the window."""

import sys
import threading
from urllib.parse import urljoin
from urllib.request import Request, urlopen

import gi

for name in "Gst", "GstSdp", "GstWebRTC":
    gi.require_version(name, "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

Gst.init(None)
url = sys.argv[1]
loop = GLib.MainLoop()
# What the network loses is asked for again, within 200 ms.
webrtc = Gst.parse_launch("webrtcbin bundle-policy=max-bundle latency=200")
pipeline = Gst.Pipeline()
pipeline.add(webrtc)
gathered = threading.Event()
SURVIVES_LOSS = "automatic-request-sync-points", "discard-corrupted-frames", "request-keyframe", "wait-for-keyframe"


def on_element(_, __, element):
    # webrtcbin 1.22 leaves do-retransmission off. With rtx-next-seqnum the first packet after a pause counts as lost.
    is_jitter_buffer = element.get_name().startswith("rtpjitterbuffer")
    for name in ["do-retransmission", "rtx-next-seqnum"] if is_jitter_buffer else SURVIVES_LOSS:
        if element.find_property(name):
            element.set_property(name, name != "rtx-next-seqnum")


def on_pad(_, pad):
    caps = pad.get_current_caps() or pad.query_caps(None)
    is_video = caps.get_structure(0).get_value("media") == "video"
    rest = "videoconvert ! pipsink mode=pip" if is_video else "audioconvert ! audioresample ! autoaudiosink"
    part = Gst.parse_bin_from_description(f"decodebin name=d ! {rest}", False)
    part.add_pad(Gst.GhostPad.new("sink", part.get_by_name("d").get_static_pad("sink")))
    part.set_property("async-handling", True)  # No track waits for another one.
    pipeline.add(part)
    part.sync_state_with_parent()
    pad.link(part.get_static_pad("sink"))


def ask(signal, *arguments):
    promise = Gst.Promise.new()
    webrtc.emit(signal, *arguments, promise)
    promise.wait()
    return promise.get_reply()


def request(method, address, body=None):
    return urlopen(Request(address, body, {"Content-Type": "application/sdp"}, method=method), timeout=10)


def connect():
    reply = ask("create-offer", None)
    ask("set-local-description", reply.get_value("offer"))
    gathered.wait(5)
    try:
        response = request("POST", url, webrtc.props.local_description.sdp.as_text().encode())
    except OSError as error:
        sys.exit(f"{url}: {error}")
    _, sdp = GstSdp.SDPMessage.new_from_text(response.read().decode())
    ask("set-remote-description", GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.ANSWER, sdp))
    return urljoin(response.url, response.headers["Location"])


def on_message(_, message):
    if message.type == Gst.MessageType.ERROR:
        print(message.parse_error().gerror.message, file=sys.stderr)
    elif message.has_name("pip-did-stop"):
        loop.quit()


done, receive = GstWebRTC.WebRTCICEGatheringState.COMPLETE, GstWebRTC.WebRTCRTPTransceiverDirection.RECVONLY
webrtc.connect("notify::ice-gathering-state", lambda *_: webrtc.props.ice_gathering_state == done and gathered.set())
webrtc.connect("pad-added", on_pad)
pipeline.connect("deep-element-added", on_element)
for kind, name, payload, rate in [("video", "VP8", 96, 90000), ("audio", "OPUS", 111, 48000)]:
    caps = f"application/x-rtp,media={kind},encoding-name={name},payload={payload},clock-rate={rate}"
    webrtc.emit("add-transceiver", receive, Gst.Caps.from_string(caps)).set_property("do-nack", True)
pipeline.get_bus().add_signal_watch()
pipeline.get_bus().connect("message", on_message)
pipeline.set_state(Gst.State.PLAYING)
session = connect()
loop.run()
pipeline.set_state(Gst.State.NULL)
request("DELETE", session)
