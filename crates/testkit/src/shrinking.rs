//! The one switch for shrinking in property tests.

/// What `max_shrink_iters` of every property test is: none in CI, proptest's own default elsewhere. Shrinking takes minutes
/// and helps the person who looks for the cause; in CI the plain failure should be known soon.
pub fn max_shrink_iters() -> u32 {
    let in_ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false");
    if in_ci { 0 } else { u32::MAX }
}
