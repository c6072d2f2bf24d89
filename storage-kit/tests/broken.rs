//! Implementations that are broken on purpose: the kit names the rule that they break.

mod faulty;
mod support;

use std::sync::{Arc, LazyLock, Mutex};
use std::thread;

use faulty::{Fault, Faulty};
use portico_storage_kit::{Case, InProcess, Need, Report, all, run};
use support::Dashboard;

static CASES: LazyLock<Vec<Case>> = LazyLock::new(all);

/// The cases that the kit reports as broken.
fn broken(fault: Fault) -> Vec<String> {
    let report = report(fault);
    report.failures().map(|(case, _)| case.name.clone()).collect()
}

fn report(fault: Fault) -> Report {
    let differ = fault.is_of_views();
    let inner = match differ || fault == Fault::ViewsDifferUnstated {
        true => support::memory_with_apps_by_board(),
        false => support::memory(),
    };
    let mut dashboard = Dashboard::new(inner.clone());
    if differ {
        dashboard = dashboard.with_apps_by_board();
    }
    if fault == Fault::DisabledSignIn {
        dashboard = dashboard.letting_disabled_in();
    }
    if fault == Fault::DisabledKey {
        dashboard = dashboard.giving_disabled_keys();
    }
    if fault == Fault::SignInUnlocked {
        dashboard = dashboard.checking_version_early();
    }
    let mut target = InProcess::new(Arc::new(Faulty::new(inner, fault)), dashboard);
    let mut cases = CASES.clone();
    // The cases of large answers take long; only their own faults break them.
    let is_of_large = matches!(fault, Fault::TooLargeIsCut | Fault::TooManyUsersAreCut);
    cases.retain(|case| (case.file == "large") == is_of_large);
    let report = run(&mut target, &cases, |_| {});
    assert!(report.broken.is_none(), "{report}");
    println!("{fault:?}\n{report}\n");
    report
}

#[test]
fn without_a_fault_no_rule_is_broken() {
    assert_eq!(broken(Fault::None), Vec::<String>::new());
}

/// If two transactions collide, one gets `retry`, as from PostgreSQL under SERIALIZABLE.
#[test]
fn a_storage_that_answers_retry_to_collisions_breaks_no_rule() {
    assert_eq!(broken(Fault::Optimistic), Vec::<String>::new());
}

/// The transaction of the database begins with the first function.
#[test]
fn a_storage_that_begins_lazily_breaks_no_rule() {
    assert_eq!(broken(Fault::Lazy), Vec::<String>::new());
}

/// Cases that need ids of any text are skipped, and no other one fails.
#[test]
fn a_storage_whose_ids_are_uuids_breaks_no_rule() {
    let report = report(Fault::UuidColumns);
    assert!(report.is_kept(), "{report}");
    let needs: Vec<_> = report.skipped().map(|(case, _)| case.needs).collect();
    assert!(needs.contains(&Some(Need::TextIds)), "{report}");
    let is_known = |need: &Option<Need>| matches!(need, Some(Need::TextIds | Need::AppsByBoard));
    assert!(needs.iter().all(is_known), "{report}");
}

/// A fault, in words, a case that it breaks, and how many cases may fail at most: cases of other rules must pass.
struct Named {
    what: &'static str,
    fault: Fault,
    case: &'static str,
    most: usize,
}

macro_rules! named {
    ($($what:ident: $fault:ident => $case:expr, $most:expr;)+) => {
        const NAMED: &[Named] = &[
            $(Named { what: stringify!($what), fault: Fault::$fault, case: $case, most: $most },)+
        ];
    };
}

