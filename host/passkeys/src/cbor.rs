//! Reads CBOR (RFC 8949) as far as authenticators write it (CTAP2): items of definite length without tags and fractions.
//!
//! Invariant: nothing is allocated, and depth and work are bounded by the bytes that are there.

/// The most levels of items inside items. CTAP2 has four, and an attestation is inside one more.
const MOST_LEVELS: u8 = 8;
/// The most pairs of a map. What authenticators write has seven.
const MOST_PAIRS: usize = 32;

/// The bytes are not CBOR, or not of this kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// An item; of lists and maps only how many items follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item<'a> {
    Integer(i64),
    Bytes(&'a [u8]),
    Text(&'a str),
    List(usize),
    /// So many pairs.
    Map(usize),
    /// `false`, `true`, `null` or `undefined`.
    Simple,
}

/// What is left to read.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub fn rest(self) -> &'a [u8] {
        self.0
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    /// The number in the head of an item.
    fn argument(&mut self, short: u8) -> Result<u64, Malformed> {
        let length = match short {
            0..24 => return Ok(short.into()),
            24..=27 => 1 << (short - 24),
            // Reserved, or of indefinite length.
            _ => return Err(Malformed),
        };
        let bytes = self.take(length)?;
        Ok(bytes
            .iter()
            .fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// Reads an item, or the head of a list or a map.
    pub fn item(&mut self) -> Result<Item<'a>, Malformed> {
        let head = self.take(1)?[0];
        let (kind, short) = (head >> 5, head & 31);
        let argument = self.argument(short)?;
        let number = i64::try_from(argument);
        // Each item has at least one byte, so that more than there are bytes cannot follow.
        let count = usize::try_from(argument).unwrap_or(usize::MAX);
        let bounded = |least: usize| {
            let fits = count
                .checked_mul(least)
                .is_some_and(|bytes| bytes <= self.0.len());
            if fits { Ok(count) } else { Err(Malformed) }
        };
        Ok(match kind {
            0 => Item::Integer(number.map_err(|_| Malformed)?),
            1 => Item::Integer(-1 - number.map_err(|_| Malformed)?),
            2 => Item::Bytes(self.take(count)?),
            3 => Item::Text(str::from_utf8(self.take(count)?).map_err(|_| Malformed)?),
            4 => Item::List(bounded(1)?),
            5 => Item::Map(bounded(2)?),
            7 if (20..24).contains(&short) => Item::Simple,
            _ => return Err(Malformed),
        })
    }

    /// Reads an item with all that is in it. A map that has a key twice is refused: programs would read it differently.
    pub fn skip(&mut self) -> Result<(), Malformed> {
        self.skip_within(MOST_LEVELS)
    }

    fn skip_within(&mut self, levels: u8) -> Result<(), Malformed> {
        let item = self.item()?;
        if !matches!(item, Item::List(_) | Item::Map(_)) {
            return Ok(());
        }
        let levels = levels.checked_sub(1).ok_or(Malformed)?;
        match item {
            Item::List(count) => (0..count).try_for_each(|_| self.skip_within(levels)),
            Item::Map(count) => self.skip_pairs(count, levels),
            _ => Ok(()),
        }
    }

    fn skip_pairs(&mut self, count: usize, levels: u8) -> Result<(), Malformed> {
        let mut keys: [&[u8]; MOST_PAIRS] = [&[]; MOST_PAIRS];
        for index in 0..count {
            let key = self.key(levels)?;
            if keys[..index.min(MOST_PAIRS)].contains(&key) {
                return Err(Malformed);
            }
            *keys.get_mut(index).ok_or(Malformed)? = key;
            self.skip_within(levels)?;
        }
        Ok(())
    }

    /// Reads a key of a map, as it is written.
    fn key(&mut self, levels: u8) -> Result<&'a [u8], Malformed> {
        let start = self.0;
        self.skip_within(levels)?;
        Ok(&start[..start.len() - self.0.len()])
    }

    /// Reads the head of a map.
    pub fn map(&mut self) -> Result<usize, Malformed> {
        match self.item()? {
            Item::Map(count) => Ok(count),
            _ => Err(Malformed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Item<'_>, Malformed> {
        Reader::new(bytes).item()
    }

    #[test]
    fn items_are_read_as_the_standard_writes_them() {
        for (bytes, item) in [
            (&[0x00][..], Item::Integer(0)),
            (&[0x17], Item::Integer(23)),
            (&[0x18, 0x64], Item::Integer(100)),
            (&[0x19, 0x03, 0xe8], Item::Integer(1000)),
            (&[0x26], Item::Integer(-7)),
            (&[0x39, 0x01, 0x00], Item::Integer(-257)),
            (
                &[0x3b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
                Item::Integer(i64::MIN),
            ),
            (&[0x42, 1, 2], Item::Bytes(&[1, 2])),
            (&[0x63, b'f', b'm', b't'], Item::Text("fmt")),
            (&[0x82, 1, 2], Item::List(2)),
            (&[0xa1, 1, 2], Item::Map(1)),
            (&[0xf5], Item::Simple),
        ] {
            assert_eq!(read(bytes), Ok(item), "{bytes:x?}");
        }
    }

    #[test]
    fn what_is_cut_or_of_another_kind_is_refused() {
        for bytes in [
            &[][..],
            &[0x18],
            &[0x1b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            &[0x42, 1],
            &[0x5b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            &[0x62, 0xc3, 0x28],
            // More items than there are bytes.
            &[0x82, 1],
            &[0xa1, 1],
            &[0xbb, 0x80, 0, 0, 0, 0, 0, 0, 0, 1],
            // Of indefinite length, reserved, tagged, a fraction, another simple value.
            &[0x5f, 0x41, 1, 0xff],
            &[0x9f, 0xff],
            &[0x1c],
            &[0xc0, 0x60],
            &[0xfb, 0, 0, 0, 0, 0, 0, 0, 0],
            &[0xf8, 0x20],
            &[0xff],
        ] {
            assert_eq!(read(bytes), Err(Malformed), "{bytes:x?}");
        }
    }

    #[test]
    fn a_map_has_each_key_once_and_few() {
        let skip = |bytes: &[u8]| Reader::new(bytes).skip();
        assert_eq!(skip(&[0xa2, 1, 0, 2, 0]), Ok(()));
        assert_eq!(skip(&[0xa2, 1, 0, 1, 0]), Err(Malformed));
        assert_eq!(skip(&[0xa2, 0x61, b'a', 0, 0x61, b'a', 0]), Err(Malformed));
        // Inside another item.
        assert_eq!(skip(&[0x81, 0xa1, 0, 0xa2, 0x20, 0, 0x20, 0]), Err(Malformed));
        let with = |pairs: u8| {
            let pairs = (0..pairs).flat_map(|key| [0x18, key, 0]);
            [0xb8, pairs.clone().count() as u8 / 3]
                .into_iter()
                .chain(pairs)
                .collect::<Vec<_>>()
        };
        assert_eq!(skip(&with(32)), Ok(()));
        assert_eq!(skip(&with(33)), Err(Malformed));
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |levels: usize| {
            let mut bytes = vec![0x81; levels];
            bytes.push(0);
            Reader::new(&bytes).skip()
        };
        assert_eq!(nested(8), Ok(()));
        assert_eq!(nested(9), Err(Malformed));
        assert_eq!(nested(1_000_000), Err(Malformed));
    }
}
