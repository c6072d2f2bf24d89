//! What becomes of the groups that a provider states: the settings that OpenID Connect and LDAP share.

use std::collections::BTreeMap;

use anyhow::{Context as _, anyhow, bail};
use portico_service::{external::GroupRules, json};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::provider::{switch, value};

/// The settings of one provider, as they were written.
pub struct GroupSettings<'a> {
    pub map: &'a Option<String>,
    pub unmapped: &'a Option<String>,
    pub create: &'a Option<String>,
    pub admin: &'a Option<String>,
}

impl GroupSettings<'_> {
    /// The rules. `provider` is what the names of the settings begin with.
    pub fn rules(&self, provider: &str) -> anyhow::Result<GroupRules> {
        let named = |setting: &str| format!("{provider}-{setting}");
        let unmapped = match value(self.unmapped) {
            None => None,
            Some("match") => Some(true),
            Some("ignore") => Some(false),
            Some(other) => bail!("{} {other:?} must be match or ignore", named("unmapped-groups")),
        };
        let creates = switch(&named("create-groups"), self.create)?.unwrap_or_default();
        let map = read_map(self.map).with_context(|| named("group-map"))?;
        let rules = GroupRules::new(map, unmapped, creates, value(self.admin));
        rules.map_err(|problem| {
            let settings = ["group-map", "unmapped-groups", "admin-group"].map(named);
            anyhow!("{problem}").context(settings.join(", "))
        })
    }
}

/// A map: an object in JSON.
fn read_map(text: &Option<String>) -> anyhow::Result<Vec<(String, String)>> {
    let expected = "must be an object like {\"their group\": \"group here\"}";
    let Some(text) = value(text) else {
        return Ok(Vec::new());
    };
    let Value::Object(entries) = json::read(text.as_bytes()).context(expected)? else {
        bail!(expected);
    };
    let entries = entries.into_iter().map(|(theirs, ours)| match ours {
        Value::String(ours) => Ok((theirs, ours)),
        _ => bail!(expected),
    });
    entries.collect()
}

/// Reads a table of texts of the settings file, or a text, as JSON.
pub fn as_json<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Text(String),
        Table(BTreeMap<String, String>),
    }
    Ok(Some(match Written::deserialize(deserializer)? {
        Written::Text(text) => text,
        Written::Table(table) => serde_json::to_string(&table).map_err(serde::de::Error::custom)?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(map: &str, unmapped: &str, create: &str, admin: &str) -> anyhow::Result<GroupRules> {
        let [map, unmapped, create, admin] = [map, unmapped, create, admin].map(|text| Some(text.to_owned()));
        let settings = GroupSettings {
            map: &map,
            unmapped: &unmapped,
            create: &create,
            admin: &admin,
        };
        settings.rules("oidc")
    }

    #[test]
    fn a_table_of_the_file_is_the_same_as_json() {
        #[derive(Deserialize)]
        struct File {
            #[serde(deserialize_with = "as_json")]
            map: Option<String>,
        }
        let read = |text: &str| toml::from_str::<File>(text).map(|file| file.map.unwrap());
        let table = read("[map]\n\"/family\" = \"Family\"\n\"a=b\" = \"C\"").unwrap();
        assert_eq!(table, r#"{"/family":"Family","a=b":"C"}"#);
        assert_eq!(read(r#"map = '{"a": "b"}'"#).unwrap(), r#"{"a": "b"}"#);
        assert!(read("map = 7").is_err() && read("map.a = 7").is_err());
        assert!(rules(&table, "", "", "").unwrap() != GroupRules::default());
    }

    #[test]
    fn without_settings_groups_are_matched_by_name() {
        assert_eq!(rules("", "", "", "").unwrap(), GroupRules::default());
        assert_eq!(rules("{}", "match", "off", "").unwrap(), GroupRules::default());
    }

    #[test]
    fn what_is_wrong_names_the_setting() {
        for (map, unmapped, create, setting) in [
            ("family=Family", "", "", "oidc-group-map"),
            ("[]", "", "", "oidc-group-map"),
            (r#"{"a": 7}"#, "", "", "oidc-group-map"),
            (r#"{"a": "b", "a": "c"}"#, "", "", "oidc-group-map"),
            (r#"{"a": "b", "A": "c"}"#, "", "", "oidc-group-map"),
            (r#"{"a": ""}"#, "", "", "oidc-group-map"),
            ("", "create", "", "oidc-unmapped-groups"),
            ("", "ignore", "", "oidc-unmapped-groups"),
            ("", "", "yes", "oidc-create-groups"),
        ] {
            let problem = format!("{:#}", rules(map, unmapped, create, "").unwrap_err());
            assert!(problem.contains(setting), "{problem}");
        }
    }
}
