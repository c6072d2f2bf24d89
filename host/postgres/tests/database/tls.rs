//! Encrypted connections.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use portico_postgres::PostgresStorage;
use tempfile::TempDir;

use crate::postgresql::Postgresql;
use crate::records::insert;

/// Makes a certificate for `localhost`, and its key, in files that the server can read.
fn make_certificate(folder: &Path) {
    let script = r#"
        openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout key.pem -out certificate.pem \
            -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE 2>/dev/null
        chmod 755 . && chmod 644 certificate.pem && chmod 600 key.pem
        if [ "$(id -u)" = 0 ]; then chown nobody key.pem; fi
    "#;
    let mut command = Command::new("sh");
    let status = command.args(["-euc", script]).current_dir(folder).status();
    assert!(status.expect("sh").success());
}

/// A port that is free, and none of those from which the system takes the ports of connections.
fn free_port() -> u16 {
    let first = 10_000 + (std::process::id() % 20_000) as u16;
    let mut ports = first..32_000;
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    ports.find(is_free).expect("a port")
}

#[tokio::test]
#[ignore = "make test-all"]
async fn a_certificate_is_checked_as_the_mode_says() {
    let (folder, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    make_certificate(folder.path());
    make_certificate(other.path());
    let file = |folder: &TempDir, name: &str| folder.path().join(name).display().to_string();
    let (root, other_root) = (file(&folder, "certificate.pem"), file(&other, "certificate.pem"));
    let port = free_port();
    let options = [
        "ssl=on".to_owned(),
        format!("ssl_cert_file={root}"),
        format!("ssl_key_file={}", file(&folder, "key.pem")),
        "listen_addresses=127.0.0.1".to_owned(),
        format!("port={port}"),
    ];
    let options: Vec<_> = options.iter().flat_map(|option| ["-c", option]).collect();
    let server = Postgresql::start_with(&options);
    server.create_database("home");

    let encoded = |file: &str| file.replace('/', "%2F");
    let (root, other_root) = (encoded(&root), encoded(&other_root));
    for (host, parameters, problem) in [
        ("localhost", "sslmode=disable".to_owned(), None),
        ("localhost", "sslmode=prefer".to_owned(), None),
        ("127.0.0.1", "sslmode=require".to_owned(), None),
        ("127.0.0.1", format!("sslmode=require&sslrootcert={root}"), None),
        (
            "127.0.0.1",
            format!("sslmode=require&sslrootcert={other_root}"),
            Some("certificate"),
        ),
        ("127.0.0.1", format!("sslmode=verify-ca&sslrootcert={root}"), None),
        (
            "localhost",
            format!("sslmode=verify-full&sslrootcert={root}"),
            None,
        ),
        (
            "127.0.0.1",
            format!("sslmode=verify-full&sslrootcert={root}"),
            Some("not valid for name"),
        ),
        (
            "localhost",
            format!("sslmode=verify-full&sslrootcert={other_root}"),
            Some("certificate"),
        ),
        ("localhost", "sslmode=verify-full".to_owned(), Some("certificate")),
        (
            "localhost",
            "sslmode=verify-full&sslrootcert=%2Fnowhere".to_owned(),
            Some("/nowhere"),
        ),
    ] {
        let url = format!("postgres://dashboard@{host}:{port}/home?{parameters}");
        let opened = PostgresStorage::open(&url).await;
        match (opened, problem) {
            (Ok(storage), None) => {
                let id = format!("{host} {parameters}");
                insert(&storage, &id).await.unwrap();
                let encrypted = "SELECT bool_or(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
                    WHERE application_name LIKE 'portico/%'";
                let is_encrypted = server.run("home", encrypted) == "t";
                assert_eq!(is_encrypted, !parameters.contains("disable"), "{url}");
            }
            (Err(error), Some(problem)) => {
                let error = format!("{error:#}");
                assert!(error.contains(problem), "{url}: {error}");
            }
            (Ok(_), Some(_)) => panic!("{url} was not refused"),
            (Err(error), None) => panic!("{url}: {error:#}"),
        }
    }
}

#[tokio::test]
#[ignore = "make test-all"]
async fn a_server_without_tls_is_refused_where_it_is_required() {
    let port = free_port();
    let (listen, on_port) = ("listen_addresses=127.0.0.1", format!("port={port}"));
    let server = Postgresql::start_with(&["-c", listen, "-c", &on_port]);
    server.create_database("home");
    for mode in ["require", "verify-full"] {
        let url = format!("postgres://dashboard@127.0.0.1:{port}/home?sslmode={mode}");
        let refused = PostgresStorage::open(&url).await.err().expect("a refusal");
        assert!(format!("{refused:#}").contains("TLS"), "{refused:#}");
    }
    // The first host does not respond; the second one does.
    let url =
        format!("postgres://dashboard@127.0.0.1:1,127.0.0.1:{port}/home?target_session_attrs=read-write");
    insert(&PostgresStorage::open(&url).await.unwrap(), "a")
        .await
        .unwrap();
}
