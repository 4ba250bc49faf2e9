//! Listings in small pages, and every way in which pages go wrong.
//!
//! The real server is asked once, for everything; the pages are cut from its answer, so every entry in them is as real as
//! the entry of an honest listing.

use std::collections::HashMap;

use super::asked::{Asked, Kind};
use super::http::Message;

/// How many entries a page has.
const PAGE: usize = 3;
/// Where a token of ours begins.
const MARK: &str = "faultpage-";

/// How a listing is cut into pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paging {
    /// Small pages, and nothing wrong with them.
    Whole,
    /// The first page comes again after itself.
    Duplicate,
    /// The first page says that there are more, and does not say where.
    Missing,
    /// The last page names the first of its followers again.
    Looping,
    /// The last page comes again and again, each time under a new name.
    Endless,
    /// Last entry first.
    Unsorted,
    /// Everything but the first page is answered 500.
    Failing,
}

/// The listings under way.
#[derive(Debug, Default)]
pub(super) struct Pages {
    listings: Vec<Listing>,
    /// From a token to its listing and the place in it.
    tokens: HashMap<String, (usize, usize)>,
}

#[derive(Debug, Clone)]
struct Listing {
    root: &'static str,
    /// What stands before the entries, without what tells pages apart.
    before: String,
    pages: Vec<String>,
    paging: Paging,
}

impl Pages {
    /// Where a request goes on: the listing and the place in it.
    pub(super) fn place(&self, asked: &Asked) -> Option<(usize, usize)> {
        let token = asked.parameter("continuation-token").or_else(|| asked.parameter("key-marker"))?;
        self.tokens.get(token).copied()
    }

    /// Takes the whole answer of the server apart; its first page is at place 0.
    pub(super) fn add(&mut self, asked: &Asked, whole: &Message, paging: Paging) -> usize {
        let body = String::from_utf8_lossy(&whole.body()).into_owned();
        let (root, names) = match asked.kind {
            Kind::Versions => ("ListVersionsResult", &["Version", "DeleteMarker"][..]),
            _ => ("ListBucketResult", &["Contents", "CommonPrefixes"][..]),
        };
        let (before, mut entries) = taken_apart(&body, names);
        if paging == Paging::Unsorted {
            entries.reverse();
        }
        let pages = if entries.is_empty() { vec![String::new()] } else { entries.chunks(PAGE).map(<[_]>::concat).collect() };
        self.listings.push(Listing { root, before, pages, paging });
        self.listings.len() - 1
    }

    /// The page at a place; `None` where it is not to be had.
    pub(super) fn page(&mut self, listing: usize, place: usize) -> Option<String> {
        let Listing { root, before, pages, paging } = self.listings[listing].clone();
        if paging == Paging::Failing && place > 0 {
            return None;
        }
        let last = pages.len() - 1;
        let (shown, next) = match paging {
            Paging::Duplicate => (place.saturating_sub(1), (place <= last).then_some(place + 1)),
            Paging::Looping => (place.min(last), Some(if place >= last.max(1) { 1 } else { place + 1 })),
            Paging::Endless => (place.min(last), Some(place + 1)),
            Paging::Missing | Paging::Failing => (place, Some(place + 1)),
            Paging::Whole | Paging::Unsorted => (place, (place < last).then_some(place + 1)),
        };
        let follow = match next {
            Some(_) if paging == Paging::Missing => "<IsTruncated>true</IsTruncated>".to_owned(),
            Some(next) => {
                let token = format!("{MARK}{listing}-{next}");
                self.tokens.insert(token.clone(), (listing, next));
                let named = if root == "ListVersionsResult" { "NextKeyMarker" } else { "NextContinuationToken" };
                format!("<IsTruncated>true</IsTruncated><{named}>{token}</{named}>")
            }
            None => "<IsTruncated>false</IsTruncated>".to_owned(),
        };
        Some(format!("{before}{follow}{}</{root}>", pages[shown]))
    }
}

/// What stands before the first entry, without what says whether there is more, and every entry.
fn taken_apart(body: &str, names: &[&str]) -> (String, Vec<String>) {
    let mut entries = Vec::new();
    let mut rest = body;
    let mut before = None;
    while let Some((begin, name)) = names.iter().filter_map(|name| Some((rest.find(&format!("<{name}>"))?, *name))).min() {
        before.get_or_insert(&rest[..begin]);
        let close = format!("</{name}>");
        let end = rest[begin..].find(&close).map_or(rest.len(), |end| begin + end + close.len());
        entries.push(rest[begin..end].to_owned());
        rest = &rest[end..];
    }
    // Without entries, everything but the closing tag of the root.
    let mut before = before.unwrap_or_else(|| body.rfind("</").map_or(body, |end| &body[..end])).to_owned();
    for name in ["IsTruncated", "NextContinuationToken", "NextKeyMarker", "NextVersionIdMarker", "KeyCount"] {
        while let (Some(begin), Some(end)) = (before.find(&format!("<{name}>")), before.find(&format!("</{name}>"))) {
            before.replace_range(begin..end + name.len() + 3, "");
        }
        before = before.replace(&format!("<{name}/>"), "");
    }
    (before, entries)
}
