"""Portico as a child process, and a browser that fills in the forms of others."""

import contextlib
import html.parser
import http.cookiejar
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PASSWORD = "canary-Tr0ub4dor-3"
PATIENCE = 120

DOCUMENT = f"""
groups:
  - {{name: admins, permissions: [admin]}}
  - {{name: family, permissions: [app-create]}}
users:
  - {{name: root, provider: credentials, password: {PASSWORD}, groups: [admins]}}
"""


def free_port():
    """A port of this machine that is free, and none of those from which the system takes the ports of connections."""
    while True:
        port = random.randrange(10_000, 32_000)
        with contextlib.suppress(OSError), socket.socket() as listener:
            listener.bind(("127.0.0.1", port))
            return port


def wait_until(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {PATIENCE} s: {what}")
        time.sleep(0.05)


def listens(port, host="127.0.0.1"):
    with contextlib.suppress(OSError), socket.create_connection((host, port), 1):
        return True
    return False


@contextlib.contextmanager
def temporary_folder(name):
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"portico-{name}-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def process(command, log, **options):
    """Runs a program until the end of the block; its output is in the file `log`."""
    with open(log, "wb") as output:
        child = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.DEVNULL, stdout=output, stderr=output, **options
        )
    try:
        yield child
    except BaseException:
        print(f"--- {log}\n{pathlib.Path(log).read_text(errors='replace')[-6000:]}\n---")
        raise
    finally:
        child.terminate()
        try:
            child.wait(20)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout


@contextlib.contextmanager
def portico(folder, settings, port=None):
    """A service with these settings, an administrator and the group `family`. Gives its URL."""
    binary = os.environ.get("PORTICO_BIN") or REPOSITORY / "target/debug/portico"
    port = port or free_port()
    (folder / "dashboard.yaml").write_text(DOCUMENT)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PORTICO_")}
    environment |= {
        "PORTICO_ICON_SOURCES": "",
        "PORTICO_DRAIN": "0",
        # All come from one address.
        "PORTICO_SIGN_IN_THROTTLE": "off",
        "PORTICO_CACHE": str(REPOSITORY / "target/debug/portico-test-cache"),
        "PORTICO_LISTEN": f"127.0.0.1:{port}",
        "PORTICO_DATA": str(folder / "data"),
        "PORTICO_APPLY": str(folder / "dashboard.yaml"),
        **{name: str(value) for name, value in settings.items()},
    }
    url = f"http://127.0.0.1:{port}"
    with process([binary, "serve"], folder / "portico.log", env=environment) as child:

        def is_ready():
            if child.poll() is not None:
                raise RuntimeError("portico ended")
            with contextlib.suppress(OSError):
                return urllib.request.urlopen(f"{url}/api/health/ready").status == 200
            return False

        wait_until("portico is ready", is_ready)
        yield url


def call(url, path, body=None, headers=()):
    """Status and JSON of an answer."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json", **dict(headers)}
    request = urllib.request.Request(url + path, data, headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"null")


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def check_directory(url):
    """The people of the check at a directory."""

    def sign_in(name, password):
        body = {"username": name, "password": password, "provider": "ldap"}
        return call(url, "/api/auth/sign-in", body)

    for name, password in [("ada", "wrong"), ("ada", ""), ("carol", PASSWORD), ("*", PASSWORD), ("", PASSWORD)]:
        status, answer = sign_in(name, password)
        expect(status in (400, 401), f"{name!r} with {password!r} got {status}: {answer}")
    for name, permissions in [("ada", ["app-create"]), ("bob", [])]:
        status, answer = sign_in(name, PASSWORD)
        expect(status == 200, f"{name} got {status}: {answer}")
        check_session(url, answer["token"], name, permissions)


def check_session(url, token, name, permissions):
    status, session = call(url, "/api/auth/session", headers={"authorization": f"Bearer {token}"}.items())
    expect(status == 200, f"{name}'s session: {status} {session}")
    user = session["user"]
    found = (user["name"], sorted(user["permissions"]))
    expect(found == (name, permissions), f"{found} is not {(name, permissions)}: {session}")


class Form(html.parser.HTMLParser):
    """The first form of a page."""

    def __init__(self, text):
        super().__init__()
        self.action, self.method, self.fields, self.buttons = None, "get", [], []
        self.inside = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "form" and self.action is None:
            self.action, self.inside = attributes.get("action") or "", True
            self.method = attributes.get("method", "get").lower()
        elif tag in ("input", "button") and self.inside:
            kind = attributes.get("type", "submit" if tag == "button" else "text").lower()
            name, value = attributes.get("name"), attributes.get("value") or ""
            if kind == "submit":
                self.buttons.append((name, value))
            elif name:
                self.fields.append((kind, name, value))

    def handle_endtag(self, tag):
        if tag == "form":
            self.inside = False


class Browser:
    """Follows redirects, and fills in each form with a name and a password."""

    def __init__(self):
        self.jar = http.cookiejar.CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))

    def open(self, url, data=None):
        request = urllib.request.Request(url, data, {"accept": "text/html"})
        try:
            with self.opener.open(request, timeout=PATIENCE) as answer:
                return answer.status, answer.url, answer.read().decode(errors="replace")
        except urllib.error.HTTPError as error:
            return error.code, error.url, error.read().decode(errors="replace")

    def cookie(self, name):
        return next((cookie.value for cookie in self.jar if cookie.name == name), None)

    def sign_in(self, portico_url, name, password):
        """Begins at Portico, and ends there or at a page of the issuer that goes no further. Gives the session's token."""
        status, url, page = self.open(f"{portico_url}/api/auth/oidc/start?returnTo=/api/health/live")
        for step in range(6):
            if url.startswith(portico_url):
                expect(status == 200, f"{url}: {status} {page[:2000]}")
                return self.cookie("portico_session")
            form = Form(page)
            if form.action is None and step > 0:
                return None
            if form.action is None:
                raise AssertionError(f"no form at {url} ({status}): {page[:2000]}")
            filled = []
            for kind, field, value in form.fields:
                if kind in ("text", "email"):
                    value = name
                elif kind == "password":
                    value = password
                filled.append((field, value))
            agreeing = [button for button in form.buttons if button[0] in ("allow", "answer", "accept")]
            chosen = (agreeing or form.buttons or [(None, "")])[0]
            if chosen[0]:
                filled.append(chosen)
            data = urllib.parse.urlencode(filled).encode()
            target = urllib.parse.urljoin(url, form.action)
            if form.method == "get":
                status, url, page = self.open(f"{target}?{data.decode()}")
            else:
                status, url, page = self.open(target, data)
        return None


def check_issuer(url, sign_in=None):
    """The people of the check at an issuer."""
    sign_in = sign_in or (lambda name, password: Browser().sign_in(url, name, password))
    for name, password in [("ada", "wrong"), ("carol", PASSWORD)]:
        expect(sign_in(name, password) is None, f"{name} with {password!r} got a session")
    for name, permissions in [("ada", ["app-create"]), ("bob", [])]:
        # Once as a new user, once as a known one.
        for _ in range(2):
            token = sign_in(name, PASSWORD)
            expect(token, f"{name} got no session")
            check_session(url, token, name, permissions)
