"""The wheel: the same bytes each time, complete, and typed."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

HERE = Path(__file__).parents[1]
REPOSITORY = HERE.parents[1]


def python(*arguments: str | Path, path: str | Path = "", folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(path)}
    return subprocess.run(
        [sys.executable, *map(str, arguments)], env=environment, cwd=folder, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("papers")
    for name in ("LICENSE", "THIRD-PARTY-LICENSES.txt", "portico.cdx.json"):
        (folder / name).write_text(f"as it is in {name}")
    return folder


@pytest.fixture(scope="module")
def wheel(papers: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    for name in ("portico.wasm", "portico-with-sql.wasm"):
        (folder / name).write_bytes((REPOSITORY / "dist" / name).read_bytes())
    built = python(HERE / "build_wheel.py", folder, papers)
    assert built.returncode == 0, built.stderr
    return Path(built.stdout.strip())


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    done = python("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", folder, wheel)
    assert done.returncode == 0, done.stderr
    return folder


def test_it_is_for_every_machine_and_the_same_each_time(wheel: Path, papers: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")
    before = wheel.read_bytes()
    python(HERE / "build_wheel.py", wheel.parent, papers)
    assert wheel.read_bytes() == before
    with zipfile.ZipFile(wheel) as archive:
        assert not [name for name in archive.namelist() if name.endswith((".so", ".pyc"))]
        info = "portico_dashboard-0.1.0.dist-info"
        for name in ("licenses/LICENSE", "licenses/THIRD-PARTY-LICENSES.txt", "sboms/portico.cdx.json"):
            assert archive.read(f"{info}/{name}").decode() == f"as it is in {name.split('/')[1]}"


def test_an_installed_wheel_answers(installed: Path, tmp_path: Path) -> None:
    program = (
        "import sqlalchemy, portico_dashboard as p\n"
        "portico = p.Portico.open(sqlalchemy.create_engine('sqlite:///dash.db'))\n"
        "portico.users.init_user(p.ANONYMOUS, p.NewAccount(username='ada', password='correct horse'))\n"
        "print(p.__file__, portico.sign_in.password('ada', 'correct horse').name)\n"
    )
    done = python("-c", program, path=installed, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"{installed}/portico_dashboard/__init__.py ada"


def test_what_is_generated_is_what_the_contract_says() -> None:
    assert python(HERE / "generate.py", "--check").returncode == 0


def test_programs_that_use_it_are_checked(installed: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "from portico_dashboard import App, AppInput, Portico, signed_in\n"
        "def use(portico: Portico) -> App:\n"
        "    me = signed_in('ada', ['admin'])\n"
        "    found: list[App] = portico.apps.all(me)\n"
        "    portico.apps.create(me, 5)\n"
        "    portico.apps.by_id(me, found[0])\n"
        "    return portico.apps.create(me, AppInput(name='a', icon_url='/i.svg'))\n"
    )
    done = python("-m", "mypy", "--strict", program, path=installed, folder=tmp_path)
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert len(errors) == 2, done.stdout
    assert 'expected "AppInput"' in errors[0] and 'expected "str"' in errors[1]


def test_the_package_and_its_tests_are_typed() -> None:
    done = python("-m", "mypy", folder=HERE)
    assert done.returncode == 0, done.stdout
