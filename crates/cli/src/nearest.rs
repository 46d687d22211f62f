//! "Did you mean …?"

/// The name that is most like a misspelt one, if one is like it at all.
pub fn nearest<'n>(written: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let lower = written.to_lowercase();
    let likeness = |name: &str| strsim::jaro_winkler(&lower, &name.to_lowercase());
    let mut best = None;
    for name in names {
        let like = likeness(name);
        if like >= LIKE && best.is_none_or(|(most, _)| like > most) {
            best = Some((like, name));
        }
    }
    best.map(|(_, name)| name)
}

/// What `clap` takes as alike is more; settings have many short keys.
const LIKE: f64 = 0.8;

#[cfg(test)]
#[allow(clippy::restriction)]
mod tests {
    use super::nearest;

    #[test]
    fn only_what_is_alike_is_meant() {
        let names = ["enforcement", "exempt", "pinned", "pinnedBy"];
        let meant = |written: &str| nearest(written, names.into_iter());
        assert_eq!(meant("enforcment"), Some("enforcement"));
        assert_eq!(meant("Pinned"), Some("pinned"));
        assert_eq!(meant("pinedBy"), Some("pinnedBy"));
        assert_eq!(meant("volumes"), None);
    }
}
