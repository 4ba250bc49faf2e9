//! What this identity may do that a restore does not need.

use super::ready;
use crate::finding::{Code, Finding};
use crate::platform::keys;
use crate::store::{Powers, StoreError};

const SUBJECT: &str = "permissions beyond need";

/// Everything that was tried. Never blocking: a restore goes on with too many permissions.
pub(super) fn powers(tried: &[(&'static str, Result<Powers, StoreError>)], read_only: bool, checks: &mut Vec<Finding>) {
    let unknown = |because: String| Finding::note(Code::NotRead, SUBJECT, because);
    if tried.is_empty() {
        checks.push(if read_only {
            unknown("not tried (--read-only)".to_owned()).hint("without --read-only it is tried: carlosctl doctor")
        } else {
            unknown("not tried: it is safe only on a store that was seen to honour If-Match".to_owned())
                .hint("look at the policy of this identity")
        });
        return;
    }
    let excess: Vec<String> = tried.iter().filter_map(|(prefix, powers)| told(prefix, *powers.as_ref().ok()?)).collect();
    if !excess.is_empty() {
        let because = format!("this identity may {}; a restore needs none of that", excess.join("; "));
        checks.push(Finding::warning(Code::MoreThanNeeded, SUBJECT, because).hint(format!(
            "give operators an identity that may read control/, and put and delete below {} alone; an agent, the box half and \
             retention run need more",
            keys::OURS
        )));
    }
    let refused = || tried.iter().filter_map(|(prefix, powers)| Some((prefix, powers.as_ref().err()?)));
    match refused().find(|(_, error)| !matches!(error, StoreError::Unsupported { .. })) {
        Some((prefix, error)) => {
            let because = format!("not known what this identity may do below {prefix}: {error}");
            checks.push(unknown(because).hint("look at the policy of this identity"));
        }
        None if !excess.is_empty() => {}
        None if refused().next().is_some() => {
            checks.push(ready(SUBJECT, "whoever may write to this kind of store may delete there too; guard who may write"));
        }
        None => {
            checks.push(ready(SUBJECT, "none found: this identity can neither overwrite nor delete snapshots and releases"));
        }
    }
}

/// What may be done below a prefix; `None` where it is nothing.
fn told(prefix: &str, powers: Powers) -> Option<String> {
    let all = [
        (powers.overwrite, "overwrite"),
        (powers.delete, "delete"),
        (powers.delete_versions == Some(true), "delete older versions"),
    ];
    let words: Vec<&str> = all.into_iter().filter(|(may, _)| *may).map(|(_, word)| word).collect();
    (!words.is_empty()).then(|| format!("{} below {prefix}", words.join(", ")))
}
