"""A site of Django with django-oauth-toolkit as an issuer: a project in one file, as its manual sets one up."""

import os
import pathlib
import sys

import django
from django.conf import settings

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
            "oauth2_provider",
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
    )
    django.setup()

from django.contrib.auth import get_user_model, views  # noqa: E402
from django.contrib.auth.models import Group  # noqa: E402
from django.urls import include, path  # noqa: E402
from oauth2_provider.models import get_application_model  # noqa: E402
from oauth2_provider.oauth2_validators import OAuth2Validator  # noqa: E402


class Validator(OAuth2Validator):
    oidc_claim_scope = None

    def get_additional_claims(self, request):
        user = request.user
        return {
            "preferred_username": user.username,
            "email": user.email,
            "groups": [group.name for group in user.groups.all()],
        }


urlpatterns = [
    path("accounts/login/", views.LoginView.as_view(template_name="login.html")),
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
]


def fill():
    """The people, and the client."""
    family = Group.objects.create(name="Family")
    for name in ["ada", "bob"]:
        user = get_user_model().objects.create_user(name, f"{name}@example.com", os.environ["PASSWORD"])
        if name == "ada":
            user.groups.add(family)
    get_application_model().objects.create(
        name="Portico",
        client_id="portico",
        client_secret=os.environ["SECRET"],
        client_type="confidential",
        authorization_grant_type="authorization-code",
        redirect_uris=f"{os.environ['PORTICO']}/api/auth/oidc/callback",
        algorithm="RS256",
    )


if __name__ == "__main__":
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
