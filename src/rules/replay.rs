//! The guard between a search and its answer: an example counts only after a second, independent look at it.

/// The example, if `holds` confirms that it is what the search claims.
///
/// `holds` asks the plain matcher, which reads the object as Kubernetes does and knows nothing of the search. An example
/// that it does not confirm is a mistake of the search: the caller then answers "undecided", never with the example and
/// never with "there is none".
pub fn replay<E>(example: E, holds: impl FnOnce(&E) -> bool) -> Option<E> {
    holds(&example).then_some(example)
}

#[cfg(test)]
mod tests {
    use super::replay;

    #[test]
    fn an_example_that_the_matcher_confirms_is_kept() {
        assert_eq!(replay("zone-b", |node| node.ends_with('b')), Some("zone-b"));
    }

    #[test]
    fn a_lying_example_is_dropped() {
        assert_eq!(replay("zone-c", |node| node.ends_with('b')), None);
    }
}
