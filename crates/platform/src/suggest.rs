//! "Did you mean": the known name nearest to a misspelt one.

/// The candidate at the smallest edit distance, if it is near enough to be a plausible misspelling.
///
/// Of several equally near ones the first is taken. Only names of similar length are compared, and at most
/// 100,000 of them, so that a typo in a large cluster is still answered at once.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted: Vec<char> = name.chars().take(200).collect();
    let limit = (wanted.len() / 3).min(4);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates.into_iter().take(100_000) {
        if candidate == name || candidate.len().abs_diff(name.len()) > 4 * (limit + 1) {
            continue;
        }
        let within = best.map_or(limit + 1, |(distance, _)| distance);
        if let Some(distance) = distance_below(&wanted, candidate, within) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// ` (did you mean "x"?)`, or nothing.
pub(crate) fn hint<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, candidates).map_or_else(String::new, |near| format!(" (did you mean {near:?}?)"))
}

/// The optimal string alignment distance (changes, insertions, deletions and swaps of neighbours) without regard to
/// case, if it is below `limit`; a difference in case alone counts 1.
fn distance_below(wanted: &[char], candidate: &str, limit: usize) -> Option<usize> {
    let letters: Vec<char> = candidate.chars().collect();
    if letters.len().abs_diff(wanted.len()) >= limit {
        return None;
    }
    let same = |a: char, b: char| a.eq_ignore_ascii_case(&b);
    let mut before_last = Vec::new();
    let mut last: Vec<usize> = (0..=wanted.len()).collect();
    for (i, &b) in letters.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &a) in wanted.iter().enumerate() {
            let mut least = (last[j] + usize::from(!same(a, b))).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && same(a, letters[i - 1]) && same(wanted[j - 1], b) {
                least = least.min(before_last[j - 1] + 1);
            }
            row.push(least);
        }
        if row.iter().min().is_some_and(|&least| least >= limit) {
            return None;
        }
        before_last = std::mem::replace(&mut last, row);
    }
    let distance = last[wanted.len()].max(usize::from(letters != wanted));
    (distance < limit).then_some(distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_plausible_name_is_suggested() {
        let names = ["Tremblay", "Jupiter", "Fafard", "node-1"];
        let table = [
            ("tremblay", Some("Tremblay")),
            ("Jupter", Some("Jupiter")),
            ("Fafrad", Some("Fafard")),
            ("node-2", Some("node-1")),
            ("Bourassa", None),
            ("jupiter", Some("Jupiter")),
            ("nod-1e", Some("node-1")),
            ("", None),
            ("x", None),
        ];
        for (wrong, expected) in table {
            assert_eq!(nearest(wrong, names), expected, "{wrong}");
        }
    }
}
