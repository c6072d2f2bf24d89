//! The files that operators start from (`examples/scale`) name settings, ports, paths and files that exist.
//! The failures of `postgresql_failover/` run through the same `haproxy.cfg`.

use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;

use portico_tests::{Client, Portico, command, repository, run};
use serde_json::Value;

const FOLDER: &str = "examples/scale";

fn text(file: &str) -> String {
    fs::read_to_string(repository().join(FOLDER).join(file)).expect("the file")
}

fn documents(file: &str) -> Vec<Value> {
    serde_saphyr::from_multiple(&text(file)).expect("YAML")
}

/// One text in a document.
#[track_caller]
fn at<'a>(document: &'a Value, pointer: &str) -> &'a str {
    let value = document.pointer(pointer).and_then(Value::as_str);
    value.unwrap_or_else(|| panic!("no {pointer}: {document:#}"))
}

/// The value of an environment variable in the Dockerfile.
fn in_image(name: &str) -> String {
    let dockerfile = text("Dockerfile");
    let words = dockerfile.split_whitespace();
    let mut values = words.filter_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    values.next().expect("the variable").to_owned()
}

#[test]
fn every_setting_is_one_of_portico() {
    let help = run(command().args(["serve", "--help"]), "").succeeded();
    for file in ["Dockerfile", "compose.yaml", "kubernetes.yaml"] {
        let text = text(file);
        let words = text.split(|character: char| !character.is_ascii_uppercase() && character != '_');
        let settings: BTreeSet<_> = words.filter(|word| word.starts_with("PORTICO_")).collect();
        assert!(settings.len() >= 2, "{file}: {settings:?}");
        for setting in settings {
            assert!(
                ["=", "]"]
                    .iter()
                    .any(|end| help.contains(&format!("[env: {setting}{end}"))),
                "{file}: {setting} is no setting"
            );
        }
    }
    assert!(text("Dockerfile").contains("ENTRYPOINT [\"portico\"]\nCMD [\"serve\"]"));
}

#[test]
fn the_paths_of_all_checks_are_answered() {
    let host = Portico::start();
    let kubernetes = documents("kubernetes.yaml");
    let deployment = kubernetes
        .iter()
        .find(|document| document["kind"] == "Deployment");
    let container = &deployment.expect("a deployment")["spec"]["template"]["spec"]["containers"][0];
    let probes = ["readinessProbe", "livenessProbe", "startupProbe"];
    let mut paths = probes
        .map(|probe| at(&container[probe], "/httpGet/path").to_owned())
        .to_vec();
    let haproxy = text("haproxy.cfg");
    let check = haproxy
        .lines()
        .find_map(|line| line.trim().strip_prefix("option httpchk GET "));
    paths.push(check.expect("a check").to_owned());
    for path in &paths {
        host.anonymous().get(path).assert_status(200);
    }
    assert_eq!([&paths[0], &paths[3]], ["/api/health/ready"; 2]);
    assert_eq!(container["args"], serde_json::json!(["serve"]));
}

#[test]
fn all_name_the_same_ports_and_folders() {
    let listen: SocketAddr = in_image("PORTICO_LISTEN").parse().expect("an address");
    let port = listen.port();
    assert!(text("Dockerfile").contains(&format!("\nEXPOSE {port}\n")));
    let data = in_image("PORTICO_DATA");
    assert!(text("Dockerfile").contains(&format!("\nVOLUME {data}\n")));

    let compose = documents("compose.yaml").remove(0);
    let haproxy = text("haproxy.cfg");
    for number in 1..=3 {
        let name = format!("portico-{number}");
        let host = &compose["services"][&name];
        assert_eq!(at(host, "/volumes/0"), format!("{name}:{data}"));
        assert!(
            haproxy.contains(&format!("presetenv PORTICO_{number} {name}:{port}\n")),
            "{haproxy}"
        );
        assert!(at(host, "/environment/PORTICO_DATABASE").starts_with("postgres://portico:"));
        assert_eq!(at(host, "/depends_on/postgresql/condition"), "service_healthy");
        assert_eq!(at(host, "/image"), "portico");
    }
    let build = &compose["services"]["portico-1"]["build"];
    let context = repository().join(FOLDER).join(at(build, "/context"));
    assert!(context.join("Makefile").exists());
    assert!(context.join(at(build, "/dockerfile")).exists());
    let front = &compose["services"]["haproxy"];
    let (file, _) = at(front, "/volumes/0").split_once(':').expect("a file");
    assert!(repository().join(FOLDER).join(file).exists());
    let (_, port_inside) = at(front, "/ports/0").rsplit_once(':').expect("a port");
    assert!(
        haproxy.contains(&format!("presetenv LISTEN *:{port_inside}\n")),
        "{haproxy}"
    );

    let kubernetes = documents("kubernetes.yaml");
    let kinds: Vec<_> = kubernetes.iter().map(|document| at(document, "/kind")).collect();
    assert_eq!(kinds, ["Secret", "Deployment", "Service", "PodDisruptionBudget"]);
    let pod = &kubernetes[1]["spec"]["template"];
    let container = &pod["spec"]["containers"][0];
    assert_eq!(container["ports"][0]["containerPort"], port);
    assert_eq!(at(container, "/volumeMounts/0/mountPath"), data);
    let variables = container["env"].as_array().expect("variables").iter();
    let value = |name: &str| {
        let mut named = variables.clone().filter(|variable| variable["name"] == name);
        at(named.next().expect("a variable"), "/value").to_owned()
    };
    assert_eq!(value("PORTICO_LISTEN"), listen.to_string());
    assert_eq!(value("PORTICO_DATA"), data);
    let secret = &kubernetes[0];
    assert!(at(secret, "/stringData/PORTICO_DATABASE").contains("target_session_attrs=read-write"));
    let labels = &pod["metadata"]["labels"];
    let selectors = [
        &kubernetes[1]["spec"]["selector"]["matchLabels"],
        &kubernetes[2]["spec"]["selector"],
        &kubernetes[3]["spec"]["selector"]["matchLabels"],
    ];
    assert_eq!(selectors, [labels; 3]);
    assert_eq!(
        container["envFrom"][0]["secretRef"]["name"],
        secret["metadata"]["name"]
    );
    let user = format!("--uid {}", pod["spec"]["securityContext"]["runAsUser"]);
    assert!(text("Dockerfile").contains(&user), "{user}");
}
