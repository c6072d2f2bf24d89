//! When a transaction may answer `retry`.

use std::collections::VecDeque;
use std::time::Duration;

use portico_storage_kit::{
    Answer, Broken, Case, Expectation, Implementation, Need, Report, Request, Step, run,
};
use serde_json::{Value, json};

/// Responds to every call immediately: the first times to this call of this transaction with `retry`, to the rest with
/// success.
struct Colliding {
    transaction: Option<&'static str>,
    call: &'static str,
    retries: usize,
    answers: VecDeque<(u64, Answer)>,
}

impl Implementation for Colliding {
    fn send(&mut self, request: &Request) -> Result<(), Broken> {
        let collides = request.transaction.as_deref() == self.transaction && request.call == self.call;
        let answer = if collides && self.retries > 0 {
            self.retries -= 1;
            Answer::Error(json!({"retry": null}))
        } else {
            Answer::Ok(Value::Null)
        };
        self.answers.push_back((request.id, answer));
        Ok(())
    }

    fn receive(&mut self, _: Duration) -> Result<Option<(u64, Answer)>, Broken> {
        Ok(self.answers.pop_front())
    }
}

/// Steps that succeed, in a transaction or of the bridge.
fn case(needs: Option<Need>, steps: &[(Option<&str>, &str)]) -> Case {
    let step = |(transaction, call): &(Option<&str>, &str)| Step {
        transaction: transaction.map(str::to_owned),
        call: (*call).to_owned(),
        arguments: json!({}),
        expected: Expectation::Success,
    };
    Case {
        file: "retries",
        name: "two transactions collide".into(),
        rule: "One of them may have to be tried again.".into(),
        needs,
        steps: steps.iter().map(step).collect(),
    }
}

fn report(case: &Case, transaction: Option<&'static str>, call: &'static str, retries: usize) -> Report {
    let mut target = Colliding {
        transaction,
        call,
        retries,
        answers: VecDeque::new(),
    };
    run(&mut target, std::slice::from_ref(case), |_| {})
}

#[test]
fn a_transaction_that_competed_is_tried_again_once_alone() {
    let (a, b) = (Some("a"), Some("b"));
    let steps = [(a, "begin"), (b, "begin"), (a, "commit"), (b, "commit")];
    for (retries, is_kept) in [(0, true), (1, true), (2, false)] {
        let report = report(&case(None, &steps), b, "commit", retries);
        assert_eq!(report.is_kept(), is_kept, "{retries}: {report}");
    }
}

#[test]
fn a_call_of_the_bridge_that_competed_is_tried_again_once_alone() {
    let steps = [(Some("a"), "begin"), (None, "put-key"), (Some("a"), "commit")];
    for (retries, is_kept) in [(0, true), (1, true), (2, false)] {
        let report = report(&case(None, &steps), None, "put-key", retries);
        assert_eq!(report.is_kept(), is_kept, "{retries}: {report}");
    }
}

#[test]
fn retry_while_nothing_else_is_open_breaks_a_rule() {
    let mut alone = case(None, &[(Some("a"), "begin"), (Some("a"), "commit")]);
    alone.steps[1].expected = Expectation::Error(json!("any"));
    let needy = case(
        Some(Need::NoUsers),
        &[(Some("a"), "begin"), (Some("a"), "commit")],
    );
    let bridge = case(None, &[(None, "put-key")]);
    for report in [
        report(&alone, Some("a"), "commit", 1),
        report(&needy, Some("need"), "begin", 1),
        report(&needy, Some("need"), "has-users", 1),
        report(&bridge, None, "put-key", 1),
    ] {
        assert_eq!(report.failures().count(), 1, "{report}");
        let text = report.to_string();
        let reason = r#"error {"retry":null}, though no other transaction is open"#;
        assert!(text.contains(reason), "{text}");
    }
}
