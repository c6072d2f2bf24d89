//! The table: what was measured, its target, and whether it is held.

use std::fmt;

/// A bound, in a unit.
#[derive(Clone, Copy)]
pub enum Bound {
    AtLeast(f64, &'static str),
    AtMost(f64, &'static str),
}

/// A row of the table: the figure's name, the figure, and the target; without a target it is for information only.
pub struct Row {
    pub work: String,
    pub measured: String,
    pub figure: f64,
    pub target: Option<Bound>,
}

impl Row {
    fn verdict(&self) -> (String, &'static str) {
        let (text, held) = match self.target {
            Some(Bound::AtLeast(bound, unit)) => (format!(">= {bound}{unit}"), self.figure >= bound),
            Some(Bound::AtMost(bound, unit)) => (format!("<= {bound}{unit}"), self.figure <= bound),
            None => return (String::new(), ""),
        };
        (text, if held { "held" } else { "**missed**" })
    }
}

/// The rows of one run, as Markdown.
pub struct Table<'a>(pub &'a str, pub &'a [Row]);

impl fmt::Display for Table<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(title, rows) = self;
        writeln!(formatter, "| {title} | measured | target | |\n|---|---|---|---|")?;
        for row in *rows {
            let (target, verdict) = row.verdict();
            writeln!(
                formatter,
                "| {} | {} | {target} | {verdict} |",
                row.work, row.measured
            )?;
        }
        writeln!(formatter, "\n{}\n", machine())
    }
}

/// The machine, and how busy it is.
fn machine() -> String {
    let read = |file| std::fs::read_to_string(file).unwrap_or_default();
    let processors = read("/proc/cpuinfo");
    let mut lines = processors.lines().filter_map(|line| line.split_once(": "));
    let model = lines.find(|(name, _)| name.starts_with("model name"));
    let (_, model) = model.unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let load = read("/proc/loadavg");
    let load = load.split(' ').next().unwrap_or_default();
    format!("{model}, {cores} cores; load average {load}")
}

pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    quantile(values, 0.5)
}

/// The value below which this share of the values is.
pub fn quantile(values: impl IntoIterator<Item = f64>, share: f64) -> f64 {
    let mut values: Vec<_> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let index = (values.len() as f64 * share) as usize;
    values.get(index).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_at_its_bound_holds_it_and_one_that_is_not_a_number_misses_it() {
        for (figure, target, verdict) in [
            (0.5, Bound::AtLeast(0.5, ""), (">= 0.5", "held")),
            (f64::NAN, Bound::AtLeast(0.5, ""), (">= 0.5", "**missed**")),
            (60.0, Bound::AtMost(60.0, " ms"), ("<= 60 ms", "held")),
            (60.1, Bound::AtMost(60.0, " ms"), ("<= 60 ms", "**missed**")),
        ] {
            let row = Row {
                work: String::new(),
                measured: String::new(),
                figure,
                target: Some(target),
            };
            let (text, held) = row.verdict();
            assert_eq!((&text[..], held), verdict, "{figure}");
        }
        assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
        assert_eq!(quantile((0..1000).map(f64::from), 0.99), 990.0);
    }
}
