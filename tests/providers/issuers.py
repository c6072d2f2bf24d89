"""Issuers of OpenID Connect: oidc-provider and better-auth (Node), django-oauth-toolkit, django-oidc-provider and Canaille
(Python), and LemonLDAP::NG (Perl).
"""

import json
import os
import pathlib
import sqlite3
import sys
import venv

from harness import (
    PASSWORD,
    REPOSITORY,
    check_issuer,
    free_port,
    listens,
    portico,
    process,
    run,
    temporary_folder,
    wait_until,
)

HERE = pathlib.Path(__file__).parent
CLIENT_SECRET = "a secret of the client"


def settings(issuer, portico_port, **more):
    return {
        "PORTICO_PUBLIC_URL": f"http://127.0.0.1:{portico_port}",
        "PORTICO_OIDC_ISSUER": issuer,
        "PORTICO_OIDC_CLIENT_ID": "portico",
        "PORTICO_OIDC_CLIENT_SECRET": CLIENT_SECRET,
        "PORTICO_OIDC_GROUPS_CLAIM": "groups",
        # The first answers of a busy machine.
        "PORTICO_OIDC_TIME_LIMIT": 60,
        **more,
    }


def node_project(folder):
    """Installs what a folder's package-lock.json names."""
    if not (folder / "node_modules").exists():
        run("npm", "ci", "--silent", cwd=folder)


