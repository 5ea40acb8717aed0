"""A server of WHEP and WHIP for tests, with a webrtcbin for each session.

It prints its port, and then a line for each request: method, path, status, and "token" or "password" where the right
one was given. The path /whip receives: it prints what it sees and hears whenever that changes, such as
"picture red 320x240", "sound" and "silence".
The path says what it does: /red sends a red picture of 320x240 and a tone. The words before the colour have it do
something else: /sound (no picture), /h264/red, /token/red (asks for the token "secret"), /moved/red (redirects to /red), /ice/red (names
servers for STUN and TURN), /ending/red (ends after a second, without a word to the peer), /away/red (names a session on
another host name), /user/red (asks for the user "a" with the password "b@"), /whole/red (names a session by its whole
address). /status/N answers N; /loop, /silent, /huge and /text answer as they are called.
"""

import base64
import sys
import threading
import time

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import Gst, GstSdp, GstWebRTC  # noqa: E402

sys.dont_write_bytecode = True
import signalling  # noqa: E402
from signalling import lock, log  # noqa: E402

Gst.init(None)
sessions = {}
PASSWORD = "Basic " + base64.b64encode(b"a:b@").decode()


def ask(element, signal, *arguments):
    promise = Gst.Promise.new()
    element.emit(signal, *arguments, promise)
    promise.wait()
    return promise.get_reply()


class Receiver:
    """Says what a session of WHIP receives."""

    def __init__(self):
        self.pipeline = Gst.Pipeline()
        self.webrtc = Gst.ElementFactory.make("webrtcbin")
        self.webrtc.set_property("bundle-policy", "max-bundle")
        self.pipeline.add(self.webrtc)
        self.webrtc.connect("pad-added", self.add)
        self.webrtc.connect("on-new-transceiver", lambda _, transceiver: transceiver.set_property("do-nack", True))
        self.said = {}

    def say(self, kind, text):
        if self.said.get(kind) != text:
            self.said[kind] = text
            log(text)

    def add(self, _, pad):
        if pad.direction != Gst.PadDirection.SRC:
            return
        is_video = pad.get_current_caps().get_structure(0).get_string("media") == "video"
        converter, caps = ("videoconvert", "video/x-raw,format=RGB") if is_video else ("audioconvert", "audio/x-raw,format=S16LE")
        branch = Gst.parse_bin_from_description(
            f"decodebin name=d ! {converter} ! appsink name=sink caps={caps} max-buffers=1 drop=true emit-signals=true", False)
        branch.add_pad(Gst.GhostPad.new("sink", branch.get_by_name("d").get_static_pad("sink")))
        branch.get_by_name("sink").connect("new-sample", self.see if is_video else self.hear)
        self.pipeline.add(branch)
        branch.sync_state_with_parent()
        pad.link(branch.get_static_pad("sink"))

    def see(self, sink):
        sample = sink.emit("pull-sample")
        info = sample.get_caps().get_structure(0)
        width, height = info.get_value("width"), info.get_value("height")
        data = sample.get_buffer().extract_dup(height // 2 * ((width * 3 + 3) & ~3) + width // 2 * 3, 3)
        bright = "".join(name for name, value in zip("RGB", data) if value > 170)
        dark = sum(value < 60 for value in data)
        names = {"R": "red", "G": "green", "B": "blue", "": "black"}
        name = names.get(bright, "mixed") if dark == 3 - len(bright) else "mixed"
        self.say("picture", f"picture {name} {width}x{height}")
        return Gst.FlowReturn.OK

    def hear(self, sink):
        buffer = sink.emit("pull-sample").get_buffer()
        samples = memoryview(buffer.extract_dup(0, buffer.get_size())).cast("h")
        self.say("sound", "sound" if max(samples) > 500 else "silence")
        return Gst.FlowReturn.OK


def answer(words, offer):
    colour = words[-1]
    if colour == "whip":
        receiver = Receiver()
        return exchange(words, offer, receiver.pipeline, receiver.webrtc)
    if "h264" in words:
        # webrtcbin matches the caps of the offer exactly, so the level of the encoder's stream is hidden from it.
        caps = "application/x-rtp,media=video,encoding-name=H264,payload=97,clock-rate=90000,"
        caps += "packetization-mode=(string)1,profile-level-id=(string)42e01f"
        video = "x264enc tune=zerolatency speed-preset=ultrafast key-int-max=30 ! video/x-h264,profile=constrained-baseline "
        video += f"! rtph264pay pt=97 config-interval=-1 ! capssetter replace=true caps={caps}"
    else:
        video = "vp8enc deadline=1 keyframe-max-dist=3000 ! rtpvp8pay pt=96 "
        video += "! application/x-rtp,media=video,encoding-name=VP8,payload=96"
    picture = f"videotestsrc is-live=true pattern={colour} ! video/x-raw,format=I420,width=320,height=240,framerate=30/1 "
    pipeline = Gst.parse_launch(
        "webrtcbin name=w bundle-policy=max-bundle "
        + ("" if colour == "sound" else f"{picture} ! {video} ! w. ") +
        "audiotestsrc is-live=true volume=0.5 ! opusenc ! rtpopuspay pt=111 "
        "! application/x-rtp,media=audio,encoding-name=OPUS,payload=111 ! w.")
    return exchange(words, offer, pipeline, pipeline.get_by_name("w"))


def exchange(words, offer, pipeline, webrtc):
    gathered = threading.Event()
    webrtc.connect(
        "notify::ice-gathering-state",
        lambda *_: webrtc.props.ice_gathering_state == GstWebRTC.WebRTCICEGatheringState.COMPLETE and gathered.set())
    pipeline.set_state(Gst.State.PLAYING)
    _, message = GstSdp.SDPMessage.new_from_text(offer)
    description = GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.OFFER, message)
    ask(webrtc, "set-remote-description", description)
    # The value belongs to the reply.
    reply = ask(webrtc, "create-answer", None)
    made = reply.get_value("answer")
    ask(webrtc, "set-local-description", made)
    gathered.wait(10)
    with lock:
        name = str(len(sessions) + 1)
        sessions[name] = pipeline
    if "ending" in words:
        threading.Timer(1, lambda: pipeline.set_state(Gst.State.NULL)).start()
    return name, webrtc.props.local_description.sdp.as_text()


