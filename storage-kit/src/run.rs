//! Drives the cases over an implementation.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cases::{Case, Need};
use crate::expand::expand;
use crate::protocol::{Answer, Broken, Request, Target};
use crate::report::{Outcome, Report};
use crate::tracks::{Call, Stop, Tracks};

/// How long any call may take that has nothing to wait for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// What was put there by a call, and the call that removes it again.
const REMOVALS: [(&str, &str); 4] = [
    ("put-group", "delete-group"),
    ("put-board", "delete-board"),
    ("put-search-engine", "delete-search-engine"),
    ("put-invite", "delete-invite"),
];

/// Runs these cases in order, and tells of each when it begins.
pub fn run(target: &mut dyn Target, cases: &[Case], mut begins: impl FnMut(&Case)) -> Report {
    let mut line = Line::new(target);
    let mut report = Report::default();
    let run = format!("{:07}", fastrand::u32(..10_000_000));
    match line.call(None, "hello", &json!({})) {
        Ok(Answer::Ok(hello)) => {
            report.name = hello["name"].as_str().unwrap_or("the implementation").to_owned();
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
        let mut rehearsal = Rehearsal {
            line: &mut line,
            case,
            marker,
            tracks: Tracks::default(),
        };
        let outcome = match rehearsal.play().and_then(|()| rehearsal.clean_up()) {
            Ok(()) => Outcome::Kept,
            Err(Stop::Failure(failure)) => Outcome::Broken(failure),
            Err(Stop::Skip(reason)) => Outcome::Skipped(reason),
            Err(Stop::Broken(broken)) => {
                report.broken = Some(format!("in \"{}\": {broken}", case.name));
                break;
            }
        };
        if !matches!(outcome, Outcome::Kept) {
            let left = rehearsal.clean_up();
            if let Err(Stop::Broken(broken)) = left {
                report.broken = Some(format!("after \"{}\": {broken}", case.name));
            }
        }
        report.outcomes.push((case.clone(), outcome));
    }
    report
}

/// One case on its way.
struct Rehearsal<'a, 'b> {
    line: &'a mut Line<'b>,
    case: &'a Case,
    marker: String,
    tracks: Tracks,
}

impl Rehearsal<'_, '_> {
    fn play(&mut self) -> Result<(), Stop> {
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
                None => self.ask_bridge(&call)?,
            }
        }
        Ok(())
    }

    fn check_need(&mut self) -> Result<(), Stop> {
        let (call, arguments, reason) = match self.case.needs {
            None => return Ok(()),
            Some(Need::NoUsers) => ("has-users", json!({}), "there are users in this database"),
            Some(Need::NoAdministrators) => (
                "another-admin-exists",
                json!({"except": ""}),
                "there are administrators in this database",
            ),
        };
        let begun = self.line.call(Some("need"), "begin", &begin("read"))?;
        if matches!(begun, Answer::Error(_)) {
            return Err(Stop::Skip(format!("`begin` was refused: {begun:?}")));
        }
        let answer = self.line.call(Some("need"), call, &arguments)?;
        self.line.call(Some("need"), "drop", &json!({}))?;
        match answer {
            Answer::Ok(Value::Bool(false)) => Ok(()),
            Answer::Ok(Value::Bool(true)) => Err(Stop::Skip(reason.into())),
            other => Err(Stop::Skip(format!("`{call}` answered {other:?}"))),
        }
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

    /// Ends what is open, and removes what the case put there as far as that goes: what an
    /// implementation cannot remove is the affair of another case.
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

/// Requests on their way to an implementation, and the answers that have come.
pub(crate) struct Line<'a> {
    target: &'a mut dyn Target,
    next: u64,
    answers: HashMap<u64, Answer>,
}

impl<'a> Line<'a> {
    fn new(target: &'a mut dyn Target) -> Self {
        Self {
            target,
            next: 1,
            answers: HashMap::new(),
        }
    }

    /// Sends a request and answers its id.
    pub fn send(&mut self, transaction: Option<&str>, call: &str, arguments: &Value) -> Result<u64, Broken> {
        let mut arguments = arguments.clone();
        if call == "begin"
            && let Some(members) = arguments.as_object_mut()
        {
            members.entry("session").or_insert(Value::Null);
            members.entry("user").or_insert(Value::Null);
        }
        let id = self.next;
        self.next += 1;
        self.target.send(&Request {
            id,
            transaction: transaction.map(str::to_owned),
            call: call.to_owned(),
            arguments,
        })?;
        Ok(id)
    }

    /// The answer to this request, if it comes within this time.
    pub fn answer(&mut self, id: u64, within: Duration) -> Result<Option<Answer>, Broken> {
        let end = Instant::now() + within;
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return Ok(Some(answer));
            }
            let left = end.saturating_duration_since(Instant::now());
            match self.target.receive(left)? {
                Some((id, answer)) => drop(self.answers.insert(id, answer)),
                None => return Ok(None),
            }
        }
    }

    /// Sends a request that has nothing to wait for, and answers what it is answered.
    pub fn call(
        &mut self,
        transaction: Option<&str>,
        call: &str,
        arguments: &Value,
    ) -> Result<Answer, Broken> {
        let id = self.send(transaction, call, arguments)?;
        let answer = self.answer(id, PATIENCE)?;
        let seconds = PATIENCE.as_secs();
        answer.ok_or_else(|| Broken(format!("`{call}` was not answered within {seconds} seconds")))
    }

    /// Drops a transaction, whatever that is answered.
    pub fn drop_transaction(&mut self, name: &str) -> Result<(), Broken> {
        self.call(Some(name), "drop", &json!({})).map(drop)
    }
}
