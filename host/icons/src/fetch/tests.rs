use std::{
    io::{BufRead, BufReader, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    thread,
};

use ureq::unversioned::transport::{ConnectionDetails, Transport};

use super::*;

/// A public address. Tests connect to this machine instead (`Here`).
const PUBLIC: [u8; 4] = [93, 184, 216, 34];

const GIF: &str = "GIF89a";

/// Resolves the names of these tests. `turning.example` is public only the first time.
#[derive(Debug, Default)]
struct Names {
    asked: AtomicUsize,
}

impl Resolver for Names {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let asked = self.asked.fetch_add(1, SeqCst);
        let addresses: &[[u8; 4]] = match uri.host().expect("a host") {
            "public.example" => &[PUBLIC],
            "private.example" => &[[127, 0, 0, 1]],
            "both.example" => &[[127, 0, 0, 1], PUBLIC],
            "turning.example" if asked == 0 => &[PUBLIC],
            "turning.example" => &[[127, 0, 0, 1]],
            _ => return DefaultResolver::default().resolve(uri, config, timeout),
        };
        let mut found = self.empty();
        for address in addresses {
            found.push(SocketAddr::from((*address, uri.port_u16().unwrap_or(80))));
        }
        Ok(found)
    }
}

/// Connects to this machine instead of `PUBLIC`, below everything that is tested.
#[derive(Debug, Default)]
struct Here(DefaultConnector);

impl Connector for Here {
    type Out = Box<dyn Transport>;

    fn connect(&self, details: &ConnectionDetails, chained: Option<()>) -> Result<Option<Self::Out>, Error> {
        let mut addrs = details.addrs.clone();
        for address in addrs
            .iter_mut()
            .filter(|address| address.ip() == IpAddr::from(PUBLIC))
        {
            address.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        let details = ConnectionDetails {
            addrs,
            uri: details.uri,
            config: details.config,
            request_level: details.request_level,
            resolver: details.resolver,
            now: details.now,
            timeout: details.timeout,
            current_time: details.current_time.clone(),
            run_connector: details.run_connector.clone(),
            register_shutdown: details.register_shutdown.clone(),
        };
        self.0.connect(&details, chained)
    }
}

/// A network in which the names of these tests exist. A proxy from the environment would not know them.
fn network(allow: &str) -> Network {
    network_with(allow, PICTURE)
}

/// The same for pages.
pub(crate) fn network_for_pages(allow: &str, time: Duration) -> Network {
    network_with(allow, Limits { time, ..PAGE })
}

fn network_with(allow: &str, limits: Limits) -> Network {
    let trust = Trust::Allowed(allow.parse().unwrap());
    let config = config().proxy(None);
    Network::with_parts(config, Here::default(), Names::default(), trust, limits)
}

fn get(network: &Network, url: &str) -> Result<Vec<u8>, String> {
    let fetched = network.fetch(&Url::parse(url).unwrap());
    fetched.map_err(|error| error.to_string())
}

/// Serves what `answer` writes for each path. Returns the port, and the number of requests so far.
pub(crate) fn serve(
    answer: impl Fn(&str, &mut TcpStream) -> std::io::Result<()> + Send + 'static,
) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let requests = Arc::new(AtomicUsize::new(0));
    let counter = requests.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let Some(Ok(first)) = lines.next() else {
                continue;
            };
            lines.map_while(Result::ok).find(String::is_empty);
            counter.fetch_add(1, SeqCst);
            // A client that hangs up early is part of the tests.
            let _ = answer(first.split(' ').nth(1).unwrap(), &mut stream);
        }
    });
    (port, requests)
}

/// Serves a redirect to `location` at `/` (`PORT` is the port of the server) and a picture at other paths.
fn serve_redirect(location: &str) -> (u16, Arc<AtomicUsize>) {
    let location = location.to_owned();
    serve(move |path, stream| {
        let port = stream.local_addr()?.port().to_string();
        let location = location.replace("PORT", &port);
        let head = if path == "/" {
            format!("302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n")
        } else {
            format!("200 OK\r\nContent-Length: {}\r\n\r\n{GIF}", GIF.len())
        };
        write!(stream, "HTTP/1.1 {head}")
    })
}

/// Fetches from this host, which redirects there.
fn fetch(network: &Network, host: &str, location: &str) -> Result<Vec<u8>, String> {
    let (port, _) = serve_redirect(location);
    get(network, &format!("http://{host}:{port}/"))
}

const PRIVATE: [&str; 9] = [
    "http://private.example:PORT/x",
    "http://127.0.0.1:PORT/x",
    "http://localhost:PORT/x",
    "http://[::1]:PORT/x",
    "http://[::ffff:127.0.0.1]:PORT/x",
    "http://[64:ff9b::7f00:1]:PORT/x",
    "http://0.0.0.0:PORT/x",
    "http://2130706433:PORT/x",
    "http://169.254.169.254/latest/meta-data/",
];

