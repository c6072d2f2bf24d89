//! How often a transaction is tried again.

use std::collections::VecDeque;
use std::time::Duration;

use portico_storage_kit::{Answer, Broken, Case, Expectation, Implementation, Request, Step, run};
use serde_json::{Value, json};

/// Responds to every call immediately: to the first commits of the transaction `b` with `retry`, to the rest with
/// success.
struct Colliding {
    retries: usize,
    answers: VecDeque<(u64, Answer)>,
}

impl Implementation for Colliding {
    fn send(&mut self, request: &Request) -> Result<(), Broken> {
        let is_commit = request.transaction.as_deref() == Some("b") && request.call == "commit";
        let answer = if is_commit && self.retries > 0 {
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

#[test]
fn a_transaction_is_tried_again_five_times_as_the_component_does() {
    let step = |(transaction, call): (&str, &str)| Step {
        transaction: Some(transaction.into()),
        call: call.into(),
        arguments: json!({}),
        expected: Expectation::Success,
    };
    let steps = [("a", "begin"), ("b", "begin"), ("a", "commit"), ("b", "commit")];
    let case = Case {
        file: "retries",
        name: "two transactions collide".into(),
        rule: "One of them may have to be tried again.".into(),
        needs: None,
        steps: steps.map(step).into(),
    };
    for (retries, is_kept) in [(0, true), (5, true), (6, false)] {
        let mut target = Colliding {
            retries,
            answers: VecDeque::new(),
        };
        let report = run(&mut target, std::slice::from_ref(&case), |_| {});
        assert_eq!(report.is_kept(), is_kept, "{retries}: {report}");
    }
}
