//! Lists in pages.

use crate::texts::fill;

/// Links to other pages of a list.
#[derive(Default)]
pub(crate) struct Pages {
    pub current: u32,
    pub last: u32,
    pub previous: Option<String>,
    pub next: Option<String>,
}

impl Pages {
    /// `address` is the address of the list, with a query string that ends in `?` or `&`.
    pub fn new(address: &str, current: u32, size: usize, total: usize) -> Self {
        let last = u32::try_from(total.div_ceil(size).max(1)).unwrap_or(u32::MAX);
        let to = |page: u32| format!("{address}page={page}");
        Self {
            current,
            last,
            previous: (current > 1).then(|| to(std::cmp::min(current - 1, last))),
            next: (current < last).then(|| to(current + 1)),
        }
    }

    /// The page to show for one with this number: the last one, where there are fewer. What was on a page may be gone.
    pub fn existing(number: u32, size: usize, total: usize) -> u32 {
        number.min(Self::new("", number, size, total).last)
    }

    /// One page of a list that the API returns as a whole, and the links to the other pages.
    pub fn cut<T>(address: &str, current: u32, size: usize, mut items: Vec<T>) -> (Vec<T>, Self) {
        let current = Self::existing(current, size, items.len());
        let pages = Self::new(address, current, size, items.len());
        let start = (current as usize - 1).saturating_mul(size).min(items.len());
        let mut shown = items.split_off(start);
        shown.truncate(size);
        (shown, pages)
    }

    pub fn shown(&self, text: &str) -> String {
        fill(text, &[&self.current, &self.last])
    }
}
