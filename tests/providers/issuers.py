"""Issuers of OpenID Connect: oidc-provider (Node) and django-oauth-toolkit (Python)."""

import os
import pathlib
import sys

from harness import PASSWORD, check_issuer, free_port, listens, portico, process, run, temporary_folder, wait_until

HERE = pathlib.Path(__file__).parent
CLIENT_SECRET = "a secret of the client"


def settings(issuer, portico_port, **more):
    return {
        "PORTICO_PUBLIC_URL": f"http://127.0.0.1:{portico_port}",
        "PORTICO_OIDC_ISSUER": issuer,
        "PORTICO_OIDC_CLIENT_ID": "portico",
        "PORTICO_OIDC_CLIENT_SECRET": CLIENT_SECRET,
        "PORTICO_OIDC_GROUPS_CLAIM": "groups",
        **more,
    }


def node_project(folder):
    """Installs what a folder's package-lock.json names."""
    if not (folder / "node_modules").exists():
        run("npm", "ci", "--silent", cwd=folder)


def oidc_provider():
    with temporary_folder("oidc-provider") as folder:
        project = HERE / "node"
        node_project(project)
        port, portico_port = free_port(), free_port()
        issuer = f"http://127.0.0.1:{port}"
        environment = {**os.environ, "PORT": str(port), "PORTICO": f"http://127.0.0.1:{portico_port}",
                       "SECRET": CLIENT_SECRET, "PASSWORD": PASSWORD}
        with process(["node", "oidc-provider.mjs"], folder / "issuer.log", cwd=project, env=environment):
            wait_until("oidc-provider listens", lambda: listens(port))
            with portico(folder, settings(issuer, portico_port), portico_port) as url:
                check_issuer(url)


def django_oauth_toolkit():
    with temporary_folder("django") as folder:
        port, portico_port = free_port(), free_port()
        issuer = f"http://127.0.0.1:{port}/o"
        key = folder / "key.pem"
        run("openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", key)
        environment = {**os.environ, "FOLDER": str(folder), "PORTICO": f"http://127.0.0.1:{portico_port}",
                       "SECRET": CLIENT_SECRET, "PASSWORD": PASSWORD, "ISSUER": issuer}
        site = [sys.executable, HERE / "django_site.py"]
        run(*site, "migrate", "--verbosity", "0", env=environment)
        run(*site, "shell", "-c", "import django_site; django_site.fill()", env=environment, cwd=HERE)
        serve = [*site, "runserver", "--noreload", f"127.0.0.1:{port}"]
        with process(serve, folder / "issuer.log", env=environment):
            wait_until("Django listens", lambda: listens(port))
            with portico(folder, settings(issuer, portico_port), portico_port) as url:
                check_issuer(url)
