//! The storage drivers: cases for all of them, and cases for SQLite alone.

mod audit;
mod cascades;
mod copies;
mod dashboard;
mod gate;
mod home_boards;
mod invites;
mod isolation;
mod limits;
mod looks;
mod names;
mod nested;
mod password_links;
#[path = "../../../../tests/support/postgresql.rs"]
mod postgresql;
mod races;
mod records;
#[path = "../../../../tests/support/records.rs"]
mod records_to_store;
mod rights;
mod second_factors;
mod sharing;
mod sqlite_backups;
mod sqlite_batches;
mod sqlite_cancellation;
mod sqlite_files;
mod sqlite_restores;
mod store;

/// Runs each case on each driver. A case that is not listed here is unused code, which the compiler
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
        mod on_postgresql {
            $($(
                #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
                #[ignore = "make test-all"]
                async fn $case() {
                    crate::$module::$case(&crate::store::Store::postgresql().await).await;
                }
            )+)+
        }
    };
}

on_every_driver! {
    isolation {
        a_writer_sees_every_earlier_commit
        a_read_transaction_cannot_write
    }
    names {
        a_text_with_u0000_is_in_no_name
        group_board_and_engine_names_are_taken_once
    }
    races {
        one_of_fifty_that_take_an_invite_gets_it
        one_of_fifty_that_insert_a_name_succeeds
        one_of_fifty_that_replace_a_password_succeeds
        no_parallel_commit_is_lost
    }
    cascades {
        extras_are_kept_with_their_record_and_go_with_it
        deleting_a_user_deletes_everything_that_is_theirs
        deleting_an_app_removes_it_from_every_board
        deleting_a_board_clears_it_as_home_board
        deleting_a_group_takes_its_permissions_away
    }
    records {
        the_subject_of_a_user_is_that_of_the_provider
        a_subject_is_replaced_unless_another_user_has_it
        what_was_refused_cannot_be_committed
        a_user_of_the_same_id_as_a_deleted_one_is_not_disabled
        a_reference_to_nothing_is_refused
    }
    dashboard {
        keys_and_sessions_are_found_with_their_users_permissions
        the_hash_of_an_imported_key_is_replaced_once
        using_a_session_moves_its_expiry_and_not_its_end
        expired_sessions_are_removed_and_no_others
        a_thousand_expired_sessions_are_removed_at_once
        invites_are_good_with_the_right_token_until_they_expire
        a_board_reads_back_with_its_items_in_order
        a_board_reads_back_with_its_sections_sizes_notes_and_clocks
        a_short_address_leads_to_one_board
        search_engines_read_back_by_name
        a_board_is_replaced_with_its_items_and_keeps_its_shares
        a_search_engine_is_replaced_unless_another_has_its_name_or_short
        a_group_is_renamed_unless_another_has_the_name
    }
    invites {
        the_user_of_an_invite_joins_the_groups_that_are_left
        an_invite_of_who_is_no_administrator_any_more_gives_no_groups
        who_has_the_token_finds_the_invite
        who_has_the_hash_of_the_token_takes_the_invite_once
    }
    audit {
        a_commit_writes_its_row_with_the_created_record_as_target
        a_transaction_that_is_not_committed_has_no_row
        a_changed_record_that_the_input_does_not_name_is_the_target
        a_transaction_with_parts_has_one_row
        rows_are_filtered_and_removed_the_oldest_first
    }
    nested {
        the_writes_of_parts_are_durable_with_the_whole
        dropping_the_whole_undoes_its_parts
        a_part_that_wrote_and_was_dropped_breaks_the_whole
        a_part_in_which_a_call_failed_breaks_the_whole
        parts_are_open_one_at_a_time_and_read_only_ones_cannot_write
    }
    rights {
        groups_are_found_by_name_key_and_by_member
        grant_admin_uses_the_group_admins
        groups_show_permissions_and_members_in_order
    }
    home_boards {
        home_boards_of_groups_come_by_their_names_and_before_everyones
        a_home_board_is_replaced_and_goes_with_its_group_and_its_board
        the_home_boards_of_twenty_groups_count
    }
    sharing {
        a_share_lets_people_change_a_board_or_only_view_it
        of_some_boards_those_are_listed_that_a_user_or_everyone_may_view
        what_is_shared_no_longer_can_no_longer_be_changed
        a_viewer_sees_apps_if_they_see_each_of_them
        what_is_stored_decides_who_sees_which_app_unless_it_is_fixed
        the_boards_of_an_app_and_the_groups_that_see_all_are_found_by_name
        who_sees_an_app_is_named_up_to_a_bound_and_counted
    }
    password_links {
        a_link_is_its_users_until_it_expires_is_replaced_or_is_used
        a_link_ends_with_the_password_its_user_and_its_maker
        another_hash_of_the_same_password_ends_no_link
        nobody_gets_a_link_who_is_missing_or_disabled
    }
    second_factors {
        second_factors_read_back_by_id_and_a_passkey_by_its_handle
        a_user_has_codes_of_one_app_and_a_handle_is_taken_once
        a_counter_only_advances_and_data_is_replaced
        a_recovery_code_is_taken_once_and_new_ones_replace_all
        of_many_that_use_the_same_code_at_once_one_does
        second_factors_go_one_by_one_and_with_their_user
    }
    gate {
        what_is_set_of_an_app_reads_back_and_goes_with_it
        an_app_is_found_by_who_sees_it_and_one_that_is_open_on_a_public_board
        a_pass_is_good_as_long_as_its_session_and_the_token_of_that
    }
    looks {
        looks_read_back_as_they_were_set
        a_picture_is_stored_once_and_outlives_who_uploaded_it
        a_picture_that_the_extras_of_a_board_name_stays_with_the_board
        pictures_that_nothing_uses_go_and_no_others
    }
    limits {
        a_list_with_too_much_text_is_refused_before_a_record_is_read
        an_answer_may_have_exactly_as_much_text_as_the_contract_says
        an_id_of_an_app_is_used_once
        an_id_that_is_in_use_refuses_no_other_transaction
    }
}
