"""What the test servers of WHEP and WHIP have in common."""

import http.server
import threading

lock = threading.Lock()


def log(*words):
    with lock:
        print(*words, flush=True)


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers requests, and prints a line for each answer to the peer: method, path and status."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def words(self):
        """What the line says besides."""
        return []

    def reply(self, status, body="", **headers):
        log(self.command, self.path, status, *self.words())
        self.send(status, body, **headers)

    def send(self, status, body="", **headers):
        data = body.encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def body(self):
        return self.rfile.read(int(self.headers["Content-Length"])).decode()

    def do_OPTIONS(self):
        self.reply(405)


def make(handler, port=0):
    """Makes a server on a port; 0 for any."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = True
    return server


def run(server):
    """Prints the port, and serves."""
    print(server.server_port, flush=True)
    server.serve_forever()
