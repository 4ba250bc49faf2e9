//! What was probably meant: the known name that is most like the one that was typed.

/// The name that is most like `text`, where one is like it: a letter too many, too few, another, or two swapped, and one more
/// for every five letters beyond the first ten. Capitals do not count.
///
/// Labels of one fleet are alike (`edge-a1`, `edge-d4`), so that two letters apart is another box and no slip.
pub fn nearest<'a, N: AsRef<str> + ?Sized>(text: &str, names: impl IntoIterator<Item = &'a N>) -> Option<&'a N> {
    let allowed = 1 + text.chars().count().saturating_sub(10).div_ceil(5);
    names
        .into_iter()
        .map(|name| (strsim::osa_distance(&text.to_lowercase(), &name.as_ref().to_lowercase()), name))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_mistyped_name_suggests_the_near_one() {
        let names = ["edge-a1", "edge-b2"];
        assert_eq!(nearest("Edge-A1", names), Some("edge-a1"));
        assert_eq!(nearest("edgea1", names), Some("edge-a1"));
        assert_eq!(nearest("edge-b", names), Some("edge-b2"));
        assert_eq!(nearest("egde-a1", names), Some("edge-a1"));
        assert_eq!(nearest("pi-7", names), None);
        for another in ["edge-d4", "edge-x", "edge"] {
            assert_eq!(nearest(another, names), None, "{another}");
        }
        assert_eq!(nearest("franckfort-edge-a1", ["frankfurt-edge-a1"]), Some("frankfurt-edge-a1"));
    }
}
