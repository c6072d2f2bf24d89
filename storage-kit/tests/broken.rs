//! Implementations that are broken on purpose: the kit names the rule that they break.

mod faulty;
mod support;

use std::sync::Arc;

use faulty::{Fault, Faulty};
use portico_storage_kit::{InProcess, Need, Report, all, run};
use support::Dashboard;

/// The rules that the kit reports as broken.
fn broken(fault: Fault) -> Vec<String> {
    let report = report(fault);
    report.failures().map(|(case, _)| case.rule.clone()).collect()
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
    let mut target = InProcess::new(Arc::new(Faulty::new(inner, fault)), dashboard);
    let mut cases = all();
    // The case of a large answer takes long; only its own fault breaks it.
    cases.retain(|case| (case.file == "large") == (fault == Fault::TooLargeIsCut));
    let report = run(&mut target, &cases, |_| {});
    assert!(report.broken.is_none(), "{report}");
    println!("{fault:?}\n{report}\n");
    report
}

#[test]
fn without_a_fault_no_rule_is_broken() {
    assert_eq!(broken(Fault::None), Vec::<String>::new());
}

/// Of two transactions that collide one is answered `retry`, as PostgreSQL does under SERIALIZABLE.
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

/// A fault, some words of the rule that it breaks, and how many cases may fail at most: cases of other rules
/// must pass.
macro_rules! named {
    ($($name:ident: $fault:ident => $words:expr, $most:expr;)+) => {
        $(#[test]
        fn $name() {
            let rules = broken(Fault::$fault);
            assert!(rules.iter().any(|rule| rule.contains($words)), "{rules:#?}");
            assert!(rules.len() <= $most, "{rules:#?}");
        })+
    };
}

