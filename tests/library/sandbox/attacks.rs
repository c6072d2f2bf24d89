//! Each misbehaviour costs its own caller an error, and other callers nothing. While Mallory attacks,
//! others make 1,000 calls, all of which are answered correctly; afterwards nothing of the attack is
//! there.

use portico_tests::Fixtures;

use super::service::{Hostile, ask_for_one, assert_refused};

#[track_caller]
fn costs(misbehaviour: &str, status: u16, code: &str) {
    let hostile = Hostile::start();
    hostile.attack_beside_a_thousand_calls(misbehaviour, status, code);
    hostile.assert_untouched();
}

const FAULT: (u16, &str) = (500, "INTERNAL_SERVER_ERROR");
const TIMEOUT: (u16, &str) = (504, "TIMEOUT");

/// A test for each: its name, the misbehaviour, what its caller gets.
macro_rules! each_costs_only_its_own_caller {
    ($($name:ident: $misbehaviour:literal => $cost:expr;)*) => {$(
        #[test]
        fn $name() {
            costs($misbehaviour, $cost.0, $cost.1);
        }
    )*};
}

each_costs_only_its_own_caller! {
    an_endless_loop_ends: "loop" => TIMEOUT;
    an_endless_loop_over_storage_ends: "loop-over-storage" => FAULT;
    an_endless_loop_over_lists_ends: "loop-over-lists" => FAULT;
    a_loop_in_a_write_transaction_ends_and_leaves_nothing: "loop-in-write:Looping" => TIMEOUT;
    reading_on_and_on_in_a_write_transaction_ends_and_leaves_nothing: "lists-in-write:Reading" => FAULT;
    looking_up_thousands_of_long_names_is_refused: "icons:3500:65536" => FAULT;
    looking_up_icons_on_and_on_ends: "icons-on-and-on" => TIMEOUT;
    millions_of_ids_are_refused: "ids:5000000" => FAULT;
    copying_memory_on_and_on_ends: "copy" => TIMEOUT;
    a_second_transaction_is_refused_before_it_waits_for_the_first: "begin-twice:Twice #" => FAULT;
    transactions_that_are_never_dropped_take_no_connections_from_others: "handles" => FAULT;
    a_memory_bomb_ends: "memory" => FAULT;
    endless_recursion_ends: "recursion" => FAULT;
    a_panic_ends: "panic:at the disco" => FAULT;
    a_trap_in_the_middle_of_a_write_leaves_nothing: "trap-in-write:Half #" => FAULT;
    a_flood_of_log_lines_ends: "log:1000000" => FAULT;
    a_flood_of_huge_log_lines_ends: "log-huge:1000" => FAULT;
    too_many_random_bytes_are_refused: "random:1000000000000" => FAULT;
    a_list_of_small_records_that_is_large_in_the_host_is_refused: "many:1900000" => FAULT;
    a_list_that_holds_the_same_text_again_and_again_is_refused: "aliases:100" => FAULT;
    a_list_with_texts_that_grow_in_json_is_refused: "escapes:60000000" => FAULT;
    an_answer_that_is_no_text_is_refused: "not-text" => FAULT;
    a_refusal_of_100_megabytes_is_refused: "long-error:100" => FAULT;
}

#[test]
fn an_answer_of_100_megabytes_is_refused_where_one_record_is_asked_for() {
    let hostile = Hostile::start();
    let answer = ask_for_one(&hostile.mallory, "answer:100");
    assert_refused(&answer, FAULT.0, FAULT.1);
    let answer = ask_for_one(&hostile.server.anonymous(), "answer:3");
    assert_eq!(
        answer.assert_status(200).json()["name"].as_str().map(str::len),
        Some(3 << 20)
    );
    hostile.assert_untouched();
}

#[test]
fn commits_before_a_trap_stay_and_everything_else_is_gone() {
    let hostile = Hostile::start();
    assert_refused(&hostile.attack("trap-after-commit:First"), FAULT.0, FAULT.1);
    assert_eq!(
        hostile.names(),
        ["Archive", "Books", "Calendar", "Diary", "First"]
    );
}

#[test]
fn the_writer_is_free_after_a_trap_in_the_middle_of_a_write() {
    let hostile = Hostile::start();
    for attack in ["trap-in-write:Half", "begin-twice:Twice", "panic"] {
        assert_refused(&hostile.attack(attack), FAULT.0, FAULT.1);
        hostile.ada.app("After");
    }
    assert_eq!(
        hostile.names(),
        ["After", "After", "After", "Archive", "Books", "Calendar", "Diary"]
    );
}

#[test]
fn the_log_has_32_lines_of_a_call_and_says_that_more_were_dropped() {
    let mut hostile = Hostile::start();
    hostile.attack("log:1000").assert_status(200);
    let log = hostile.server.stop().text();
    assert_eq!(log.matches("a line among many").count(), 32);
    assert_eq!(log.matches("reached its limit of log messages").count(), 1);
}

#[test]
fn a_component_cannot_forge_lines_of_the_log() {
    let mut hostile = Hostile::start();
    hostile.attack("log-forged").assert_status(200);
    let log = hostile.server.stop().text();
    assert!(log.contains(r"\n2026-01-01 ERROR forged \u{1b}[2J"), "{log}");
    assert!(!log.contains("\u{1b}[2J"), "{log}");
}

/// The message of a panic may quote an input. The hostile component has the panic handler of the one
/// that ships.
#[test]
fn the_log_has_the_place_of_a_panic_and_not_its_message() {
    let mut hostile = Hostile::start();
    assert_refused(&hostile.attack("panic:canary of a panic"), FAULT.0, FAULT.1);
    let log = hostile.server.stop().text();
    assert!(log.contains("misbehaviour.rs:"), "{log}");
    assert!(!log.contains("canary") && !log.contains("as asked"), "{log}");
}
