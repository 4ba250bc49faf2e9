//! The bug museum: faults that others had, one room a kind, each built as small as it can be and put before the binary.
//!
//! A row is a row of our list of cases, an incident one of the 25 most instructive ones that we know of; its number stands at
//! each test with what went wrong, in our words. What other tests already show is not shown again here, but registered, and
//! [`register`] sees to it that what is registered exists and that nothing is left out:
//!
//! | what | where else |
//! |---|---|
//! | row 1 | `retention_s3::half_a_listing_explains_nothing`, `retention_explain::a_pin_beyond_the_first_thousand_records_counts` |
//! | row 3 | `snapshot_list::boxes_are_told_apart_by_whole_names_and_legacy_keys_are_no_box` |
//! | row 5 | `snapshot_list::invalid_stamps_are_no_generations_and_stamps_ahead_are_flagged_and_never_a_default` |
//! | row 7 | `retention_s3::odd_names_survive_the_wire`, `retention_run::odd_names_go_exactly` |
//! | row 9 | `snapshot_list::hostile_names_never_reach_the_terminal_and_json_keeps_them`, `terminal::colour::every_command_paints_words_of_ours_alone` |
//! | row 12 | `on_s3::a_store_that_does_not_answer_right_ends_with_its_own_code_and_names_no_secret` |
//! | row 14 | `retention_s3::throttling_is_waited_for_and_missing_is_done`, `retention_s3::what_fails_is_said_and_finished_by_the_next_run` |
//! | row 16 | `restore::bad_bytes_are_refused_before_the_target_is_touched` |
//! | row 17 | `restore::a_torn_pair_is_torn_and_its_generation_can_be_chosen` |
//! | row 22 | `retention_explain::a_pointer_is_verified_by_its_own_bytes` |
//! | row 24 | `restore::an_uncheckpointed_wal_of_a_killed_agent_is_folded_in_and_never_beside_the_new_registry` |
//! | row 29 | `registry::routes::a_row_that_cannot_be_read_blocks_its_app_and_no_other` |
//! | row 33 | `install_sweep::at_every_point_the_path_holds_the_old_or_the_new_registry_and_a_second_run_converges` |
//! | row 35 | `restore::an_agent_in_any_state_but_stopped_is_refused_with_the_state` |
//! | row 36 | `restore::identity_is_refused_when_wrong_and_when_unknown`, `terminal::prompts::another_name_is_no_consent` |
//! | row 38 | `terminal::prompts::where_nobody_can_be_asked_the_flag_is_named_and_nothing_is_done`, `terminal::prompts::ctrl_c_at_the_question_ends_with_130_and_a_visible_cursor` |
//! | row 39 | `snapshot_list::head_ends_quietly` |
//! | row 41 | `retention_s3::a_preview_never_asks_for_a_write`, `retention_run::the_previews_write_nothing_and_the_run_deletes_what_they_showed` |
//! | row 42 | `retention_explain::ship_time_orders_and_not_the_name` |
//! | row 44 | `retention_explain::exactly_so_many_are_kept_and_the_fallback_too` |
//! | row 45 | `retention_explain::an_input_that_does_not_read_refuses_and_says_which`, `retention_s3::fleets_that_cannot_be_listed_refuse_every_app` |
//! | row 46 | `retention_explain::six_hours_are_six_hours_and_the_newest_report_of_a_host_counts` |
//! | row 49 | `retention_run::shared_artifacts_survive` |
//! | row 50 | `retention_explain::other_boxes_pins_count_and_their_passes_are_hazards` |
//! | incident 1 | `restore::an_uncheckpointed_wal_of_a_killed_agent_is_folded_in_and_never_beside_the_new_registry` |
//! | incident 2 | `restore::a_process_that_holds_the_registry_is_named`, the guard that could never fire |
//! | incident 5 | `restore::what_may_be_overridden_is_overridden_one_by_one_and_written_down` |
//! | incident 6 | `restore::without_a_terminal_and_without_the_flag_it_names_the_flag_at_once`, `snapshot_list::a_clobbering_standby_is_seen_by_the_collapse_with_the_countdown_to_the_eviction` |
//! | incident 7 | `snapshot_list::data_at_risk_is_what_the_box_reported_after_its_last_good_snapshot`; that clients of a registry have caches does not apply: the platform bumps its serial itself, and nothing of ours writes it |
//! | incident 8 | `restore_watch::a_clobber_from_end_to_end`, `box_half::an_unrestored_standby_of_the_dead_boxs_label_is_held_and_restorable` |
//! | incident 9 | `restore::identity_is_refused_when_wrong_and_when_unknown` |
//! | incident 12 | `restore_watch::under_a_label_of_its_own_the_first_snapshot_must_have_every_restored_route`, `restore_watch::under_the_same_label_silence_is_the_proof_and_a_new_generation_an_alarm` |
//! | incident 13 | `snapshot_list::invalid_stamps_are_no_generations_and_stamps_ahead_are_flagged_and_never_a_default`, `snapshot_list::a_torn_pair_of_one_size_is_seen_by_the_order_of_the_writes` |
//! | incident 17 | `retention_s3::a_preview_never_asks_for_a_write` |
//! | incident 18 | `retention_run::shared_artifacts_survive`, `retention_explain::ship_time_orders_and_not_the_name` |
//! | incident 19 | `retention_explain::other_boxes_pins_count_and_their_passes_are_hazards` |
//! | incident 21 | `snapshot_hold::a_held_snapshot_outlives_the_pruning_and_is_chosen_by_its_hold` |
//! | incident 22 | `retention_s3::what_fails_is_said_and_finished_by_the_next_run` |
//! | incident 24 | `store_bodies::a_listing_that_is_not_whole_is_an_error` |
//! | incident 25 | `retention_s3::what_fails_is_said_and_finished_by_the_next_run`, `restore::without_a_terminal_and_without_the_flag_it_names_the_flag_at_once` |
//! | a clock that kills a healthy lock | does not apply to locks, which are the kernel's and have no age: `host::interlock::a_lock_file_that_a_killed_run_left_is_no_lock`; to ages: `museum::stores::a_store_whose_clock_disagrees_is_not_restored_from`, `museum::deleting::with_clocks_that_disagree_nothing_is_deleted` |
//! | a stale lock | `museum::locks::a_lock_file_whose_holder_is_gone_is_no_lock` |
//! | a clock told as a 403 | `museum::stores::clocks_that_disagree_are_both_printed` |
//! | a file left to root, a mode of a directory | `museum::files::what_root_does_leaves_nothing_to_root_and_the_directories_as_they_were` |
//! | a plan run twice | `retention_run::the_previews_write_nothing_and_the_run_deletes_what_they_showed`, `retention_run::an_empty_plan_is_used_once_too` |
//! | healthy, and not restorable | `drill::a_clobbered_box_is_bad_and_its_last_good_one_is_rehearsed_on_demand`, `drill::each_rung_is_failed_by_what_it_stands_for` |
//! | an error without a next step | `museum::stores::every_store_that_cannot_be_used_has_its_own_words` |
//! | what a restore needs and nobody saved | does not apply: a snapshot is opened without any key; `CARLOS_SECRETS_KEY` is the operator's to keep, and the runbooks ask for it |
//! | a drill that only compares digests | `drill::each_rung_is_failed_by_what_it_stands_for` |
//! | a minimum that counts what cannot be restored | `museum::deleting::what_is_in_the_making_is_no_garbage_and_takes_no_place` |
//! | a state to be made before a restore | `museum::files::without_an_old_registry_the_directory_says_whose_it_is` |

mod bucket;
mod canary;
mod choosing;
mod content;
mod deleting;
mod documents;
mod files;
mod interruption;
mod locks;
mod missing;
mod modes;
mod names;
mod output;
mod paging;
mod register;
mod replacing;
mod sidecars;
mod stores;
mod tricks;
mod units;
