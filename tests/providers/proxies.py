"""A proxy that signs people in itself: nginx, with names and passwords of its own, says in headers who they are."""

import base64

from harness import PASSWORD, call, expect, free_port, listens, portico, process, run, temporary_folder, wait_until

CONFIGURATION = """
daemon off;
pid FOLDER/nginx.pid;
error_log stderr;
events {}
http {
    access_log off;
    client_body_temp_path FOLDER/body;
    proxy_temp_path FOLDER/proxy;
    fastcgi_temp_path FOLDER/fastcgi;
    uwsgi_temp_path FOLDER/uwsgi;
    scgi_temp_path FOLDER/scgi;
    map $remote_user $groups { ada "family,others"; default ""; }
    server {
        listen 127.0.0.1:FRONT;
        location / {
            auth_basic "home";
            auth_basic_user_file FOLDER/passwords;
            proxy_pass http://127.0.0.1:PORTICO;
            proxy_set_header Host $http_host;
            proxy_set_header X-Forwarded-For $remote_addr;
            proxy_set_header Authorization "";
            proxy_set_header Remote-User $remote_user;
            proxy_set_header Remote-Groups $groups;
        }
    }
}
"""


def nginx():
    with temporary_folder("nginx") as folder:
        front, port = free_port(), free_port()
        configuration = CONFIGURATION.replace("FOLDER", str(folder)).replace("FRONT", str(front))
        (folder / "nginx.conf").write_text(configuration.replace("PORTICO", str(port)))
        hashed = run("openssl", "passwd", "-apr1", PASSWORD).strip()
        (folder / "passwords").write_text(f"ada:{hashed}\nbob:{hashed}\n")
        # Its workers give up the rights of root.
        folder.chmod(0o755)
        settings = {
            "PORTICO_PUBLIC_URL": f"http://127.0.0.1:{front}",
            "PORTICO_TRUSTED_PROXIES": "127.0.0.1",
            "PORTICO_PROXY_USER_HEADER": "Remote-User",
            "PORTICO_PROXY_GROUPS_HEADER": "Remote-Groups",
        }
        serve = ["nginx", "-p", folder, "-c", folder / "nginx.conf"]
        with portico(folder, settings, port), process(serve, folder / "nginx.log"):
            wait_until("nginx listens", lambda: listens(front))
            url = f"http://127.0.0.1:{front}"

            def session(name, password, **headers):
                basic = base64.b64encode(f"{name}:{password}".encode()).decode()
                headers = {"authorization": f"Basic {basic}", **headers}
                return call(url, "/api/auth/session", headers=headers.items())

            # What clients send as headers of the proxy is worth nothing.
            forged = {"Remote-User": "root", "Remote-Groups": "admins", "Remote_User": "root", "X-Forwarded-For": "::1"}
            for headers in [{}, forged]:
                for name, permissions in [("ada", ["app-create"]), ("bob", [])]:
                    status, found = session(name, PASSWORD, **headers)
                    expect(status == 200, f"{name}: {status} {found}")
                    user = found["user"]
                    found = (user["name"], user["permissions"])
                    expect(found == (name, permissions), f"{found} is not {(name, permissions)}")
