//! The report: rows as a table and as JSON.

use std::{
    fmt,
    time::{Duration, Instant},
};

use serde::{Serialize, Serializer};

use crate::load::Sample;

/// A row of the table: a ratio and its target.
#[derive(Serialize)]
pub struct Row {
    /// What was measured.
    pub work: String,
    /// What it is compared with: native handlers, unless `work` says otherwise.
    pub native: Figure,
    /// Portico's figures.
    pub portico: Figure,
    /// Portico to native: the median of the rounds' ratios, which may differ from the ratio of the medians.
    pub ratio: f64,
    /// The bound on the ratio; none: the row is for information only.
    pub target: Option<Target>,
    /// Whether the target is met.
    pub held: Option<bool>,
}

/// One side of a row.
#[derive(Serialize, Clone)]
#[serde(rename_all = "camelCase")]
pub struct Figure {
    /// The number from which the ratio is formed.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
    /// Processor time per request, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processor_micros: Option<f64>,
    /// The median latency, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_micros: Option<f64>,
    /// The 99th percentile of the latency, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_micros: Option<f64>,
}

/// The unit of a figure.
#[derive(Serialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "camelCase")]
pub enum Unit {
    RequestsPerSecond,
    Micros,
    ProcessorMicros,
    MebiBytes,
}

/// A bound on a ratio.
#[derive(Clone, Copy)]
pub enum Target {
    AtLeast(f64),
    AtMost(f64),
}

/// The factor by which the quick form widens the bounds.
const QUICK_WIDTH: f64 = 2.0;

impl Target {
    fn holds(self, ratio: f64) -> bool {
        match self {
            Self::AtLeast(bound) => ratio >= bound,
            Self::AtMost(bound) => ratio <= bound,
        }
    }

    fn wider(self) -> Self {
        match self {
            Self::AtLeast(bound) => Self::AtLeast(bound / QUICK_WIDTH),
            Self::AtMost(bound) => Self::AtMost(bound * QUICK_WIDTH),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(bound) => write!(formatter, ">= {bound}"),
            Self::AtMost(bound) => write!(formatter, "<= {bound}"),
        }
    }
}

impl Serialize for Target {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Row {
    /// A row without a target.
    pub fn new(work: impl Into<String>, native: Figure, portico: Figure, ratio: f64) -> Self {
        Self {
            work: work.into(),
            native,
            portico,
            ratio,
            target: None,
            held: None,
        }
    }

    /// Compares the ratio with a target.
    pub fn target(self, target: Target) -> Self {
        Self {
            target: Some(target),
            held: Some(target.holds(self.ratio)),
            ..self
        }
    }

    /// Whether it misses its target by more than a factor of two.
    pub fn is_beyond_bounds(&self) -> bool {
        self.target
            .is_some_and(|target| !target.wider().holds(self.ratio))
    }
}

impl Figure {
    /// A single number.
    pub fn new(value: f64, unit: Unit) -> Self {
        Self {
            value,
            unit,
            processor_micros: None,
            p50_micros: None,
            p99_micros: None,
        }
    }

    /// Medians of several loads. `of` selects the number for the ratio.
    pub fn of(samples: &[Sample], unit: Unit, of: impl Fn(&Sample) -> f64) -> Self {
        let median_of = |of: &dyn Fn(&Sample) -> f64| median(samples.iter().map(of));
        Self {
            value: median_of(&of),
            unit,
            processor_micros: Some(median_of(&|sample| sample.processor)),
            p50_micros: Some(median_of(&|sample| sample.p50)),
            p99_micros: Some(median_of(&|sample| sample.p99)),
        }
    }

    /// Requests per second.
    pub fn rate(samples: &[Sample]) -> Self {
        Self::of(samples, Unit::RequestsPerSecond, |sample| sample.rate)
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.value;
        match self.unit {
            Unit::RequestsPerSecond => write!(formatter, "{value:.0}/s")?,
            Unit::Micros => write!(formatter, "{}", duration(value))?,
            Unit::ProcessorMicros => return write!(formatter, "{} cpu", duration(value)),
            Unit::MebiBytes => write!(formatter, "{value:.1} MiB")?,
        }
        match self.processor_micros {
            Some(processor) => write!(formatter, ", {} cpu", duration(processor)),
            None => Ok(()),
        }
    }
}

/// Formats microseconds.
pub fn duration(micros: f64) -> String {
    match micros {
        micros if micros < 100.0 => format!("{micros:.1} us"),
        micros if micros < 1_000.0 => format!("{micros:.0} us"),
        micros => format!("{:.1} ms", micros / 1_000.0),
    }
}

/// The median.
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        length if length % 2 == 1 => values[length / 2],
        length => f64::midpoint(values[length / 2 - 1], values[length / 2]),
    }
}

/// The median of the ratios of two cases, round by round.
pub fn ratio(over: &[Sample], under: &[Sample], of: impl Fn(&Sample) -> f64) -> f64 {
    median(over.iter().zip(under).map(|(over, under)| of(over) / of(under)))
}

/// All rows of one run.
#[derive(Serialize)]
pub struct Report {
    quick: bool,
    machine: Machine,
    rows: Vec<Row>,
}

/// The machine, and its load from other programs.
#[derive(Serialize)]
struct Machine {
    processor: String,
    /// Whether it has AVX-512, with which compiled code multiplies 64-bit lanes in one instruction.
    has_avx512: bool,
    cores: usize,
    kernel: String,
    /// The share of processor time used by other programs meanwhile, 0 to 1.
    others: f64,
    /// The time to make a page durable, in microseconds.
    page_micros: u128,
}