named! {
    an_order_by_the_name_instead_of_its_key: OrderedByName => "orders by its bytes", 3;
    an_order_that_forgets_the_id: TiesInAnyOrder => "then by the bytes of the id", 3;
    wildcards_in_searches: Wildcards => "finds substrings in it byte by byte", 5;
    searches_that_ignore_case: SearchIgnoresCase => "finds substrings in it byte by byte", 4;
    an_offset_that_is_ignored: OffsetIgnored => "How many of them to skip", 1;
    a_limit_where_none_was_asked_for: NoLimitIsTen => "A field of a filter that is none does not filter", 4;
    a_provider_that_is_ignored: ProviderIgnored => "Only users of this provider", 3;
    ids_that_are_trimmed: IdsAreTrimmed => "An id that storage cannot hold does not exist", 1;
    a_drop_that_commits: DroppedIsCommitted => "dropped without `commit`, it leaves nothing behind", 12;
    calls_that_commit_by_themselves: EachCallCommits => "no changes of other transactions that have not committed", 40;
    readers_that_see_later_commits: EachReadIsFresh => "A read transaction sees one state", 2;
    an_invite_that_is_taken_twice: InviteTakenTwice => "of several concurrent calls, one succeeds", 3;
    an_invite_that_is_good_when_it_expires: InviteGoodAtItsEnd => "expires later than `now`", 1;
    an_app_that_stays_on_boards: AppStaysOnBoards => "removes it from every board that shows it", 2;
    a_user_who_leaves_everything_behind: UserLeavesEverythingBehind => "memberships, preferences, keys, sessions, identities", 10;
    an_old_password_that_is_not_compared: OldPasswordNotCompared => "if it still is `old`", 5;
    sessions_that_survive_a_new_password: SessionsSurvivePassword => "the user's sessions end with the commit", 3;
    sessions_that_end_with_another_hash: RehashEndsSessions => "sessions stay", 3;
    oneself_as_another_administrator: OneselfIsAnotherAdmin => "Whether any user except this one holds the permission `admin`", 4;
    names_taken_by_another_providers_user: NamesUniqueAcrossProviders => "The provider already has a user with this name-key", 5;
    a_color_scheme_that_is_forgotten: ColorSchemeForgotten => "Sets the colour scheme", 1;
    a_second_membership_that_is_no_success: MemberTwiceIsFalse => "Makes a user a member of a group, if they are not one already", 1;
    a_reference_that_is_answered_as_something_else: ReferenceIsUnavailable => "A record that this one refers to does not exist", 1;
    a_commit_that_succeeds_after_a_failure: CommitAfterFailureSucceeds => "its `commit` fails", 3;
    a_version_that_never_grows: VersionNeverGrows => "and still has this `password-version`", 5;
    a_version_that_grows_with_another_hash: VersionGrowsWithRehash => "sessions stay and nothing else changes", 2;
    a_version_that_all_users_share: VersionShared => "How often `set-password-if` has succeeded for this user", 5;
    api_keys_that_survive_a_reset: KeysSurviveReset => "the user's API keys end as well", 1;
    a_view_that_get_app_ignores: ViewIgnoredByGet => "an app is in the view of the callers who may view a board", 2;
    a_view_that_get_apps_ignores: ViewIgnoredByGetMany => "that exist and are in this view", 1;
    a_view_that_list_apps_ignores: ViewIgnoredByList => "Only apps in this view", 2;
    a_view_that_count_apps_ignores: ViewIgnoredByCount => "How many apps a filter matches", 2;
    a_page_that_is_cut_before_the_view: PageBeforeView => "Only apps in this view", 1;
    a_group_whose_members_see_nothing: MembersSeeNothing => "an app is in the view of the callers who may view a board", 5;
    a_share_with_users_who_see_nothing: SharedSeeNothing => "an app is in the view of the callers who may view a board", 5;
    creators_who_see_nothing: CreatorsSeeNothing => "an app is in the view of the callers who may view a board", 6;
    public_boards_that_users_do_not_see: PublicForAnonymousOnly => "an app is in the view of the callers who may view a board", 6;
    an_app_that_two_boards_show_twice: AppOnTwoBoardsTwice => "How many apps a filter matches", 4;
    views_that_differ_where_that_is_not_stated: ViewsDifferUnstated => "If they do not, it ignores this", 1;
    a_list_of_users_that_ignores_who_is_disabled: DisabledFilterIgnored => "Only users who are, or are not, disabled", 1;
    a_count_of_users_that_ignores_who_is_disabled: DisabledCountIgnored => "Only users who are, or are not, disabled", 1;
    a_disabled_administrator_who_counts: DisabledAdminCounts => "and is not disabled", 1;
    a_user_who_is_never_disabled: DisablingForgotten => "Disables or enables a user", 6;
    sessions_that_survive_their_disabled_user: SessionsSurviveDisabling => "When a user is disabled, their sessions", 1;
    keys_that_survive_their_disabled_user: KeysSurviveDisabling => "their sessions and API keys end with the commit", 1;
    a_disabled_user_who_signs_in: DisabledSignIn => "the user exists, is not disabled", 1;
    an_offset_of_users_that_is_ignored: UserOffsetIgnored => "How many of them to skip", 2;
    images_that_were_not_asked_for: ImagesUnasked => "The image; none if it was not asked for", 1;
    a_count_of_users_that_ignores_the_name: CountIgnoresSearch => "How many users a filter matches", 3;
    an_id_in_use_that_replaces_its_record: DuplicateIdReplaces => "May violate what the functions before it may violate", 2;
    an_id_in_use_that_is_answered_as_something_else: DuplicateIdIsUnavailable => "The id of a new record is in use", 3;
    an_id_that_cannot_be_held_and_is_ignored: UnheldIdIgnored => "cannot be inserted (`constraint.id`)", 4;
    a_lookup_that_is_refused: LookupRefused => "Exactly one function that reads", 3;
    an_empty_transaction_that_cannot_be_committed: EmptyCommitFails => "`begin` may be lazy", 1;
    an_image_that_is_never_removed: ImageNeverRemoved => "Sets or removes the image", 1;
    a_mobile_board_that_is_forgotten: MobileBoardForgotten => "Sets the home boards", 3;
    a_preference_for_new_tabs_that_is_forgotten: NewTabForgotten => "Sets the search preferences", 2;
    ping_icons_that_are_forgotten: PingIconsForgotten => "Sets whether apps show the state of their ping", 1;
    a_first_day_of_the_week_that_is_forgotten: FirstDayForgotten => "Sets the first day of the week", 1;
    an_answer_that_is_cut_where_it_is_too_large: TooLargeIsCut => "more than 100,000,000 bytes of text", 1;
    a_user_who_is_not_there_and_is_set: MissingUserIsSet => "false if there is no such user, here and in the functions that follow", 1;
    two_that_each_read_what_the_other_removes: WriteSkew => "as if they ran one after the other", 1;
}
