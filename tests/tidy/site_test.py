#!/usr/bin/env python3
"""Builds the documentation's site, which fails on a broken link, and checks that
its search finds every function of the C API in the reference. If there is a
Chromium, the search is used in it.

usage: site_test.py DIRECTORY
Exit code 77: mkdocs-material is not installed.
"""
import base64
import functools
import http.server
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

TOP = pathlib.Path(__file__).resolve().parent.parent.parent


def python_with_mkdocs():
    for place in (os.environ.get("VIRTUAL_ENV"), TOP / "build" / "venv"):
        python = pathlib.Path(place) / "bin" / "python" if place else pathlib.Path(sys.executable)
        if python.exists() and subprocess.run([python, "-c", "import material"], stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


def check_search_index(site):
    documents = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    titles = {name for d in documents if d["location"].startswith("api/") for name in d["title"].split(", ")}
    functions = [line for line in (TOP / "tests" / "install" / "symbols.txt").read_text().split()
                 if line.startswith("takt_")]
    assert len(functions) > 200, f"symbols.txt has only {len(functions)} functions"
    missing = [f for f in functions if f not in titles]
    assert not missing, f"the reference has no section for {', '.join(missing)}"
    pages = {d["location"].split("#")[0] for d in documents}
    for page in (TOP / "docs").glob("*.md"):
        name = "contents" if page.stem == "README" else page.stem
        assert f"docs/{name}.html" in pages, f"the search does not know docs/{page.name}"


class Browser:
    """A page of a Chromium, by the DevTools protocol."""

    def __init__(self, chromium, url):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
             "--remote-allow-origins=*", f"--user-data-dir={self.profile.name}", url],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port_file = pathlib.Path(self.profile.name) / "DevToolsActivePort"
        port = self.wait(lambda: port_file.exists() and port_file.read_text().split()[:1])[0]
        target = self.wait(lambda: [t for t in json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json"))
                                    if t["type"] == "page"])[0]
        path = target["webSocketDebuggerUrl"].split(port, 1)[1]
        self.socket = socket.create_connection(("127.0.0.1", int(port)), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        self.stream = self.socket.makefile("rb")
        while self.stream.readline().strip():
            pass
        self.count = 0

    @staticmethod
    def wait(function, seconds=60):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            result = function()
            if result:
                return result
            time.sleep(0.2)
        raise AssertionError("the browser did not answer")

    def evaluate(self, expression):
        self.count += 1
        data = json.dumps({"id": self.count, "method": "Runtime.evaluate", "params": {"expression": expression}}).encode()
        mask = os.urandom(4)
        head = b"\x81" + (bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + struct.pack(">H", len(data)))
        self.socket.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))
        while True:
            length = self.stream.read(2)[1] & 127
            if length >= 126:
                length = int.from_bytes(self.stream.read(2 if length == 126 else 8), "big")
            answer = json.loads(self.stream.read(length))
            if answer.get("id") == self.count:
                return answer["result"]["result"].get("value")

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.profile.cleanup()


def check_search_in_browser(chromium, site):
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=site)
    handler.log_message = lambda *_: None
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser = Browser(chromium, f"http://127.0.0.1:{server.server_port}/index.html?q=takt_stream_map_input")
    try:
        found = Browser.wait(lambda: browser.evaluate(
            "[...document.querySelectorAll('.md-search-result__item h1')].map(e => e.innerText).join('; ')"))
        assert "takt/stream.h" in found, f"the search found only {found}"
        print("found by the search:", found)
    finally:
        browser.close()
        server.shutdown()


def main():
    python = python_with_mkdocs()
    if python is None:
        print("site_test: skipped: mkdocs-material is not installed (scripts/site.sh installs it)")
        sys.exit(77)
    out = pathlib.Path(sys.argv[1])
    subprocess.run([python, TOP / "scripts" / "site.py", out], check=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    check_search_index(out / "site")
    chromium = shutil.which("chromium")
    if chromium:
        check_search_in_browser(chromium, out / "site")


if __name__ == "__main__":
    main()
