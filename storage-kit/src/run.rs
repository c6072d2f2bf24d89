//! Runs the cases against an implementation.

use serde_json::{Value, json};

use crate::cases::{Case, Expectation, Need};
use crate::expand::expand;
use crate::line::Line;
use crate::protocol::{Answer, Implementation};
use crate::report::{Outcome, Report};
use crate::tracks::{Call, Stop, Tracks};

/// The calls of the bridge that create something, and those that remove it again.
const REMOVALS: [(&str, &str); 4] = [
    ("put-group", "delete-group"),
    ("put-board", "delete-board"),
    ("put-search-engine", "delete-search-engine"),
    ("put-invite", "delete-invite"),
];

/// Runs these cases in order. Calls `begins` when a case begins.
pub fn run(target: &mut dyn Implementation, cases: &[Case], mut begins: impl FnMut(&Case)) -> Report {
    let mut line = Line::new(target);
    let mut report = Report::default();
    let run = format!("{:07}", fastrand::u32(..10_000_000));
    let mut views_differ = false;
    match line.call(None, "hello", &json!({})) {
        Ok(Answer::Ok(hello)) => {
            report.name = hello["name"].as_str().unwrap_or("the implementation").to_owned();
            views_differ = hello["apps-by-board"] == true;
        }
        Ok(Answer::Error(error)) => report.broken = Some(format!("`hello` was refused: {error}")),
        Err(broken) => report.broken = Some(broken.0),
    }
    for (number, case) in cases.iter().enumerate() {
        if report.broken.is_some() {
            break;
        }
        begins(case);
        let marker = format!("k{run}{number:04}");
        let mut case_run = CaseRun {
            line: &mut line,
            case,
            marker,
            views_differ,
            tracks: Tracks::default(),
        };
        let outcome = match case_run.run_steps().and_then(|()| case_run.clean_up()) {
            Ok(()) => Outcome::Kept,
            Err(Stop::Failure(failure)) => Outcome::Broken(failure),
            Err(Stop::Skip(reason)) => Outcome::Skipped(reason),
            Err(Stop::Broken(broken)) => {
                report.broken = Some(format!("in \"{}\": {broken}", case.name));
                break;
            }
        };
        if !matches!(outcome, Outcome::Kept) {
            let left = case_run.clean_up();
            if let Err(Stop::Broken(broken)) = left {
                report.broken = Some(format!("after \"{}\": {broken}", case.name));
            }
        }
        report.outcomes.push((case.clone(), outcome));
    }
    report
}

/// A case that runs.
struct CaseRun<'a, 'b> {
    line: &'a mut Line<'b>,
    case: &'a Case,
    marker: String,
    /// Whether the bridge has stated that the views of the apps depend on boards.
    views_differ: bool,
    tracks: Tracks,
}

impl CaseRun<'_, '_> {
    fn run_steps(&mut self) -> Result<(), Stop> {
        self.check_need()?;
        for (number, step) in self.case.steps.iter().enumerate() {
            let call = Call {
                number: number + 1,
                function: step.call.clone(),
                arguments: expand(&step.arguments, &self.marker),
                expected: step.expected.expand(&self.marker),
            };
            match &step.transaction {
                Some(name) => self.tracks.step(self.line, name, call)?,
                None if self.tracks.is_empty() => self.ask_bridge(&call)?,
                None => self.tracks.ask_bridge(self.line, call)?,
            }
        }
        Ok(())
    }

