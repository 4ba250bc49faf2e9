//! What was probably meant: the known name that is most like the one that was typed.

/// The name that is most like `text`, where one differs by two letters at most. Capitals do not count.
pub fn nearest<'a, N: AsRef<str> + ?Sized>(text: &str, names: impl IntoIterator<Item = &'a N>) -> Option<&'a N> {
    names
        .into_iter()
        .map(|name| (distance(&text.to_lowercase(), &name.as_ref().to_lowercase()), name))
        .filter(|(distance, _)| *distance <= 2)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// The edit distance of two short texts.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
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
        assert_eq!(nearest("pi-7", names), None);
    }
}
