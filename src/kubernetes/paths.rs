//! Paths on a node's file system, as the kubelet on the node reads them.
//!
//! On Linux that is `filepath.Clean("/" + path)` (`MakeAbsolutePath` in `pkg/volume/util`, Kubernetes 1.36): a relative path
//! begins at the root, `.` and empty segments vanish, `..` goes one up and at the root stays there. On Windows a `\`
//! separates as well, and a path with a colon is used as it is written, so that `//a/b:` names a share of the host `a`.

use std::fmt;

/// A path, cleaned: absolute, without empty segments, `.` and `..`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodePath<'p> {
    /// The segments as Linux sees them.
    segments: Vec<&'p str>,
    /// The segments as Windows sees them, where that makes a difference.
    on_windows: Option<Vec<&'p str>>,
}

impl<'p> NodePath<'p> {
    /// Cleans a path of an object. The work is linear in the length of the path.
    pub fn clean(path: &'p str) -> Self {
        let is_share =
            path.chars().take_while(|letter| matches!(letter, '/' | '\\')).nth(1).is_some() && path.contains(':');
        let on_windows = (is_share || path.contains('\\')).then(|| {
            let mut kept = segments(path, |letter| matches!(letter, '/' | '\\'));
            if is_share {
                // Not a segment of any path, so that only the root contains it.
                kept.insert(0, "//");
            }
            kept
        });
        NodePath { segments: segments(path, |letter| letter == '/'), on_windows }
    }

    /// Whether this is `prefix` or lies below it, segment by segment. `prefix` is a clean path. It is not known on
    /// which kind of node the path will be used, so this must hold on both.
    pub fn is_within(&self, prefix: &str) -> bool {
        let begins = |segments: &[&str]| {
            let mut found = segments.iter();
            prefix.split('/').filter(|wanted| !wanted.is_empty()).all(|wanted| found.next() == Some(&wanted))
        };
        begins(&self.segments) && self.on_windows.as_ref().is_none_or(|segments| begins(segments))
    }

    /// Whether one of the two is the other or lies below it, on a Linux node or on a Windows node.
    pub fn overlaps(&self, other: &NodePath<'_>) -> bool {
        let nested = |one: &[&str], other: &[&str]| one.iter().zip(other).all(|(one, other)| one == other);
        let on_windows = |path: &NodePath<'_>| path.on_windows.is_some();
        nested(&self.segments, &other.segments)
            || ((on_windows(self) || on_windows(other)) && nested(self.as_on_windows(), other.as_on_windows()))
    }

    fn as_on_windows(&self) -> &[&'p str] {
        self.on_windows.as_deref().unwrap_or(&self.segments)
    }
}

impl fmt::Display for NodePath<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "/{}", self.segments.join("/"))
    }
}

fn segments(path: &str, separates: impl Fn(char) -> bool) -> Vec<&str> {
    let mut kept: Vec<&str> = Vec::new();
    // Of a path that is long for nothing, most segments are empty.
    for segment in path.split(separates).filter(|segment| !segment.is_empty()) {
        match segment {
            "." => {}
            ".." => {
                kept.pop();
            }
            segment => kept.push(segment),
        }
    }
    kept
}