/// The processor time of the machine so far.
pub struct Machinery {
    since: Instant,
    busy: Duration,
    ours: Duration,
}

impl Machinery {
    /// The present values.
    pub fn now() -> Self {
        let ticks = |ticks: u64| Duration::from_secs(ticks) / rustix::param::clock_ticks_per_second() as u32;
        let numbers = |text: &str| -> Vec<u64> {
            let fields = text.split_whitespace();
            fields.map(|field| field.parse().unwrap_or(0)).collect()
        };
        let stat = read("/proc/stat");
        let all = numbers(stat.lines().next().unwrap_or_default().trim_start_matches("cpu"));
        // user nice system IDLE IOWAIT irq softirq steal; later fields are included in these.
        let busy = all.iter().take(8).enumerate();
        let busy = busy
            .filter(|(index, _)| !matches!(index, 3 | 4))
            .map(|(_, ticks)| ticks);
        let own = read("/proc/self/stat");
        let own = numbers(own.rsplit_once(')').map_or("", |(_, fields)| fields));
        Self {
            since: Instant::now(),
            busy: ticks(busy.sum()),
            // This process and its children that have ended.
            ours: ticks(own.iter().skip(11).take(4).sum()),
        }
    }

    /// The time that other programs have used since then.
    fn others(&self) -> f64 {
        let now = Self::now();
        let others = (now.busy - self.busy).saturating_sub(now.ours - self.ours);
        others.as_secs_f64() / (self.since.elapsed().as_secs_f64() * cores() as f64)
    }
}

/// Above this share of foreign load, rates mean little.
const MUCH: f64 = 0.1;

fn read(file: &str) -> String {
    std::fs::read_to_string(file).unwrap_or_default()
}

/// Whether the processor has the AVX-512 instructions that compiled components use.
pub fn has_avx512() -> bool {
    let processors = read("/proc/cpuinfo");
    let flags = processors.lines().find(|line| line.starts_with("flags"));
    flags.is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "avx512dq"))
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl Report {
    /// The report of rows measured since then.
    pub fn new(quick: bool, since: &Machinery, page: Duration, rows: Vec<Row>) -> Self {
        let processors = read("/proc/cpuinfo");
        let processor = processors
            .lines()
            .find_map(|line| line.strip_prefix("model name"));
        let machine = Machine {
            processor: processor
                .unwrap_or("?")
                .trim_start_matches([' ', '\t', ':'])
                .into(),
            has_avx512: has_avx512(),
            cores: cores(),
            kernel: read("/proc/sys/kernel/osrelease").trim().into(),
            others: since.others(),
            page_micros: page.as_micros(),
        };
        Self { quick, machine, rows }
    }

    /// Whether a ratio is beyond the bounds of the quick form.
    pub fn is_beyond_bounds(&self) -> bool {
        self.rows.iter().any(Row::is_beyond_bounds)
    }

    fn verdict(&self, row: &Row) -> &'static str {
        match row.held {
            None => "",
            Some(true) => "held",
            Some(false) if self.quick && row.is_beyond_bounds() => "NO, by more than twice",
            Some(false) => "NO",
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let titles = ["work", "native", "Portico", "ratio", "target", "held"].map(String::from);
        let lines = self.rows.iter().map(|row| {
            [
                row.work.clone(),
                row.native.to_string(),
                row.portico.to_string(),
                format!("{:.2}", row.ratio),
                row.target.map(|target| target.to_string()).unwrap_or_default(),
                self.verdict(row).to_owned(),
            ]
        });
        let lines: Vec<_> = std::iter::once(titles).chain(lines).collect();
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max();
        let widths: [usize; 6] = std::array::from_fn(|column| width(column).unwrap_or(0));
        for line in &lines {
            let cells = line.iter().zip(widths);
            let cells: Vec<_> = cells.map(|(cell, width)| format!("{cell:<width$}")).collect();
            writeln!(formatter, "{}", cells.join("  ").trim_end())?;
        }
        let Machine {
            processor,
            has_avx512,
            cores,
            kernel,
            others,
            page_micros,
        } = &self.machine;
        let avx512 = if *has_avx512 { "with" } else { "without" };
        let percent = others * 100.0;
        writeln!(
            formatter,
            "\n{processor} {avx512} AVX-512, {cores} cores, Linux {kernel}; a page is durable after {page_micros} us; others took \
             {percent:.0} % of the processor time"
        )?;
        if *others > MUCH {
            writeln!(
                formatter,
                "That is much: rates and times say little, the processor time (cpu) of a request says more."
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(ratio: f64, target: Target) -> Row {
        let figure = Figure::new(1.0, Unit::Micros);
        Row::new("work", figure.clone(), figure, ratio).target(target)
    }

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0].into_iter()), 2.5);
    }

    #[test]
    fn only_a_ratio_that_misses_by_more_than_twice_is_beyond_the_bounds() {
        for (ratio, target, held, beyond) in [
            (0.75, Target::AtLeast(0.75), true, false),
            (0.74, Target::AtLeast(0.75), false, false),
            (0.37, Target::AtLeast(0.75), false, true),
            (3.0, Target::AtMost(3.0), true, false),
            (5.9, Target::AtMost(3.0), false, false),
            (6.1, Target::AtMost(3.0), false, true),
            (f64::NAN, Target::AtMost(3.0), false, true),
        ] {
            let row = row(ratio, target);
            assert_eq!(
                (row.held, row.is_beyond_bounds()),
                (Some(held), beyond),
                "{ratio}"
            );
        }
    }
}
