//! The function that runs a procedure of the component.

/// Reads the input, enters the sandbox, calls the component's function, and returns JSON.
macro_rules! component {
    ($interface:ident.$function:ident($($argument:expr),*)) => {
        component!($interface.$function(_input: serde::de::IgnoredAny => $($argument),*))
    };
    ($interface:ident.$function:ident($input:ident: $type:ty => $($argument:expr),*)) => {
        component!($interface.$function($input: $type => $($argument),*), |answer| answer)
    };
    ($interface:ident.$function:ident($input:ident: $type:ty => $($argument:expr),*), |$answer:ident| $output:expr) => {
        |mut call: $crate::procedures::call::Call| {
            Box::pin(async move {
                let $input: $type = call.input()?;
                let mut instance = call.enter().await?;
                let answer = portico_sandbox::ask!(instance.$interface.$function(&call.caller(), $($argument),*));
                let answer = instance.read_result(answer);
                instance.leave();
                let $answer = answer?;
                call.json(&$output)
            })
        }
    };
}
pub(super) use component;
