"""A server of WHEP and WHIP with aiortc, an implementation of WebRTC that shares nothing with GStreamer's.

It prints its port, and then a line for each request: method, path and status. /vp8 and /h264 send a red picture of
320x240, encoded so, and silence. /whip receives: it prints "picture" with the colour and the size whenever those change,
and "sound" at the first one.
"""

import asyncio
import sys
import threading

import av
from aiortc import AudioStreamTrack, RTCPeerConnection, RTCRtpSender, RTCSessionDescription, VideoStreamTrack
from aiortc import rtcdtlstransport

sys.dont_write_bytecode = True
import signalling  # noqa: E402

# aiortc offers suites with ECDSA alone, and webrtcbin may have a certificate with RSA.
suites = b"ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256"
make_context = rtcdtlstransport.RTCCertificate._create_ssl_context


def make_context_with_rsa(self, *arguments, **options):
    context = make_context(self, *arguments, **options)
    context.set_cipher_list(suites)
    return context


rtcdtlstransport.RTCCertificate._create_ssl_context = make_context_with_rsa
loop = asyncio.new_event_loop()
threading.Thread(target=loop.run_forever, daemon=True).start()
connections = {}


class Red(VideoStreamTrack):
    async def recv(self):
        frame = av.VideoFrame(320, 240, "yuv420p")
        for plane, value in zip(frame.planes, (81, 90, 240)):
            plane.update(bytes([value]) * plane.buffer_size)
        frame.pts, frame.time_base = await self.next_timestamp()
        return frame


async def receive(track):
    said = None
    while True:
        frame = await track.recv()
        text = "sound"
        if track.kind == "video":
            plane = frame.reformat(format="rgb24").planes[0]
            start = frame.height // 2 * plane.line_size + frame.width // 2 * 3
            bright = "".join(name for name, value in zip("RGB", bytes(plane)[start:start + 3]) if value > 170)
            name = {"R": "red", "G": "green", "B": "blue", "": "black"}.get(bright, "mixed")
            text = f"picture {name} {frame.width}x{frame.height}"
        if text != said:
            print(text, flush=True)
            said = text


async def answer(codec, offer):
    connection = RTCPeerConnection()
    if codec == "whip":
        connection.on("track", lambda track: asyncio.ensure_future(receive(track)))
    else:
        connection.addTrack(Red())
        connection.addTrack(AudioStreamTrack())
    await connection.setRemoteDescription(RTCSessionDescription(offer, "offer"))
    known = RTCRtpSender.getCapabilities("video").codecs
    for transceiver in connection.getTransceivers():
        if transceiver.kind == "video" and codec != "whip":
            transceiver.setCodecPreferences([c for c in known if c.mimeType.lower() == f"video/{codec}"])
    await connection.setLocalDescription(await connection.createAnswer())
    name = str(len(connections) + 1)
    connections[name] = connection
    return name, connection.localDescription.sdp


class Handler(signalling.Handler):
    def wait(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result(20)

    def do_POST(self):
        name, text = self.wait(answer(self.path[1:], self.body()))
        self.reply(201, text, Location=f"/session/{name}", Content_Type="application/sdp")

    def do_DELETE(self):
        self.wait(connections[self.path.split("/")[-1]].close())
        self.reply(200)


signalling.run(signalling.make(Handler))
