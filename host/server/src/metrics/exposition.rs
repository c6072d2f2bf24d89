//! The metrics by name, in the order in which they are written.

use std::{fmt, sync::Weak};

use portico_http::metrics as http;
use portico_icons::metrics as icons;
use portico_metrics::{Counter, Family, Histogram, Waits};
use portico_postgres::metrics as postgres;
use portico_sandbox::metrics as sandbox;
use portico_service::metrics as service;
use portico_sqlite::metrics as sqlite;
use portico_status::metrics as status;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet},
    metrics::MetricType,
};

use super::{Metrics, process};
use crate::backups;

/// Writes all metrics at each request for them.
#[derive(Debug)]
pub struct Exposition(pub Weak<Metrics>);

impl Collector for Exposition {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let out = &mut encoder;
        requests(out)?;
        calls(out)?;
        instances(out)?;
        waits(out)?;
        storage(out)?;
        sign_ins(out)?;
        family(
            out,
            "portico_gate_requests",
            "Requests that the gate in front of apps was asked about, by what it decided",
            "decision",
            &service::GATE,
        )?;
        audit(out)?;
        family(
            out,
            "portico_icons",
            "Pictures of icons that were asked for, by where they came from or why there is none",
            "result",
            &icons::PICTURES,
        )?;
        family(
            out,
            "portico_app_checks",
            "Checks whether an app can be reached: up, or why not",
            "result",
            &status::CHECKS,
        )?;
        backups(out)?;
        this_process(out)?;
        if let Some(metrics) = self.0.upgrade() {
            host(out, &metrics)?;
        }
        Ok(())
    }
}

fn requests(out: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let name = "http_server_request_duration_seconds";
    let help =
        "Requests of clients: method, status and template of the route, which is empty if none matched";
    let mut metric = out.encode_descriptor(name, help, None, MetricType::Histogram)?;
    http::REQUESTS.each(|route, answered| {
        answered.each(|(method, status), times| {
            let status = status.to_string();
            let labels = [
                ("http_request_method", *method),
                ("http_response_status_code", &*status),
                ("http_route", &**route),
            ];
            histogram(&mut metric.encode_family(&labels)?, times)
        })
    })?;
    let help = "Requests whose answer is not complete";
    gauge(out, "http_server_active_requests", help, http::ACTIVE.get())?;
    let help = "Connections of clients";
    gauge(out, "portico_http_connections", help, http::CONNECTIONS.get())
}

fn calls(out: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let name = "rpc_server_call_duration_seconds";
    let help = "Calls of procedures over every transport: procedure, and OK or the code of the error";
    let mut metric = out.encode_descriptor(name, help, None, MetricType::Histogram)?;
    service::CALLS.each(|procedure, outcomes| {
        outcomes.each(|outcome, times| {
            let labels = [("rpc_method", *procedure), ("rpc_response_status_code", *outcome)];
            histogram(&mut metric.encode_family(&labels)?, times)
        })
    })
}

fn instances(out: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let kinds = [
        ("fresh", &sandbox::FRESH),
        ("hash", &sandbox::TO_HASH),
        ("warm", &sandbox::WARM),
    ];
    let help = "Calls of the component by the kind of instance that they got";
    counters(out, "portico_instances", help, "kind", kinds)?;
    let help = "Instances of the component that work on a call";
    gauge(out, "portico_instances_running", help, sandbox::RUNNING.get())?;
    let help = "Calls of the component that the host ended, by limit; trap: the component ended itself";
    family(out, "portico_instance_aborts", help, "reason", &sandbox::ENDED)
}

fn waits(out: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let places: [(&str, &Waits); 7] = [
        ("compute", &service::COMPUTING),
        ("hash", &service::HASHING),
        ("instance", &sandbox::WAITS),
        ("large", &service::LARGE),
        ("pool", &postgres::POOL),
        ("read", &sqlite::READING),
        ("write", &sqlite::WRITING),
    ];
    let name = "portico_place_wait_seconds";
    let help = "How long those waited for a place that had to wait, by kind of place";
    let mut metric = out.encode_descriptor(name, help, None, MetricType::Histogram)?;
    for (place, waits) in places {
        histogram(&mut metric.encode_family(&[("place", place)])?, &waits.time)?;
    }
    let refused = places.map(|(place, waits)| (place, &waits.refused));
    let help = "Those that were refused because they waited too long for a place";
    counters(out, "portico_place_refusals", help, "place", refused)
}

fn storage(out: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let systems = [
        ("postgresql", &postgres::COMMITS, &postgres::FAILED_COMMITS),
        ("sqlite", &sqlite::COMMITS, &sqlite::FAILED_COMMITS),
    ];
    let name = "db_client_operation_duration_seconds";
    let help = "How long commits took that succeeded; one of SQLite may hold many transactions";
    let mut metric = out.encode_descriptor(name, help, None, MetricType::Histogram)?;
    for (system, commits, _) in systems {
        let labels = [("db_operation_name", "COMMIT"), ("db_system_name", system)];
        histogram(&mut metric.encode_family(&labels)?, commits)?;
    }
    let failed = systems.map(|(system, _, failed)| (system, failed));
    let help = "Commits that failed, or whose outcome is not known";
    counters(out, "portico_commit_failures", help, "db_system_name", failed)?;
    let help = "How many transactions a commit of SQLite made durable";
    let mut metric =
        out.encode_descriptor("portico_commit_transactions", help, None, MetricType::Histogram)?;
    histogram(&mut metric, &sqlite::BATCHES)
}

