//! Paths on a node's file system, as the kubelet on the node makes them out.
//!
//! On Linux that is `filepath.Clean("/" + path)` (`MakeAbsolutePath` in `pkg/volume/util`, Kubernetes 1.36): a relative path
//! begins at the root, `.` and empty segments vanish, `..` goes one up and at the root stays there. On Windows a `\`
//! separates as well.

use std::fmt;

/// A path, cleaned: absolute, without empty segments, `.` and `..`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodePath {
    /// The segments as Linux sees them.
    segments: Vec<String>,
    /// The segments as Windows sees them, where that makes a difference.
    on_windows: Option<Vec<String>>,
}

impl NodePath {
    /// Cleans a path of an object.
    pub fn clean(path: &str) -> Self {
        let on_windows = path.contains('\\').then(|| segments(path, &['/', '\\']));
        NodePath { segments: segments(path, &['/']), on_windows }
    }

    /// Whether this is the other path or lies below it, segment by segment. It is not known on which kind of node the path
    /// will be used, so it must be so on both.
    pub fn is_within(&self, prefix: &NodePath) -> bool {
        self.segments.starts_with(&prefix.segments)
            && self.on_windows.as_ref().is_none_or(|segments| segments.starts_with(&prefix.segments))
    }
}

impl fmt::Display for NodePath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "/{}", self.segments.join("/"))
    }
}

fn segments(path: &str, separators: &[char]) -> Vec<String> {
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split(separators) {
        match segment {
            "" | "." => {}
            ".." => {
                kept.pop();
            }
            segment => kept.push(segment),
        }
    }
    kept.into_iter().map(str::to_owned).collect()
}
