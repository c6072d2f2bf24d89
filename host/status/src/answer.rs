//! The status in what a server sends.

/// The longest status line, in bytes.
const LONGEST_LINE: usize = 1024;
/// The most bytes that are read: interim responses and a status line.
pub(crate) const MOST_BYTES: usize = 16 << 10;

/// What has been received so far.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// No final status line yet.
    Part,
    /// The status of the final response.
    Status(u16),
    /// It is not HTTP, or too much of it comes before the status.
    NotHttp,
}

/// Reads the status of the final response. What follows its status line is not looked at.
pub(crate) fn read(mut bytes: &[u8]) -> Received {
    let is_full = bytes.len() >= MOST_BYTES;
    loop {
        let start = &bytes[..bytes.len().min(LONGEST_LINE)];
        if !is_beginning(start) {
            return Received::NotHttp;
        }
        let Some(end) = start.iter().position(|byte| *byte == b'\n') else {
            let is_too_long = is_full || bytes.len() >= LONGEST_LINE;
            return if is_too_long {
                Received::NotHttp
            } else {
                Received::Part
            };
        };
        match status(&start[..end]) {
            None => return Received::NotHttp,
            // Interim responses come before the final one. After 101 there is none.
            Some(100 | 102..200) => match after_head(&bytes[end + 1..]) {
                Some(rest) => bytes = rest,
                None if is_full => return Received::NotHttp,
                None => return Received::Part,
            },
            Some(status) => return Received::Status(status),
        }
    }
}

/// Whether a status line may begin like this.
fn is_beginning(bytes: &[u8]) -> bool {
    let start = b"HTTP/1.";
    let common = bytes.len().min(start.len());
    bytes[..common] == start[..common]
}

fn status(line: &[u8]) -> Option<u16> {
    let rest = line.strip_prefix(b"HTTP/1.")?;
    let [version, b' ', digits @ ..] = rest else {
        return None;
    };
    let (digits, after) = digits.split_at_checked(3)?;
    let is_end = matches!(after.first(), None | Some(b' ' | b'\r'));
    if !version.is_ascii_digit() || !digits.iter().all(u8::is_ascii_digit) || !is_end {
        return None;
    }
    let status = digits
        .iter()
        .fold(0, |number, digit| number * 10 + u16::from(digit - b'0'));
    (100..=999).contains(&status).then_some(status)
}

/// What follows the empty line after the fields of a head.
fn after_head(mut bytes: &[u8]) -> Option<&[u8]> {
    loop {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
        if matches!(line, b"" | b"\r") {
            return Some(rest);
        }
        bytes = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_is_in_the_first_line() {
        for (text, expected) in [
            ("HTTP/1.1 200 OK\r\n", Received::Status(200)),
            ("HTTP/1.0 404\r\n", Received::Status(404)),
            ("HTTP/1.1 503 \n", Received::Status(503)),
            ("HTTP/1.1 101 Switching Protocols\r\n", Received::Status(101)),
            ("HTTP/1.1 200 OK\r\nX: endless", Received::Status(200)),
            ("", Received::Part),
            ("HT", Received::Part),
            ("HTTP/1.1 200 OK", Received::Part),
            ("SSH-2.0-OpenSSH", Received::NotHttp),
            ("HTTP/2 200\r\n", Received::NotHttp),
            ("HTTP/1.1 20\r\n", Received::NotHttp),
            ("HTTP/1.1 2000\r\n", Received::NotHttp),
            ("HTTP/1.1 099 X\r\n", Received::NotHttp),
            ("HTTP/1.1 +20 X\r\n", Received::NotHttp),
            ("HTTP/1.1\r\n", Received::NotHttp),
        ] {
            assert_eq!(read(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn interim_responses_are_passed_over() {
        let hints = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n";
        assert_eq!(read(hints.as_bytes()), Received::Part);
        let whole = format!("{hints}HTTP/1.1 502 Bad Gateway\r\n");
        assert_eq!(read(whole.as_bytes()), Received::Status(502));
    }

    #[test]
    fn what_never_comes_to_a_status_is_given_up() {
        let long_line = format!("HTTP/1.1 200 {}", "x".repeat(LONGEST_LINE));
        assert_eq!(read(long_line.as_bytes()), Received::NotHttp);
        let interim = "HTTP/1.1 100 Continue\r\n\r\n".repeat(MOST_BYTES / 25 + 1);
        assert_eq!(read(interim.as_bytes()), Received::NotHttp);
        let head = format!("HTTP/1.1 103 X\r\nLink: {}", "x".repeat(MOST_BYTES));
        assert_eq!(read(head.as_bytes()), Received::NotHttp);
    }
}
