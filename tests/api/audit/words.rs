//! What the console calls the rows of the audit log.

use std::sync::Arc;

use portico_console::audited;
use portico_model::error::Code;
use portico_storage::memory::MemoryStorage;
use portico_tests::TestService;

#[test]
fn every_procedure_and_every_outcome_has_words_in_both_languages() {
    let listening = TestService::over(Arc::new(MemoryStorage::new())).listen();
    let table = &listening.service.table;
    let mut names: Vec<&str> = table.iter().map(|procedure| procedure.name).collect();
    names.extend([
        "sign-in",
        "sign-out",
        "restore",
        "import",
        "relink",
        "OK",
        "NOT_RECORDED",
    ]);
    let codes = [
        Code::BadRequest,
        Code::Unauthorized,
        Code::Forbidden,
        Code::NotFound,
        Code::Conflict,
        Code::PayloadTooLarge,
        Code::TooManyRequests,
        Code::InternalServerError,
        Code::ServiceUnavailable,
        Code::Timeout,
    ];
    names.extend(codes.map(Code::name));
    let without: Vec<_> = names
        .iter()
        .filter(|name| {
            let (english, german) = (audited(name, "en"), audited(name, "de"));
            english == **name || german == **name || english == german
        })
        .collect();
    assert!(
        without.is_empty(),
        "host/console/src/texts/audited.rs lacks {without:?}"
    );
}