#[test]
fn nothing_is_fetched_from_a_private_address_nor_after_a_redirect() {
    let (port, requests) = serve_redirect("/x");
    for to in PRIVATE {
        let to = to.replace("PORT", &port.to_string());
        for refused in [
            get(&network(""), &to).unwrap_err(),
            fetch(&network(""), "public.example", &to).unwrap_err(),
            fetch(&network(""), "both.example", &to).unwrap_err(),
        ] {
            let is_refused = refused.contains("has an address of a private network");
            assert!(is_refused && refused.contains("--icons-allow"), "{to}: {refused}");
        }
    }
    assert_eq!(requests.load(SeqCst), 0);
}

#[test]
fn what_a_provider_named_is_fetched_by_https_and_from_no_private_address() {
    let config = config().proxy(None);
    let named = Network::with_parts(config, Here::default(), Names::default(), Trust::Named, PICTURE);
    let (port, requests) = serve_redirect("/x");
    for (url, why) in [
        // Each URL is checked alike, also one to which a host redirects.
        ("http://public.example:PORT/x", "by https: alone"),
        ("http://private.example:PORT/x", "by https: alone"),
        (
            "https://private.example:PORT/x",
            "has an address of a private network",
        ),
        ("https://127.0.0.1:PORT/x", "has an address of a private network"),
        ("https://[::1]:PORT/x", "has an address of a private network"),
        ("https://public.example:22/x", "has a port that browsers block"),
    ] {
        let refused = get(&named, &url.replace("PORT", &port.to_string())).unwrap_err();
        assert!(refused.contains(why), "{url}: {refused}");
        assert!(!refused.contains("--icons-allow"), "{url}: {refused}");
    }
    assert_eq!(requests.load(SeqCst), 0);
    // It connects to a public address, where no TLS is spoken here.
    get(&named, &format!("https://public.example:{port}/x")).unwrap_err();
}

#[test]
fn public_addresses_are_fetched_and_redirect_to_each_other() {
    for to in ["http://public.example:PORT/x", "/x", "http://both.example:PORT/x"] {
        for host in ["public.example", "both.example"] {
            assert_eq!(
                fetch(&network(""), host, to).as_deref(),
                Ok(GIF.as_bytes()),
                "{to}"
            );
        }
    }
}

#[test]
fn a_name_that_resolves_differently_after_the_redirect_gains_nothing() {
    for to in ["/", "/x", "http://turning.example:PORT/x"] {
        let refused = fetch(&network(""), "turning.example", to).unwrap_err();
        assert!(
            refused.contains("has an address of a private network"),
            "{to}: {refused}"
        );
    }
}

#[test]
fn an_allowed_host_is_fetched_at_its_port_only_and_redirects_only_to_what_is_allowed() {
    let (port, _) = serve_redirect("/x");
    let allowed = network(&format!("http://private.example:{port},http://127.0.0.1:{port}"));
    for host in ["private.example", "127.0.0.1"] {
        let url = format!("http://{host}:{port}/");
        assert_eq!(get(&allowed, &url).as_deref(), Ok(GIF.as_bytes()));
    }
    let (other, requests) = serve_redirect("/x");
    for url in [
        format!("http://private.example:{other}/x"),
        format!("http://localhost:{port}/x"),
        format!("https://private.example:{port}/x"),
    ] {
        let refused = get(&allowed, &url).unwrap_err();
        assert!(refused.contains("private network"), "{url}: {refused}");
        let (port, _) = serve_redirect(&url);
        let allowed = network(&format!("http://private.example:{port}"));
        let refused = get(&allowed, &format!("http://private.example:{port}/")).unwrap_err();
        assert!(refused.contains("private network"), "{url}: {refused}");
    }
    assert_eq!(requests.load(SeqCst), 0);
}

#[test]
fn a_port_of_another_protocol_is_refused_unless_it_is_allowed() {
    for port in [22, 25, 6000, 6667] {
        let url = format!("http://public.example:{port}/");
        let refused = get(&network(""), &url).unwrap_err();
        assert!(refused.contains("has a port that browsers block"), "{refused}");
        let tried = get(&network(&url), &url).unwrap_err();
        assert!(!tried.contains("browsers block"), "{tried}");
    }
}

#[test]
fn redirects_lead_to_http_alone_and_end() {
    for (to, words) in [
        ("file:///etc/passwd", "not by file:"),
        ("data:image/gif;base64,R0lGODdh", "not by data:"),
        ("http://me:secret@public.example:PORT/x", "a password"),
        ("http://", "redirects to no URL"),
        ("/", "more than 5 times"),
    ] {
        let refused = fetch(&network(""), "public.example", to).unwrap_err();
        assert!(refused.contains(words), "{to}: {refused}");
    }
    let (port, requests) = serve_redirect("/");
    get(&network(""), &format!("http://public.example:{port}/")).unwrap_err();
    assert_eq!(requests.load(SeqCst), 6);
}

