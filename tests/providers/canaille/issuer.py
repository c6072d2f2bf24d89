"""Canaille as an issuer, with its people and a client in memory, as its manual sets one up."""

import datetime
import os

from canaille import create_app
from canaille.app import models
from canaille.backends import Backend
from joserfc.jwk import RSAKey
from werkzeug.serving import run_simple

ISSUER, PORTICO, PASSWORD = os.environ["ISSUER"], os.environ["PORTICO"], os.environ["PASSWORD"]


def fill():
    people = [
        models.User(
            user_name=name,
            display_name=name,
            formatted_name=name,
            family_name=name,
            emails=[f"{name}@example.com"],
            password=PASSWORD,
        )
        for name in ["ada", "bob"]
    ]
    for person in people:
        Backend.instance.save(person)
    Backend.instance.save(models.Group(display_name="family", members=people[:1]))
    client = models.Client(
        client_id="portico",
        client_id_issued_at=datetime.datetime.now(datetime.timezone.utc),
        client_secret=os.environ["SECRET"],
        client_name="Portico",
        client_uri=PORTICO,
        redirect_uris=[f"{PORTICO}/api/auth/oidc/callback"],
        grant_types=["authorization_code"],
        response_types=["code"],
        scope=["openid", "profile", "email", "groups"],
        token_endpoint_auth_method="client_secret_basic",
    )
    Backend.instance.save(client)
    client.audience = [client]
    Backend.instance.save(client)


key = RSAKey.generate_key(2048, auto_kid=True).as_dict(private=True)
app = create_app(
    {
        "SECRET_KEY": "a key of the tests",
        "SERVER_NAME": ISSUER.removeprefix("http://"),
        "PREFERRED_URL_SCHEME": "http",
        "CANAILLE": {"DATABASE": "memory"},
        "CANAILLE_OIDC": {"ACTIVE_JWKS": [key]},
    }
)
with app.app_context(), Backend.instance.session():
    fill()
host, port = app.config["SERVER_NAME"].split(":")
run_simple(host, int(port), app, threaded=True)
