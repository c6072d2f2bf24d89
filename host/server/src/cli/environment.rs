//! Variables of the environment that look like settings, but are not.

use std::{collections::BTreeSet, env};

use clap::{Command, CommandFactory};
use tracing::warn;

use super::{Cli, ldap, oidc, terminal::printable};

const PREFIX: &str = "PORTICO_";

/// What Kubernetes and Docker set in containers next to a service that is called portico.
const OF_CONTAINERS: [&str; 2] = ["PORTICO_PORT", "PORTICO_SERVICE_"];

/// Warns about each variable that no command reads.
pub fn warn_of_unread() {
    for warning in unread() {
        warn!("{warning}");
    }
}

/// A line for each variable that no command reads, because it is probably misspelt and its setting not made.
pub fn unread() -> Vec<String> {
    let known = known();
    let names = env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
    let unread = names.filter(|name| is_unread(name, &known));
    unread
        .map(|name| {
            let shown = printable(&name);
            match nearest(&name, &known) {
                Some(nearest) => {
                    format!("nothing reads the environment variable {shown}: did you mean {nearest}?")
                }
                None => format!("nothing reads the environment variable {shown}"),
            }
        })
        .collect()
}

/// The variables of all commands.
fn known() -> BTreeSet<String> {
    let mut known = BTreeSet::from([oidc::SECRET, ldap::PASSWORD].map(str::to_owned));
    add_of(&Cli::command(), &mut known);
    known
}

fn add_of(command: &Command, known: &mut BTreeSet<String>) {
    let variables = command.get_arguments().filter_map(|argument| argument.get_env());
    known.extend(variables.map(|name| name.to_string_lossy().into_owned()));
    for command in command.get_subcommands() {
        add_of(command, known);
    }
}

fn is_unread(name: &str, known: &BTreeSet<String>) -> bool {
    name.starts_with(PREFIX)
        && !known.contains(name)
        && !OF_CONTAINERS.iter().any(|prefix| name.starts_with(prefix))
}

/// The known name that differs least, unless most of it differs.
fn nearest<'a>(name: &str, known: &'a BTreeSet<String>) -> Option<&'a str> {
    let upper = name.to_ascii_uppercase();
    // Otherwise the files of secrets would be near to everything with a short end.
    let may_be_meant = |known: &&String| !known.ends_with("_FILE") || upper.contains("FILE");
    let distances = known
        .iter()
        .filter(may_be_meant)
        .map(|known| (strsim::osa_distance(&upper, known), known));
    let (distance, nearest) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance <= (name.len() - PREFIX.len()) / 2).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets_of(command: &Command, found: &mut BTreeSet<String>) {
        let hidden = command
            .get_arguments()
            .filter(|argument| argument.is_hide_env_values_set());
        let names = hidden.filter_map(|argument| argument.get_env());
        found.extend(names.map(|name| name.to_string_lossy().into_owned()));
        for command in command.get_subcommands() {
            secrets_of(command, found);
        }
    }

    #[test]
    fn every_secret_may_be_in_a_file() {
        let known = known();
        let mut secrets = BTreeSet::from([oidc::SECRET, ldap::PASSWORD].map(str::to_owned));
        secrets_of(&Cli::command(), &mut secrets);
        assert!(secrets.len() >= 6, "{secrets:?}");
        for secret in secrets {
            assert!(known.contains(&format!("{secret}_FILE")), "{secret}");
        }
    }

    #[test]
    fn the_nearest_name_is_meant_unless_most_of_it_differs() {
        let known = known();
        for (name, meant) in [
            ("PORTICO_DATABSE", Some("PORTICO_DATABASE")),
            ("PORTICO_DATABASE_URL", Some("PORTICO_DATABASE")),
            ("PORTICO_DATABASEFILE", Some("PORTICO_DATABASE_FILE")),
            ("PORTICO_PUBLICURL", Some("PORTICO_PUBLIC_URL")),
            ("PORTICO_Listen", Some("PORTICO_LISTEN")),
            ("PORTICO_LDAP_PASSWORD", Some("PORTICO_LDAP_BIND_PASSWORD")),
            ("PORTICO_X", None),
            ("PORTICO_", None),
            ("PORTICO_MAXIMUM_UPLOADS", None),
        ] {
            assert!(is_unread(name, &known), "{name}");
            assert_eq!(nearest(name, &known), meant, "{name}");
        }
        for name in [
            "PORTICO_LISTEN",
            "PORTICO_KEY",
            "PORTICO_COPY_FROM",
            "PORTICO_OIDC_CLIENT_SECRET",
            "PORTICO_PORT_7575_TCP_ADDR",
            "PORTICO_SERVICE_HOST",
            "PORTICO",
            "HOME",
        ] {
            assert!(!is_unread(name, &known), "{name}");
        }
    }
}
