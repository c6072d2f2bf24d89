//! The gate with nginx, Caddy and Traefik, by the files of `examples/gate`, and Chromium
//! (`tests/clients/console/gate.test.mjs`).

use std::process::Command;

use portico_tests::{
    Builder, Client, Fixtures, GatePorts, GateProxy, PASSWORD, Portico, administrator, free_port, node, raw,
};
use serde_json::json;

/// Portico with the gate, two apps and their proxy; grace sees both apps.
struct Site {
    server: Portico,
    _proxy: GateProxy,
    ports: GatePorts,
    /// The board with the app at `files.home.example`.
    board: String,
}

impl Site {
    #[track_caller]
    fn start(proxy: fn(GatePorts) -> GateProxy) -> Self {
        let front = free_port();
        let server = Builder::default()
            .argument("--trusted-proxies=127.0.0.1")
            .argument("--gate-domain=home.example")
            .argument("--app-visibility=boards")
            .argument(format!("--public-url=http://portico.home.example:{front}"))
            .start();
        let root = administrator(&server);
        let grace = root.user("grace");
        let mut boards = Vec::new();
        for name in ["wiki", "files"] {
            let href = format!("http://{name}.home.example:{front}/");
            let app = json!({"name": name, "iconUrl": "/icon.svg", "href": href});
            let app = root.make("app.create", &app, "appId");
            let board = root.board_of(name, false, &json!([{"kind": "app", "appId": app}]));
            let shares = json!({"boardId": board, "users": [grace.id], "groups": []});
            root.mutate("board.share", &shares).assert_done();
            boards.push(board);
        }
        let portico = server.address().rsplit_once(':').expect("a port").1.parse();
        let ports = GatePorts {
            proxy: front,
            portico: portico.expect("a number"),
            apps: [free_port(), free_port()],
        };
        Self {
            server,
            _proxy: proxy(ports),
            ports,
            board: boards.remove(1),
        }
    }

    /// People in a browser, and programs, with the apps in the process of the test in Node.
    #[track_caller]
    fn visit(&self, environment: &[(&str, &str)]) {
        let mut command = Command::new("node");
        command
            .args(["--test", "--test-reporter=spec", "gate.test.mjs"])
            .current_dir(node::client("console"))
            .env("PORTICO_URL", format!("http://{}", self.server.address()))
            .env("PORTICO_PASSWORD", PASSWORD)
            .env("PORTICO_BOARD", &self.board)
            .env("GATE_PORT", self.ports.proxy.to_string())
            .env(
                "APP_PORTS",
                self.ports.apps.map(|port| port.to_string()).join(","),
            )
            .envs(environment.iter().copied())
            .env("CHROMIUM", node::chromium());
        println!("{}", node::succeed(&mut command));
    }
}

#[test]
#[ignore = "make test-all"]
fn people_and_programs_come_through_the_gate_of_nginx() {
    let site = Site::start(GateProxy::nginx);
    site.visit(&[("WITHOUT_JAVASCRIPT", "1"), ("DENIED", "/denied")]);
    // The host in the target of a request is the one by which nginx chooses the app; the header may name another one.
    let request =
        "GET http://files.home.example/ HTTP/1.1\r\nhost: wiki.home.example\r\nconnection: close\r\n\r\n";
    let answer = raw::send(&format!("127.0.0.1:{}", site.ports.proxy), request.as_bytes());
    answer.assert_status(401);
}

#[test]
#[ignore = "make test-all"]
fn people_and_programs_come_through_the_gate_of_caddy() {
    Site::start(GateProxy::caddy).visit(&[]);
}

#[test]
#[ignore = "make test-all"]
fn people_and_programs_come_through_the_gate_of_traefik() {
    Site::start(GateProxy::traefik).visit(&[("BELIEVES_PORTS", "1")]);
}