fn sign_ins(out: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let help = "Sign-ins by provider, and OK or the code of the error";
    let mut metric = out.encode_descriptor("portico_sign_ins", help, None, MetricType::Counter)?;
    service::SIGN_INS.each(|(provider, outcome), count| {
        let labels = [("outcome", *outcome), ("provider", *provider)];
        counter(&mut metric.encode_family(&labels)?, count)
    })?;
    let help = "Attempts to sign in or register that the throttle admitted, refused, or could not count";
    let outcomes = [
        ("admitted", &service::ATTEMPTS_ADMITTED),
        ("failed", &service::ATTEMPTS_FAILED),
        ("refused", &service::ATTEMPTS_REFUSED),
    ];
    counters(out, "portico_throttled_attempts", help, "outcome", outcomes)
}

fn audit(out: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let help = "Rows of the audit log that were written, for calls and for refusals";
    let kinds = [
        ("call", &service::AUDIT_CALLS),
        ("refusal", &service::AUDIT_REFUSALS),
    ];
    counters(out, "portico_audit_rows_written", help, "kind", kinds)?;
    let help = "Rows of the audit log that were removed, because they were old or too many";
    let reasons = [("excess", &service::AUDIT_EXCESS), ("old", &service::AUDIT_OLD)];
    counters(out, "portico_audit_rows_pruned", help, "reason", reasons)?;
    let help = "Refusals that got no row of their own in the audit log";
    single(out, "portico_audit_refusals_lost", help, &service::AUDIT_LOST)
}

fn backups(out: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let help = "When this process made its newest backup, in seconds since 1970; 0: not yet";
    let name = "portico_backup_last_success_timestamp_seconds";
    gauge(out, name, help, backups::MADE_AT.get())?;
    let help = "From one backup of this process to the next, in seconds; 0: it makes none";
    gauge(
        out,
        "portico_backup_interval_seconds",
        help,
        backups::INTERVAL.get(),
    )?;
    let help = "Backups that failed";
    single(out, "portico_backup_failures", help, &backups::FAILED)
}

fn this_process(out: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let help = "The processor time of this process";
    let mut metric = out.encode_descriptor("process_cpu_time_seconds", help, None, MetricType::Counter)?;
    let time = process::processor_time().as_secs_f64();
    metric.encode_counter::<NoLabelSet, _, u64>(&time, None)?;
    if let Some(memory) = process::memory() {
        let help = "The memory of this process that is resident";
        gauge(out, "process_memory_usage_bytes", help, signed(memory))?;
    }
    if let Some(files) = process::open_files() {
        let help = "Files and connections that this process has open";
        gauge(out, "process_unix_file_descriptor_count", help, signed(files))?;
    }
    Ok(())
}

fn host(out: &mut DescriptorEncoder<'_>, metrics: &Metrics) -> fmt::Result {
    let serves = metrics.host.get();
    if let Some((idle, used)) = serves.and_then(|host| host.pool.as_ref()).map(|count| count()) {
        let name = "db_client_connection_count";
        let help = "Connections to PostgreSQL";
        let mut metric = out.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (state, count) in [("idle", idle), ("used", used)] {
            let labels = [
                ("db_client_connection_pool_name", "portico"),
                ("db_client_connection_state", state),
            ];
            metric
                .encode_family(&labels)?
                .encode_gauge(&signed(count as u64))?;
        }
    }
    let service = serves.map(|host| host.live.service());
    let component = service.as_ref().map(|service| service.sandbox.version());
    let labels = [
        (
            "component_sha256",
            component.map_or("", |component| &component.sha256),
        ),
        ("contract", component.map_or("", |component| &component.contract)),
        ("version", env!("CARGO_PKG_VERSION")),
    ];
    let help = "The version of this host and the component that it runs, which is empty until it serves";
    let mut metric = out.encode_descriptor("portico_build_info", help, None, MetricType::Gauge)?;
    metric.encode_family(&labels)?.encode_gauge(&1_i64)
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn gauge(out: &mut DescriptorEncoder<'_>, name: &str, help: &str, number: i64) -> fmt::Result {
    let mut metric = out.encode_descriptor(name, help, None, MetricType::Gauge)?;
    metric.encode_gauge(&number)
}

fn single(out: &mut DescriptorEncoder<'_>, name: &str, help: &str, count: &Counter) -> fmt::Result {
    let mut metric = out.encode_descriptor(name, help, None, MetricType::Counter)?;
    counter(&mut metric, count)
}

/// Counters that are known from the start.
fn counters<const N: usize>(
    out: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    label: &str,
    members: [(&str, &Counter); N],
) -> fmt::Result {
    let mut metric = out.encode_descriptor(name, help, None, MetricType::Counter)?;
    for (value, count) in members {
        counter(&mut metric.encode_family(&[(label, value)])?, count)?;
    }
    Ok(())
}

/// Counters with one label.
fn family(
    out: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    label: &str,
    members: &Family<&'static str, Counter>,
) -> fmt::Result {
    let mut metric = out.encode_descriptor(name, help, None, MetricType::Counter)?;
    members.each(|value, count| counter(&mut metric.encode_family(&[(label, *value)])?, count))
}

fn counter(metric: &mut MetricEncoder<'_>, count: &Counter) -> fmt::Result {
    metric.encode_counter::<NoLabelSet, _, u64>(&count.get(), None)
}

fn histogram(metric: &mut MetricEncoder<'_>, values: &Histogram) -> fmt::Result {
    let values = values.snapshot();
    metric.encode_histogram::<NoLabelSet>(values.sum, values.count, &values.buckets, None)
}
