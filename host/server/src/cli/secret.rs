//! Secrets, given as themselves or in a file: containers and systemd pass files, which lists of processes and dumps of
//! the environment do not show.

use std::{fs::File, io::Read as _, path::Path};

use anyhow::{Context as _, bail, ensure};

/// The largest file with a secret, in bytes: one without end must not fill the memory.
const LARGEST: u64 = 64 << 10;

/// The secret of a setting, from its text or its file. Refuses both at once. What is empty counts as not set.
pub fn read(setting: &str, text: Option<&str>, file: Option<&Path>) -> anyhow::Result<Option<String>> {
    let text = text.filter(|text| !text.is_empty());
    let file = file.filter(|file| !file.as_os_str().is_empty());
    match (text, file) {
        (Some(_), Some(_)) => bail!("{setting} and {setting}-file are both set: leave one out"),
        (Some(text), None) => Ok(Some(text.to_owned())),
        (None, Some(file)) => read_file(file)
            .with_context(|| format!("{setting}-file: cannot use {}", file.display()))
            .map(Some),
        (None, None) => Ok(None),
    }
}

/// The same, from the command line and the environment, or, if they have neither, from the settings file.
pub fn read_layered(
    setting: &str,
    own: (Option<&str>, Option<&Path>),
    fallback: (Option<&str>, Option<&Path>),
) -> anyhow::Result<Option<String>> {
    match read(setting, own.0, own.1)? {
        Some(secret) => Ok(Some(secret)),
        None => read(setting, fallback.0, fallback.1),
    }
}

/// The only line of a file. Errors never repeat it.
fn read_file(file: &Path) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    File::open(file)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    ensure!(
        bytes.len() as u64 <= LARGEST,
        "it has more than {LARGEST} bytes, so it is not the file of a secret"
    );
    let Ok(text) = String::from_utf8(bytes) else {
        bail!("it is not text in UTF-8");
    };
    let secret = text.strip_suffix('\n').unwrap_or(&text);
    let secret = secret.strip_suffix('\r').unwrap_or(secret);
    ensure!(!secret.is_empty(), "it is empty");
    ensure!(
        !secret.starts_with('\u{feff}'),
        "it begins with a byte order mark: save it as UTF-8 without one"
    );
    ensure!(
        secret.trim() == secret,
        "it has spaces or empty lines around the secret: remove them"
    );
    ensure!(
        !secret.contains(char::is_control),
        "it has more than one line, or control characters"
    );
    Ok(secret.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_from(content: &[u8]) -> Result<Option<String>, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content).unwrap();
        read("database", None, Some(file.path())).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn a_secret_is_the_line_of_its_file() {
        for content in ["s3 cret", "s3 cret\n", "s3 cret\r\n"] {
            assert_eq!(read_from(content.as_bytes()), Ok(Some("s3 cret".into())));
        }
        assert_eq!(
            read_from(&[b'x'; LARGEST as usize]).unwrap().unwrap().len() as u64,
            LARGEST
        );
    }

    #[test]
    fn what_cannot_be_a_secret_is_refused_without_repeating_it() {
        for (content, why) in [
            (&b""[..], "it is empty"),
            (b"\n", "it is empty"),
            (b"one\nsecret", "more than one line"),
            (b"secret\0", "more than one line"),
            (b"\xef\xbb\xbfsecret", "byte order mark"),
            (b" secret\n", "has spaces"),
            (b"secret \r\n", "has spaces"),
            (b"\tsecret", "has spaces"),
            (b"\nsecret", "has spaces"),
            (b"secret\n\n", "has spaces or empty lines"),
            (b"secret\r\n\r\n", "has spaces or empty lines"),
            (b"secret\xff", "not text in UTF-8"),
            (&[b'x'; LARGEST as usize + 1], "more than 65536 bytes"),
        ] {
            let refusal = read_from(content).unwrap_err();
            assert!(refusal.starts_with("database-file: cannot use /"), "{refusal}");
            assert!(
                refusal.contains(why) && !refusal.contains("secret\u{fffd}"),
                "{refusal}"
            );
            assert!(!refusal.contains("one\n"), "{refusal}");
        }
    }

    #[test]
    fn files_without_end_folders_and_missing_files_are_refused() {
        for (file, why) in [
            ("/dev/zero", "more than 65536 bytes"),
            ("/dev/null", "it is empty"),
            ("/", "directory"),
            ("/nowhere/secret", "No such file"),
        ] {
            let refusal = read("key", None, Some(Path::new(file))).unwrap_err();
            let refusal = format!("{refusal:#}");
            assert!(refusal.contains(file) && refusal.contains(why), "{refusal}");
        }
    }

    #[test]
    fn a_secret_and_its_file_are_not_both_given_in_one_place() {
        let file = Path::new("/nowhere");
        let refusal = read("database", Some("postgres://x"), Some(file))
            .unwrap_err()
            .to_string();
        assert_eq!(refusal, "database and database-file are both set: leave one out");
        // Compose files set variables to nothing.
        assert_eq!(read("key", Some(""), Some(Path::new(""))).unwrap(), None);
        // The environment overrides the settings file, which is not even read.
        let read = read_layered("key", (Some("mine"), None), (None, Some(file)));
        assert_eq!(read.unwrap().as_deref(), Some("mine"));
        read_layered("key", (None, None), (None, Some(file))).unwrap_err();
    }
}
