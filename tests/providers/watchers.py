"""Programs that watch a host: Prometheus reads its metrics and the alert rules, CrowdSec its log.

Both are services where they are installed, so they are unpacked into target/debian instead.
"""

import contextlib
import json
import pathlib
import shutil
import subprocess
import urllib.parse
import urllib.request

from harness import REPOSITORY, call, expect, free_port, listens, portico, process, run, temporary_folder, wait_until

OPERATE = REPOSITORY / "examples/operate"
# An address of nobody (RFC 5737), as the proxy in front says it.
GUESSER = "203.0.113.7"


def unpacked(package):
    """The folder with what a package of Debian has in it."""
    folder = REPOSITORY / "target/debian" / package
    if not folder.exists():
        with temporary_folder(package) as download:
            fetch = ["apt-get", "download", "--quiet=2", package]
            if subprocess.run(fetch, cwd=download, capture_output=True).returncode:
                run("apt-get", "update", "--quiet=2")
                run(*fetch, cwd=download)
            run("dpkg", "-x", next(download.glob("*.deb")), download / "root")
            folder.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(download / "root", folder)
    return folder


def guess(url, times):
    """Sign-ins with a wrong password from one address."""
    for number in range(times):
        body = {"username": "root", "password": f"wrong {number}"}
        status, answer = call(url, "/api/auth/sign-in", body, {"x-forwarded-for": GUESSER}.items())
        expect(status == 401, f"{status}: {answer}")


def prometheus():
    """Prometheus scrapes a host by the part of its configuration, and evaluates the alert rules."""
    programs = unpacked("prometheus") / "usr/bin"
    with temporary_folder("prometheus") as folder:
        run(programs / "promtool", "check", "rules", OPERATE / "prometheus/alerts.yaml")
        metrics, port = free_port(), free_port()
        with portico(folder, {"PORTICO_METRICS": f"127.0.0.1:{metrics}"}) as url:
            guess(url, 2)
            with urllib.request.urlopen(f"http://127.0.0.1:{metrics}/metrics") as answer:
                text = answer.read()
            checked = subprocess.run([programs / "promtool", "check", "metrics"], input=text, capture_output=True)
            expect(checked.returncode in (0, 3), f"promtool check metrics: {checked}")
            scrape = (OPERATE / "prometheus/scrape.yaml").read_text().replace("9464", str(metrics))
            often = "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
            (folder / "prometheus.yml").write_text(often + scrape)
            shutil.copy(OPERATE / "prometheus/alerts.yaml", folder)
            serve = [programs / "prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/tsdb",
                     f"--web.listen-address=127.0.0.1:{port}"]
            with process(serve, folder / "prometheus.log"):
                wait_until("Prometheus listens", lambda: listens(port))

                def ask(path):
                    with contextlib.suppress(OSError):
                        return json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/{path}"))["data"]
                    return {}

                def value(query):
                    found = ask("query?" + urllib.parse.urlencode({"query": query})).get("result")
                    return float(found[0]["value"][1]) if found else None

                failed = 'portico_sign_ins_total{outcome="UNAUTHORIZED",provider="credentials"}'
                wait_until("the failed sign-ins are scraped", lambda: value(failed) == 2)
                wait_until("the job is called portico and is up", lambda: value('up{job="portico"}') == 1)

                def rules():
                    return [rule for group in ask("rules").get("groups", []) for rule in group["rules"]]

                wait_until("all rules are evaluated", lambda: rules() and all(rule["health"] == "ok" for rule in rules()))
                # Each panel of the dashboard is a query that Prometheus understands.
                queries = expressions(json.loads((OPERATE / "grafana/portico.json").read_text()))
                expect(len(queries) > 10, f"{queries}")
                for query in queries:
                    query = query.replace("$__rate_interval", "1m").replace("$instance", ".*")
                    ask_for = urllib.parse.urlencode({"query": query})
                    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?{ask_for}") as answer:
                        expect(json.load(answer)["status"] == "success", query)


