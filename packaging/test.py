"""Installs packages on clean roots, and runs each to its first answered requests.

    test.py FOLDER [--only deb,systemd,archive,image,wheel,npm,library-node,library-python,arm64]

The root is a minimal Debian, which debootstrap makes once and target/packages keeps. Needs root.
"""

import argparse
import contextlib
import json
import os
import platform
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / "target/packages"
RELEASE = "bookworm"
MACHINES = {"x86_64": ("amd64", "x64"), "aarch64": ("arm64", "arm64")}
# A container or a chroot is entered in namespaces of its own, so that what is mounted there ends with the program.
NAMESPACES = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private")


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def debian(folder, machine=None, include=""):
    """Unpacks a minimal Debian; of another machine only its files, without running anything of it."""
    kept = CACHE / f"debian-{machine or include or 'own'}.tar"
    if not kept.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as fresh:
            foreign = (f"--arch={machine}", "--foreign", "--include=libgcc-s1") if machine else ()
            foreign += (f"--include={include}",) if include else ()
            mirror = os.environ.get("DEBIAN_MIRROR")
            run("debootstrap", "--variant=minbase", *foreign, RELEASE, fresh, *([mirror] if mirror else []))
            partial = kept.with_suffix(".part")
            run("tar", "--create", "--file", partial, "--exclude=./var/cache/apt/archives/*.deb", "--exclude=./proc/*",
                "--exclude=./sys/*", "--exclude=./usr/share/locale/*", "-C", fresh, ".")
            partial.rename(kept)
    folder.mkdir(parents=True)
    run("tar", "--extract", "--file", kept, "-C", folder)
    folder.chmod(0o755)


