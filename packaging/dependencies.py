"""What is shipped besides our own code, in the binary for one target or in the libraries for Node and Python: its licences as
one text, or as a CycloneDX SBOM.

    dependencies.py licenses x86_64-unknown-linux-gnu > THIRD-PARTY-LICENSES.txt
    dependencies.py sbom library > portico.cdx.json

Both come from Cargo.lock. A crate without a licence text is an error.
"""

import hashlib
import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEXTS = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")
# Crates of a repository that are published without its licence: those whose name begins so are like the named one.
LIKE = {"cranelift-": "wasmtime", "pulley-": "wasmtime", "wasmtime-": "wasmtime"}
# Crates whose licence is the comment at the beginning of a file.
HEADED = {"qrcodegen": "src/lib.rs"}
# What is shipped as one, and for what each part is compiled. The component is inside the binary, too.
COMPONENT = ("portico-component", "wasm32-wasip2")
LIBRARY = [COMPONENT, ("portico-ready-storage", "wasm32-unknown-unknown")]


def parts_of(what):
    return LIBRARY if what == "library" else [("portico-server", what), COMPONENT]


def run(*command):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def crates_of(root, target):
    """The crates that a package of ours consists of, without tests, build scripts and macros; and what each depends on."""
    command = ("cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target)
    metadata = json.loads(run(*command))
    packages = {package["id"]: package for package in metadata["packages"]}
    compiled = None if root == "portico-server" else compiled_alone(root, target)
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    is_macro = {id: any("proc-macro" in target["kind"] for target in package["targets"]) for id, package in packages.items()}
    found = {}
    left = [package["id"] for package in packages.values() if package["name"] == root and not package["source"]]
    while left:
        crate = left.pop()
        if crate in found or (compiled and (packages[crate]["name"], packages[crate]["version"]) not in compiled):
            continue
        kinds = [(dep["pkg"], [kind["kind"] for kind in dep["dep_kinds"]]) for dep in nodes[crate]["deps"]]
        found[crate] = sorted(dep for dep, of in kinds if None in of and not is_macro[dep])
        left += found[crate]
    return [(packages[crate], [packages[dep] for dep in deps if dep in found]) for crate, deps in found.items()]


def compiled_alone(root, target):
    """Names and versions of what a part is compiled from: `cargo metadata` takes features that only other packages ask for."""
    command = ("cargo", "tree", "--locked", "--package", root, "--target", target, "--edges", "normal,no-proc-macro")
    lines = run(*command, "--prefix", "none", "--format", "{p}").splitlines()
    return {(line.split()[0], line.split()[1].removeprefix("v")) for line in lines if line}


def all_crates(what):
    """Every crate of all parts once, by name and version."""
    crates = {}
    for root, target in parts_of(what):
        for crate, deps in crates_of(root, target):
            known = crates.setdefault((crate["name"], crate["version"]), (crate, {}))
            known[1].update({(dep["name"], dep["version"]): dep for dep in deps})
    return [crates[key] for key in sorted(crates)]


def others(what):
    """What is shipped and is not a crate: name, version, licence, and the files with its texts."""
    rust = run("rustc", "--version").split()[1]
    texts = Path(run("rustc", "--print", "sysroot").strip()) / "share/doc/rust/licenses"
    yield "rust-std", rust, "MIT OR Apache-2.0", [texts / "MIT.txt", texts / "Apache-2.0.txt"]
    yield "wasi-libc", f"rust-{rust}", "MIT", [texts / "MIT.txt"]
    if what == "library":
        return
    assets = ROOT / "host/http/assets/swagger-ui"
    swagger = re.search(r"^Version: (\S+)", (assets / "README.md").read_text(), re.MULTILINE).group(1)
    htmx = re.search(r'version:"([0-9.]+)"', (ROOT / "host/console/assets/htmx.min.js").read_text()).group(1)
    yield "swagger-ui-dist", swagger, "Apache-2.0", [*sorted(assets.glob("*LICENSE*")), assets / "NOTICE"]
    # It asks for no notice.
    yield "htmx.org", htmx, "0BSD", []


def texts_in(folder):
    """Also those of the C code that a crate brings."""
    files = sorted(path for path in Path(folder).rglob("*") if path.name.upper().startswith(TEXTS) and path.is_file())
    files = [path for path in files if path.suffix.lower() in ("", ".txt", ".md") or path.name.isupper()]
    return list(dict.fromkeys(path.read_text(errors="replace").strip() for path in files))


def texts_of(name, folder):
    if name not in HEADED:
        return texts_in(folder)
    comment = re.match(r"/\*(.*?)\*/", (folder / HEADED[name]).read_text(), re.DOTALL).group(1)
    return ["\n".join(line.removeprefix(" *").strip() for line in comment.splitlines()).strip()]


def write_licenses(what, out):
    crates = [crate for crate, _ in all_crates(what) if crate["source"]]
    texts = {crate["name"]: texts_of(crate["name"], Path(crate["manifest_path"]).parent) for crate in crates}
    by_text = defaultdict(list)
    for crate in crates:
        like = next((other for start, other in LIKE.items() if crate["name"].startswith(start)), None)
        own = texts[crate["name"]] or texts.get(like)
        name = f'{crate["name"]} {crate["version"]} ({crate["license"]})'
        if not own:
            sys.exit(f"{name} brings no text of its licence: say in packaging/dependencies.py which one it has")
        for text in own:
            by_text[text].append(name)
    for name, version, license, files in others(what):
        for file in files:
            by_text[file.read_text(errors="replace").strip()].append(f"{name} {version} ({license})")
    out.write("Portico itself is licensed under Apache-2.0. It contains the following, under the licences below.\n")
    for text, names in sorted(by_text.items(), key=lambda item: item[1]):
        out.write(f"\n{'=' * 80}\n{chr(10).join(sorted(names))}\n{'-' * 80}\n{text}\n")


def write_sbom(what, out):
    def purl(crate):
        return f'pkg:cargo/{crate["name"]}@{crate["version"]}'

    def described(crate):
        component = {
            "type": "library",
            "bom-ref": purl(crate),
            "name": crate["name"],
            "version": crate["version"],
            # `/` is an old way to write OR.
            "licenses": [{"expression": re.sub(r"\s*/\s*", " OR ", crate["license"])}],
        }
        if crate["source"]:
            component["purl"] = purl(crate)
        return component

    crates = all_crates(what)
    by_name = {crate["name"]: crate for crate, _ in crates}
    if what == "library":
        roots = [by_name[root] for root, _ in LIBRARY]
        # One package of Node and one of Python, neither of them a crate.
        name = "portico-dashboard"
        own = {"type": "library", "bom-ref": name, "name": name, "version": roots[0]["version"], "licenses": described(roots[0])["licenses"]}
        components = [described(crate) for crate, _ in crates]
        targets = " ".join(target for _, target in LIBRARY)
        edges = [{"ref": name, "dependsOn": sorted(purl(root) for root in roots)}]
    else:
        server = by_name["portico-server"]
        own = {**described(server), "type": "application", "name": "portico"}
        components = [described(crate) for crate, _ in crates if crate is not server]
        targets, edges = what, []
    extra = [
        {"type": "library", "bom-ref": name, "name": name, "version": version, "licenses": [{"expression": license}]}
        for name, version, license, _ in others(what)
    ]
    sums = lock_checksums()
    for component in components:
        checksum = sums.get((component["name"], component["version"]))
        if checksum:
            component["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    edges += [
        {"ref": purl(crate), "dependsOn": sorted(purl(dep) for dep in deps.values())} for crate, deps in crates
    ]
    lock = hashlib.sha256((ROOT / "Cargo.lock").read_bytes()).hexdigest()
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": own,
            "properties": [{"name": "target", "value": targets}, {"name": "Cargo.lock", "value": f"sha256:{lock}"}],
        },
        "components": components + extra,
        "dependencies": edges,
    }
    json.dump(bom, out, indent=1)
    out.write("\n")


def lock_checksums():
    found = {}
    for block in (ROOT / "Cargo.lock").read_text().split("[[package]]"):
        fields = dict(re.findall(r'^(name|version|checksum) = "(.*)"$', block, re.MULTILINE))
        if "checksum" in fields:
            found[fields["name"], fields["version"]] = fields["checksum"]
    return found


if __name__ == "__main__":
    write = {"licenses": write_licenses, "sbom": write_sbom}
    if len(sys.argv) != 3 or sys.argv[1] not in write:
        sys.exit(__doc__)
    write[sys.argv[1]](sys.argv[2], sys.stdout)
