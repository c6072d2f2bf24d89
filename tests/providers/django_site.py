"""A site of Django as an issuer, by the app of django-oauth-toolkit or that of django-oidc-provider (APP): a project in one
file, as their manuals set one up.
"""

import os
import pathlib
import sys

import django
from django.conf import settings

APP = os.environ["APP"]
FOLDER = pathlib.Path(os.environ["FOLDER"])
LOGIN = '<form method="post">{% csrf_token %}{{ form }}<button type="submit">Sign in</button></form>'

if not settings.configured:
    sys.modules.setdefault("django_site", sys.modules[__name__])
    settings.configure(
        DEBUG=False,
        SECRET_KEY="a key of the tests",
        ALLOWED_HOSTS=["127.0.0.1"],
        ROOT_URLCONF="django_site",
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": FOLDER / "db.sqlite3"}},
        INSTALLED_APPS=[
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            APP,
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
        ],
        TEMPLATES=[{
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "OPTIONS": {
                "context_processors": [
                    "django.template.context_processors.request",
                    "django.contrib.auth.context_processors.auth",
                ],
                "loaders": [
                    ("django.template.loaders.locmem.Loader", {"login.html": LOGIN}),
                    "django.template.loaders.app_directories.Loader",
                ],
            },
        }],
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        LOGIN_URL="/accounts/login/",
        STATIC_URL="/static/",
        USE_TZ=True,
        OAUTH2_PROVIDER={
            "OIDC_ENABLED": True,
            "OIDC_ISS_ENDPOINT": os.environ["ISSUER"],
            "OIDC_RSA_PRIVATE_KEY": (FOLDER / "key.pem").read_text(),
            "SCOPES": {"openid": "Who you are", "profile": "Your name", "email": "Your email"},
            "OAUTH2_VALIDATOR_CLASS": "django_site.Validator",
            "PKCE_REQUIRED": True,
            "ALLOWED_REDIRECT_URI_SCHEMES": ["http", "https"],
        },
        OIDC_USERINFO="django_site.userinfo",
        OIDC_EXTRA_SCOPE_CLAIMS="django_site.GroupClaims",
    )
    django.setup()

from django.contrib.auth import get_user_model, views  # noqa: E402
from django.contrib.auth.models import Group  # noqa: E402
from django.urls import include, path  # noqa: E402

urlpatterns = [path("accounts/login/", views.LoginView.as_view(template_name="login.html"))]

if APP == "oauth2_provider":
    from oauth2_provider.models import get_application_model
    from oauth2_provider.oauth2_validators import OAuth2Validator

    class Validator(OAuth2Validator):
        oidc_claim_scope = None

        def get_additional_claims(self, request):
            user = request.user
            return {
                "preferred_username": user.username,
                "email": user.email,
                "groups": [group.name for group in user.groups.all()],
            }

    urlpatterns.append(path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")))
else:
    from oidc_provider.lib.claims import ScopeClaims
    from oidc_provider.models import Client, ResponseType, RSAKey

    def userinfo(claims, user):
        return {**claims, "preferred_username": user.username, "email": user.email}

    class GroupClaims(ScopeClaims):
        info_groups = ("Groups", "The names of your groups")

        def scope_groups(self):
            return {"groups": [group.name for group in self.user.groups.all()]}

    urlpatterns.append(path("o/", include("oidc_provider.urls", namespace="oidc_provider")))


def fill():
    """The people, and the client."""
    family = Group.objects.create(name="Family")
    for name in ["ada", "bob"]:
        user = get_user_model().objects.create_user(name, f"{name}@example.com", os.environ["PASSWORD"])
        if name == "ada":
            user.groups.add(family)
    callback = f"{os.environ['PORTICO']}/api/auth/oidc/callback"
    if APP == "oauth2_provider":
        get_application_model().objects.create(
            name="Portico",
            client_id="portico",
            client_secret=os.environ["SECRET"],
            client_type="confidential",
            authorization_grant_type="authorization-code",
            redirect_uris=callback,
            algorithm="RS256",
        )
    else:
        RSAKey.objects.create(key=(FOLDER / "key.pem").read_text())
        client = Client.objects.create(
            name="Portico",
            client_id="portico",
            client_secret=os.environ["SECRET"],
            client_type="confidential",
            jwt_alg="RS256",
            _redirect_uris=callback,
        )
        client.response_types.add(ResponseType.objects.get(value="code"))


if __name__ == "__main__":
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
