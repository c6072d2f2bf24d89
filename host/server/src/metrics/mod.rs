//! Metrics for Prometheus, on a listener of their own.
//!
//! The crates of the host count for the whole process (`portico-metrics`); here the numbers become text. Names and labels
//! are OpenTelemetry's where it has them, as Prometheus spells them; docs/operations.md lists all.
//!
//! Invariants:
//! - The number of series is bounded, whatever clients send. Labels hold no names, ids or addresses.
//! - The text is made on the second runtime, so that it delays no request.

mod exposition;
mod listener;
mod process;

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use portico_service::hot_swap::HotSwap;
use prometheus_client::{encoding, registry::Registry};

pub use self::listener::serve;

/// Counts the connections that are idle, and those in use.
pub type CountConnections = Box<dyn Fn() -> (usize, usize) + Send + Sync>;

/// The metrics of this process.
pub struct Metrics {
    registry: OnceLock<Registry>,
    host: OnceLock<Running>,
}

/// A host that serves.
struct Running {
    live: HotSwap,
    pool: Option<CountConnections>,
}

/// A format of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// What Prometheus asks for.
    OpenMetrics,
    /// The older form, which every tool reads.
    Prometheus,
}

impl Format {
    /// The format that a client prefers who sends this `Accept`.
    pub fn of(accept: Option<&str>) -> Self {
        match accept {
            Some(accept) if accept.contains("application/openmetrics-text") => Self::OpenMetrics,
            _ => Self::Prometheus,
        }
    }

    /// Its `Content-Type`.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

impl Metrics {
    /// Metrics of a host that does not serve yet.
    pub fn new() -> Arc<Self> {
        let metrics = Arc::new(Self {
            registry: OnceLock::new(),
            host: OnceLock::new(),
        });
        let mut registry = Registry::default();
        registry.register_collector(Box::new(exposition::Exposition(Arc::downgrade(&metrics))));
        metrics.registry.get_or_init(|| registry);
        metrics
    }

    /// The host serves from now on. `pool` counts the connections to its database, if it has a pool.
    pub fn begin(&self, live: HotSwap, pool: Option<CountConnections>) {
        self.host.get_or_init(|| Running { live, pool });
    }

    /// The text.
    pub fn text(&self, format: Format) -> Result<String, fmt::Error> {
        let mut text = String::new();
        if let Some(registry) = self.registry.get() {
            match format {
                Format::OpenMetrics => encoding::text::encode(&mut text, registry)?,
                Format::Prometheus => encoding::prometheus_text::encode(&mut text, registry)?,
            }
        }
        Ok(text)
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Metrics").finish_non_exhaustive()
    }
}
