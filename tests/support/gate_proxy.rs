//! nginx, Caddy and Traefik as proxies of the gate, with the configuration that operators start from: `examples/gate`, with
//! other addresses and without TLS.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::background::{starts, system_program};
use crate::process::Process;
use crate::repository;

const FOLDER: &str = "examples/gate";

/// A proxy in front of Portico and two apps. Dropping it ends it.
pub struct GateProxy {
    _process: Process,
    _folder: TempDir,
}

/// Where a proxy listens, and what is behind it: ports of this machine.
#[derive(Clone, Copy)]
pub struct GatePorts {
    /// The proxy's own.
    pub proxy: u16,
    /// Portico's.
    pub portico: u16,
    /// Those of the apps at `wiki.home.example` and `files.home.example`.
    pub apps: [u16; 2],
}

impl GatePorts {
    /// A file of the example with these addresses.
    fn put_into(self, file: &str) -> String {
        let text = fs::read_to_string(repository().join(FOLDER).join(file)).expect("the example");
        let [wiki, files] = self.apps;
        [
            ("127.0.0.1:7575", self.portico),
            ("127.0.0.1:8081", wiki),
            ("127.0.0.1:8082", files),
        ]
        .iter()
        .fold(text, |text, (address, port)| {
            text.replace(address, &format!("127.0.0.1:{port}"))
        })
    }

    /// Whether a request at the proxy reaches Portico. Some proxies listen before they know where to.
    fn lead_to_portico(self) -> bool {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.proxy)) else {
            return false;
        };
        let request = format!(
            "GET /api/health/live HTTP/1.1\r\nhost: portico.home.example:{}\r\nconnection: close\r\n\r\n",
            self.proxy
        );
        let mut answer = String::new();
        let is_sent = stream.write_all(request.as_bytes()).is_ok();
        is_sent && stream.read_to_string(&mut answer).is_ok() && answer.starts_with("HTTP/1.1 200")
    }
}

impl GateProxy {
    /// nginx, which also has a path that it refuses itself.
    #[track_caller]
    pub fn nginx(ports: GatePorts) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let files = folder.path().join("portico");
        fs::create_dir(&files).expect("a folder");
        for file in ["locations.conf", "question.conf", "gated.conf"] {
            let text = ports.put_into(&format!("nginx/{file}"));
            fs::write(files.join(file), text).expect("a file");
        }
        let gate = ports.put_into("nginx/gate.conf");
        let gate: String = gate
            .replace("listen 443 ssl", &format!("listen 127.0.0.1:{}", ports.proxy))
            .replace(
                "proxy_pass http://wiki;",
                "proxy_pass http://wiki;\n        location /denied { deny all; }",
            )
            .lines()
            .filter(|line| !line.starts_with("ssl_certificate"))
            .map(|line| format!("{line}\n"))
            .collect();
        let here = folder.path().display();
        let paths: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .iter()
            .map(|kind| format!("    {kind}_temp_path {here}/{kind};\n"))
            .collect();
        let whole = format!(
            "daemon off;\nmaster_process off;\npid {here}/nginx.pid;\nerror_log stderr;\nevents {{}}\nhttp {{\n    access_log \
             off;\n{paths}{gate}}}\n"
        );
        let configuration = folder.path().join("nginx.conf");
        fs::write(&configuration, whole).expect("a file");
        let mut command = system_program("nginx");
        command.arg("-p").arg(folder.path()).arg("-c").arg(&configuration);
        command.args(["-e", "stderr"]);
        Self::start(command, folder, ports)
    }

    /// Caddy.
    #[track_caller]
    pub fn caddy(ports: GatePorts) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let text = ["portico", "wiki", "files"]
            .iter()
            .fold(ports.put_into("Caddyfile"), |text, name| {
                let host = format!("{name}.home.example");
                text.replace(
                    &format!("\n{host} {{"),
                    &format!("\nhttp://{host}:{} {{", ports.proxy),
                )
            });
        let text = text.replace("-Host {host}\n", &format!("-Host {{host}}:{}\n", ports.proxy));
        let options = "{\n\tadmin off\n\tauto_https off\n}\n";
        let configuration = folder.path().join("Caddyfile");
        fs::write(&configuration, format!("{options}{text}")).expect("a file");
        let mut command = system_program("caddy");
        command
            .args(["run", "--adapter", "caddyfile", "--config"])
            .arg(&configuration);
        in_folder(&mut command, folder.path());
        Self::start(command, folder, ports)
    }

    /// Traefik, which is a package of PyPI.
    #[track_caller]
    pub fn traefik(ports: GatePorts) -> Self {
        let program = repository().join("target/python/bin/traefik");
        assert!(program.exists(), "install it first: make target/python/installed");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let text: String = ports
            .put_into("traefik.yaml")
            .lines()
            .filter(|line| !line.contains("certResolver"))
            .map(|line| format!("{line}\n"))
            .collect();
        let configuration = folder.path().join("gate.yaml");
        fs::write(&configuration, text).expect("a file");
        let mut command = Command::new(program);
        command
            .arg(format!(
                "--entrypoints.websecure.address=127.0.0.1:{}",
                ports.proxy
            ))
            .arg(format!("--providers.file.filename={}", configuration.display()))
            .args(["--providers.file.watch=false", "--global.checknewversion=false"]);
        in_folder(&mut command, folder.path());
        Self::start(command, folder, ports)
    }

    #[track_caller]
    fn start(mut command: Command, folder: TempDir, ports: GatePorts) -> Self {
        command.stdin(Stdio::null());
        let mut process = Process::spawn(&mut command, None);
        assert!(
            starts(&mut process, || ports.lead_to_portico()),
            "the proxy ended:\n{}",
            process.text()
        );
        Self {
            _process: process,
            _folder: folder,
        }
    }
}

/// A program that keeps files of its own keeps them there.
fn in_folder(command: &mut Command, folder: &Path) {
    for name in ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"] {
        command.env(name, folder);
    }
}
