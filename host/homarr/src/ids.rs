//! Which ids of Homarr's records Portico accepts as they are.

use crate::report::{Kind, Report, shown};

/// The id that Portico uses for the operator.
const OPERATOR: &str = "operator";

/// Whether Portico accepts an id as it is. Notes the record if not.
pub(crate) fn check_id(report: &mut Report, kind: Kind, id: &str, name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let fits = (1..=128).contains(&id.len()) && id.bytes().all(is_plain) && id != OPERATOR;
    if !fits {
        report.leave_out(
            kind,
            name,
            format!("its id {:?} is none that Portico stores", shown(id)),
        );
    }
    fits
}
