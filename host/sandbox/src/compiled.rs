//! Compiled components in files: reading one takes a few milliseconds, compiling it a hundred.
//!
//! Invariants:
//! - Compiled code runs outside the sandbox, unchanged. So it is read only from a file and a folder to which no other
//!   user can have written; the folders above are the responsibility of the administrator who chose them. wasmtime
//!   itself checks that the code was made by this version, with these settings, for this processor.
//! - The code's SHA-256 precedes it, because a disk or a copy may damage it and wasmtime checks only its header. What
//!   was checked is what runs: the file is read once, and not mapped.
//! - A file is named after what it was made from, and gets its name when it is complete.

use std::{
    fs::{self, DirBuilder, Metadata},
    io::{self, ErrorKind, Write as _},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::Context as _;
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;
use tracing::{info, warn};
use wasmtime::{Engine, component::Component};

use crate::{
    component::{COMPONENT_HASH, Wasm},
    inspect::sha256,
};

/// How many files stay, including those of earlier components and of other versions.
const MOST_KEPT: usize = 8;

const EXTENSION: &str = "compiled";

const DIGEST: usize = 32;

/// Compiles a component by this function, or reads it from this folder, which is created if necessary.
pub(crate) fn load(
    engine: &Engine,
    component: Wasm<'_>,
    folder: Option<&Path>,
    compile: impl FnOnce() -> anyhow::Result<Component>,
) -> anyhow::Result<Component> {
    let compile = || {
        info!("compiling the component, which takes up to a few seconds");
        compile()
    };
    let Some(folder) = folder else {
        return compile();
    };
    let (folder, metadata) = prepare_folder(folder)
        .with_context(|| format!("cannot use {} to keep the compiled component", folder.display()))?;
    if is_ours(&metadata) {
        return from_folder(engine, component, &folder, compile);
    }
    warn!(
        "others may write to {}, so the compiled component is not kept there and each start takes longer: let it \
         belong to the user that portico runs as, with mode 0700",
        folder.display()
    );
    compile()
}

/// Creates the folder if necessary. Returns its real path, because a link in the path could be changed after the check
/// of its metadata.
fn prepare_folder(folder: &Path) -> io::Result<(PathBuf, Metadata)> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let folder = folder.canonicalize()?;
    let metadata = fs::symlink_metadata(&folder)?;
    Ok((folder, metadata))
}

/// The same component for another engine with the same settings.
pub(crate) fn load_again(engine: &Engine, component: &Component) -> anyhow::Result<Component> {
    let bytes = component.serialize()?;
    #[expect(unsafe_code, reason = "wasmtime takes compiled code by nothing else")]
    // SAFETY: these are the bytes that wasmtime gave in this process.
    Ok(unsafe { Component::deserialize(engine, bytes)? })
}

fn from_folder(
    engine: &Engine,
    component: Wasm<'_>,
    folder: &Path,
    compile: impl FnOnce() -> anyhow::Result<Component>,
) -> anyhow::Result<Component> {
    let file = folder.join(name_of(component));
    match from_file(engine, &file) {
        Ok(Some(component)) => return Ok(component),
        Ok(None) => {}
        Err(error) => warn!(
            error = format!("{error:#}"),
            file = %file.display(),
            "the file of the compiled component cannot be used, so it is made anew"
        ),
    }
    let component = compile()?;
    if let Err(error) = store_compiled(&component, &file, folder) {
        warn!(%error, file = %file.display(), "the compiled component is not kept: the next start takes longer");
    }
    if let Err(error) = forget_old(folder) {
        warn!(%error, folder = %folder.display(), "old compiled components cannot be removed");
    }
    Ok(component)
}

fn name_of(component: Wasm<'_>) -> String {
    let hash = match component {
        Wasm::Included => COMPONENT_HASH.into(),
        Wasm::Bytes(bytes) => sha256(bytes),
    };
    format!("{hash}.{EXTENSION}")
}

