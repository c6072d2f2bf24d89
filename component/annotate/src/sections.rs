//! The sections of a component's file.

/// The first bytes of a component.
const COMPONENT: [u8; 8] = *b"\0asm\x0d\0\x01\0";
/// The kind of a custom section.
const CUSTOM: u8 = 0;
/// The custom section with the names of the component and of what is in it.
const NAMES: &str = "component-name";

/// A component that gets more sections.
pub struct Annotated {
    bytes: Vec<u8>,
}

impl Annotated {
    /// The component without the names of its parts, which only debuggers show.
    pub fn new(component: &[u8]) -> Result<Self, &'static str> {
        let mut rest = component
            .strip_prefix(&COMPONENT)
            .ok_or("this is not a component")?;
        let mut bytes = COMPONENT.to_vec();
        while let [kind, after @ ..] = rest {
            let (length, content) = number(after).ok_or("a section has no length")?;
            let (content, following) = content.split_at_checked(length).ok_or("a section is cut off")?;
            if *kind != CUSTOM || name(content) != Some(NAMES.as_bytes()) {
                bytes.extend_from_slice(&rest[..rest.len() - following.len()]);
            }
            rest = following;
        }
        Ok(Self { bytes })
    }

    /// Names the component.
    pub fn add_name(&mut self, name: &str) {
        // The part 0 of this section is the name of the component itself.
        let mut part = Vec::new();
        push_text(&mut part, name);
        let mut content = vec![0];
        push_number(&mut content, part.len());
        content.extend(part);
        self.add(NAMES, &content);
    }

    /// Adds a section that consists of a text.
    pub fn add_text(&mut self, section: &str, text: &str) {
        self.add(section, text.as_bytes());
    }

    /// Adds the docs of the component's world, which is called `root` in every component, in the form of `wit-parser`.
    pub fn add_docs(&mut self, docs: &str) {
        let docs = json_text(docs);
        let mut content = vec![1];
        content.extend(format!("{{\"worlds\":{{\"root\":{{\"docs\":{docs}}}}}}}").bytes());
        self.add("package-docs", &content);
    }

    /// The file.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }

    fn add(&mut self, section: &str, content: &[u8]) {
        let mut whole = Vec::new();
        push_text(&mut whole, section);
        whole.extend_from_slice(content);
        self.bytes.push(CUSTOM);
        push_number(&mut self.bytes, whole.len());
        self.bytes.extend(whole);
    }
}

/// The name of a custom section.
fn name(content: &[u8]) -> Option<&[u8]> {
    let (length, rest) = number(content)?;
    rest.get(..length)
}

/// The number (LEB128) at the begin, and what follows it.
fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut value = 0;
    for (index, byte) in bytes.iter().enumerate().take(5) {
        value |= usize::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((value, &bytes[index + 1..]));
        }
    }
    None
}

fn push_number(bytes: &mut Vec<u8>, mut number: usize) {
    while number > 0x7f {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn push_text(bytes: &mut Vec<u8>, text: &str) {
    push_number(bytes, text.len());
    bytes.extend_from_slice(text.as_bytes());
}

/// A text in JSON.
fn json_text(text: &str) -> String {
    let mut json = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => json.extend(['\\', character]),
            '\n' => json.push_str("\\n"),
            '\0'..' ' => json.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => json.push(character),
        }
    }
    json + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_written() {
        for value in [0, 1, 127, 128, 300, 16_384, 1 << 27] {
            let mut bytes = Vec::new();
            push_number(&mut bytes, value);
            bytes.push(7);
            assert_eq!(number(&bytes), Some((value, &[7][..])));
        }
        assert_eq!(number(&[0x80]), None);
        assert_eq!(number(&[0x80; 9]), None);
    }

    #[test]
    fn all_is_kept_but_the_names_of_parts() {
        let mut bytes = COMPONENT.to_vec();
        bytes.extend([CUSTOM, 4, 1, b'x', 8, 9]);
        let kept = bytes.clone();
        bytes.extend([CUSTOM, 16, 14]);
        bytes.extend(b"component-name?");
        assert_eq!(Annotated::new(&bytes).unwrap().finish(), kept);
        bytes.truncate(bytes.len() - 1);
        assert_eq!(Annotated::new(&bytes).err(), Some("a section is cut off"));
        assert!(Annotated::new(b"\0asm\x01\0\0\0").is_err());
    }

    #[test]
    fn a_text_is_escaped() {
        assert_eq!(json_text("a\"b\\c\nd\te€"), "\"a\\\"b\\\\c\\nd\\u0009e€\"");
    }
}
