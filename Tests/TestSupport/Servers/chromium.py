"""Opens a page in Chromium without a window, with test pictures in place of a camera: `chromium.py FOLDER URL`. It prints
the page's title whenever that changes. FOLDER is for Chromium's files."""

import ctypes
import json
import re
import signal
import subprocess
import sys
import time
import urllib.request


def start(folder, url, *arguments, **options):
    """Starts Chromium, which ends with this program (PR_SET_PDEATHSIG), also where that is killed. The program in /usr/bin
    is a shell that would end alone."""
    return subprocess.Popen(
        ["/usr/lib/chromium/chromium-headless-shell", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
         f"--user-data-dir={folder}", *arguments, url],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        preexec_fn=lambda: ctypes.CDLL(None).prctl(1, signal.SIGKILL), **options)


if __name__ == "__main__":
    browser = start(
        *sys.argv[1:], "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream", stderr=subprocess.PIPE,
        text=True)
    port = next(match[1] for line in browser.stderr if (match := re.search(r"ws://127.0.0.1:(\d+)/", line)))
    said = None
    while browser.poll() is None:
        pages = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json"))
        title = next((page["title"] for page in pages if page["type"] == "page"), None)
        if title != said:
            print(title, flush=True)
            said = title
        time.sleep(0.1)
