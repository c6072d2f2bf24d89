//! The URL of an app's icon.

use alloc::string::String;

use portico_rules::{bounds, icons};

use super::issues::Checked;
use super::text;

/// The icon of an app: any text on one line that is [`safe`]. Clients also send relative paths.
pub fn icon_url(value: &str) -> Checked<String> {
    let icon_url = line(value)?;
    safe(&icon_url)?;
    Ok(icon_url)
}

/// An icon as it is stored. Icons that are older than the rule of [`safe`] stay valid.
pub fn line(value: &str) -> Checked<String> {
    text::line(value.trim(), bounds::ICON_URL)
}

/// Refuses an icon that a browser would run, or show as a page of the dashboard.
pub fn safe(icon_url: &str) -> Checked<()> {
    match icons::problem(icon_url) {
        None => Ok(()),
        Some(problem) => Err(problem),
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use portico_rules::rule::Rule;

    use super::*;

    #[test]
    fn an_icon_is_any_text_on_one_line() {
        for accepted in [
            "/icons/x.svg",
            "icons/a:b.svg",
            "https://example.com/x.png",
            "x",
            "mdi:home",
            "blob:https://example.com/1",
            "javascript.svg",
            "/javascript:alert(1)",
            "java script:alert(1)",
            "data",
            "data/x.png",
            "data:image/png;base64,AAAA",
            "DATA:Image/GIF;base64,R0lGODlh",
            "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>",
            "data:image/svg+xml;charset=utf-8;base64,PHN2Zz4=",
            "data: image/vnd.microsoft.icon ;base64,AAAA",
        ] {
            assert_eq!(icon_url(accepted), Ok(accepted.into()));
        }
        assert_eq!(icon_url(" \r\n/x.svg\t\u{a0}"), Ok("/x.svg".into()));
        assert_eq!(icon_url("  "), Err(Rule::Empty));
        assert!(icon_url(&"ä".repeat(65_536)).is_ok());
        assert!(icon_url(&"a".repeat(65_537)).is_err());
    }

    #[test]
    fn disguised_scripts_are_refused() {
        for refused in [
            "javascript:alert(1)",
            "JavaScript:alert(1)",
            " \u{2003}javascript:alert(1)",
            "\u{feff}javascript:alert(1)",
            "\u{feff} \u{feff}vbscript:x",
            "VBScript:msgbox(1)",
        ] {
            let message = icon_url(refused).unwrap_err().to_string();
            assert!(
                message.starts_with("must not be a URL of the scheme "),
                "{message}"
            );
        }
        for refused in [
            "java\tscript:alert(1)",
            "java\r\nscript:alert(1)",
            "javascript\n:alert(1)",
            "\u{1}javascript:alert(1)",
            "\u{1f} javascript:alert(1)",
            "data:text/html\t,x",
            "da\tta:text/html,x",
        ] {
            let message = icon_url(refused).unwrap_err().to_string();
            assert!(
                message.starts_with("must not contain control characters"),
                "{message}"
            );
        }
    }

    #[test]
    fn a_data_uri_is_an_image_or_refused() {
        for refused in [
            "data:text/html,<script>alert(1)</script>",
            "DATA:Text/HTML;base64,AAAA",
            " data:text/html,x",
            "\u{feff}data:text/html,x",
            "data:application/xhtml+xml,x",
            "data:,x",
            "data:;base64,AAAA",
            "data:",
            "data:image/png",
            "data:image,x",
            "data:image/,x",
            "data:/png,x",
            "data:images/png,x",
            "data:text/html;image/png,x",
            "data:text/html,image/png,x",
            "data:image%2Fpng,x",
            "data:image/png text/html,x",
            "data:image/png\u{a0}x,x",
        ] {
            let message = icon_url(refused).unwrap_err().to_string();
            assert!(message.starts_with("must be an image"), "{refused:?}: {message}");
        }
    }
}