def python_project(folder):
    """Installs what a folder's requirements.txt names, in an environment of its own. Gives its Python."""
    requirements, environment = folder / "requirements.txt", REPOSITORY / "target" / f"python-{folder.name}"
    installed = environment / "installed"
    if not installed.exists() or installed.stat().st_mtime < requirements.stat().st_mtime:
        venv.create(environment, clear=True, with_pip=True)
        run(environment / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", requirements)
        installed.touch()
    return environment / "bin/python"


def oidc_provider():
    node("node", "oidc-provider.mjs")


def better_auth():
    # It has no preferred_username.
    node("better-auth", "issuer.mjs", path="/api/auth", PORTICO_OIDC_NAME_CLAIM="name")


def node(project, script, path="", **more):
    with temporary_folder(project) as folder:
        node_project(HERE / project)
        port, portico_port = free_port(), free_port()
        issuer = f"http://127.0.0.1:{port}{path}"
        environment = {**os.environ, "PORT": str(port), "PORTICO": f"http://127.0.0.1:{portico_port}",
                       "SECRET": CLIENT_SECRET, "PASSWORD": PASSWORD}
        with process(["node", script], folder / "issuer.log", cwd=HERE / project, env=environment):
            wait_until(f"{script} listens", lambda: listens(port))
            with portico(folder, settings(issuer, portico_port, **more), portico_port) as url:
                check_issuer(url)


def django_oauth_toolkit():
    django("oauth2_provider")


def django_oidc_provider():
    # It takes the secret in HTTP's Basic as it is, without the encoding of OAuth; in the body there is no such question.
    django("oidc_provider", PORTICO_OIDC_SCOPES="profile email groups", PORTICO_OIDC_CLIENT_AUTH="post")


def django(app, **more):
    with temporary_folder("django") as folder:
        port, portico_port = free_port(), free_port()
        issuer = f"http://127.0.0.1:{port}/o"
        key = folder / "key.pem"
        run("openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", key)
        environment = {**os.environ, "APP": app, "FOLDER": str(folder), "PORTICO": f"http://127.0.0.1:{portico_port}",
                       "SECRET": CLIENT_SECRET, "PASSWORD": PASSWORD, "ISSUER": issuer}
        site = [sys.executable, HERE / "django_site.py"]
        run(*site, "migrate", "--verbosity", "0", env=environment)
        run(*site, "shell", "-c", "import django_site; django_site.fill()", env=environment, cwd=HERE)
        serve = [*site, "runserver", "--noreload", f"127.0.0.1:{port}"]
        with process(serve, folder / "issuer.log", env=environment):
            wait_until("Django listens", lambda: listens(port))
            with portico(folder, settings(issuer, portico_port, **more), portico_port) as url:
                check_issuer(url)


def canaille():
    with temporary_folder("canaille") as folder:
        python = python_project(HERE / "canaille")
        port, portico_port = free_port(), free_port()
        issuer = f"http://127.0.0.1:{port}"
        # It takes the secret in HTTP's Basic as it is, without the encoding of OAuth.
        secret = CLIENT_SECRET.replace(" ", "-")
        environment = {**os.environ, "PORTICO": f"http://127.0.0.1:{portico_port}", "SECRET": secret,
                       "PASSWORD": PASSWORD, "ISSUER": issuer}
        serve = [python, HERE / "canaille" / "issuer.py"]
        with process(serve, folder / "issuer.log", cwd=folder, env=environment):
            wait_until("Canaille listens", lambda: listens(port))
            more = {"PORTICO_OIDC_SCOPES": "profile email groups", "PORTICO_OIDC_CLIENT_SECRET": secret}
            with portico(folder, settings(issuer, portico_port, **more), portico_port) as url:
                check_issuer(url)


def lemonldap():
    """The portal of LemonLDAP::NG, with its people in SQLite."""
    with temporary_folder("lemonldap") as folder:
        port, portico_port = free_port(), free_port()
        portal = f"http://127.0.0.1:{port}/"
        for place in ["conf", "cache", "sessions", "lock"]:
            (folder / place).mkdir()
        people = folder / "people.db"
        with sqlite3.connect(people) as database:
            database.execute("CREATE TABLE people (uid TEXT, mail TEXT, password TEXT, family TEXT)")
            rows = [("ada", "ada@example.com", PASSWORD, "Family"), ("bob", "bob@example.com", PASSWORD, "")]
            database.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows)
        key = folder / "key.pem"
        run("openssl", "genrsa", "-out", key, "2048")
        storage = {
            "globalStorage": "Apache::Session::File",
            "globalStorageOptions": {
                "Directory": f"{folder}/sessions",
                "LockDirectory": f"{folder}/lock",
                "generateModule": "Lemonldap::NG::Common::Apache::Session::Generate::SHA256",
            },
            "localSessionStorage": "Cache::FileCache",
            "localSessionStorageOptions": {"cache_root": f"{folder}/cache", "namespace": "sessions"},
        }
        chain = f"dbi:SQLite:dbname={people}"
        configuration = {
            **storage,
            "cfgNum": 1,
            "cfgDate": 1,
            "cfgVersion": "2.16.1",
            "cookieName": "lemonldap",
            "domain": "127.0.0.1",
            "portal": portal,
            "key": "a key of the tests",
            "authentication": "DBI",
            "userDB": "Same",
            "passwordDB": "Null",
            "dbiAuthChain": chain,
            "dbiUserChain": chain,
            "dbiAuthTable": "people",
            "dbiUserTable": "people",
            "dbiAuthLoginCol": "uid",
            "dbiAuthPasswordCol": "password",
            "userPivot": "uid",
            "dbiExportedVars": {"uid": "uid", "mail": "mail", "family": "family"},
            "whatToTrace": "uid",
            "locationRules": {f"127.0.0.1:{port}": {"default": "accept"}},
            "issuerDBOpenIDConnectActivation": 1,
            "oidcServiceMetaDataIssuer": portal,
            "oidcServicePrivateKeySig": key.read_text(),
            "oidcServicePublicKeySig": run("openssl", "rsa", "-in", key, "-pubout"),
            "oidcServiceKeyIdSig": "key 1",
            "oidcServiceAllowAuthorizationCodeFlow": 1,
            "oidcRPMetaDataOptions": {
                "portico": {
                    "oidcRPMetaDataOptionsClientID": "portico",
                    "oidcRPMetaDataOptionsClientSecret": CLIENT_SECRET,
                    "oidcRPMetaDataOptionsIDTokenSignAlg": "RS256",
                    "oidcRPMetaDataOptionsBypassConsent": 1,
                    "oidcRPMetaDataOptionsRedirectUris": f"http://127.0.0.1:{portico_port}/api/auth/oidc/callback",
                }
            },
            "oidcRPMetaDataExportedVars": {
                "portico": {"preferred_username": "uid", "email": "mail", "groups": "family;string;always"}
            },
            "oidcRPMetaDataOptionsExtraClaims": {"portico": {"profile": "preferred_username groups"}},
        }
        (folder / "conf/lmConf-1.json").write_text(json.dumps(configuration))
        (folder / "lemonldap-ng.ini").write_text(
            f"[all]\nlogLevel = warn\n[configuration]\ntype = File\ndirName = {folder}/conf\n"
            f"localStorage = Cache::FileCache\nlocalStorageOptions = {{'namespace' => 'conf', 'cache_root' => '{folder}/cache'}}\n"
            "[portal]\nstaticPrefix = /static\ntemplateDir = /usr/share/lemonldap-ng/portal/templates\nlanguages = en\n"
        )
        where = f"configStorage => {{confFile => '{folder}/lemonldap-ng.ini'}}"
        site = f"use Lemonldap::NG::Portal::Main; Lemonldap::NG::Portal::Main->run({{{where}}});"
        (folder / "portal.psgi").write_text(site)
        serve = ["plackup", "--host", "127.0.0.1", "--port", port, folder / "portal.psgi"]
        with process(serve, folder / "issuer.log", cwd=folder):
            wait_until("LemonLDAP::NG listens", lambda: listens(port))
            # As django-oidc-provider, it does not decode a secret in HTTP's Basic.
            more = {"PORTICO_OIDC_CLIENT_AUTH": "post"}
            with portico(folder, settings(portal, portico_port, **more), portico_port) as url:
                check_issuer(url)
