"""The folder of compiled files: loading one is running it."""

import os
import shutil
from pathlib import Path

import pytest
from memory import Apps

from portico_dashboard import Portico
from portico_dashboard.capi import VERSION
from portico_dashboard.compiled import UnsafeCache


def opened(cache: Path) -> Portico:
    return Portico.open(storage=Apps(), cache=cache)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the compiled file. Tests change copies of it."""
    folder = tmp_path_factory.mktemp("compiled") / "portico"
    opened(folder)
    return folder


@pytest.fixture
def cache(compiled: Path, tmp_path: Path) -> Path:
    """Such a folder."""
    return Path(shutil.copytree(compiled, tmp_path / "portico"))


def test_a_compiled_file_is_kept_for_this_user_only(cache: Path) -> None:
    sha256 = opened(cache).sha256
    assert cache.stat().st_mode & 0o777 == 0o700
    [file] = cache.iterdir()
    assert file.name == f"{sha256}-wasmtime-{VERSION}.cwasm"
    assert file.stat().st_mode & 0o777 == 0o600
    before = file.stat().st_mtime_ns
    opened(cache)
    assert file.stat().st_mtime_ns == before, "it is loaded, and not compiled again"


def test_a_folder_that_others_may_write_to_is_refused(tmp_path: Path) -> None:
    for mode in (0o770, 0o707):
        tmp_path.chmod(mode)
        with pytest.raises(UnsafeCache, match="others may write to"):
            opened(tmp_path)


def test_a_file_that_others_may_write_to_is_refused(cache: Path) -> None:
    [file] = cache.iterdir()
    file.chmod(0o622)
    with pytest.raises(UnsafeCache, match="others may write to"):
        opened(cache)


def test_a_link_is_not_followed(cache: Path, tmp_path: Path) -> None:
    [file] = cache.iterdir()
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError):
        opened(cache)
    (tmp_path / "link").symlink_to(cache)
    with pytest.raises(UnsafeCache, match="is not a folder"):
        opened(tmp_path / "link")


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_what_belongs_to_another_user_is_refused(cache: Path) -> None:
    [file] = cache.iterdir()
    os.chown(file, 65534, 65534)
    with pytest.raises(UnsafeCache, match="belongs to another user"):
        opened(cache)
    os.chown(cache, 65534, 65534)
    with pytest.raises(UnsafeCache, match="belongs to another user"):
        opened(cache)


def test_a_folder_that_cannot_be_written_costs_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    assert opened(tmp_path / "file" / "portico").procedures
    assert "is not kept in" in caplog.text
    caplog.clear()

    def full(*arguments: object, **named: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert opened(tmp_path / "portico").procedures
    assert "No space left on device" in caplog.text
    assert list((tmp_path / "portico").iterdir()) == []


def test_a_user_without_a_home_opens_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", lambda: Path("~none").expanduser())
    assert Portico.open(storage=Apps()).procedures


def test_a_file_that_does_not_fit_is_compiled_anew(cache: Path) -> None:
    [file] = cache.iterdir()
    file.write_bytes(b"of another machine")
    opened(cache)
    assert file.stat().st_size > 100_000