/// Two at once, because most of the time they wait: for transactions that wait for each other.
#[test]
fn each_fault_breaks_its_rule_and_few_others() {
    let (rows, wrong) = (Mutex::new(NAMED.iter()), Mutex::new(Vec::new()));
    let next = || rows.lock().expect("the lock").next();
    let check_all = || {
        while let Some(row) = next() {
            let cases = broken(row.fault);
            if !cases.iter().any(|case| case == row.case) || cases.len() > row.most {
                let Named { what, case, most, .. } = row;
                let found = format!("{what}: {case:?} and at most {most} in all, not {cases:#?}");
                wrong.lock().expect("the lock").push(found);
            }
        }
    };
    thread::scope(|scope| (0..2).for_each(|_| _ = scope.spawn(check_all)));
    let wrong = wrong.into_inner().expect("the lock");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

named! {
    an_order_by_the_name_instead_of_its_key: OrderedByName => "the name-key gives the order, not the name", 3;
    an_order_that_forgets_the_id: TiesInAnyOrder => "ids of one name come in the order of their bytes", 3;
    wildcards_in_searches: Wildcards => "substrings of the name-key are found byte by byte, and no character stands for another", 5;
    searches_that_ignore_case: SearchIgnoresCase => "substrings of the name-key are found byte by byte, and no character stands for another", 4;
    an_offset_that_is_ignored: OffsetIgnored => "offset and limit cut a piece out of the order", 1;
    a_limit_where_none_was_asked_for: NoLimitIsTen => "a list without a limit is whole", 4;
    a_provider_that_is_ignored: ProviderIgnored => "users are filtered by provider, limited, and both", 3;
    ids_that_are_trimmed: IdsAreTrimmed => "apps by ids of any text are not there", 1;
    a_drop_that_commits: DroppedIsCommitted => "a transaction that is dropped leaves nothing behind", 12;
    calls_that_commit_by_themselves: EachCallCommits => "uncommitted changes are not seen by other transactions", 40;
    readers_that_see_later_commits: EachReadIsFresh => "a reader sees one state from its first read to its end", 2;
    an_invite_that_is_taken_twice: InviteTakenTwice => "of two that try to take an invite one takes it", 3;
    an_invite_that_is_good_when_it_expires: InviteGoodAtItsEnd => "an invite is good with its secret, before it expires and not from then on", 1;
    an_app_that_stays_on_boards: AppStaysOnBoards => "an app that is removed leaves every board", 2;
    a_user_who_leaves_everything_behind: UserLeavesEverythingBehind => "a user is removed with everything that is theirs", 10;
    an_old_password_that_is_not_compared: OldPasswordNotCompared => "a password is replaced where it still is the old one, and only there", 5;
    sessions_that_survive_a_new_password: SessionsSurvivePassword => "a new password ends the user's other sessions, when it is committed", 3;
    sessions_that_end_with_another_hash: RehashEndsSessions => "another hash of the same password ends no session", 3;
    oneself_as_another_administrator: OneselfIsAnotherAdmin => "another administrator is another user who holds the permission", 4;
    names_taken_by_another_providers_user: NamesUniqueAcrossProviders => "a name is taken once within a provider", 5;
    a_color_scheme_that_is_forgotten: ColorSchemeForgotten => "the colour scheme is set, and nothing else changes", 1;
    a_second_membership_that_is_no_success: MemberTwiceIsFalse => "a member of a group is one once, and a group that is not there has none", 1;
    a_reference_that_is_answered_as_something_else: ReferenceIsUnavailable => "a subject of a user who does not exist is refused", 1;
    a_commit_that_succeeds_after_a_failure: CommitAfterFailureSucceeds => "a transaction in which a call failed takes no more writes and cannot be committed", 3;
    a_version_that_never_grows: VersionNeverGrows => "a sign-in whose password is replaced meanwhile begins no session", 6;
    a_version_that_grows_with_another_hash: VersionGrowsWithRehash => "another hash of the same password leaves its version", 2;
    a_version_that_all_users_share: VersionShared => "the version of a password counts how often it was set", 5;
    api_keys_that_survive_a_reset: KeysSurviveReset => "a password set by another user ends the API keys of its user, and one set by that user does not", 1;
    a_view_that_get_app_ignores: ViewIgnoredByGet => "an app is answered to the viewers of a board that shows it", 2;
    a_view_that_get_apps_ignores: ViewIgnoredByGetMany => "of several apps those are answered that a viewer sees", 1;
    a_view_that_list_apps_ignores: ViewIgnoredByList => "apps are listed for a viewer, page by page and by their names", 2;
    a_view_that_count_apps_ignores: ViewIgnoredByCount => "apps are counted for a viewer, and by their names", 2;
    a_page_that_is_cut_before_the_view: PageBeforeView => "apps are listed for a viewer, page by page and by their names", 1;
    a_group_whose_members_see_nothing: MembersSeeNothing => "an app is answered to the viewers of a board that shows it", 5;
    a_share_with_users_who_see_nothing: SharedSeeNothing => "an app is answered to the viewers of a board that shows it", 5;
    creators_who_see_nothing: CreatorsSeeNothing => "an app is answered to the viewers of a board that shows it", 6;
    public_boards_that_users_do_not_see: PublicForAnonymousOnly => "an app is answered to the viewers of a board that shows it", 6;
    an_app_that_two_boards_show_twice: AppOnTwoBoardsTwice => "apps are counted for a viewer, and by their names", 4;
    views_that_differ_where_that_is_not_stated: ViewsDifferUnstated => "a dashboard whose views do not differ shows every viewer every app", 1;
    a_list_of_users_that_ignores_who_is_disabled: DisabledFilterIgnored => "users are listed and counted by whether they are disabled", 1;
    a_count_of_users_that_ignores_who_is_disabled: DisabledCountIgnored => "users are listed and counted by whether they are disabled", 1;
    a_disabled_administrator_who_counts: DisabledAdminCounts => "an administrator who is disabled is no other administrator", 1;
    a_user_who_is_never_disabled: DisablingForgotten => "a user is disabled and enabled, and nothing else changes", 8;
    sessions_that_survive_their_disabled_user: SessionsSurviveDisabling => "the sessions of a user who is disabled end with the commit", 1;
    keys_that_survive_their_disabled_user: KeysSurviveDisabling => "the API keys of a user who is disabled end with the commit, and no new one is accepted", 1;
    a_disabled_user_who_gets_a_key: DisabledKey => "the API keys of a user who is disabled end with the commit, and no new one is accepted", 1;
    a_disabled_user_who_signs_in: DisabledSignIn => "a user who is disabled begins no session", 2;
    an_offset_of_users_that_is_ignored: UserOffsetIgnored => "users come in pages, and are counted whatever the page", 2;
    images_that_were_not_asked_for: ImagesUnasked => "images of users are in a list if they are asked for", 1;
    a_count_of_users_that_ignores_the_name: CountIgnoresSearch => "users are counted by each field of a filter", 3;
    an_id_in_use_that_replaces_its_record: DuplicateIdReplaces => "an app whose id is in use is refused, and one that is inserted twice at once", 2;
    an_id_in_use_that_is_answered_as_something_else: DuplicateIdIsUnavailable => "a user whose id is in use is refused", 3;
    an_id_that_cannot_be_held_and_is_ignored: UnheldIdIgnored => "an app whose id is no UUID is stored, or refused with everything in its transaction", 4;
    a_lookup_that_is_refused: LookupRefused => "a lookup answers one function that reads", 3;
    an_empty_transaction_that_cannot_be_committed: EmptyCommitFails => "a transaction in which nothing is called commits, or is dropped", 1;
    an_image_that_is_never_removed: ImageNeverRemoved => "an image is set and removed, and nothing else changes", 1;
    a_mobile_board_that_is_forgotten: MobileBoardForgotten => "home boards are set and removed, and nothing else changes", 3;
    a_preference_for_new_tabs_that_is_forgotten: NewTabForgotten => "search preferences are set and removed, and nothing else changes", 2;
    ping_icons_that_are_forgotten: PingIconsForgotten => "whether apps show the state of their ping is set, and nothing else changes", 1;
    a_first_day_of_the_week_that_is_forgotten: FirstDayForgotten => "the first day of the week is set, and nothing else changes", 1;
    an_answer_that_is_cut_where_it_is_too_large: TooLargeIsCut => "an answer of more than 100,000,000 bytes is refused, and a page of it is not", 1;
    users_that_are_cut_where_they_are_too_large: TooManyUsersAreCut => "users are too large with their images, and not without", 2;
    a_sign_in_that_locks_no_row: SignInUnlocked => "a sign-in while a password is replaced leaves no session", 2;
    a_user_who_is_not_there_and_is_set: MissingUserIsSet => "name and email change, and nothing else", 1;
    two_that_each_read_what_the_other_removes: WriteSkew => "of two administrators who delete themselves at once one stays", 1;
}
