//! The bug museum: faults that others had, one room a kind, each built as small as it can be and put before the binary.
//!
//! A row is a row of our list of cases; the number stands at each test with what went wrong, in our words. What other tests
//! at the level of the binary already show is not shown again here:
//!
//! | row | where |
//! |---|---|
//! | 5 | `snapshot_list::invalid_stamps_are_no_generations_…` |
//! | 9 | `snapshot_list::hostile_names_…`, `terminal::no_colour_…` |
//! | 16 a, b | `restore::bad_bytes_are_refused_…` |
//! | 17 a | `restore::a_torn_pair_is_torn_…` |
//! | 24 | `restore::an_uncheckpointed_wal_…` |
//! | 36 | `restore::identity_is_refused_…`, `terminal::another_name_is_no_consent` |
//! | 38 c, d | `terminal::a_pipe_of_yes_…`, `terminal::ctrl_c_at_the_question_…` |
//! | 39 | `snapshot_list::head_ends_quietly` |

mod bucket;
mod content;
mod files;
mod interruption;
mod missing;
mod names;
mod output;
mod paging;
mod sidecars;
mod stores;
mod units;
