//! Everything that comes out of the service, recorded to be searched.

use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard},
};

use portico_tests::{Answer, Client, Endpoint, Finished};
use serde_json::Value;

use super::canary::{Canary, Search};

/// Something that came out.
struct Output {
    /// Where, for failure messages and to name the one place that shows a secret.
    place: String,
    text: String,
}

#[derive(Default)]
struct Inner {
    outputs: Vec<Output>,
    canaries: Vec<Canary>,
    /// The procedures that were called with success.
    succeeded: Vec<String>,
}

/// All that came out, and all that must not.
#[derive(Clone, Default)]
pub struct Tape(Arc<Mutex<Inner>>);

impl Tape {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().expect("the lock")
    }

    /// This client, every answer recorded.
    pub fn on<C: Client>(&self, client: C) -> Recorded<C> {
        Recorded {
            client,
            tape: self.clone(),
        }
    }

    /// A secret that no answer shows.
    pub fn hide(&self, what: &str, text: &str) {
        self.lock().canaries.push(Canary::new(what, text, None));
    }

    /// A secret that what came out last shows, and nothing else.
    pub fn shown_last(&self, what: &str, text: &str) {
        let mut inner = self.lock();
        let place = inner.outputs.last().map(|output| output.place.clone());
        inner.canaries.push(Canary::new(what, text, place));
    }

    /// What came out last shows a secret to its holder again.
    pub fn shown_again(&self, text: &str) {
        let mut inner = self.lock();
        let place = inner.outputs.last().map(|output| output.place.clone());
        let canary = inner.canaries.iter_mut().find(|canary| canary.text == text);
        canary.expect("a known secret").shown_at.extend(place);
    }

    /// A secret of codes that what came out last shows, and which the database has.
    pub fn shown_last_and_stored(&self, what: &str, text: &str) {
        self.shown_last(what, text);
        let mut inner = self.lock();
        let canary = inner.canaries.pop().expect("the secret");
        inner.canaries.push(canary.stored());
    }

    pub fn record(&self, place: &str, text: String) {
        let mut inner = self.lock();
        let place = format!("{} ({place})", inner.outputs.len());
        inner.outputs.push(Output { place, text });
    }

    pub fn record_answer(&self, answer: &Answer) {
        let words: Vec<_> = answer.request.splitn(3, [' ', '?']).collect();
        let call = words[..words.len().min(2)].join(" ");
        let text = format!("{} {:?}\n{}", answer.status, answer.headers, answer.text());
        self.record(&format!("the answer to {call}"), text);
        let procedure = call.split_once(" /api/trpc/").map(|(_, procedure)| procedure);
        if let (200, Some(procedure)) = (answer.status, procedure) {
            self.lock().succeeded.push(procedure.to_owned());
        }
    }

    /// What a command wrote: first to its standard error, which shows no secret, then to its output.
    pub fn record_command(&self, what: &str, finished: &Finished) {
        self.record(&format!("the standard error of {what}"), finished.stderr.clone());
        self.record(&format!("the output of {what}"), finished.stdout.clone());
    }

    /// Every file in a folder, at any depth.
    pub fn record_files(&self, folder: &Path) -> usize {
        let mut count = 0;
        for entry in std::fs::read_dir(folder).expect("the folder") {
            let path = entry.expect("a file").path();
            if path.is_dir() {
                count += self.record_files(&path);
            } else if let Ok(bytes) = std::fs::read(&path) {
                count += 1;
                let text = String::from_utf8_lossy(&bytes).into_owned();
                self.record(&format!("the file {}", path.display()), text);
            }
        }
        count
    }

    /// How much there is.
    pub fn len(&self) -> usize {
        self.lock().outputs.len()
    }

    pub fn has_succeeded(&self, procedure: &str) -> bool {
        self.lock().succeeded.iter().any(|name| name == procedure)
    }

    /// Demands that each secret is where it is shown, and nowhere else.
    #[track_caller]
    pub fn check(&self) {
        let inner = self.lock();
        let mut leaks = Vec::new();
        let search = Search::new(&inner.canaries);
        for output in &inner.outputs {
            // Some have a beginning in common: one of them is enough.
            let mut is_clean = true;
            let is_database = output.place.contains("the file ") && output.place.contains("/portico.db");
            for (canary, found) in inner.canaries.iter().zip(search.found_in(&output.text)) {
                if canary.is_stored && is_database {
                    continue;
                }
                if canary.shown_at.contains(&output.place) {
                    let shown = output.text.contains(&canary.text);
                    assert!(shown, "{} is not shown in {}", canary.what, output.place);
                } else if let Some(form) = found
                    && is_clean
                {
                    is_clean = false;
                    leaks.push(format!("{} stands {form} in {}", canary.what, output.place));
                }
            }
        }
        for output in &inner.outputs {
            // A hash of a password belongs into the database alone.
            if output.text.contains("$argon2") && !output.place.contains("the file ") {
                leaks.push(format!("the hash of a password stands in {}", output.place));
            }
        }
        assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
    }
}

/// A client whose every answer is recorded.
pub struct Recorded<C> {
    client: C,
    tape: Tape,
}

impl<C> Recorded<C> {
    /// A text of the last answer, which shows it this once.
    #[track_caller]
    pub fn shows(&self, what: &str, answer: &Answer, pointer: &str) -> String {
        let body = answer.json();
        let Some(text) = body.pointer(pointer).and_then(Value::as_str) else {
            panic!("no {pointer}: {answer}");
        };
        self.tape.shown_last(what, text);
        text.to_owned()
    }
}

impl<C: Client> Client for Recorded<C> {
    fn endpoint(&self) -> &Endpoint {
        self.client.endpoint()
    }

    fn credentials(&self) -> Vec<(String, String)> {
        self.client.credentials()
    }

    fn try_send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> anyhow::Result<Answer> {
        let answer = self.client.try_send(method, path, headers, body)?;
        self.tape.record_answer(&answer);
        Ok(answer)
    }
}