def expressions(part):
    """Every text under the key `expr`."""
    if isinstance(part, list):
        return [text for item in part for text in expressions(item)]
    if not isinstance(part, dict):
        return []
    own = [part["expr"]] if isinstance(part.get("expr"), str) else []
    return own + [text for item in part.values() for text in expressions(item)]


def crowdsec():
    """CrowdSec reads a host's log by the parser and the scenario, and wants to ban the one address that guesses: as text and
    as JSON, from a file and as the journal of systemd has it."""
    root = unpacked("crowdsec")
    hub, settings = root / "usr/share/crowdsec/hub", root / "etc/crowdsec"
    with temporary_folder("crowdsec") as folder:
        logs = []
        for written in ["pretty", "json"]:
            (folder / written).mkdir()
            with portico(folder / written, {"PORTICO_LOG_FORMAT": written, "PORTICO_TRUSTED_PROXIES": "127.0.0.1"}) as url:
                guess(url, 25)
                call(url, "/api/auth/sign-in", {"username": "root", "password": "wrong"},
                     {"x-forwarded-for": "203.0.113.8"}.items())
            file, journal = folder / written / "portico.log", folder / written / "journal"
            lines = file.read_text().splitlines()
            journal.write_text("".join(f"Jan  2 03:04:05 host portico[12]: {line}\n" for line in lines))
            logs += [(file, "portico"), (journal, "syslog")]
        home = folder / "crowdsec"
        for place in ["parsers/s00-raw", "parsers/s01-parse", "parsers/s02-enrich", "scenarios", "data", "plugins", "notifications"]:
            (home / place).mkdir(parents=True)
        shutil.copytree(settings / "patterns", home / "patterns")
        for name in ["profiles.yaml", "simulation.yaml"]:
            shutil.copy(settings / name, home)
        shutil.copy(OPERATE / "crowdsec/parser.yaml", home / "parsers/s01-parse/portico.yaml")
        shutil.copy(OPERATE / "crowdsec/scenario.yaml", home / "scenarios/portico.yaml")
        raw = "parsers/s00-raw/crowdsecurity/syslog-logs.yaml"
        (home / "parsers/s00-raw/syslog-logs.yaml").symlink_to(hub / raw)
        dates = "parsers/s02-enrich/crowdsecurity/dateparse-enrich.yaml"
        (home / "parsers/s02-enrich/dateparse-enrich.yaml").symlink_to(hub / dates)
        (home / "acquis.yaml").write_text((OPERATE / "crowdsec/acquis.yaml").read_text())
        (home / "config.yaml").write_text(f"""
common: {{daemonize: false, log_media: stdout, log_level: info, working_dir: {home}}}
config_paths:
  config_dir: {home}
  data_dir: {home}/data
  simulation_path: {home}/simulation.yaml
  hub_dir: {hub}
  index_path: {hub}/.index.json
  notification_dir: {home}/notifications
  plugin_dir: {home}/plugins
crowdsec_service: {{acquisition_path: {home}/acquis.yaml, parser_routines: 1}}
cscli: {{output: json}}
db_config: {{type: sqlite, db_path: {home}/data/crowdsec.db}}
plugin_config: {{user: nobody, group: nogroup}}
api:
  client: {{credentials_path: {home}/credentials.yaml}}
  server: {{listen_uri: "127.0.0.1:{free_port()}", profiles_path: {home}/profiles.yaml, log_level: info}}
prometheus: {{enabled: false}}
""")
        tool = [root / "usr/bin/cscli", "-c", home / "config.yaml"]
        run(*tool, "machines", "add", "portico", "--auto", "--force", "--file", home / "credentials.yaml")
        for log, kind in logs:
            replay = [root / "usr/bin/crowdsec", "-c", home / "config.yaml", "-type", kind, "-dsn", f"file://{log}"]
            done = subprocess.run([*map(str, replay)], capture_output=True, text=True)
            said = done.stdout + done.stderr
            bans = [line for line in said.splitlines() if "portico/sign-in-bf" in line and "performed" in line]
            expect(len(bans) == 1 and GUESSER in bans[0], f"{log}: {done.returncode}: {said[-4000:]}")