/// The compiled component of this file; `None` if there is no such file.
fn from_file(engine: &Engine, file: &Path) -> anyhow::Result<Option<Component>> {
    let Some(metadata) = unless_gone(fs::symlink_metadata(file))? else {
        return Ok(None);
    };
    anyhow::ensure!(
        metadata.is_file() && is_ours(&metadata),
        "others may have written it"
    );
    let bytes = fs::read(file)?;
    let (digest, code) = bytes.split_first_chunk::<DIGEST>().context("it is cut short")?;
    anyhow::ensure!(*digest == *Sha256::digest(code), "it is damaged");
    #[expect(unsafe_code, reason = "wasmtime takes compiled code by nothing else")]
    // SAFETY: the file and its folder belong to us and no other user may write to them, and its digest shows
    // that these are the bytes that wasmtime gave to `keep`.
    Ok(Some(unsafe { Component::deserialize(engine, code)? }))
}

/// Whether only the user that this process runs as may write to it.
fn is_ours(metadata: &Metadata) -> bool {
    const OTHERS_MAY_WRITE: u32 = 0o022;
    metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & OTHERS_MAY_WRITE == 0
}

fn store_compiled(component: &Component, file: &Path, folder: &Path) -> anyhow::Result<()> {
    let code = component.serialize()?;
    let mut new = temporary(folder)?;
    new.write_all(&Sha256::digest(&code))?;
    new.write_all(&code)?;
    // The contents must be durable before the name, even if the machine stops in between.
    new.as_file().sync_all()?;
    new.persist(file)?;
    Ok(())
}

/// A file that only its owner may read. It is removed unless it gets its name. If the process is killed first, the
/// extension lets [`forget_old`] remove it.
fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    let suffix = format!(".{EXTENSION}");
    tempfile::Builder::new().suffix(&suffix).tempfile_in(folder)
}

/// Removes the oldest files beyond [`MOST_KEPT`]. Another process may remove them at the same time.
fn forget_old(folder: &Path) -> io::Result<()> {
    let mut kept: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == EXTENSION)
            && let Some(metadata) = unless_gone(fs::symlink_metadata(&path))?
        {
            kept.push((metadata.modified()?, path));
        }
    }
    kept.sort_unstable_by(|one, other| other.cmp(one));
    for (_, path) in kept.into_iter().skip(MOST_KEPT) {
        unless_gone(fs::remove_file(path))?;
    }
    Ok(())
}

