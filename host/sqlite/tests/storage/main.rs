//! The storage drivers: one set of cases for all of them, and what only SQLite can get wrong.

mod audit;
mod cascades;
mod copies;
mod dashboard;
mod isolation;
mod names;
mod nested;
mod races;
mod records;
mod rights;
mod sqlite_backups;
mod sqlite_batches;
mod sqlite_files;
mod sqlite_restores;
mod store;

/// Runs each case on each driver. A case that is not listed is unused code, which the compiler
/// reports.
macro_rules! on_every_driver {
    ($($module:ident { $($case:ident)+ })+) => {
        mod memory {
            $($(
                #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
                async fn $case() {
                    crate::$module::$case(&crate::store::Store::memory()).await;
                }
            )+)+
        }
        mod sqlite {
            $($(
                #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
                async fn $case() {
                    crate::$module::$case(&crate::store::Store::sqlite()).await;
                }
            )+)+
        }
    };
}

on_every_driver! {
    isolation {
        a_transaction_sees_its_own_changes
        a_transaction_that_is_dropped_leaves_nothing
        a_reader_sees_one_state_from_its_first_read_on
        a_reader_does_not_see_what_is_not_committed
        a_writer_sees_every_earlier_commit
        a_read_transaction_cannot_write
        a_transaction_that_failed_cannot_be_committed
        insert_apps_is_all_or_nothing
    }
    names {
        apps_and_users_are_ordered_by_the_bytes_of_the_name_key_then_the_id
        substrings_are_found_in_the_name_key_and_nothing_is_a_wildcard
        a_name_is_found_as_soon_as_it_is_there_and_no_longer
        what_is_in_few_names_and_what_is_in_many_is_found_alike
        lists_honour_offset_limit_and_provider
        a_user_name_is_taken_once_for_each_provider
        users_are_found_by_their_whole_email
        a_subject_belongs_to_one_user
        group_board_and_engine_names_are_taken_once
    }
    races {
        one_of_fifty_that_take_an_invite_gets_it
        one_of_fifty_that_insert_a_name_does
        one_of_fifty_that_replace_a_password_does
        nothing_that_was_committed_in_parallel_is_lost
    }
    cascades {
        a_deleted_user_takes_everything_that_is_theirs
        a_deleted_app_leaves_every_board
        a_deleted_board_is_nobodys_home
        a_deleted_group_takes_its_rights_away
        a_deleted_search_engine_is_nobodys_default
    }
    records {
        a_user_reads_back_as_written
        every_change_of_a_user_changes_that_and_nothing_else
        an_account_is_found_by_id_name_and_subject
        a_new_password_ends_the_users_other_sessions
        another_hash_of_the_same_password_ends_no_session
        an_app_reads_back_as_written_and_as_replaced
        get_apps_answers_each_app_once
        a_reference_to_nothing_is_refused
    }
    dashboard {
        keys_and_sessions_are_found_with_their_users_permissions
        a_session_that_is_used_expires_later_and_ends_when_it_did
        expired_sessions_are_removed_and_no_others
        invites_are_good_with_the_right_token_until_they_expire
        a_board_reads_back_with_its_items_in_order
        search_engines_read_back_by_name
        a_board_is_replaced_with_its_items_and_keeps_its_shares
        a_search_engine_is_replaced_unless_its_name_or_short_is_anothers
        a_groups_name_is_written_differently_unless_it_is_anothers
    }
    audit {
        a_commit_writes_its_row_and_what_was_created_is_its_target
        what_is_not_committed_has_no_row
        what_is_changed_without_a_name_is_the_target
        a_transaction_with_parts_has_one_row
        rows_are_filtered_and_removed_the_oldest_first
    }
    nested {
        what_parts_commit_is_durable_with_the_whole
        a_whole_that_is_dropped_leaves_nothing_of_its_parts
        a_part_that_wrote_and_was_dropped_breaks_the_whole
        a_part_in_which_a_call_failed_breaks_the_whole
        parts_are_open_one_at_a_time_and_read_only_ones_cannot_write
    }
    rights {
        who_may_view_a_board
        another_admin_is_another_user_with_the_permission
        groups_are_found_by_name_key_and_by_member
        grant_admin_uses_the_group_admins
        groups_show_permissions_and_members_in_order
    }
}
