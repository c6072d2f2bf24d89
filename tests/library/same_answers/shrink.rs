//! Makes a sequence that fails smaller, as long as it still fails.
//!
//! First whole steps are taken out, in ever smaller pieces (delta debugging), then what is left is
//! made simpler: callers, inputs, texts. Each try runs the smaller sequence on fresh sides.

use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::steps::{Action, Caller, Step};

/// What is not small after this time is shown as it is.
const TIME: Duration = Duration::from_secs(180);

pub struct Shrinker<F> {
    fails: F,
    tries: usize,
    end: Instant,
}

/// The smallest sequence that was found, and how many were tried.
pub async fn shrink<F: AsyncFnMut(&[Step]) -> bool>(steps: Vec<Step>, fails: F) -> (Vec<Step>, usize) {
    let mut shrinker = Shrinker {
        fails,
        tries: 0,
        end: Instant::now() + TIME,
    };
    // Who needs no key and no session, needs none of the steps that made them.
    let mut steps = shrinker.without_callers(steps).await;
    steps = shrinker.fewer(steps).await;
    loop {
        let simpler = shrinker.simpler(steps.clone()).await;
        let simpler = shrinker.fewer(simpler).await;
        if simpler == steps {
            return (steps, shrinker.tries);
        }
        steps = simpler;
    }
}

impl<F: AsyncFnMut(&[Step]) -> bool> Shrinker<F> {
    async fn still_fails(&mut self, steps: &[Step]) -> bool {
        if Instant::now() > self.end {
            return false;
        }
        self.tries += 1;
        (self.fails)(steps).await
    }

    /// Everybody is the operator, or as many as can be.
    async fn without_callers(&mut self, mut steps: Vec<Step>) -> Vec<Step> {
        let mut size = steps.len();
        while size > 0 {
            for start in (0..steps.len()).step_by(size) {
                let end = (start + size).min(steps.len());
                let mut simpler = steps.clone();
                for step in &mut simpler[start..end] {
                    step.caller = Caller::Operator;
                }
                if simpler != steps && self.still_fails(&simpler).await {
                    steps = simpler;
                }
            }
            size = if size > steps.len() / 8 { size / 2 } else { 0 };
        }
        steps
    }

    async fn fewer(&mut self, mut steps: Vec<Step>) -> Vec<Step> {
        let mut size = (steps.len() / 2).max(1);
        loop {
            let mut removed = false;
            let mut end = steps.len();
            while end > 0 {
                let start = end.saturating_sub(size);
                let mut fewer = steps.clone();
                fewer.drain(start..end);
                if self.still_fails(&fewer).await {
                    steps = fewer;
                    removed = true;
                }
                end = start;
            }
            match size {
                1 if !removed => return steps,
                1 => {}
                _ => size /= 2,
            }
        }
    }

    async fn simpler(&mut self, mut steps: Vec<Step>) -> Vec<Step> {
        for index in 0..steps.len() {
            let mut candidates = simpler_step(&steps[index]).into_iter();
            while let Some(candidate) = candidates.next() {
                let mut changed = steps.clone();
                changed[index] = candidate;
                if self.still_fails(&changed).await {
                    candidates = simpler_step(&changed[index]).into_iter();
                    steps = changed;
                }
            }
        }
        steps
    }
}

fn simpler_step(step: &Step) -> Vec<Step> {
    let mut simpler = Vec::new();
    if !matches!(step.caller, Caller::Operator) {
        simpler.push(Step {
            caller: Caller::Operator,
            ..step.clone()
        });
    }
    if let Action::Call {
        procedure,
        input: Some(input),
    } = &step.action
    {
        let inputs = simpler_value(input).into_iter().map(|input| Action::Call {
            procedure: procedure.clone(),
            input: Some(input),
        });
        simpler.extend(inputs.map(|action| Step {
            action,
            ..step.clone()
        }));
    }
    simpler
}

/// Values with a little less in them. Each is strictly smaller, so that there is an end.
fn simpler_value(value: &Value) -> Vec<Value> {
    match value {
        Value::String(text) => simpler_text(text).into_iter().map(Value::String).collect(),
        Value::Array(items) => {
            let halves = [&items[..items.len() / 2], &items[items.len() / 2..]];
            let halves = halves.into_iter().filter(|half| half.len() < items.len());
            let mut simpler: Vec<_> = halves.map(|half| Value::Array(half.to_vec())).collect();
            if items.len() <= 8 {
                for index in 0..items.len() {
                    let mut fewer = items.clone();
                    fewer.remove(index);
                    simpler.push(Value::Array(fewer));
                }
            }
            for (index, item) in items.iter().enumerate().take(20) {
                simpler.extend(simpler_value(item).into_iter().map(|item| {
                    let mut items = items.clone();
                    items[index] = item;
                    Value::Array(items)
                }));
            }
            simpler
        }
        Value::Object(fields) => {
            let mut simpler = Vec::new();
            for name in fields.keys() {
                let fewer: Map<_, _> = fields
                    .iter()
                    .filter(|(other, _)| *other != name)
                    .map(|(name, value)| (name.clone(), value.clone()))
                    .collect();
                simpler.push(Value::Object(fewer));
            }
            for (name, value) in fields {
                simpler.extend(simpler_value(value).into_iter().map(|value| {
                    let mut fields = fields.clone();
                    fields.insert(name.clone(), value);
                    Value::Object(fields)
                }));
            }
            simpler
        }
        _ => Vec::new(),
    }
}

fn simpler_text(text: &str) -> Vec<String> {
    let characters: Vec<_> = text.chars().collect();
    let half = characters.len() / 2;
    let mut simpler: Vec<String> = Vec::new();
    if half > 0 {
        simpler.push(characters[..half].iter().collect());
        simpler.push(characters[half..].iter().collect());
    }
    if characters.len() > 1 && characters.len() <= 8 {
        for index in 0..characters.len() {
            let mut fewer = characters.clone();
            fewer.remove(index);
            simpler.push(fewer.into_iter().collect());
        }
    }
    simpler
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn step(number: usize, input: Value) -> Step {
        Step {
            number,
            at: 0,
            seed: 0,
            caller: Caller::Anonymous,
            action: Action::Call {
                procedure: "x".into(),
                input: Some(input),
            },
        }
    }

    #[tokio::test]
    async fn steps_that_do_not_matter_are_dropped_and_the_others_stay() {
        let steps: Vec<_> = (0..100)
            .map(|number| step(number, json!({"name": format!("some %{number}"), "more": [1, 2]})))
            .collect();
        let name = |step: &Step| match &step.action {
            Action::Call {
                input: Some(input), ..
            } => input["name"].as_str().unwrap_or_default().to_owned(),
            _ => String::new(),
        };
        // Fails where step 13 comes before step 77, and 77 has a wildcard in its name.
        let fails = async |steps: &[Step]| {
            let place = |number| steps.iter().position(|step: &Step| step.number == number);
            let wild = steps
                .iter()
                .any(|step| step.number == 77 && name(step).contains('%'));
            wild && place(13).is_some_and(|first| place(77).is_some_and(|second| first < second))
        };
        let (shrunk, _) = shrink(steps, fails).await;
        let expected = [step(13, json!({})), step(77, json!({"name": "%"}))].map(|step| Step {
            caller: Caller::Operator,
            ..step
        });
        assert_eq!(shrunk, expected);
    }
}