    fn check_need(&mut self) -> Result<(), Stop> {
        let Some(need) = self.case.needs else {
            return Ok(());
        };
        let (access, call, arguments, reason) = match need {
            Need::AppsByBoard if self.views_differ => return Ok(()),
            Need::AppsByBoard => {
                return Err(Stop::Skip("the bridge does not state `apps-by-board`".into()));
            }
            Need::OneView if !self.views_differ => return Ok(()),
            Need::OneView => return Err(Stop::Skip("the bridge states `apps-by-board`".into())),
            Need::NoUsers => ("read", "has-users", json!({}), "there are users in this database"),
            Need::NoAdministrators => (
                "read",
                "has-another-admin",
                json!({"except": ""}),
                "there are administrators in this database",
            ),
            Need::TextIds => (
                "write",
                "insert-apps",
                expand(
                    &json!({"apps": [{"$stored-app": {"id": "{}-Aé ", "name": "{}"}}]}),
                    &self.marker,
                ),
                "storage cannot hold an id of any text",
            ),
        };
        let begun = self.ask_need("begin", begin(access))?;
        if matches!(begun, Answer::Error(_)) {
            return Err(Stop::Skip(format!("`begin` answered {begun}")));
        }
        let answer = self.ask_need(call, arguments)?;
        self.line.call(Some("need"), "drop", &json!({}))?;
        let no_such_id = Expectation::Error(json!({"constraint": {"id": null}}));
        match answer {
            Answer::Ok(Value::Bool(true)) => Err(Stop::Skip(reason.into())),
            Answer::Ok(_) => Ok(()),
            refused if need == Need::TextIds && no_such_id.is_met(&refused) => Err(Stop::Skip(reason.into())),
            other => Err(Stop::Skip(format!("`{call}` answered {other}"))),
        }
    }

    /// Makes a call of the transaction that looks whether the need is met. No other one is open, so `retry` is wrong.
    fn ask_need(&mut self, function: &str, arguments: Value) -> Result<Answer, Stop> {
        let answer = self.line.call(Some("need"), function, &arguments)?;
        if !answer.is_retry() {
            return Ok(answer);
        }
        if function != "begin" {
            self.line.drop_transaction("need")?;
        }
        let call = Call {
            number: 0,
            function: function.to_owned(),
            arguments,
            expected: Expectation::Success,
        };
        Err(call.failed(Some("need"), Some(answer)))
    }

    fn ask_bridge(&mut self, call: &Call) -> Result<(), Stop> {
        let answer = self.line.call(None, &call.function, &call.arguments)?;
        if let Some(reason) = answer.unsupported() {
            return Err(Stop::Skip(reason));
        }
        match call.expected.is_met(&answer) {
            true => Ok(()),
            false => Err(call.failed(None, Some(answer))),
        }
    }

    /// Ends the open transactions, and removes what the case created. Refusals are ignored: other cases
    /// test removal.
    fn clean_up(&mut self) -> Result<(), Stop> {
        self.tracks.abandon(self.line)?;
        let mut users = Vec::new();
        let mut apps = Vec::new();
        for step in &self.case.steps {
            let arguments = expand(&step.arguments, &self.marker);
            let removal = REMOVALS.iter().find(|(puts, _)| *puts == step.call);
            match (&step.call[..], removal) {
                (_, Some((_, removes))) => {
                    self.line.call(None, removes, &json!({"id": arguments["id"]}))?;
                }
                ("insert-user", _) => users.push(arguments["user"]["user"]["id"].clone()),
                ("insert-apps", _) => {
                    let inserted = arguments["apps"].as_array().into_iter().flatten();
                    apps.extend(inserted.map(|stored| stored["app"]["id"].clone()));
                }
                _ => {}
            }
        }
        if !self.case.steps.iter().any(|step| step.call == "commit") {
            return Ok(());
        }
        let begun = self.line.call(Some("clean-up"), "begin", &begin("write"))?;
        if matches!(begun, Answer::Error(_)) {
            return Ok(());
        }
        for (function, ids) in [("delete-user", users), ("delete-app", apps)] {
            for id in ids {
                self.line.call(Some("clean-up"), function, &json!({"id": id}))?;
            }
        }
        self.line.call(Some("clean-up"), "commit", &json!({}))?;
        Ok(())
    }
}

fn begin(access: &str) -> Value {
    json!({"access": access, "session": null, "user": null})
}