class Host:
    """A host that was started by this command, until it is told to stop."""

    def __init__(self, command, environment=None, cwd=None):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PORTICO_")}
        clean.update({"PORTICO_ICON_SOURCES": "", "PORTICO_DRAIN": "0", **(environment or {})})
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log,
            text=True, env=clean, cwd=cwd, start_new_session=True,
        )
        self.url = None
        for line in self.process.stdout:
            found = re.search(r"listens on (http://\S+)", line)
            if found:
                self.url = found.group(1).replace("0.0.0.0", "127.0.0.1")
                break
        if not self.url:
            sys.exit(f"it did not start: {self.said()}")

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def ask(self, path, body=None):
        headers = {"content-type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=120) as answer:
            return json.load(answer)

    def check(self):
        """Its first answers: it is ready, and the component runs, stores and reads."""
        assert self.ask("/api/health/ready")["status"] == "ok"
        self.ask("/api/trpc/user.initUser", {"username": "ada", "password": "correct horse"})
        signed_in = self.ask("/api/auth/sign-in", {"username": "ada", "password": "correct horse"})
        assert signed_in["token"], signed_in

    def stop(self, expected=0):
        # Where it runs in namespaces, the signal is for the program in them.
        children = children_of(self.process.pid)
        os.kill(int(children[0]) if children and self.inner() else self.process.pid, signal.SIGTERM)
        code = self.process.wait(30)
        assert code in (0, expected), f"it ended with {code}: {self.said()}"

    def inner(self):
        return self.process.args[0] == "unshare"


def in_root(root, user, *command, before="", environment=()):
    """A command in this root as this user, after a script that has mounted things."""
    script = f'set -e; root=$1; mount -t proc proc "$root/proc"; {before} shift; exec "$@"'
    inside = ("chroot", f"--userspec={user}", root, "/usr/bin/env", *environment, *command) if user else (
        "chroot", root, "/usr/bin/env", *environment, *command)
    return (*NAMESPACES, "sh", "-c", script, "sh", root, *inside)


def find(folder, pattern):
    files = sorted(folder.glob(pattern))
    if len(files) != 1:
        sys.exit(f"{folder} has {len(files)} files {pattern}: remove the old ones, or make packages first")
    return files[0]


def test_deb(folder, work):
    file = find(folder, f"portico_*_{MACHINES[platform.machine()][0]}.deb")
    root = work / "root"
    debian(root)
    shutil.copy(file, root / "portico.deb")
    install = ("chroot", root, "dpkg", "--install", "/portico.deb")
    run(*install)
    run("chroot", root, "portico", "--version")
    if shutil.which("systemd-analyze"):
        units = [ROOT / "packaging" / unit for unit in ("portico.service", "portico.socket")]
        looked = subprocess.run(("systemd-analyze", "verify", "--man=no", *units), capture_output=True, text=True)
        # The program is in the clean root, and not here.
        problems = [line for line in looked.stderr.splitlines() if "/usr/bin/portico is not executable" not in line]
        assert not problems, problems
        # Tenths of its level of exposure, of which docs/install.md gives the value.
        run("systemd-analyze", "security", "--offline=true", "--threshold=14", ROOT / "packaging/portico.service")
    else:
        print("deb: systemd-analyze is not here, so nothing has looked at the unit")
    # What systemd does for the unit.
    unit = (root / "usr/lib/systemd/system/portico.service").read_text()
    environment = re.findall(r"^Environment=(.*)$", unit, re.MULTILINE)
    command = re.search(r"^ExecStart=(.*)$", unit, re.MULTILINE).group(1).split()
    run("chroot", root, "install", "-d", "-o", "portico", "-g", "portico", "-m", "0700", "/var/lib/portico")
    free = ("PORTICO_LISTEN=127.0.0.1:0", "PORTICO_ICON_SOURCES=")

    def serve():
        return Host(in_root(root, "portico:portico", *command, environment=(*environment, *free)))

    host = serve()
    host.check()
    said = run(*in_root(root, "portico:portico", "portico", "healthcheck", "--url", host.url))
    assert "is ready" in said, said
    host.stop()
    # A second time, as an upgrade: what was changed and what was stored stay.
    settings = root / "etc/portico/portico.toml"
    settings.write_text(settings.read_text() + "# mine\n")
    run(*install)
    assert settings.read_text().endswith("# mine\n")
    assert oct(settings.stat().st_mode) == "0o100640" and settings.group() != "root"
    host = serve()
    assert host.ask("/api/auth/sign-in", {"username": "ada", "password": "correct horse"})["token"]
    host.stop()
    said = run(*in_root(root, "portico:portico", "portico", "doctor", environment=(*environment, *free)))
    assert "ok    database  SQLite; it is whole" in said, said
    run("chroot", root, "dpkg", "--purge", "portico")
    assert (root / "var/lib/portico/portico.db").exists()
    left = [path for path in ("usr/bin/portico", "etc/portico/portico.toml") if (root / path).exists()]
    assert not left, left


def test_systemd(folder, work):
    """The unit itself, in a machine that systemd-nspawn boots: its hardening, its socket, and a restart."""
    root = work / "root"
    debian(root, include="systemd,systemd-sysv,dbus")
    shutil.copy(find(folder, f"portico_*_{MACHINES[platform.machine()][0]}.deb"), root / "portico.deb")
    # With a network of its own, in which nothing else has the port.
    machine = subprocess.Popen(
        ("systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--private-network", "--boot", "-D", root),
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT,
    )
    try:
        init = wait_for("a booted machine", lambda: children_of(machine.pid))[0]
        inside = lambda *command: ("nsenter", "-t", init, "-m", "-u", "-i", "-n", "-p", "-C", *command)
        started = ("running", "degraded")
        wait_for("systemd", lambda: said_by(inside("systemctl", "is-system-running")) in started)
        run(*inside("dpkg", "--install", "/portico.deb"))
        # Type=notify: it serves when the installation ends.
        assert "is ready" in run(*inside("portico", "healthcheck"))
        run(*inside("runuser", "-u", "portico", "--", "portico", "doctor", "--config", "/etc/portico/portico.toml"))
        # Clients wait at the socket while the host is replaced, and until one that was killed is started again.
        for change in (("restart",), ("kill", "--signal=KILL")):
            changing = subprocess.Popen([str(part) for part in inside("systemctl", *change, "portico.service")])
            assert "is ready" in run(*inside("portico", "healthcheck", "--time-limit", "60"))
            assert changing.wait() == 0
        run(*inside("dpkg", "--install", "/portico.deb"))
        run(*inside("systemctl", "is-active", "portico.service", "portico.socket"))
        run(*inside("dpkg", "--purge", "portico"))
        assert said_by(inside("systemctl", "is-active", "portico.service")) == "inactive"
        assert (root / "var/lib/portico/portico.db").exists()
    finally:
        for process in (*children_of(machine.pid), machine.pid):
            os.kill(int(process), signal.SIGKILL)
        machine.wait()


def said_by(command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True).stdout.strip()


def children_of(process):
    return Path(f"/proc/{process}/task/{process}/children").read_text().split()


def wait_for(what, look):
    began = time.monotonic()
    while not (found := look()):
        assert time.monotonic() - began < 120, f"there is no {what}"
        time.sleep(0.1)
    return found


def test_archive(folder, work):
    file = find(folder, f"portico-*-{platform.machine()}-linux.tar.zst")
    run("tar", "--zstd", "--extract", "--file", file, "-C", work)
    top = find(work, "portico-*")
    for paper in ("LICENSE", "THIRD-PARTY-LICENSES.txt", "portico.cdx.json", "systemd/portico.service"):
        assert (top / paper).stat().st_size > 100, paper
    serve_once(top / "bin/portico", work)


def test_wheel(folder, work):
    file = find(folder, f"portico_server-*_{platform.machine()}.whl")
    run(sys.executable, "-m", "venv", work / "venv")
    run(work / "venv/bin/pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", file)
    run(work / "venv/bin/pip", "check")
    serve_once(work / "venv/bin/portico", work)


def test_npm(folder, work):
    file = find(folder, f"portico-server-*-linux-{MACHINES[platform.machine()][1]}.tgz")
    (work / "package.json").write_text("{}")
    run("npm", "install", "--offline", "--no-audit", "--no-fund", file, cwd=work)
    serve_once(work / "node_modules/.bin/portico", work)


NODE_DASHBOARD = """
import { createServer } from "node:http";
import { Portico } from "@portico/dashboard";
import Database from "libsql";
const portico = await Portico.open({ database: new Database("dash.db") });
const serve = portico.trpc();
const server = createServer((request, response) => serve(request, response));
server.listen(0, "127.0.0.1", () => console.log(`listens on http://127.0.0.1:${server.address().port}`));
process.on("SIGTERM", () => process.exit(0));
"""


def test_library_for_node(folder, work):
    """A dashboard of ten lines, over a driver from its registry."""
    (work / "package.json").write_text('{ "type": "module" }')
    run("npm", "install", "--no-audit", "--no-fund", find(folder, "portico-dashboard-*.tgz"), "libsql@0.5.29", cwd=work)
    check_papers(work / "node_modules/@portico/dashboard", "LICENSE", "THIRD-PARTY-LICENSES.txt", "portico.cdx.json")
    (work / "main.js").write_text(NODE_DASHBOARD)
    dashboard = Host(("node", "main.js"), cwd=work)
    sign_in(dashboard, "/trpc/session.signIn")
    dashboard.stop()


PYTHON_DASHBOARD = """
import socket
import uvicorn
from portico_dashboard import Portico
from sqlalchemy import create_engine
portico = Portico.open(create_engine("sqlite:///dash.db"))
listener = socket.create_server(("127.0.0.1", 0))
print(f"listens on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
uvicorn.Server(uvicorn.Config(portico.asgi(), log_level="warning")).run(sockets=[listener])
"""


def test_library_for_python(folder, work):
    """The same in Python, in a fresh virtual environment."""
    run(sys.executable, "-m", "venv", work / "venv")
    pins = ROOT / "examples/python-dashboard/requirements.txt"
    # With what docs/embedding.md names for an engine that is not asynchronous.
    run(work / "venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", "--constraint", pins,
        f"{find(folder, 'portico_dashboard-*.whl')}[sqlalchemy]", "uvicorn")
    run(work / "venv/bin/pip", "check")
    info = find(work, "venv/lib/python*/site-packages/portico_dashboard-*.dist-info")
    check_papers(info, "licenses/LICENSE", "licenses/THIRD-PARTY-LICENSES.txt", "sboms/portico.cdx.json")
    (work / "main.py").write_text(PYTHON_DASHBOARD)
    dashboard = Host((work / "venv/bin/python", "main.py"), {"XDG_CACHE_HOME": str(work / "cache")}, cwd=work)
    sign_in(dashboard, "/session")
    # uvicorn gives itself the signal again after it has stopped.
    dashboard.stop(-signal.SIGTERM)


def check_papers(folder, license, third_party, sbom):
    """What the libraries contain is named in them: crates of either component."""
    assert "Apache License" in (folder / license).read_text()
    texts = (folder / third_party).read_text()
    names = {component["name"] for component in json.loads((folder / sbom).read_text())["components"]}
    for crate in ("argon2", "serde_json"):
        assert f"\n{crate} " in texts and crate in names, crate
    # Only other parts of the workspace have that.
    assert "wasmtime" not in names


def sign_in(dashboard, path):
    account = {"username": "ada", "password": "correct horse"}
    created = dashboard.ask("/trpc/user.initUser", account)
    assert created["result"]["data"]["id"], created
    dashboard.ask(path, account)


def test_image(folder, work):
    """The steps of packaging/Containerfile by hand: its root, its user, no writable place but /data."""
    file = find(folder, f"portico_*_{MACHINES[platform.machine()][0]}.deb")
    build, image = work / "build", work / "build/image"
    debian(build)
    shutil.copy(file, build / "portico.deb")
    shutil.copy(ROOT / "packaging/image-root.sh", build)
    run("chroot", build, "/image-root.sh", "/portico.deb", "/image")
    containerfile = (ROOT / "packaging/Containerfile").read_text()
    settings = re.search(r"^ENV (.*)$", containerfile, re.MULTILINE).group(1).split()
    health = json.loads(re.search(r"^HEALTHCHECK .* CMD (.*)$", containerfile, re.MULTILINE).group(1))
    start = json.loads(re.search(r"^ENTRYPOINT (.*)$", containerfile, re.MULTILINE).group(1)) + ["serve"]
    user = re.search(r"^USER (.*)$", containerfile, re.MULTILINE).group(1)
    (image / "proc").mkdir()
    before = (
        'mount --bind "$root" "$root"; mount -o remount,ro,bind "$root"; mount --bind "$root/data" "$root/data"; '
        'mount -o remount,rw,bind "$root/data"; mount -t proc proc "$root/proc";'
    )
    # The image has no program `env`, so the settings come from outside.
    environment = dict(setting.split("=", 1) for setting in settings)
    port = free_port()
    environment["PORTICO_LISTEN"] = f"0.0.0.0:{port}"
    inside = lambda command: (
        *NAMESPACES, "sh", "-c", f'set -e; root=$1; {before} shift; exec "$@"', "sh", image,
        "chroot", f"--userspec={user}", image, *command,
    )
    host = Host(inside(start), environment)
    host.check()
    said = run(*inside(health), env={**os.environ, **environment})
    assert "is ready" in said, said
    host.stop()
    refused = subprocess.run(inside(health), env={**os.environ, **environment}, capture_output=True, text=True)
    assert refused.returncode == 1 and "no host answers" in refused.stderr, refused
    places = {path.name for path in image.iterdir()}
    assert places <= {"data", "etc", "lib", "lib64", "proc", "usr"}, places


def test_arm64(folder, work):
    """On another machine, by qemu-user, which the kernel has to know because the host starts itself to compile."""
    if platform.machine() == "aarch64":
        return
    root = work / "root"
    debian(root, "arm64")
    file = find(folder, "portico_*_arm64.deb")
    run("dpkg-deb", "--extract", file, root)
    registered = Path("/proc/sys/fs/binfmt_misc/qemu-aarch64")
    is_new = not registered.exists()
    if is_new:
        run("sh", "-c", "mountpoint -q /proc/sys/fs/binfmt_misc || mount -t binfmt_misc none /proc/sys/fs/binfmt_misc")
        magic = r"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
        mask = r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"
        rule = f":qemu-aarch64:M::{magic}:{mask}:{shutil.which('qemu-aarch64-static')}:F"
        Path("/proc/sys/fs/binfmt_misc/register").write_text(rule)
    data = ("PORTICO_LISTEN=127.0.0.1:0", "PORTICO_DATA=/data", "PORTICO_ICON_SOURCES=")
    try:
        host = Host(in_root(root, None, "/usr/bin/portico", "serve", environment=data))
        host.check()
        host.stop()
    finally:
        if is_new:
            registered.write_text("-1")


def serve_once(binary, work):
    host = Host((binary, "serve", "--listen", "127.0.0.1:0", "--data", work / "data"), own_cache())
    host.check()
    said = run(binary, "healthcheck", "--url", host.url)
    assert "is ready" in said, said
    host.stop()


def own_cache():
    """The component is compiled once for all packages that run outside of a root."""
    return {"PORTICO_CACHE": str(CACHE / "cache")}


def free_port():
    """A port of this machine that is free, and none of those from which the system takes the ports of connections."""
    while True:
        port = random.randrange(10_000, 32_000)
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port


def check_sums(folder):
    sums = folder / "SHA256SUMS"
    if sums.exists():
        run("sha256sum", "--check", "--strict", sums.name, cwd=folder)


def main():
    tests = {"deb": test_deb, "systemd": test_systemd, "archive": test_archive, "image": test_image, "wheel": test_wheel, "npm": test_npm,
             "library-node": test_library_for_node, "library-python": test_library_for_python, "arm64": test_arm64}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default=",".join(tests))
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("clean roots are made as root: sudo make test-packages")
    folder = arguments.folder.resolve()
    check_sums(folder)
    for name in arguments.only.split(","):
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="portico-package-") as work:
            tests[name](folder, Path(work))
        print(f"{name}: installed and answered, {time.monotonic() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
