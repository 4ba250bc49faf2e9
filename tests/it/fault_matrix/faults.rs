//! Every way in which a store fails, as a row of the matrix.

use std::sync::Arc;

use carlosctl::platform::keys;

use super::cell::Ran;
use super::world::another_registry;
use crate::common::proxy::{Action, Kind, Paging, Rule};

/// A fault as a row.
pub(crate) struct Fault {
    /// Which, and on what.
    pub(crate) name: &'static str,
    hurts: Hurts,
    action: fn() -> Action,
}

/// Which requests are hurt.
#[derive(Clone, Copy)]
enum Hurts {
    /// Every request of these kinds; all, where none is named.
    Every(&'static [Kind]),
    /// One of each: of the listings, the reads and the writes. Which one is chosen where the matrix is run.
    OneOfEach,
    /// Every read of a key that has the first in it, and not the second.
    Reads(&'static str, &'static str),
    /// The second deletion, and no other request.
    SecondDeletion,
    /// Every write with such a header.
    With(&'static [&'static str]),
}

/// Which one is hurt, where one is: of the writes in time, of everything else by key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    First,
    Second,
    Last,
}

use Hurts::{Every, OneOfEach, Reads, SecondDeletion, With};

const ALL: &[Kind] = &[];
const LISTS: &[Kind] = &Kind::LISTS;
const READS: &[Kind] = &Kind::READS;
const BODIES: &[Kind] = &[Kind::Read];
const WRITES: &[Kind] = &Kind::WRITES;
const ANSWERS: &[Kind] = &[Kind::Read, Kind::Head, Kind::Put];

const fn fault(name: &'static str, hurts: Hurts, action: fn() -> Action) -> Fault {
    Fault { name, hurts, action }
}

/// The rows, in the order of the page. The first hurts nothing.
pub(crate) const FAULTS: [Fault; 54] = [
    fault("small pages, all right", Every(LISTS), || Action::Pages(Paging::Whole)),
    fault("silence", Every(ALL), || Action::BlackHole),
    fault("silence when reading", Every(READS), || Action::BlackHole),
    fault("silence when writing", Every(WRITES), || Action::BlackHole),
    fault("silence, once each", OneOfEach, || Action::BlackHole),
    fault("reset in a listing", Every(LISTS), || Action::ResetMidBody),
    fault("reset in an object", Every(READS), || Action::ResetMidBody),
    fault("answer to a write lost", Every(WRITES), || Action::ResetMidBody),
    fault("reset, once each", OneOfEach, || Action::ResetMidBody),
    fault("truncated 200, listing", Every(LISTS), || Action::Truncate),
    fault("truncated 200, object", Every(BODIES), || Action::Truncate),
    fault("truncated 200, once each", OneOfEach, || Action::Truncate),
    fault("403 on listing", Every(LISTS), || Action::Answer(403, "AccessDenied", &[])),
    fault("403 on reading", Every(READS), || Action::Answer(403, "AccessDenied", &[])),
    fault("403 on writing", Every(WRITES), || Action::Answer(403, "AccessDenied", &[])),
    fault("404 on listing", Every(LISTS), || Action::Answer(404, "NoSuchBucket", &[])),
    fault("404 on reading", Every(READS), || Action::Answer(404, "NoSuchKey", &[])),
    fault("404 on writing", Every(WRITES), || Action::Answer(404, "NoSuchBucket", &[])),
    fault("409 on listing", Every(LISTS), || Action::Answer(409, "OperationAborted", &[])),
    fault("409 on reading", Every(READS), || Action::Answer(409, "OperationAborted", &[])),
    fault("409 on writing", Every(WRITES), || Action::Answer(409, "ConditionalRequestConflict", &[])),
    fault("409 once each", OneOfEach, || Action::Answer(409, "ConditionalRequestConflict", &[])),
    fault("412 on listing", Every(LISTS), || Action::Answer(412, "PreconditionFailed", &[])),
    fault("412 on reading", Every(READS), || Action::Answer(412, "PreconditionFailed", &[])),
    fault("412 on writing", Every(WRITES), || Action::Answer(412, "PreconditionFailed", &[])),
    fault("500 on listing", Every(LISTS), || Action::Answer(500, "InternalError", &[])),
    fault("500 on reading", Every(READS), || Action::Answer(500, "InternalError", &[])),
    fault("500 on writing", Every(WRITES), || Action::Answer(500, "InternalError", &[])),
    fault("500 on a sidecar", Reads("control/registry-snapshot/", ".db"), || Action::Answer(500, "InternalError", &[])),
    fault("500 on an artifact", Reads("/artifacts/", ""), || Action::Answer(500, "InternalError", &[])),
    fault("500 once each", OneOfEach, || Action::Answer(500, "InternalError", &[])),
    fault("503 SlowDown on listing", Every(LISTS), || Action::Answer(503, "SlowDown", &[])),
    fault("503 SlowDown on reading", Every(READS), || Action::Answer(503, "SlowDown", &[])),
    fault("503 SlowDown on writing", Every(WRITES), || Action::Answer(503, "SlowDown", &[])),
    fault("503 SlowDown once each", OneOfEach, || Action::Answer(503, "SlowDown", &[])),
    fault("wrong etag", Every(ANSWERS), || Action::WrongEtag),
    fault("changed between list and get", Every(READS), || Action::Meddle(Arc::new(changed))),
    fault("page twice", Every(LISTS), || Action::Pages(Paging::Duplicate)),
    fault("next page not named", Every(LISTS), || Action::Pages(Paging::Missing)),
    fault("pages in a circle", Every(LISTS), || Action::Pages(Paging::Looping)),
    fault("pages without end", Every(LISTS), || Action::Pages(Paging::Endless)),
    fault("second page 500", Every(LISTS), || Action::Pages(Paging::Failing)),
    fault("listing unsorted", Every(LISTS), || Action::Pages(Paging::Unsorted)),
    fault("delete marker", Every(READS), || Action::Answer(404, "NoSuchKey", &[("x-amz-delete-marker", "true")])),
    fault("one deletion refused", SecondDeletion, || Action::Answer(403, "AccessDenied", &[])),
    fault("clock 1 h ahead", Every(ALL), || Action::Clock(3600)),
    fault("clock 1 h behind", Every(ALL), || Action::Clock(-3600)),
    fault("clock refused", Every(ALL), || Action::Answer(403, "RequestTimeTooSkewed", &[])),
    fault("If-Match ignored", With(&["if-match", "x-amz-copy-source-if-match"]), || Action::Unconditional),
    fault("If-None-Match ignored", With(&["if-none-match"]), || Action::Unconditional),
    fault("501 for checksums", With(&["x-amz-checksum-", "x-amz-sdk-checksum-", "x-amz-trailer"]), || {
        Action::Answer(501, "NotImplemented", &[])
    }),
    fault("501 for conditions", With(&["if-match", "if-none-match"]), || Action::Answer(501, "NotImplemented", &[])),
    fault("301 to another region", Every(ALL), || {
        Action::Answer(301, "PermanentRedirect", &[("x-amz-bucket-region", "eu-west-1")])
    }),
    fault("307 to another region", Every(ALL), || {
        Action::Answer(307, "TemporaryRedirect", &[("Location", "http://127.0.0.1:9/"), ("x-amz-bucket-region", "eu-west-1")])
    }),
];

