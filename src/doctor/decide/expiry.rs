//! What the store itself would remove before anybody needs it.

use super::ready;
use crate::finding::{Code, Finding};
use crate::platform::keys;
use crate::store::{Expiry, ExpiryRule, StoreError};
use crate::terminal;

const SUBJECT: &str = "lifecycle";
/// Where something is that a restore may be made from.
const RESTORED_FROM: [&str; 3] = [keys::SNAPSHOTS, keys::GENERATIONS, keys::HOLDS];
/// How many days an overwritten snapshot is to be kept: a clobber is found when somebody looks, and that is no daily habit.
const NONCURRENT_DAYS: u32 = 30;

/// One check a rule that matters, or one that none does.
pub(super) fn rules(rules: &Result<Vec<ExpiryRule>, StoreError>, checks: &mut Vec<Finding>) {
    let rules = match rules {
        Ok(rules) => rules,
        Err(StoreError::Unsupported { .. }) => {
            checks.push(ready(SUBJECT, "this kind of store has no rules that remove objects by themselves"));
            return;
        }
        Err(error) => {
            let because = format!("not known, so the store may remove snapshots by a rule: {error}");
            checks.push(
                Finding::warning(Code::NotRead, SUBJECT, because)
                    .hint("allow this identity to read the bucket's lifecycle configuration (s3:GetLifecycleConfiguration)"),
            );
            return;
        }
    };
    let before = checks.len();
    for rule in rules {
        checks.extend(rule.effects.iter().filter_map(|effect| danger(rule, *effect)));
    }
    if checks.len() == before {
        checks.push(ready(SUBJECT, kept(rules)));
    }
}

/// That nothing is in danger, and for how long older versions stay.
fn kept(rules: &[ExpiryRule]) -> String {
    let reaching = rules.iter().filter(|rule| rule.reaches(keys::SNAPSHOTS));
    let days = reaching.flat_map(|rule| &rule.effects).filter_map(|effect| match effect {
        Expiry::Noncurrent { days } => Some(u64::from(*days)),
        _ => None,
    });
    match days.min() {
        None => "no rule removes snapshots or holds".to_owned(),
        Some(days) => {
            format!("no rule removes snapshots or holds; what was overwritten is kept for {}", terminal::count(days, "day"))
        }
    }
}

fn danger(rule: &ExpiryRule, effect: Expiry) -> Option<Finding> {
    // A hold is never overwritten.
    let matters =
        |prefix: &&str| rule.reaches(prefix) && (*prefix != keys::HOLDS || !matches!(effect, Expiry::Noncurrent { .. }));
    let reached: Vec<&str> = RESTORED_FROM.into_iter().filter(matters).collect();
    if reached.is_empty() {
        return None;
    }
    let only_some = if rule.narrowed { " (only some, by tag or size)" } else { "" };
    let whose = format!("rule {:?}", rule.id);
    let places = reached.join(", ");
    let because = match effect {
        Expiry::Noncurrent { days } if days >= NONCURRENT_DAYS => return None,
        Expiry::Noncurrent { days } => format!(
            "{whose} removes what was overwritten below {places}{only_some} after {}: the last good version may be gone before \
             a clobber is found",
            terminal::count(u64::from(days), "day")
        ),
        Expiry::Current { days } => {
            let when = days.map_or_else(
                || "at a date".to_owned(),
                |days| format!("{} after they were written", terminal::count(u64::from(days), "day")),
            );
            format!(
                "{whose} removes objects below {places}{only_some} {when}; a box whose registry rests writes no new snapshot"
            )
        }
        Expiry::Archived => {
            format!("{whose} archives objects below {places}{only_some}; they are read only hours after they were asked for")
        }
    };
    let hint = match effect {
        Expiry::Noncurrent { .. } => format!("keep older versions there for {NONCURRENT_DAYS} days or longer"),
        Expiry::Current { .. } | Expiry::Archived => "leave these prefixes out of the rule".to_owned(),
    };
    Some(Finding::warning(Code::NotReady, SUBJECT, because).hint(hint))
}
