"""Makes the packages of one built binary: .deb, .tar.zst, a wheel and an npm package.

    build.py BINARY TARGET FOLDER [--quick]

The same inputs give the same bytes, with SOURCE_DATE_EPOCH or the time of the last commit. --quick compresses little.
"""

import argparse
import base64
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "packaging"
SUMMARY = "The users and apps of a dashboard: a sandboxed component, and the host that serves it"

# What Debian, the kernel, wheels and Node call the machines that we build for.
MACHINES = {
    "x86_64-unknown-linux-gnu": ("amd64", "x86_64", "x64"),
    "aarch64-unknown-linux-gnu": ("arm64", "aarch64", "arm64"),
}


def run(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT, **options).stdout


@dataclass
class Package:
    """What all kinds of packages hold."""

    binary: Path
    target: str
    folder: Path
    quick: bool
    version: str
    time: int
    # The files next to the binary: name and content.
    papers: dict

    def names(self):
        return MACHINES[self.target]


def oldest_glibc(binary):
    """The version of glibc that a binary needs, such as (2, 28)."""
    needs = re.findall(r"Name: GLIBC_(\d+)\.(\d+)", run("readelf", "--version-info", "--wide", str(binary)))
    if not needs:
        sys.exit(f"{binary} needs no glibc: it is not a program for Linux with glibc")
    return max((int(major), int(minor)) for major, minor in needs)


def deb(package):
    machine = package.names()[0]
    glibc = ".".join(map(str, oldest_glibc(package.binary)))
    with tempfile.TemporaryDirectory() as root:
        root = Path(root)
        files = [
            (package.binary, "usr/bin/portico", 0o755),
            (HERE / "portico.service", "usr/lib/systemd/system/portico.service", 0o644),
            (HERE / "portico.socket", "usr/lib/systemd/system/portico.socket", 0o644),
            (HERE / "portico.toml", "etc/portico/portico.toml", 0o640),
        ]
        files += [(HERE / "deb" / script, f"DEBIAN/{script}", 0o755) for script in ("postinst", "prerm", "postrm")]
        for source, name, mode in files:
            place = root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, place)
            place.chmod(mode)
        papers = root / "usr/share/doc/portico"
        papers.mkdir(parents=True)
        for name, content in package.papers.items():
            (papers / ("copyright" if name == "LICENSE" else name)).write_bytes(content)
        (root / "DEBIAN/conffiles").write_text("/etc/portico/portico.toml\n")
        size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) // 1024
        (root / "DEBIAN/control").write_text(
            f"Package: portico\nVersion: {package.version}\nArchitecture: {machine}\nInstalled-Size: {size}\n"
            "Maintainer: The Portico project <noreply@portico.invalid>\nSection: web\nPriority: optional\n"
            f"Depends: libc6 (>= {glibc}), libgcc-s1, passwd, init-system-helpers\n"
            f"Description: {SUMMARY.split(':')[0].lower()}\n"
            " Portico is the front door of a dashboard: the people who sign in, the apps that\n"
            " they open, and the rules about both. It serves http://127.0.0.1:7575.\n"
        )
        for path in [root, *root.rglob("*")]:
            if path.is_dir():
                path.chmod(0o755)
        out = package.folder / f"portico_{package.version}_{machine}.deb"
        compression = ("-Zgzip", "-z1") if package.quick else ("-Zxz",)
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(package.time)}
        run("dpkg-deb", "--root-owner-group", *compression, "--build", str(root), str(out), env=environment)
    return out


