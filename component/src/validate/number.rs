//! Whole numbers and lengths of lists.

use alloc::string::ToString;
use core::ops::RangeInclusive;

use portico_rules::bounds;
use portico_rules::rule::Rule;
use portico_rules::sentences::Word;

use super::issues::{Checked, Issues};
use crate::bindings::storage::Slice;
use crate::bindings::types::Error;

/// How many results a search returns by default.
const DEFAULT_LIMIT: u32 = 10;

/// A number within bounds.
fn within<T: PartialOrd + Copy + Into<i64>>(value: T, bounds: RangeInclusive<T>) -> Checked<T> {
    if bounds.contains(&value) {
        return Ok(value);
    }
    Err(Rule::NumberBetween {
        least: (*bounds.start()).into(),
        most: (*bounds.end()).into(),
        got: Word(value.into().to_string()),
    })
}

/// The most results of a search: 1 to 100, or the default.
pub fn limit(value: Option<u32>) -> Checked<u32> {
    within(value.unwrap_or(DEFAULT_LIMIT), bounds::LIMIT)
}

/// The number of a page, from 1.
fn page(value: u32) -> Checked<u32> {
    match value {
        1.. => Ok(value),
        0 => Err(Rule::NumberFrom {
            least: 1,
            got: Word(value.to_string()),
        }),
    }
}

/// How many items a page has.
fn page_size(value: u32) -> Checked<u32> {
    within(value, bounds::PAGE_SIZE)
}

/// The records of a page of this size.
pub fn slice(page: u32, page_size: u32) -> Result<Slice, Error> {
    let mut issues = Issues::default();
    let page = issues.check("page", self::page(page));
    let page_size = issues.check("pageSize", self::page_size(page_size));
    issues.finish()?;
    Ok(Slice {
        offset: (page - 1).saturating_mul(page_size),
        limit: Some(page_size),
    })
}

/// 0 = Sunday to 6 = Saturday.
pub fn day_of_week(value: u8) -> Checked<u8> {
    within(value, bounds::DAY_OF_WEEK)
}

/// The length of a list.
pub fn items(length: usize, bounds: RangeInclusive<usize>) -> Checked<()> {
    if bounds.contains(&length) {
        Ok(())
    } else {
        Err(Rule::ItemsBetween {
            least: *bounds.start(),
            most: *bounds.end(),
            got: length,
        })
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;
    use crate::validate::rule;

    #[test]
    fn a_limit_is_1_to_100_and_10_if_absent() {
        assert_eq!(limit(None), Ok(10));
        assert_eq!(limit(Some(1)), Ok(1));
        assert_eq!(limit(Some(100)), Ok(100));
        for value in [0, 101, u32::MAX] {
            let message = format!("must be a whole number from 1 to 100, got {value}");
            assert_eq!(limit(Some(value)), Err(rule(&message)));
        }
    }

    #[test]
    fn a_page_has_no_upper_bound() {
        assert_eq!(page(1), Ok(1));
        assert_eq!(page(u32::MAX), Ok(u32::MAX));
        assert_eq!(page(0), Err(rule("must be a whole number of at least 1, got 0")));
    }

    #[test]
    fn a_page_begins_after_the_pages_before_it() {
        let slice_of = |page, page_size| slice(page, page_size).map(|slice| (slice.offset, slice.limit));
        assert_eq!(slice_of(1, 100).ok(), Some((0, Some(100))));
        assert_eq!(slice_of(3, 20).ok(), Some((40, Some(20))));
        assert_eq!(slice_of(u32::MAX, 2).ok(), Some((u32::MAX, Some(2))));
        assert_eq!(slice_of(0, 101).unwrap_err().issues.len(), 2);
    }

    #[test]
    fn a_week_has_seven_days() {
        for day in 0..=6 {
            assert_eq!(day_of_week(day), Ok(day));
        }
        assert_eq!(
            day_of_week(7),
            Err(rule("must be a whole number from 0 to 6, got 7"))
        );
        assert!(day_of_week(255).is_err());
    }

    #[test]
    fn a_list_is_neither_too_short_nor_too_long() {
        assert_eq!(items(1, 1..=1000), Ok(()));
        assert_eq!(items(1000, 1..=1000), Ok(()));
        assert_eq!(items(0, 0..=1000), Ok(()));
        assert_eq!(items(0, 1..=1000), Err(rule("must have 1 to 1000 items, got 0")));
        assert_eq!(
            items(1001, 1..=1000),
            Err(rule("must have 1 to 1000 items, got 1001"))
        );
    }
}
