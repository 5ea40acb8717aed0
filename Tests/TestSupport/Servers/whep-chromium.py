"""A server of WHEP and WHIP whose connections are made by Chromium without a window.

Its argument is a folder for Chromium's files. It prints its port, and then a line for each request: method, path and
status. /vp8 and /h264 send a red picture of
320x240, encoded so, and a tone. /whip receives: it prints "picture" with the colour and the size whenever those change,
and "sound" at the first one.
"""

import json
import queue
import subprocess
import sys

sys.dont_write_bytecode = True
import chromium  # noqa: E402
import signalling  # noqa: E402

PAGE = """<script>
function post(path, value) { return fetch(path, {method: "POST", body: JSON.stringify(value)}); }
const say = text => post("/say", text);

function red() {
  const canvas = Object.assign(document.createElement("canvas"), {width: 320, height: 240});
  const context = canvas.getContext("2d");
  setInterval(() => { context.fillStyle = "rgb(255, 0, 0)"; context.fillRect(0, 0, 320, 240); }, 33);
  const stream = canvas.captureStream(30);
  const audio = new AudioContext(), sound = audio.createMediaStreamDestination(), tone = audio.createOscillator();
  tone.connect(sound);
  tone.start();
  stream.addTrack(sound.stream.getAudioTracks()[0]);
  return stream;
}

function watch(track, connection) {
  if (track.kind == "audio") {
    // A sound that nobody plays has no energy.
    Object.assign(new Audio(), {srcObject: new MediaStream([track])}).play();
    const timer = setInterval(async () => {
      for (const report of (await connection.getStats(track)).values())
        if (report.type == "inbound-rtp" && report.totalAudioEnergy > 0.01) { say("sound"); clearInterval(timer); }
    }, 100);
    return;
  }
  const video = Object.assign(document.createElement("video"), {muted: true, srcObject: new MediaStream([track])});
  const context = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  let said;
  function see() {
    context.drawImage(video, video.videoWidth / 2, video.videoHeight / 2, 1, 1, 0, 0, 1, 1);
    const bright = [...context.getImageData(0, 0, 1, 1).data].slice(0, 3).map((v, i) => v > 170 ? "RGB"[i] : "").join("");
    const name = {R: "red", G: "green", B: "blue", "": "black"}[bright] ?? "mixed";
    const text = `picture ${name} ${video.videoWidth}x${video.videoHeight}`;
    if (text != said) say(said = text);
    video.requestVideoFrameCallback(see);
  }
  video.requestVideoFrameCallback(see);
  video.play();
}

async function answer({name, path, offer}) {
  const connection = new RTCPeerConnection();
  connections[name] = connection;
  if (path == "whip") {
    connection.ontrack = event => watch(event.track, connection);
  } else {
    const stream = red();
    for (const track of stream.getTracks()) connection.addTrack(track, stream);
  }
  await connection.setRemoteDescription({type: "offer", sdp: offer});
  await connection.setLocalDescription();
  // A preference of codecs is for what is received.
  for (const sender of path == "whip" ? [] : connection.getSenders()) {
    const parameters = sender.getParameters();
    const codec = parameters.codecs.find(codec => codec.mimeType.toLowerCase() == "video/" + path);
    if (!codec) continue;
    parameters.encodings[0].codec = codec;
    await sender.setParameters(parameters);
  }
  while (connection.iceGatheringState != "complete") await new Promise(done => setTimeout(done, 5));
  await post("/answered", {name, sdp: connection.localDescription.sdp});
}

const connections = {};
(async () => {
  for (;;) {
    const task = await (await fetch("/next")).json();
    if (task.end) connections[task.end].close();
    else answer(task).catch(error => post("/answered", {name: task.name, error: String(error)}));
  }
})();
</script>"""

tasks = queue.Queue()
answers = {}


class Handler(signalling.Handler):
    def do_GET(self):
        if self.path == "/next":
            return self.send(200, json.dumps(tasks.get()), Content_Type="application/json")
        self.send(200, PAGE, Content_Type="text/html")

    def do_POST(self):
        body = self.body()
        if self.path == "/say":
            print(json.loads(body), flush=True)
            return self.send(204)
        if self.path == "/answered":
            answered = json.loads(body)
            answers[answered["name"]].put(answered)
            return self.send(204)
        name = str(len(answers) + 1)
        answers[name] = queue.Queue()
        tasks.put({"name": name, "path": self.path[1:], "offer": body})
        answered = answers[name].get(timeout=20)
        if "sdp" not in answered:
            return self.reply(500, answered["error"])
        self.reply(201, answered["sdp"], Location=f"/session/{name}", Content_Type="application/sdp")

    def do_DELETE(self):
        tasks.put({"end": self.path.split("/")[-1]})
        self.reply(200)


server = signalling.make(Handler)
browser = chromium.start(
    sys.argv[1], f"http://127.0.0.1:{server.server_port}/", "--disable-features=WebRtcHideLocalIpsWithMdns",
    "--autoplay-policy=no-user-gesture-required", stderr=subprocess.DEVNULL)
signalling.run(server)
