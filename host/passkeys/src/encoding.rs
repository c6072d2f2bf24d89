//! Bytes in JSON: base64url, as the methods of browsers write it.

use base64::{
    Engine as _,
    alphabet::URL_SAFE,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

/// Some browsers' extensions pad what they write.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// These bytes as text.
pub fn encode(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

/// The bytes of a text, from one to `most`; `None` if the text has others or is not in base64url.
pub fn decode(text: &str, most: usize) -> Option<Vec<u8>> {
    if text.is_empty() || text.len() > most.div_ceil(3) * 4 {
        return None;
    }
    let bytes = BASE64.decode(text).ok()?;
    (!bytes.is_empty() && bytes.len() <= most).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_as_they_are_written_and_within_the_bound() {
        for length in 1..=64 {
            let bytes: Vec<u8> = (0..length).map(|byte: u8| byte.wrapping_mul(37)).collect();
            let text = encode(&bytes);
            assert_eq!(decode(&text, bytes.len()), Some(bytes.clone()));
            assert_eq!(decode(&text, bytes.len() - 1), None);
        }
        assert_eq!(decode("AQ==", 1), Some(vec![1]));
        for other in ["", "=", "A", "A+", "A/", "A A", "AQ\n", "é", "AQ==AQ"] {
            assert_eq!(decode(other, 100), None, "{other:?}");
        }
    }
}
