use std::{
    io::Write as _,
    net::TcpStream,
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
};

use super::*;
use crate::fetch::tests::{network_for_pages, serve};

/// Longer than any of these servers takes that is not meant to be late.
const LONG: Duration = Duration::from_secs(30);

fn pages(allow: &str, time: Duration) -> Pages {
    Pages::with(network_for_pages(allow, time), network_for_pages(allow, time))
}

/// Serves a page at `/`, with this head, a picture at `/icon.gif`, and nothing else.
fn serve_page(
    head: &str,
    write: impl Fn(&mut TcpStream) -> std::io::Result<()> + Send + 'static,
) -> (u16, Arc<AtomicUsize>) {
    let head = format!("HTTP/1.1 {head}\r\nConnection: close\r\n\r\n");
    serve(move |path, stream| match path {
        "/" => {
            stream.write_all(head.as_bytes())?;
            write(stream)
        }
        "/icon.gif" => stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nGIF89a"),
        _ => stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
    })
}

async fn read(port: u16, pages: &Pages) -> Result<Page, NoPage> {
    pages.read(&format!("http://public.example:{port}/")).await
}

fn titled(title: &str) -> Page {
    Page {
        title: Some(title.into()),
        ..Page::default()
    }
}

const HTML: &str = "200 OK\r\nContent-Type: text/html; charset=utf-8";

#[tokio::test]
async fn a_page_gives_its_title_and_the_first_icon_that_is_a_picture() {
    for (link, has_icon) in [
        ("<link rel=icon href=icon.gif>", true),
        ("<link rel=icon href=//public.example:PORT/icon.gif#x>", true),
        ("<link rel=icon href=/no.svg><link rel=icon href=icon.gif>", true),
        ("<base href=/deep/><link rel=icon href=icon.gif>", false),
        ("<link rel=icon href=/>", false),
        ("<link rel=icon href=javascript:alert(1)>", false),
        ("<link rel=icon href=file:///etc/hostname>", false),
        ("<link rel=icon href=http://127.0.0.1:PORT/icon.gif>", false),
        (
            "<link rel=icon href=http://me:secret@public.example:PORT/icon.gif>",
            false,
        ),
        ("", false),
    ] {
        let (port, _) = serve_page(HTML, move |stream| {
            let port = stream.local_addr()?.port().to_string();
            write!(stream, "<title>Küche</title>{}", link.replace("PORT", &port))
        });
        let page = read(port, &pages("", LONG)).await.unwrap();
        let icon = format!("http://public.example:{port}/icon.gif");
        assert_eq!(page.title.as_deref(), Some("Küche"));
        assert_eq!(page.icon_url, has_icon.then_some(icon), "{link}");
    }
    let (port, _) = serve_page(HTML, |stream| {
        write!(stream, "<link rel=icon href='data:image/gif;base64,R0lGODlh'>")
    });
    let page = read(port, &pages("", LONG)).await.unwrap();
    assert_eq!(page.icon_url.as_deref(), Some("data:image/gif;base64,R0lGODlh"));
}

#[tokio::test]
async fn all_icons_of_a_page_share_the_time_of_one() {
    let (port, requests) = serve(|path, stream| match path {
        "/" => write!(
            stream,
            "HTTP/1.1 {HTML}\r\nConnection: close\r\n\r\n<title>x</title><link rel=icon href=slow.gif>"
        ),
        // Silent until the client gives up.
        _ => std::io::Read::read(stream, &mut [0]).map(drop),
    });
    let networks = Pages::with(
        network_for_pages("", LONG),
        // Long enough for the request to arrive.
        network_for_pages("", Duration::from_secs(2)),
    );
    let page = read(port, &networks).await.unwrap();
    assert_eq!(page, titled("x"));
    // The usual icon, `/favicon.ico`, is not asked for after that.
    assert_eq!(requests.load(SeqCst), 2);
}

#[tokio::test]
async fn of_a_page_without_an_end_only_the_beginning_is_read() {
    let (port, _) = serve_page(HTML, |stream| {
        write!(stream, "<title>Endless</title>")?;
        loop {
            write!(stream, "<meta name=x content=y>")?;
        }
    });
    assert_eq!(read(port, &pages("", LONG)).await, Ok(titled("Endless")));
    let (port, _) = serve_page(HTML, |stream| {
        write!(stream, "<title>")?;
        loop {
            write!(stream, "long ")?;
        }
    });
    let title = read(port, &pages("", LONG)).await.unwrap().title.unwrap();
    assert!(title.starts_with("long long") && title.len() <= 200, "{title}");
}

