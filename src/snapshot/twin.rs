//! Current and the generation of its own pass are one content. Where the listing does not show that, by one etag, the bytes
//! have to: a disk that lost some of them, or somebody who replaced one of the two, leaves a file that proves by itself.

use super::evidence::{BoxEvidence, Generation};
use super::fetch::fetch;
use super::judge::judge;
use super::landing::Private;
use super::look::Look;
use super::select::{Chosen, Source};
use crate::finding::{Code, Finding};

/// The generation that was written in the pass of current and should equal it, where the listing does not show that it does.
pub(super) fn doubtful_twin(seen: &BoxEvidence) -> Option<&Generation> {
    seen.generation(seen.own_pass()?).filter(|generation| !seen.same_as_current(generation))
}

/// That the two differ. Which of them is as it was written cannot be told.
pub(super) fn differs(subject: &str, other: &str) -> Finding {
    let because =
        format!("differs from {other} of the same pass: one of them is damaged or was replaced, or the clock was stepped back");
    Finding::blocking(Code::TornPair, subject, because)
}

/// Compares what was fetched, by its sha256, with its twin, where that is in doubt and not judged by the listing already.
pub(super) async fn compare(look: &Look, chosen: &Chosen, sha256: &str, as_of: jiff::Timestamp) -> Option<Finding> {
    let seen = &look.seen;
    let (current, generation) = (seen.current.as_ref()?, doubtful_twin(seen)?);
    let at = generation.stamp.to_string();
    let (other, object) = match chosen.at.as_str() {
        "current" => (format!("generation {at}"), &generation.object),
        chosen if chosen == at => ("current".to_owned(), current),
        _ => return None,
    };
    if judge(seen, as_of).findings.iter().any(|found| found.code == Code::TornPair) {
        return None;
    }
    let subject = chosen.source.name();
    let not_compared = |because: &str| {
        Finding::warning(Code::NotRead, &subject, format!("could not be compared with {other} of the same pass: {because}"))
    };
    let twin = Chosen { at: other.clone(), source: Source::Object(object.clone()), because: "to be compared".to_owned() };
    let landing = match Private::to_compare(object.bytes) {
        Ok(landing) => landing,
        Err(because) => return Some(not_compared(&because)),
    };
    match fetch(look.store.as_ref(), &twin, landing, None).await {
        Ok(fetched) => (fetched.sha256 != sha256).then(|| differs(&subject, &other)),
        Err(error) => Some(not_compared(&error.message)),
    }
}
