//! Active Directory's primary group: it is in no list of members. A user has the number of it, and the rest of its SID is that of
//! the user's own.

/// The lengths of a SID: a head, and one to fifteen numbers of four bytes (MS-DTYP, 2.4.2.2).
const HEAD: usize = 8;
const NUMBER: usize = 4;
const MOST_NUMBERS: usize = 15;

/// The SID of the primary group of a user with this SID. `None` if that is not a SID of a domain.
pub(super) fn primary_group(user: &[u8], group: u32) -> Option<Vec<u8>> {
    let &[1, numbers, ..] = user else {
        return None;
    };
    let numbers = usize::from(numbers);
    // The last number is that of the user in the domain.
    if !(2..=MOST_NUMBERS).contains(&numbers) || user.len() != HEAD + numbers * NUMBER {
        return None;
    }
    let domain = &user[..user.len() - NUMBER];
    Some([domain, &group.to_le_bytes()].concat())
}

/// Bytes as a value in a filter.
pub(super) fn escaped(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("\\{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S-1-5-21-1-2-3-1104
    const USER: [u8; 28] = [
        1, 5, 0, 0, 0, 0, 0, 5, 21, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0x50, 4, 0, 0,
    ];

    #[test]
    fn only_the_last_number_of_the_users_sid_is_replaced() {
        let group = primary_group(&USER, 513).unwrap();
        assert_eq!(group[..24], USER[..24]);
        assert_eq!(group[24..], [1, 2, 0, 0]);
        assert!(escaped(&group).ends_with("\\03\\00\\00\\00\\01\\02\\00\\00"));
        assert!(ldap3::parse_filter(format!("(objectSid={})", escaped(&group))).is_ok());
    }

    #[test]
    fn what_is_not_a_sid_of_a_domain_has_no_group() {
        let other_version = [&[2][..], &USER[1..]].concat();
        let one_number = [1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0];
        let too_many = [&[1, 16][..], &[0; HEAD - 2 + 64]].concat();
        for wrong in [&[][..], &[1], &USER[..27], &other_version, &one_number, &too_many] {
            assert_eq!(primary_group(wrong, 513), None, "{wrong:?}");
        }
    }
}
