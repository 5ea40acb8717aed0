"""A server on a free port of the loopback interface whose status lines contain control sequences for terminals.

It answers every HTTP and RTSP request with an error in the request's protocol. It prints its port at the start.
"""

import socketserver

EVIL = b"\x1b]0;owned\x07\x1b[31mGone\xc2\x9b2J\xe2\x80\xae"


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        while True:
            protocol, sequence = b"HTTP/1.1", b""
            line = self.rfile.readline()
            if not line:
                return
            if b"RTSP/1.0" in line:
                protocol = b"RTSP/1.0"
            while line.strip():
                if line.lower().startswith(b"cseq:"):
                    sequence = line.strip() + b"\r\n"
                line = self.rfile.readline()
            self.wfile.write(protocol + b" 404 " + EVIL + b"\r\n" + sequence + b"Content-Length: 0\r\n\r\n")


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


with Server(("127.0.0.1", 0), Handler) as server:
    print(server.server_address[1], flush=True)
    server.serve_forever()
