//! Recognises SVG: an XML document in UTF-8 whose root element is `svg` of SVG's namespace.
//!
//! Only what comes before the content of the root is read. Browsers do not show an SVG whose root lacks the namespace.

const NAMESPACE: &str = "http://www.w3.org/2000/svg";

/// Whether this is a document of SVG.
pub(crate) fn is_svg(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| root(text).is_some_and(is_root_of_svg))
}

/// The tag of the root element, without `<` and `>`.
fn root(text: &str) -> Option<&str> {
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    loop {
        rest = if let Some(comment) = rest.strip_prefix("<!--") {
            comment.split_once("-->")?.1
        } else if let Some(instruction) = rest.strip_prefix("<?") {
            instruction.split_once("?>")?.1
        } else if let Some(doctype) = rest.strip_prefix("<!DOCTYPE") {
            &doctype[end(doctype, true)? + 1..]
        } else {
            let tag = rest.strip_prefix('<')?;
            return tag.get(..end(tag, false)?);
        };
        rest = rest.trim_start();
    }
}

/// Where the tag or declaration ends: its `>` that is neither quoted nor, in a declaration, in brackets.
fn end(text: &str, has_brackets: bool) -> Option<usize> {
    let (mut quote, mut depth) = (None, 0_u32);
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'[') if has_brackets => depth += 1,
            (None, b']') if has_brackets => depth = depth.saturating_sub(1),
            (None, b'>') if depth == 0 => return Some(at),
            (None, _) => {}
        }
    }
    None
}

fn is_root_of_svg(tag: &str) -> bool {
    let tag = tag.strip_suffix('/').unwrap_or(tag);
    let (name, attributes) = tag.split_at(tag.find(char::is_whitespace).unwrap_or(tag.len()));
    let declaration = match name.split_once(':') {
        None if name == "svg" => "xmlns".to_owned(),
        Some((prefix, "svg")) => format!("xmlns:{prefix}"),
        _ => return false,
    };
    let namespace = value_of(attributes, &declaration);
    // Drawing programs write the namespace as an entity of the document type.
    namespace.is_some_and(|value| value == NAMESPACE || value.starts_with('&'))
}

/// The value of an attribute; `None` also if the attributes are not well-formed.
fn value_of<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = attributes;
    loop {
        let (found, after) = rest.split_once('=')?;
        let after = after.trim_start();
        let quote = after.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        let (value, next) = after[1..].split_once(quote)?;
        if found.trim() == name {
            return Some(value);
        }
        rest = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_of_svg_is_found_behind_what_may_come_before_it() {
        for text in [
            "<svg xmlns=\"http://www.w3.org/2000/svg\"/>",
            "<svg xmlns='http://www.w3.org/2000/svg'></svg>",
            "\u{feff}  <svg a='>' xmlns = 'http://www.w3.org/2000/svg' >",
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- <html> -->\n<svg\n xmlns=\"http://www.w3.org/2000/svg\">",
            "<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"http://x/>\"><svg xmlns='http://www.w3.org/2000/svg'>",
            "<!DOCTYPE svg [<!ENTITY n 'http://www.w3.org/2000/svg'>]><svg xmlns='&n;'>",
            "<s:svg xmlns:s='http://www.w3.org/2000/svg'/>",
            "<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'><script>alert(2)</script></svg>",
        ] {
            assert!(is_svg(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn other_documents_are_no_svg() {
        for text in [
            "",
            "svg",
            "<",
            "<svg",
            "<svg/>",
            "<svg xmlns='http://www.w3.org/1999/xhtml'/>",
            "<svg a=\"xmlns='http://www.w3.org/2000/svg'\"/>",
            "<svg xmlns=http://www.w3.org/2000/svg/>",
            "<svgx xmlns='http://www.w3.org/2000/svg'/>",
            "<html xmlns='http://www.w3.org/1999/xhtml'><svg xmlns='http://www.w3.org/2000/svg'/></html>",
            "<h:svg xmlns='http://www.w3.org/2000/svg'/>",
            "<!-- <svg xmlns='http://www.w3.org/2000/svg'/>",
            "<!DOCTYPE html><html><svg xmlns='http://www.w3.org/2000/svg'/>",
            "text <svg xmlns='http://www.w3.org/2000/svg'/>",
        ] {
            assert!(!is_svg(text.as_bytes()), "{text}");
        }
        assert!(!is_svg(b"<svg xmlns='http://www.w3.org/2000/svg'>\xff</svg>"));
        let utf16: Vec<u8> = "<svg xmlns='http://www.w3.org/2000/svg'/>"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert!(!is_svg(&utf16));
    }
}