#[test]
fn a_picture_of_one_mebibyte_is_taken_and_one_byte_more_is_not() {
    for declared in [true, false] {
        let (port, _) = serve(move |path, stream| {
            let size: usize = path[1..].parse().unwrap();
            let length = match declared {
                true => format!("Content-Length: {size}\r\n"),
                false => String::new(),
            };
            write!(stream, "HTTP/1.1 200 OK\r\n{length}Connection: close\r\n\r\n")?;
            stream.write_all(&vec![b'x'; size])
        });
        let get = |size: usize| get(&network(""), &format!("http://public.example:{port}/{size}"));
        assert_eq!(get(LARGEST).map(|bytes| bytes.len()), Ok(LARGEST), "{declared}");
        let refused = get(LARGEST + 1).unwrap_err();
        assert_eq!(refused, "it is larger than 1048576 bytes", "{declared}");
    }
}

#[test]
fn a_body_without_end_is_given_up_at_the_limit() {
    let (port, _) = serve(|_, stream| {
        write!(stream, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")?;
        loop {
            write!(stream, "8\r\nxxxxxxxx\r\n")?;
        }
    });
    let refused = get(&network(""), &format!("http://public.example:{port}/")).unwrap_err();
    assert_eq!(refused, "it is larger than 1048576 bytes");
}

#[test]
fn a_slow_host_is_given_up_however_slow_it_is() {
    for path in ["/silent", "/drips", "/redirects"] {
        let (port, _) = serve(|path, stream| {
            if path == "/silent" {
                thread::sleep(Duration::from_secs(60));
            } else if path == "/drips" {
                write!(stream, "HTTP/1.1 200 OK\r\n\r\n")?;
                for _ in 0..600 {
                    write!(stream, "x")?;
                    thread::sleep(Duration::from_millis(100));
                }
            } else {
                thread::sleep(Duration::from_millis(600));
                write!(
                    stream,
                    "HTTP/1.1 302 Found\r\nLocation: {path}\r\nContent-Length: 0\r\n\r\n"
                )?;
            }
            Ok(())
        });
        let mut network = network("");
        network.limits.time = Duration::from_secs(1);
        let refused = get(&network, &format!("http://public.example:{port}{path}")).unwrap_err();
        assert_eq!(refused, "it took longer than 1 seconds", "{path}");
    }
}

#[test]
fn an_answer_that_is_not_200_is_no_picture() {
    for (head, words) in [
        ("404 Not Found", "the status 404"),
        ("204 No Content", "the status 204"),
        ("206 Partial Content", "the status 206"),
        ("500 Oh", "the status 500"),
        ("304 Not Modified", "redirects to no URL"),
    ] {
        let (port, _) = serve(move |_, stream| {
            write!(
                stream,
                "HTTP/1.1 {head}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
        });
        let refused = get(&network(""), &format!("http://public.example:{port}/")).unwrap_err();
        assert!(refused.contains(words), "{head}: {refused}");
    }
}

/// Fetches an index at this host, which redirects there.
fn index(host: &str, location: &str) -> Result<Vec<u8>, String> {
    let (port, _) = serve_redirect(location);
    let (config, url) = (config().proxy(None), format!("http://{host}:{port}/"));
    let fetched = fetch_index_by(config, Here::default(), Names::default(), &url, 100);
    fetched.map_err(|error| error.to_string())
}

#[test]
fn the_index_of_a_public_source_redirects_only_to_public_addresses() {
    for to in ["http://public.example:PORT/x", "/x", "http://both.example:PORT/x"] {
        assert_eq!(index("public.example", to).as_deref(), Ok(GIF.as_bytes()), "{to}");
    }
    // A source with at least one public address is public.
    for host in ["public.example", "both.example"] {
        for to in PRIVATE {
            let refused = index(host, to).unwrap_err();
            assert!(
                refused.contains("an address of a private network"),
                "{to}: {refused}"
            );
        }
    }
    for to in ["/", "/x", "http://turning.example:PORT/x"] {
        let refused = index("turning.example", to).unwrap_err();
        assert!(
            refused.contains("an address of a private network"),
            "{to}: {refused}"
        );
    }
}

#[test]
fn the_index_of_a_private_source_redirects_anywhere() {
    for to in ["/x", "http://localhost:PORT/x", "http://public.example:PORT/x"] {
        for host in ["private.example", "127.0.0.1"] {
            assert_eq!(index(host, to).as_deref(), Ok(GIF.as_bytes()), "{host} {to}");
        }
    }
}
