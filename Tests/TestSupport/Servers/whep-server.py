"""A server of WHEP for tests, with a webrtcbin for each session.

It prints its port, and then a line for each request: method, path, status, and "token" or "password" where the right
one was given.
The path says what it does: /red sends a red picture of 320x240 and a tone. The words before the colour have it do
something else: /sound (no picture), /h264/red, /token/red (asks for the token "secret"), /moved/red (redirects to /red), /ice/red (names
servers for STUN and TURN), /ending/red (ends after a second, without a word to the peer), /away/red (names a session on
another host name), /user/red (asks for the user "a" with the password "b@"), /whole/red (names a session by its whole
address). /status/N answers N; /loop, /silent, /huge and /text answer as they are called.
"""

import base64
import http.server
import sys
import threading
import time

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import Gst, GstSdp, GstWebRTC  # noqa: E402

Gst.init(None)
sessions = {}
lock = threading.Lock()
PASSWORD = "Basic " + base64.b64encode(b"a:b@").decode()


def log(*words):
    with lock:
        print(*words, flush=True)


def ask(element, signal, *arguments):
    promise = Gst.Promise.new()
    element.emit(signal, *arguments, promise)
    promise.wait()
    return promise.get_reply()


def answer(words, offer):
    colour = words[-1]
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
    webrtc = pipeline.get_by_name("w")
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


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body="", **headers):
        given = {"Bearer secret": ["token"], PASSWORD: ["password"]}.get(self.headers["Authorization"], [])
        log(self.command, self.path, status, *given)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        data = body.encode()
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

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
        offer = self.rfile.read(int(self.headers["Content-Length"])).decode()
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


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0), Handler)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()