impl Fault {
    /// The rules of the proxy for it, on a command that asks `whole` where nothing is wrong.
    pub(crate) fn rules(&self, which: Which, whole: &Ran) -> Vec<Rule> {
        let rule = |kinds: &[Kind]| Rule::on(kinds, (self.action)());
        match self.hurts {
            Every(kinds) => vec![rule(kinds)],
            OneOfEach => {
                // Listings and reads are made side by side, in an order that varies: which one it is tells its key.
                let of_key = |kinds: &[Kind]| {
                    let keys = whole.keys(kinds);
                    let key = match which {
                        Which::First => keys.first(),
                        Which::Second => keys.get(1),
                        Which::Last => keys.last(),
                    };
                    key.map(|key| rule(kinds).exactly(key).nth(1))
                };
                let write = rule(WRITES).nth(match which {
                    Which::First => 1,
                    Which::Second => 2,
                    Which::Last => whole.asked(WRITES).max(1),
                });
                of_key(LISTS).into_iter().chain(of_key(READS)).chain([write]).collect()
            }
            Reads(part, except) => vec![rule(READS).of(part).except(except)],
            // What a store is tried out with is not among them, and of generations only one is pruned.
            SecondDeletion => vec![
                rule(&[Kind::Delete]).of("control/registry-snapshots/").nth(1),
                rule(&[Kind::Delete]).except("/probe/").nth(2),
            ],
            With(headers) => vec![rule(WRITES).with(headers)],
        }
    }

    /// Whether it strikes another request where another one is chosen.
    pub(crate) fn depends_on_which(&self) -> bool {
        matches!(self.hurts, OneOfEach)
    }

    /// Whether it changes objects on the server.
    pub(crate) fn meddles(&self) -> bool {
        matches!((self.action)(), Action::Meddle(_))
    }

    /// Whether it only says other things of objects: that one is not there, or is another one. What follows from that is right,
    /// and nothing was missed.
    pub(crate) fn is_about_content(&self) -> bool {
        matches!((self.action)(), Action::Meddle(_) | Action::WrongEtag | Action::Answer(404, "NoSuchKey", _))
    }

    /// Whether answers can be compared to the byte: not where objects, their times or their etags are others.
    pub(crate) fn is_exact(&self) -> bool {
        !matches!((self.action)(), Action::Meddle(_) | Action::WrongEtag)
    }
}

/// Another content that is as valid: a registry of other rows, and JSON with a blank more. Sidecars stay: whether one is
/// older than its snapshot would depend on the second in which each is read.
fn changed(key: &str) -> Option<Vec<u8>> {
    if key.starts_with(keys::SNAPSHOTS) && key.rsplit('.').next() == Some("json") {
        return None;
    }
    super::world::content(key).map(|mut was| {
        if key.rsplit('.').next() == Some("db") {
            return another_registry();
        }
        was.push(b'\n');
        was
    })
}
