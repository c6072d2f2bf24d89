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
    /// The status of the answer, if it is no success. Beside others: of the heavy one.
    pub status: Option<String>,
}

impl Figures {
    /// Whether the work itself was refused: the time of that says nothing.
    fn is_refused(&self) -> bool {
        self.status.is_some() && self.alone.is_none()
    }
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

    /// The work whose bound is not held.
    pub fn not_held(&self) -> Vec<String> {
        let rows = (0..self.len()).map(|index| self.row(index));
        let missed = rows.filter(|row| is_held(row) == Some(false));
        missed
            .map(|row| format!("{}: {}", self.driver, row[0].work))
            .collect()
    }

    /// How many rows there are.
    fn len(&self) -> usize {
        self.figures.first().map_or(0, Vec::len)
    }

    /// The row of the work at this index, of each size.
    fn row(&self, index: usize) -> Vec<&Figures> {
        self.figures.iter().filter_map(|size| size.get(index)).collect()
    }
}

/// How much the time of work has grown: the worst size counts.
fn growth(row: &[&Figures]) -> f64 {
    let grown = |figures: &Figures| figures.micros / figures.alone.unwrap_or(row[0].micros);
    match row {
        [] => f64::NAN,
        [one] => grown(one),
        // What is compared with the first size has not grown there.
        [first, others @ ..] => {
            let first = first.alone.map_or(0.0, |_| grown(first));
            others.iter().map(|figures| grown(figures)).fold(first, f64::max)
        }
    }
}

/// Whether the bound of this row is held; none has no bound.
fn is_held(row: &[&Figures]) -> Option<bool> {
    let bound = row.first()?.bound?;
    Some(growth(row) <= bound && !row.iter().any(|figures| figures.is_refused()))
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
            match self.alone {
                Some(_) => write!(formatter, " (the other answers {status})")?,
                None => write!(formatter, " (answers {status})")?,
            }
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
        for index in 0..self.len() {
            let row = self.row(index);
            let Some(Figures { work, bound, .. }) = row.first() else {
                continue;
            };
            write!(formatter, "| {work} |")?;
            for figures in &row {
                write!(formatter, " {figures} |")?;
            }
            let held = match is_held(&row) {
                Some(true) => "held",
                Some(false) => "**not held**",
                None => "",
            };
            let bound = bound.map(|bound| bound.to_string()).unwrap_or_default();
            writeln!(formatter, " {:.2} | {bound} | {held} |", growth(&row))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(work: &str, micros: f64, alone: Option<f64>) -> Figures {
        Figures {
            work: work.into(),
            bound: Some(3.0),
            micros,
            alone,
            ..Figures::default()
        }
    }

    #[test]
    fn each_size_is_compared_with_the_smallest_or_with_what_was_alone() {
        let mut table = Table::new("sqlite", &[10, 1_000]);
        table.add(vec![figures("one", 10.0, None), figures("two", 10.0, Some(5.0))]);
        table.add(vec![figures("one", 31.0, None), figures("two", 40.0, Some(20.0))]);
        let text = table.to_string();
        let rows: Vec<_> = text.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| one | 10.0 us | 31.0 us | 3.10 | 3 | **not held** |",
                "| two | 10.0 us (alone 5.0 us) | 40.0 us (alone 20.0 us) | 2.00 | 3 | held |",
            ]
        );
        assert_eq!(table.not_held(), ["sqlite: one"]);
    }

    #[test]
    fn a_bound_that_any_size_misses_is_not_held() {
        let mut table = Table::new("sqlite", &[10, 1_000, 100_000]);
        table.add(vec![figures("one", 10.0, None), figures("two", 40.0, Some(10.0))]);
        table.add(vec![figures("one", 31.0, None), figures("two", 10.0, Some(10.0))]);
        table.add(vec![figures("one", 10.0, None), figures("two", 10.0, Some(10.0))]);
        assert_eq!(table.not_held(), ["sqlite: one", "sqlite: two"]);
    }

    #[test]
    fn work_that_is_refused_holds_no_bound_unless_it_is_what_others_stand_beside() {
        let refused = |alone| Figures {
            status: Some("409".into()),
            ..figures("work", 10.0, alone)
        };
        let mut table = Table::new("sqlite", &[10]);
        table.add(vec![refused(None), refused(Some(10.0))]);
        assert_eq!(table.not_held(), ["sqlite: work"]);
        let text = table.to_string();
        let rows: Vec<_> = text.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| work | 10.0 us (answers 409) | 1.00 | 3 | **not held** |",
                "| work | 10.0 us (alone 10.0 us) (the other answers 409) | 1.00 | 3 | held |",
            ]
        );
    }
}
