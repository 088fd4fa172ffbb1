//! How many random cases the tests of all crates try, and where they begin.
#![forbid(unsafe_code)]

use std::str::FromStr;

/// How many cases a random test tries: `PROPTEST_CASES` if it is set, otherwise what the test asks for.
///
/// `ProptestConfig::with_cases` alone would not obey the variable.
pub fn cases<N: FromStr>(otherwise: N) -> N {
    read("PROPTEST_CASES").unwrap_or(otherwise)
}

/// Where random cases begin, if `PROPTEST_RNG_SEED` says so.
pub fn seed() -> Option<u64> {
    read("PROPTEST_RNG_SEED")
}

fn read<N: FromStr>(name: &str) -> Option<N> {
    std::env::var(name).ok()?.parse().ok()
}
