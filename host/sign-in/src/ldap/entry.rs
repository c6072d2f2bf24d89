//! Reads the attributes of an entry.

use ldap3::{Scope, SearchEntry};
use uuid::Uuid;

use super::sid;

/// Whether ids are distinguished names.
pub(super) fn is_dn(attribute: &str) -> bool {
    attribute.eq_ignore_ascii_case("dn")
}

/// Whether a search for users from this base finds the entry with this name, which is an id.
pub(super) fn is_in_scope(id: &str, base: &str, scope: Scope) -> bool {
    let base = normalised(base);
    if id == base {
        return !matches!(scope, Scope::OneLevel);
    }
    let below = id
        .strip_suffix(base.as_str())
        .and_then(|names| names.strip_suffix(','));
    below.is_some_and(|names| {
        let (mut is_escaped, mut is_one) = (false, true);
        for character in names.chars() {
            is_one &= is_escaped || character != ',';
            is_escaped = !is_escaped && character == '\\';
        }
        // Otherwise the comma before the base belongs to a value.
        !is_escaped
            && match scope {
                Scope::Base => false,
                Scope::OneLevel => is_one,
                Scope::Subtree => true,
            }
    })
}

/// An id of this attribute as a value in a filter; `None` if no entry has it.
pub(super) fn id_in_filter(attribute: &str, id: &str) -> Option<String> {
    if attribute.eq_ignore_ascii_case(OBJECT_GUID) {
        return Some(sid::escaped(&Uuid::parse_str(id).ok()?.to_bytes_le()));
    }
    Some(ldap3::ldap_escape(id).into_owned())
}

/// Active Directory's id, in sixteen bytes. It is shown as Windows does: the first three groups are little-endian.
const OBJECT_GUID: &str = "objectGUID";

/// The longest text that is accepted from the directory, in characters.
const MAX_CHARS: usize = 1024;

pub(super) struct Entry {
    pub dn: String,
    attributes: Vec<(String, Vec<Vec<u8>>)>,
}

impl From<SearchEntry> for Entry {
    fn from(entry: SearchEntry) -> Self {
        let texts = entry.attrs.into_iter().map(|(name, values)| {
            let values = values.into_iter().map(String::into_bytes).collect();
            (name, values)
        });
        Self {
            dn: entry.dn,
            attributes: texts.chain(entry.bin_attrs).collect(),
        }
    }
}

impl Entry {
    /// The permanent id of the entry: this attribute, if it has exactly one value, or the distinguished
    /// name if `attribute` is `dn`.
    pub fn id(&self, attribute: &str) -> Option<String> {
        if is_dn(attribute) {
            return Some(normalised(&self.dn)).filter(|dn| is_good(dn));
        }
        let [value] = self.values(attribute) else {
            return None;
        };
        if attribute.eq_ignore_ascii_case(OBJECT_GUID) {
            let bytes = value.as_slice().try_into().ok()?;
            return Some(Uuid::from_bytes_le(bytes).to_string());
        }
        text(value)
    }

    /// The bytes of an attribute, if it has exactly one value.
    pub fn bytes(&self, attribute: &str) -> Option<&[u8]> {
        match self.values(attribute) {
            [value] => Some(value),
            _ => None,
        }
    }

    /// The values of an attribute that are valid text.
    pub fn texts(&self, attribute: &str) -> impl Iterator<Item = String> {
        self.values(attribute).iter().filter_map(|value| text(value))
    }

    fn values(&self, attribute: &str) -> &[Vec<u8>] {
        let named = |(name, _): &&(String, _)| name.eq_ignore_ascii_case(attribute);
        let found = self.attributes.iter().find(named);
        found.map_or(&[], |(_, values)| values)
    }
}

fn text(value: &[u8]) -> Option<String> {
    let text = str::from_utf8(value).ok()?.trim();
    is_good(text).then(|| text.to_owned())
}

fn is_good(text: &str) -> bool {
    !text.is_empty() && text.chars().count() <= MAX_CHARS && !text.contains(char::is_control)
}