class Handler(signalling.Handler):
    def words(self):
        return {"Bearer secret": ["token"], PASSWORD: ["password"]}.get(self.headers["Authorization"], [])

    def do_OPTIONS(self):
        if "ice" not in self.path.split("/"):
            return self.reply(405)
        self.reply(
            204,
            Link='<stun:127.0.0.1:9>; rel="ice-server", <turn:127.0.0.1:9?transport=tcp>; rel="ice-server"; '
            'username="a:b"; credential="c@d"; credential-type="password"')

    def do_DELETE(self):
        with lock:
            pipeline = sessions.get(self.path.split("/")[-1])
        if pipeline is None:
            return self.reply(404)
        pipeline.set_state(Gst.State.NULL)
        self.reply(200)

    def do_POST(self):
        offer = self.body()
        words = self.path.strip("/").split("/")
        if words[0] == "status":
            return self.reply(int(words[1]), f"because of {words[1]}\nand more")
        if words[0] == "loop":
            return self.reply(307, Location=self.path)
        if words[0] == "moved":
            return self.reply(307, Location="/" + "/".join(words[1:]))
        if words[0] == "silent":
            return time.sleep(120)
        if words[0] in ("huge", "text"):
            return self.reply(201, "v=0\r\n" + "a" * 10_000_000 if words[0] == "huge" else "<html>")
        if words[0] == "token" and self.headers["Authorization"] != "Bearer secret":
            return self.reply(401, "a token is missing")
        if words[0] == "user" and self.headers["Authorization"] != PASSWORD:
            return self.reply(401, "a password is missing")
        name, text = answer(words, offer)
        host = {"away": "localhost", "whole": "127.0.0.1"}.get(words[-2] if len(words) > 1 else "")
        place = f"http://{host}:{server.server_port}" if host else ""
        self.reply(201, text, **{"Content-Type": "application/sdp", "Location": f"{place}/session/{name}"})


server = signalling.make(Handler, int(sys.argv[1]) if len(sys.argv) > 1 else 0)
signalling.run(server)
