//! A document and other calls that need memory do not wait for each other in a circle.

use std::sync::Arc;
use std::time::Duration;

use portico_sandbox::Limits;
use portico_service::identity::Identity;
use serde_json::{Value, json};

use super::time_limit::service;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_and_waiting_writers_do_not_deadlock() {
    // In a circle they would wait for ever; one after the other takes some seconds.
    let limits = Limits {
        medium_calls: 1,
        wait: Duration::from_secs(60),
        duration: Duration::from_secs(120),
        ..Limits::default()
    };
    let (service, _) = service(limits, Duration::from_secs(120)).await;
    let admin = json!({"name": "ada", "provider": "credentials", "groups": ["admins"]});
    let apps = |name: &str| -> Vec<Value> {
        let icon = format!("https://icons.example/{}", "x".repeat(4000));
        (0..500)
            .map(|number| json!({"name": format!("{name} {number}"), "iconUrl": icon}))
            .collect()
    };
    let document = json!({"groups": [{"name": "admins", "permissions": ["admin"]}], "users": [admin], "apps": apps("wanted")});
    let call = |procedure: &'static str, input: Value| {
        let service = Arc::clone(&service);
        tokio::spawn(async move {
            let procedure = service.table.find(procedure).expect("the procedure");
            let operator = Identity::operator();
            let answer = service.call(procedure, &operator, "test", Ok(Some(input)));
            answer.await.map(drop).map_err(|error| error.message)
        })
    };
    for _ in 0..5 {
        let mut calls: Vec<_> = (0..4)
            .map(|number| call("app.createMany", apps(&number.to_string()).into()))
            .collect();
        calls.push(call("state.apply", document.clone()));
        for call in calls {
            assert_eq!(call.await.expect("it ends"), Ok(()));
        }
    }
}
