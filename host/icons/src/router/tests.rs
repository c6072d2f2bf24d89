use std::sync::Mutex;

use axum::{body::Body, response::IntoResponse};
use tempfile::TempDir;
use tower::ServiceExt;
use url::Url;

use super::*;
use crate::{fetch::Fetch, files::IconFileSettings};

/// A network that has a picture at every URL but those with `missing` in them, and notes what was asked.
#[derive(Clone, Default)]
struct Network(Arc<Mutex<Vec<String>>>);

impl Fetch for Network {
    fn fetch(&self, url: &Url) -> Result<Vec<u8>, IconError> {
        self.0.lock().unwrap().push(url.to_string());
        if url.path().contains("missing") {
            return Err(IconError::new("nothing there"));
        }
        Ok(format!("GIF89a {url}").into_bytes())
    }
}

/// An API with one app and some users, by their ids: what their image is.
async fn api(request: Request) -> Response {
    let query = percent_decode_str(request.uri().query().unwrap_or_default())
        .decode_utf8_lossy()
        .into_owned();
    let data = match request.uri().path() {
        "/api/trpc/app.byId" => json!({ "name": "Forge", "iconUrl": "https://icons.example/forge.gif" }),
        "/api/trpc/user.getById" if query.contains("web") => {
            json!({ "image": "https://idp.example/face.gif" })
        }
        "/api/trpc/user.getById" if query.contains("plain") => {
            json!({ "image": "http://idp.example/face.gif" })
        }
        "/api/trpc/user.getById" if query.contains("none") => json!({ "image": null }),
        _ => return StatusCode::FORBIDDEN.into_response(),
    };
    Response::new(Body::from(json!({ "result": { "data": data } }).to_string()))
}

struct Site {
    router: Router,
    network: Network,
    /// For what providers name.
    named: Network,
    _folder: TempDir,
}

impl Site {
    fn new(variant: impl Fn(Ground) -> Variant + Send + Sync + 'static) -> Self {
        let (folder, network, named) = (TempDir::new().unwrap(), Network::default(), Network::default());
        let files = IconFiles::with(
            folder.path().join("icons"),
            IconFileSettings::default(),
            network.clone(),
            named.clone(),
        );
        let find: FindIcon = Arc::new(|_| Box::pin(async { None }));
        let variant: FindVariant = Arc::new(move |_, ground| {
            let found = variant(ground);
            Box::pin(async move { found })
        });
        Self {
            router: router(Router::new().fallback(api), files, find, variant),
            network,
            named,
            _folder: folder,
        }
    }

    async fn get(&self, path: &str) -> (StatusCode, String, String) {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status();
        let cached = response.headers().get(header::CACHE_CONTROL);
        let cached = cached.map_or_else(String::new, |value| value.to_str().unwrap().to_owned());
        let body = to_bytes(response.into_body(), 1000).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap(), cached)
    }

    fn asked(&self) -> Vec<String> {
        self.network.0.lock().unwrap().clone()
    }
}

#[tokio::test]
async fn the_picture_that_a_provider_named_is_fetched_once_and_only_over_https() {
    let site = Site::new(|_| Variant::Itself);
    let path = user_picture("web", "https://idp.example/face.gif").unwrap();
    for _ in 0..3 {
        let (status, body, cached) = site.get(&path).await;
        assert_eq!(
            (status, &body[..]),
            (StatusCode::OK, "GIF89a https://idp.example/face.gif")
        );
        assert!(cached.contains("immutable"), "{cached}");
    }
    let asked = || site.named.0.lock().unwrap().clone();
    assert_eq!(asked(), ["https://idp.example/face.gif"]);
    for (id, status) in [
        ("plain", StatusCode::NOT_FOUND),
        ("none", StatusCode::NOT_FOUND),
        // Whom the API does not show.
        ("other", StatusCode::FORBIDDEN),
    ] {
        assert_eq!(site.get(&format!("/icons/users/{id}")).await.0, status, "{id}");
    }
    assert_eq!((asked().len(), site.asked().len()), (1, 0));
    for image in [
        "http://idp.example/face.gif",
        "data:image/gif;base64,R0lG",
        "",
        "javascript:x",
        "é",
    ] {
        assert_eq!(user_picture("web", image), None, "{image}");
    }
}

#[tokio::test]
async fn every_route_is_counted_by_its_template() {
    let site = Site::new(|_| Variant::Itself);
    for (path, expected) in [
        ("/icons/apps/a", "/icons/apps/{id}"),
        ("/icons/engines/a", "/icons/engines/{id}"),
        ("/icons/users/a", "/icons/users/{id}"),
        ("/icons/named/a", "/icons/named/{name}"),
        ("/icons/default.svg", "/icons/default.svg"),
        ("/icons/preview", "/icons/preview"),
        ("/icons/other", ""),
    ] {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = site.router.clone().oneshot(request).await.unwrap();
        let template = response.extensions().get::<RouteTemplate>();
        assert_eq!(template.map(|template| template.0), Some(expected), "{path}");
    }
}

#[test]
fn a_default_icon_has_another_address_with_another_name() {
    let address = |icon_url, name| app_icon("a", icon_url, name);
    assert_ne!(address(DEFAULT_ICON, "Forge"), address(DEFAULT_ICON, "Smithy"));
    let own = "https://icons.example/forge.gif";
    assert_eq!(address(own, "Forge"), address(own, "Smithy"));
}

#[tokio::test]
async fn an_icon_on_a_ground_is_its_variant_or_the_icon_itself() {
    let site = Site::new(|ground| match ground {
        Ground::Dark => Variant::At("https://icons.example/forge-light.gif".into()),
        Ground::Light => Variant::At("https://icons.example/missing.gif".into()),
    });
    let path = app_icon("a", "https://icons.example/forge.gif", "Forge");
    let itself = "GIF89a https://icons.example/forge.gif";
    let (_, body, cached) = site.get(&path).await;
    assert_eq!((&body[..], cached.contains("immutable")), (itself, true));
    let (_, body, cached) = site.get(&format!("{path}&on=dark")).await;
    assert_eq!(
        (&body[..], cached.contains("immutable")),
        ("GIF89a https://icons.example/forge-light.gif", true)
    );
    // A variant that cannot be had: the icon, until it can.
    let (status, body, cached) = site.get(&format!("{path}&on=light")).await;
    assert_eq!(
        (status, &body[..], cached.contains("immutable")),
        (StatusCode::OK, itself, false)
    );
    assert_eq!(site.get(&format!("{path}&on=%22x")).await.1, itself);
    let unknown = Site::new(|_| Variant::Unknown);
    let (_, body, cached) = unknown.get(&format!("{path}&on=dark")).await;
    assert_eq!((&body[..], cached.contains("immutable")), (itself, false));
}
