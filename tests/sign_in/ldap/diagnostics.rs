//! Directories add reasons to the result of a bind: Active Directory in a text, 389 Directory Server in texts and
//! controls. A server of the test's own responds as they do.

use std::{
    io::{Read, Write},
    net::TcpStream,
    thread,
};

use portico_tests::Answer;

use super::{ailing::listen, at, sign_in, start};

const PASSWORD_POLICY: &str = "1.3.6.1.4.1.42.2.27.8.5.1";
const PASSWORD_EXPIRED: &str = "2.16.840.1.113730.3.4.4";

const BIND: u8 = 0x60;
const SEARCH: u8 = 0x63;

/// A tag, a length, and what is in it (X.690).
fn tlv(tag: u8, held: &[u8]) -> Vec<u8> {
    let length = u16::try_from(held.len()).expect("a short text").to_be_bytes();
    [&[tag, 0x82], &length[..], held].concat()
}

fn octets(text: &str) -> Vec<u8> {
    tlv(0x04, text.as_bytes())
}

fn read_tlv(from: &mut impl Read) -> Option<(u8, Vec<u8>)> {
    let mut head = [0; 2];
    from.read_exact(&mut head).ok()?;
    let mut length = usize::from(head[1]);
    if length > 0x80 {
        let mut digits = vec![0; length & 0x7f];
        from.read_exact(&mut digits).ok()?;
        length = digits
            .iter()
            .fold(0, |length, digit| length << 8 | usize::from(*digit));
    }
    let mut held = vec![0; length];
    from.read_exact(&mut held).ok()?;
    Some((head[0], held))
}

fn result(tag: u8, code: u8, text: &str) -> Vec<u8> {
    tlv(tag, &[tlv(0x0a, &[code]), octets(""), octets(text)].concat())
}

/// What the directory returns for a bind with this password: a code, a text and controls.
fn verdict(password: &str) -> (u8, String, Vec<(&'static str, &'static [u8])>) {
    const CHANGE_AFTER_RESET: &[u8] = b"\x30\x03\x81\x01\x02";
    const ONE_MORE_SIGN_IN: &[u8] = b"\x30\x05\xa0\x03\x81\x01\x01";
    let of_389 = |code, text: &str| (code, text.to_owned(), Vec::new());
    match password {
        "" | "right" => of_389(0, ""),
        "reset" => (0, String::new(), vec![(PASSWORD_POLICY, CHANGE_AFTER_RESET)]),
        "over" => (0, String::new(), vec![(PASSWORD_EXPIRED, b"0")]),
        "grace" => (
            0,
            String::new(),
            vec![(PASSWORD_EXPIRED, b"0"), (PASSWORD_POLICY, ONE_MORE_SIGN_IN)],
        ),
        "inactivated" => of_389(53, "Account inactivated. Contact system administrator."),
        "retries" => of_389(19, "Exceed password retry limit. Please try later."),
        data => of_389(
            49,
            &format!(
                "80090308: LdapErr: DSID-0C090439, comment: AcceptSecurityContext error, data {data}, v4563"
            ),
        ),
    }
}

/// Answers as a directory that gives the same entry for every name.
fn serve(mut stream: TcpStream) {
    while let Some((_, message)) = read_tlv(&mut stream) {
        let mut rest = &message[..];
        let (_, id) = read_tlv(&mut rest).expect("the number of the message");
        let (operation, held) = read_tlv(&mut rest).expect("an operation");
        // A directory sends controls only to clients that ask for them.
        let is_asked = rest
            .windows(PASSWORD_POLICY.len())
            .any(|part| part == PASSWORD_POLICY.as_bytes());
        let mut send = |operation: &[u8], controls: &[u8]| {
            let message = [&tlv(0x02, &id), operation, controls].concat();
            let _ = stream.write_all(&tlv(0x30, &message));
        };
        match operation {
            BIND => {
                let mut held = &held[..];
                let parts: Vec<_> = std::iter::from_fn(|| read_tlv(&mut held)).collect();
                let password = String::from_utf8_lossy(&parts[2].1).into_owned();
                let (code, text, controls) = verdict(&password);
                let controls: Vec<_> = controls
                    .into_iter()
                    .filter(|(oid, _)| is_asked || *oid != PASSWORD_POLICY)
                    .flat_map(|(oid, value)| tlv(0x30, &[octets(oid), tlv(0x04, value)].concat()))
                    .collect();
                let controls = if controls.is_empty() {
                    controls
                } else {
                    tlv(0xa0, &controls)
                };
                send(&result(0x61, code, &text), &controls);
            }
            SEARCH => {
                let attribute = |name, value| tlv(0x30, &[octets(name), tlv(0x31, &octets(value))].concat());
                let attributes = [attribute("entryUUID", "1"), attribute("uid", "ada")].concat();
                let entry = [octets("CN=Ada,OU=Staff,DC=example"), tlv(0x30, &attributes)].concat();
                send(&tlv(0x64, &entry), &[]);
                send(&result(0x65, 0, ""), &[]);
            }
            _ => return,
        }
    }
}

#[test]
fn why_an_account_is_refused_is_in_the_log_and_in_no_answer() {
    let (url, _) = listen(serve);
    let server = start(at(&url));
    for password in ["right", "grace"] {
        sign_in(&server, "ada", password).assert_status(200);
    }
    let cases = [
        ("52e", "the password is wrong"),
        ("530", "the account may not sign in at this time"),
        ("532", "the password has expired"),
        ("533", "the account is disabled"),
        ("701", "the account has expired"),
        ("773", "the password must be changed first"),
        ("775", "the account is locked"),
        ("57", "the directory does not take the password"),
        ("inactivated", "the account is disabled"),
        ("retries", "the account is locked"),
        // These binds succeed.
        ("reset", "the password must be changed first"),
        ("over", "the password must be changed first"),
    ];
    let answers: Vec<(Answer, String)> = thread::scope(|scope| {
        let asking: Vec<_> = cases
            .iter()
            .map(|(password, why)| {
                let server = &server;
                scope.spawn(move || {
                    let answer = sign_in(server, "ada", password);
                    let id = answer.header("x-request-id").expect("an id").to_owned();
                    (answer, format!("{id} {why}"))
                })
            })
            .collect();
        asking
            .into_iter()
            .map(|asking| asking.join().expect("an answer"))
            .collect()
    });
    for (answer, said) in &answers {
        answer.assert_refused(401, "UNAUTHORIZED");
        assert_eq!(answer.seen(), answers[0].0.seen(), "{said}");
        let (id, why) = said.split_once(' ').expect("both");
        let line = server.wait_for_log(0, id);
        assert!(line.contains(why) && line.contains("CN=Ada"), "{why}: {line}");
    }
}
