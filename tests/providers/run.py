"""Signs in at real providers, set up as docs/providers.md says, and lets real programs watch a host as examples/operate says:
run.py [NAME…]. `make test-providers` installs what it needs.

Each provider runs in a temporary folder, with people and groups that the check knows:

- ada has the right password, and is in `family`, which gives the permission `app-create`;
- bob has the right password, and is in no group;
- nobody else gets in, and nobody with another password.

`make test-providers` runs all, and PROVIDERS="slapd samba" some; CI runs two directories, two issuers, a proxy and
what watches (.ci/run).
"""

import sys
import time
import traceback

import directories
import issuers
import proxies
import watchers

PROVIDERS = {
    "slapd": directories.slapd,
    "389-ds": directories.ds389,
    "apacheds": directories.apacheds,
    "samba": directories.samba,
    "oidc-provider": issuers.oidc_provider,
    "better-auth": issuers.better_auth,
    "django-oauth-toolkit": issuers.django_oauth_toolkit,
    "django-oidc-provider": issuers.django_oidc_provider,
    "canaille": issuers.canaille,
    "lemonldap": issuers.lemonldap,
    "nginx": proxies.nginx,
    "prometheus": watchers.prometheus,
    "crowdsec": watchers.crowdsec,
}


def main():
    names = sys.argv[1:] or list(PROVIDERS)
    failed = []
    for name in names:
        started = time.monotonic()
        try:
            PROVIDERS[name]()
            print(f"{name}: passed ({time.monotonic() - started:.0f} s)", flush=True)
        except Exception:
            traceback.print_exc()
            print(f"{name}: FAILED", flush=True)
            failed.append(name)
    print(f"{len(names) - len(failed)} passed, {len(failed)} failed", flush=True)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
