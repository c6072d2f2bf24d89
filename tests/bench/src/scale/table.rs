//! The table of one driver: a column for each size.

use std::fmt;

use crate::report::duration;

/// The figures of one piece of work with one size.
#[derive(Clone, Default)]
pub struct Figures {
    pub work: String,
    /// Within what its time may grow; none: it is for information.
    pub bound: Option<f64>,
    /// The median, in microseconds.
    pub micros: f64,
    /// The time of the first one, which may make what later ones use.
    pub first: Option<f64>,
    /// What it is compared with instead of the smallest size.
    pub alone: Option<f64>,
    /// The most memory of the host meanwhile, in MiB.
    pub peak: Option<f64>,
    /// The status of the answer, if it is no success.
    pub status: Option<String>,
}

/// A first one that takes so many times as long as the median is shown.
const SLOW_FIRST: f64 = 5.0;

/// All sizes on one driver.
pub struct Table {
    driver: String,
    sizes: Vec<usize>,
    /// By the sizes that are measured by now.
    figures: Vec<Vec<Figures>>,
}

impl Table {
    pub fn new(driver: &str, sizes: &[usize]) -> Self {
        Self {
            driver: driver.to_owned(),
            sizes: sizes.to_owned(),
            figures: Vec::new(),
        }
    }

    /// Adds the figures of the next size. Each size has the same work.
    pub fn add(&mut self, figures: Vec<Figures>) {
        self.figures.push(figures);
    }

    /// The row of the work at this index, of each size.
    fn row(&self, index: usize) -> Vec<&Figures> {
        self.figures.iter().filter_map(|size| size.get(index)).collect()
    }
}

/// How much the time of work has grown at the last of these sizes.
fn growth(row: &[&Figures]) -> f64 {
    match (row.first(), row.last()) {
        (
            _,
            Some(Figures {
                micros,
                alone: Some(alone),
                ..
            }),
        ) => micros / alone,
        (Some(few), Some(many)) => many.micros / few.micros,
        _ => f64::NAN,
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", duration(self.micros))?;
        if let Some(first) = self.first.filter(|first| *first > SLOW_FIRST * self.micros) {
            write!(formatter, " (first {})", duration(first))?;
        }
        if let Some(alone) = self.alone {
            write!(formatter, " (alone {})", duration(alone))?;
        }
        if let Some(status) = &self.status {
            write!(formatter, " (answers {status})")?;
        }
        match self.peak {
            Some(peak) => write!(formatter, ", {peak:.0} MiB"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<_> = self.sizes.iter().take(self.figures.len()).collect();
        write!(
            formatter,
            "| {}: time of one request, most memory of the host |",
            self.driver
        )?;
        for size in &sizes {
            write!(formatter, " {size} |")?;
        }
        writeln!(formatter, " growth | bound | held |")?;
        writeln!(formatter, "|{}", "---|".repeat(sizes.len() + 4))?;
        for index in 0..self.figures.first().map_or(0, Vec::len) {
            let row = self.row(index);
            let Some(Figures { work, bound, .. }) = row.first() else {
                continue;
            };
            write!(formatter, "| {work} |")?;
            for figures in &row {
                write!(formatter, " {figures} |")?;
            }
            let growth = growth(&row);
            let (bound, held) = match bound {
                Some(bound) if growth <= *bound => (format!("{bound}"), "held"),
                Some(bound) => (format!("{bound}"), "**not held**"),
                None => (String::new(), ""),
            };
            writeln!(formatter, " {growth:.2} | {bound} | {held} |")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_size_is_compared_with_the_smallest_or_with_what_was_alone() {
        let figures = |work: &str, micros, alone| Figures {
            work: work.into(),
            bound: Some(3.0),
            micros,
            alone,
            ..Figures::default()
        };
        let mut table = Table::new("sqlite", &[10, 1_000]);
        table.add(vec![figures("one", 10.0, None), figures("two", 10.0, Some(1.0))]);
        table.add(vec![figures("one", 31.0, None), figures("two", 40.0, Some(20.0))]);
        let text = table.to_string();
        let rows: Vec<_> = text.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| one | 10.0 us | 31.0 us | 3.10 | 3 | **not held** |",
                "| two | 10.0 us (alone 1.0 us) | 40.0 us (alone 20.0 us) | 2.00 | 3 | held |",
            ]
        );
    }
}
