"""Builds the wheel: the package, the components, the inputs of the procedures and the licences of it all, in one file for
every machine. Needs nothing but Python, and makes the same bytes wherever it runs.

    python build_wheel.py DIST PAPERS

reads DIST/portico.wasm and DIST/portico-with-sql.wasm, and from PAPERS the licences and the SBOM (`make library-papers`), and
writes the wheel to DIST.
"""

import base64
import hashlib
import re
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
REPOSITORY = HERE.parent.parent
NAME = "portico_dashboard"
#: The oldest time that a zip file can have.
EPOCH = (1980, 1, 1, 0, 0, 0)

METADATA = """Metadata-Version: 2.4
Name: portico-dashboard
Version: {version}
Summary: Users and apps for a dashboard, whose rules run in a sandbox inside the process
License-Expression: {license}
License-File: LICENSE
License-File: THIRD-PARTY-LICENSES.txt
Requires-Python: >=3.11
Requires-Dist: wasmtime >=50.0.1, <51
Provides-Extra: sqlalchemy
Requires-Dist: sqlalchemy >=2.0.36, <3 ; extra == "sqlalchemy"
Provides-Extra: asyncio
Requires-Dist: sqlalchemy[asyncio] >=2.0.36, <3 ; extra == "asyncio"
Classifier: Typing :: Typed
Classifier: Operating System :: POSIX
Description-Content-Type: text/markdown

{description}
"""
WHEEL = """Wheel-Version: 1.0
Generator: portico build_wheel.py
Root-Is-Purelib: true
Tag: py3-none-any
"""


def manifest(key: str) -> str:
    """A value that all packages of the workspace have."""
    text = (REPOSITORY / "Cargo.toml").read_text("utf-8")
    section = text.split("[workspace.package]", 1)[1].split("\n[", 1)[0]
    found = re.search(rf'^{key} *= *"([^"]+)"', section, re.MULTILINE)
    if found is None:
        raise SystemExit(f"Cargo.toml has no {key}")
    return found[1]


def files(dist: Path, papers: Path) -> dict[str, bytes]:
    """The files of the wheel by name, without RECORD."""
    version = manifest("version")
    found = {f"{NAME}/{file.name}": file.read_bytes() for file in (HERE / NAME).glob("*.py")}
    found[f"{NAME}/py.typed"] = b""
    for component in ("portico.wasm", "portico-with-sql.wasm"):
        found[f"{NAME}/{component}"] = (dist / component).read_bytes()
    found[f"{NAME}/procedures.json"] = (REPOSITORY / "contract" / "procedures.json").read_bytes()
    info = f"{NAME}-{version}.dist-info"
    description = (HERE / "README.md").read_text("utf-8")
    metadata = METADATA.format(version=version, license=manifest("license"), description=description)
    found[f"{info}/METADATA"] = metadata.encode()
    found[f"{info}/WHEEL"] = WHEEL.encode()
    for paper, folder in (("LICENSE", "licenses"), ("THIRD-PARTY-LICENSES.txt", "licenses"), ("portico.cdx.json", "sboms")):
        found[f"{info}/{folder}/{paper}"] = (papers / paper).read_bytes()
    return found


def main() -> None:
    """Writes the wheel and prints its name."""
    dist, papers = map(Path, sys.argv[1:])
    version = manifest("version")
    contents = files(dist, papers)
    record = f"{NAME}-{version}.dist-info/RECORD"
    lines = []
    for name, content in sorted(contents.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    contents[record] = "".join([*lines, f"{record},,\n"]).encode()

    wheel = dist / f"{NAME}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in sorted(contents, key=lambda name: (name == record, name)):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.external_attr = 0o100644 << 16
            entry.create_system = 3
            # Stored: what zlib makes differs between its versions.
            archive.writestr(entry, contents[name], zipfile.ZIP_STORED)
    print(wheel)


if __name__ == "__main__":
    main()