def tar_of(files, time):
    """A tar archive of (name, content, mode), as bytes."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content, mode in files:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.mtime = len(content), mode, time
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def archive(package):
    name = f"portico-{package.version}-{package.names()[1]}-linux"
    files = [(f"{name}/bin/portico", package.binary.read_bytes(), 0o755)]
    for unit in ("portico.service", "portico.socket", "portico.toml"):
        files.append((f"{name}/systemd/{unit}", (HERE / unit).read_bytes(), 0o644))
    files += [(f"{name}/{paper}", content, 0o644) for paper, content in package.papers.items()]
    out = package.folder / f"{name}.tar.zst"
    level = "-1" if package.quick else "-19"
    command = ("zstd", level, "--quiet", "--force", "-o", str(out))
    subprocess.run(command, check=True, input=tar_of(files, package.time))
    return out


def wheel(package):
    major, minor = oldest_glibc(package.binary)
    tag = f"py3-none-manylinux_{major}_{minor}_{package.names()[1]}"
    name = f"portico_server-{package.version}"
    info = f"{name}.dist-info"
    metadata = (
        f"Metadata-Version: 2.4\nName: portico-server\nVersion: {package.version}\nSummary: {SUMMARY}\n"
        "License-Expression: Apache-2.0\nLicense-File: LICENSE\nLicense-File: THIRD-PARTY-LICENSES.txt\n"
        "Requires-Python: >=3.9\n"
    )
    files = [
        (f"{name}.data/scripts/portico", package.binary.read_bytes(), 0o755),
        (f"{info}/METADATA", metadata.encode(), 0o644),
        (f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: portico\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), 0o644),
    ]
    for paper, content in package.papers.items():
        folder = "sboms" if paper.endswith(".json") else "licenses"
        files.append((f"{info}/{folder}/{paper}", content, 0o644))
    record = f"{info}/RECORD"
    rows = []
    for path, content, _ in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.append(f"{path},sha256={digest},{len(content)}\n")
    files.append((record, ("".join(rows) + f"{record},,\n").encode(), 0o644))
    out = package.folder / f"{name}-{tag}.whl"
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1 if package.quick else 9) as archive:
        for path, content, mode in files:
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return out


def npm(package):
    machine = package.names()[2]
    description = {
        "name": "portico-server",
        "version": package.version,
        "description": SUMMARY,
        "license": "Apache-2.0",
        # Publishing it is for those who own the name.
        "private": True,
        "os": ["linux"],
        "cpu": [machine],
        "libc": ["glibc"],
        "bin": {"portico": "bin/portico"},
    }
    files = [
        ("package/package.json", json.dumps(description, indent=2).encode(), 0o644),
        ("package/bin/portico", package.binary.read_bytes(), 0o755),
    ]
    files += [(f"package/{paper}", content, 0o644) for paper, content in package.papers.items()]
    out = package.folder / f"portico-server-{package.version}-linux-{machine}.tgz"
    level = "-1" if package.quick else "-9"
    with out.open("wb") as file:
        subprocess.run(("gzip", "--no-name", level), check=True, input=tar_of(files, package.time), stdout=file)
    return out


def papers(target):
    def generated(what):
        command = (sys.executable, str(HERE / "dependencies.py"), what, target)
        return run(*command).encode()

    return {
        "LICENSE": (ROOT / "LICENSE").read_bytes(),
        "THIRD-PARTY-LICENSES.txt": generated("licenses"),
        "portico.cdx.json": generated("sbom"),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary", type=Path)
    parser.add_argument("target", choices=MACHINES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    manifest = (ROOT / "Cargo.toml").read_text()
    version = re.search(r'^version = "(.*)"$', manifest, re.MULTILINE).group(1)
    time = int(os.environ.get("SOURCE_DATE_EPOCH") or run("git", "log", "-1", "--format=%ct"))
    # In absolute form: the programs run in the repository.
    package = Package(
        arguments.binary.resolve(), arguments.target, arguments.folder.resolve(), arguments.quick, version, time,
        papers(arguments.target),
    )
    made = [make(package) for make in (deb, archive, wheel, npm)]
    bom = package.folder / f"portico-{version}-{package.names()[1]}-linux.cdx.json"
    bom.write_bytes(package.papers["portico.cdx.json"])
    for file in [*made, bom]:
        print(f"{file.stat().st_size:>12} {file.name}")


if __name__ == "__main__":
    main()