#[tokio::test]
async fn a_page_that_stays_open_is_read_as_far_as_it_has_come() {
    // The server has no time for icons.
    let waiting = |time| {
        Pages::with(
            network_for_pages("", time),
            network_for_pages("", Duration::from_millis(200)),
        )
    };
    // The head has ended: nothing more is waited for.
    let (port, _) = serve_page(HTML, |stream| {
        write!(stream, "<head><title>Open</title></head>")?;
        thread::sleep(Duration::from_secs(60));
        Ok(())
    });
    assert_eq!(read(port, &waiting(LONG)).await, Ok(titled("Open")));
    // It has not, and the time ends.
    let drips = |stream: &mut TcpStream| {
        write!(stream, "<head><title>Drips</title>")?;
        loop {
            write!(stream, " ")?;
            thread::sleep(Duration::from_millis(50));
        }
    };
    let (port, _) = serve_page(HTML, drips);
    // Long enough for the title.
    assert_eq!(
        read(port, &waiting(Duration::from_secs(3))).await,
        Ok(titled("Drips"))
    );
    let (port, _) = serve_page(HTML, |_| {
        thread::sleep(Duration::from_secs(60));
        Ok(())
    });
    let silent = read(port, &waiting(Duration::from_millis(200))).await;
    assert!(matches!(silent, Err(NoPage::NoAnswer(_))), "{silent:?}");
}

#[tokio::test]
async fn what_is_no_page_says_nothing() {
    for head in [
        "200 OK\r\nContent-Type: application/json",
        "200 OK\r\nContent-Type: application/octet-stream",
        "200 OK\r\nContent-Type: image/svg+xml",
        "404 Not Found\r\nContent-Type: text/html",
        "401 Unauthorized\r\nContent-Type: text/html",
        "500 Oh\r\nContent-Type: text/html",
    ] {
        let (port, _) = serve_page(head, |stream| write!(stream, "<title>No</title>"));
        let read = read(port, &pages("", LONG)).await;
        assert!(matches!(read, Err(NoPage::NoAnswer(_))), "{head}: {read:?}");
    }
    // Bytes that call themselves a page.
    let (port, _) = serve_page(HTML, |stream| {
        let bytes: Vec<u8> = (0..100_000_u32)
            .map(|at| (at.wrapping_mul(2_654_435_761) >> 11) as u8)
            .collect();
        stream.write_all(&bytes)
    });
    assert!(read(port, &pages("", LONG)).await.is_ok());
}

#[tokio::test]
async fn nothing_is_asked_of_private_addresses_not_even_by_a_redirect() {
    let (secret, requests) = serve_page(HTML, |stream| write!(stream, "<title>Secret</title>"));
    for to in [
        format!("http://127.0.0.1:{secret}/"),
        format!("http://localhost:{secret}/"),
        format!("http://private.example:{secret}/"),
        format!("http://[::ffff:127.0.0.1]:{secret}/"),
    ] {
        let direct = pages("", LONG).read(&to).await;
        assert!(matches!(direct, Err(NoPage::NotAllowed(_))), "{to}: {direct:?}");
        let (port, _) = serve_page(&format!("302 Found\r\nLocation: {to}"), |_| Ok(()));
        let redirected = read(port, &pages("", LONG)).await;
        assert!(
            matches!(redirected, Err(NoPage::NotAllowed(_))),
            "{to}: {redirected:?}"
        );
    }
    assert_eq!(requests.load(SeqCst), 0);
    let allowed = pages(&format!("http://private.example:{secret}"), LONG);
    let page = allowed.read(&format!("http://private.example:{secret}/")).await;
    assert_eq!(page, Ok(titled("Secret")));
    for none in [
        "file:///etc/passwd",
        "data:text/html,<title>x</title>",
        "nas.lan",
        "http://me:secret@public.example/",
    ] {
        let read = pages("", LONG).read(none).await;
        assert!(matches!(read, Err(NoPage::NoAnswer(_))), "{none}: {read:?}");
    }
}
