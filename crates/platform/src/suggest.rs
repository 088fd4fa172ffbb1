//! "Did you mean": the known name nearest to a misspelt one.

/// The candidate at the smallest edit distance, if it is near enough to be a plausible misspelling.
///
/// Of several equally near ones the first is taken. Only names of similar length are compared, and at most
/// 100,000 of them, so that a typo in a large cluster is still answered at once.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted: Vec<char> = name.chars().take(200).collect();
    let limit = (wanted.len() / 3).clamp(1, 4);
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

/// Levenshtein's distance without regard to case, if it is below `limit`; a difference in case alone counts 1.
fn distance_below(wanted: &[char], candidate: &str, limit: usize) -> Option<usize> {
    let letters = candidate.chars().count();
    if letters.abs_diff(wanted.len()) >= limit {
        return None;
    }
    let mut row: Vec<usize> = (0..=wanted.len()).collect();
    let mut same_case = true;
    for (i, b) in candidate.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        same_case &= wanted.get(i) == Some(&b);
        for (j, &a) in wanted.iter().enumerate() {
            let change = diagonal + usize::from(!a.eq_ignore_ascii_case(&b));
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
        if row.iter().min().is_some_and(|&least| least >= limit) {
            return None;
        }
    }
    let distance = row[wanted.len()].max(usize::from(!same_case));
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
            ("", None),
            ("x", None),
        ];
        for (wrong, expected) in table {
            assert_eq!(nearest(wrong, names), expected, "{wrong}");
        }
    }
}