/// The result, or `None` if there is no such file.
fn unless_gone<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::component::COMPONENT;

    const EMPTY: Wasm<'_> = Wasm::Bytes(b"\0asm\x0d\0\x01\0");

    fn load(engine: &Engine, component: Wasm<'_>, folder: Option<&Path>) -> anyhow::Result<Component> {
        super::load(engine, component, folder, || {
            Ok(Component::new(engine, &*component)?)
        })
    }

    fn list_compiled(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_compiled_component_is_taken_from_its_file() {
        let engine = Engine::default();
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("cache");
        load(&engine, EMPTY, Some(&folder)).unwrap();
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        let [file] = &list_compiled(&folder)[..] else {
            panic!("one file")
        };
        assert_eq!(fs::metadata(file).unwrap().mode() & 0o777, 0o600);
        from_file(&engine, file).unwrap().unwrap();
    }

    #[test]
    fn a_file_that_others_may_have_written_is_not_run() {
        let engine = Engine::default();
        let folder = tempfile::tempdir().unwrap();
        load(&engine, EMPTY, Some(folder.path())).unwrap();
        let file = &list_compiled(folder.path())[0];
        set_mode(file, 0o620);
        assert!(from_file(&engine, file).is_err());
        // The file is made anew.
        load(&engine, EMPTY, Some(folder.path())).unwrap();
        assert_eq!(fs::metadata(file).unwrap().mode() & 0o777, 0o600);

        let linked = folder.path().join("linked");
        std::os::unix::fs::symlink(file, &linked).unwrap();
        assert!(from_file(&engine, &linked).is_err());
    }

    #[test]
    fn a_folder_that_others_may_write_to_keeps_nothing() {
        let engine = Engine::default();
        let folder = tempfile::tempdir().unwrap();
        set_mode(folder.path(), 0o777);
        load(&engine, EMPTY, Some(folder.path())).unwrap();
        assert_eq!(list_compiled(folder.path()).len(), 0);
    }

    #[test]
    fn a_damaged_file_is_made_anew() {
        const PAGE: usize = 4096;
        let engine = Engine::default();
        let folder = tempfile::tempdir().unwrap();
        load(&engine, EMPTY, Some(folder.path())).unwrap();
        let file = &list_compiled(folder.path())[0];
        let whole = fs::read(file).unwrap();
        let flipped = |place: usize| {
            let mut bytes = whole.clone();
            bytes[place] ^= 1;
            bytes
        };
        let mut damaged = vec![Vec::new(), b"broken".to_vec()];
        // The digest, wasmtime's header, and every part of what follows.
        damaged.extend([0, DIGEST - 1, DIGEST, DIGEST + 64, whole.len() - 1].map(flipped));
        damaged.extend((DIGEST..whole.len()).step_by(PAGE / 2).map(flipped));
        damaged.extend((0..whole.len() / PAGE).map(|page| {
            let mut bytes = whole.clone();
            bytes[page * PAGE..][..PAGE].fill(0);
            bytes
        }));
        let lengths = [DIGEST - 1, DIGEST, DIGEST + 1, whole.len() / 2, whole.len() - 1];
        damaged.extend(lengths.map(|length| whole[..length].to_vec()));
        damaged.push([&whole[..], b"more"].concat());
        // A page may have been nothing but zeros before.
        damaged.retain(|bytes| *bytes != whole);
        for bytes in damaged {
            fs::write(file, bytes).unwrap();
            assert!(from_file(&engine, file).is_err());
            load(&engine, EMPTY, Some(folder.path())).unwrap();
            assert_eq!(fs::read(file).unwrap(), whole);
        }
    }

    #[test]
    fn a_file_that_another_wasmtime_or_other_settings_made_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let mut other = wasmtime::Config::new();
        other.epoch_interruption(true);
        let other = Engine::new(&other).unwrap();
        load(&other, EMPTY, Some(folder.path())).unwrap();
        let file = &list_compiled(folder.path())[0];
        assert!(from_file(&Engine::default(), file).is_err());
        load(&Engine::default(), EMPTY, Some(folder.path())).unwrap();
        from_file(&Engine::default(), file).unwrap().unwrap();
    }

    #[test]
    fn the_component_inside_has_the_same_name_as_a_copy_of_it() {
        assert_eq!(name_of(COMPONENT.into()), name_of(Wasm::Bytes(&COMPONENT)));
    }

    #[test]
    fn only_a_few_are_kept() {
        let engine = Engine::default();
        let folder = tempfile::tempdir().unwrap();
        for number in 0..MOST_KEPT as u8 + 3 {
            // A custom section without a name, and this in it.
            let component = [&*EMPTY, &[0, 2, 0, number]].concat();
            load(&engine, Wasm::Bytes(&component), Some(folder.path())).unwrap();
        }
        assert_eq!(list_compiled(folder.path()).len(), MOST_KEPT);
    }

    /// A process that is killed while it writes leaves its file under a temporary name.
    #[test]
    fn what_killed_processes_left_is_removed_as_well() {
        let engine = Engine::default();
        let folder = tempfile::tempdir().unwrap();
        for _ in 0..MOST_KEPT + 3 {
            temporary(folder.path()).unwrap().keep().unwrap();
        }
        load(&engine, EMPTY, Some(folder.path())).unwrap();
        assert_eq!(list_compiled(folder.path()).len(), MOST_KEPT);
    }

    #[test]
    fn a_component_is_kept_even_if_old_ones_cannot_be_removed() {
        let engine = Engine::default();
        let folder = tempfile::tempdir().unwrap();
        for number in 0..=MOST_KEPT {
            // Folders, which cannot be removed as files are.
            fs::create_dir(folder.path().join(format!("{number}.{EXTENSION}"))).unwrap();
        }
        let file = folder.path().join(name_of(EMPTY));
        store_compiled(&Component::new(&engine, &*EMPTY).unwrap(), &file, folder.path()).unwrap();
        assert!(forget_old(folder.path()).is_err());
        from_file(&engine, &file).unwrap().unwrap();
    }

    #[test]
    fn a_file_that_another_process_has_removed_is_no_failure() {
        let folder = tempfile::tempdir().unwrap();
        let gone = folder.path().join("gone");
        assert!(unless_gone(fs::symlink_metadata(&gone)).unwrap().is_none());
        assert!(unless_gone(fs::remove_file(&gone)).unwrap().is_none());
    }
}