/// Normalises a distinguished name, so that it stays the same however the directory writes it: in lower
/// case, without spaces next to separators.
fn normalised(dn: &str) -> String {
    let mut normalised = String::with_capacity(dn.len());
    let mut is_escaped = false;
    let mut is_start = true;
    for character in dn.chars() {
        let is_separator = !is_escaped && matches!(character, ',' | ';' | '+' | '=');
        if is_separator {
            let end = normalised.trim_end_matches(' ').len();
            // A space that is escaped belongs to the value.
            if !normalised[..end].ends_with('\\') {
                normalised.truncate(end);
            }
        }
        if !(is_start && character == ' ') {
            normalised.extend(character.to_lowercase());
            is_start = is_separator;
        }
        is_escaped = !is_escaped && character == '\\';
    }
    normalised
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn entry(attribute: &str, values: &[&[u8]]) -> Entry {
        let values: Vec<Vec<u8>> = values.iter().map(|value| value.to_vec()).collect();
        let texts: Option<Vec<String>> = values
            .iter()
            .map(|value| String::from_utf8(value.clone()).ok())
            .collect();
        // As the library sorts them: as binary, if one of them is not text.
        let (attrs, bin_attrs) = match texts {
            Some(texts) => (HashMap::from([(attribute.to_owned(), texts)]), HashMap::new()),
            None => (HashMap::new(), HashMap::from([(attribute.to_owned(), values)])),
        };
        SearchEntry {
            dn: "UID=Alice , OU=People,dc=example".into(),
            attrs,
            bin_attrs,
        }
        .into()
    }

    #[test]
    fn an_attribute_is_found_in_any_case_and_must_be_one_text() {
        let id = |values: &[&[u8]]| entry("entryUUID", values).id("entryuuid");
        assert_eq!(id(&[b" 42 "]).as_deref(), Some("42"));
        assert_eq!(id(&[]), None);
        assert_eq!(id(&[b"1", b"2"]), None, "which one?");
        assert_eq!(id(&[b""]), None);
        assert_eq!(id(&[b"a\nb"]), None);
        assert_eq!(id(&[&[0xff; 16]]), None, "no text");
        assert_eq!(id(&["x".repeat(1025).as_bytes()]), None);
        assert_eq!(entry("other", &[b"42"]).id("entryUUID"), None);
    }

    #[test]
    fn an_id_is_found_by_a_filter_with_its_value() {
        let guid = "33221100-5544-7766-8899-aabbccddeeff";
        let bytes: String = (0..16).map(|index| format!("\\{:02x}", index * 17)).collect();
        assert_eq!(id_in_filter("OBJECTGUID", guid), Some(bytes));
        assert_eq!(id_in_filter("objectGUID", "*"), None);
        assert_eq!(id_in_filter("entryUUID", guid).as_deref(), Some(guid));
        assert_eq!(id_in_filter("uid", "a*)(b").as_deref(), Some("a\\2a\\29\\28b"));
    }

    #[test]
    fn a_name_that_is_an_id_counts_only_where_users_are_searched_for() {
        let base = "OU=People, dc=example";
        for (id, [sub, one, itself]) in [
            ("uid=ada,ou=people,dc=example", [true, true, false]),
            ("cn=a\\,b,ou=people,dc=example", [true, true, false]),
            ("uid=ada,ou=deep,ou=people,dc=example", [true, false, false]),
            ("ou=people,dc=example", [true, false, true]),
            ("uid=ada,ou=former,dc=example", [false; 3]),
            ("uid=ada,xou=people,dc=example", [false; 3]),
            ("cn=a\\,ou=people,dc=example", [false; 3]),
            ("dc=example", [false; 3]),
        ] {
            let found =
                [Scope::Subtree, Scope::OneLevel, Scope::Base].map(|scope| is_in_scope(id, base, scope));
            assert_eq!(found, [sub, one, itself], "{id}");
        }
    }

    #[test]
    fn a_guid_is_written_as_windows_writes_it() {
        let binary: Vec<u8> = (0..16).map(|index| index * 17).collect();
        let guid = entry("objectGUID", &[&binary]).id("objectguid");
        assert_eq!(guid.as_deref(), Some("33221100-5544-7766-8899-aabbccddeeff"));
        // Sixteen bytes may happen to be valid text.
        let guid = entry("objectGUID", &[b"abcdefghijklmnop"]).id("objectGUID");
        assert_eq!(guid.as_deref(), Some("64636261-6665-6867-696a-6b6c6d6e6f70"));
        assert_eq!(entry("objectGUID", &[b"short"]).id("objectGUID"), None);
    }

    #[test]
    fn a_distinguished_name_is_the_id_only_where_that_is_asked_for() {
        let entry = entry("uid", &[b"alice"]);
        assert_eq!(entry.id("dn").as_deref(), Some("uid=alice,ou=people,dc=example"));
        assert_eq!(entry.id("entryUUID"), None);
        assert_eq!(normalised("CN=A\\, B\\ , o = X "), "cn=a\\, b\\ ,o=x ");
        assert_eq!(normalised("cn=a\\=  b,o=x"), "cn=a\\=  b,o=x");
    }
}
