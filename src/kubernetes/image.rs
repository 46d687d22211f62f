//! References to container images.
//!
//! Follows the grammar of `distribution/reference` 0.6.0 (`reference.go`, `regexp.go`), which the kubelet and the container
//! runtimes use, with the digest algorithms of `opencontainers/go-digest`. The grammar is so small that every crate for it
//! would add more code to the module than this file.

/// The parts of a reference as it is written. Nothing is added to a short name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageReference<'i> {
    /// The part before the first slash when it can be a host, with its port. For `library/ubuntu` that is `library`.
    pub domain: Option<&'i str>,
    /// The rest of the name, without the domain.
    pub path: &'i str,
    pub tag: Option<&'i str>,
    /// Algorithm and value. It decides which image runs, whatever the tag says.
    pub digest: Option<&'i str>,
}

/// The longest path and the longest tag, in bytes.
const LONGEST_PATH: usize = 255;
const LONGEST_TAG: usize = 128;

/// The digest algorithms, each with the number of its hexadecimal digits.
const DIGESTS: [(&str, usize); 3] = [("sha256", 64), ("sha384", 96), ("sha512", 128)];

impl<'i> ImageReference<'i> {
    /// Parses a reference. `None` when the string is not one, so that no runtime could pull it.
    pub fn parse(text: &'i str) -> Option<Self> {
        let (text, digest) = match text.split_once('@') {
            Some((text, digest)) => (text, Some(digest)),
            None => (text, None),
        };
        // A colon before the last slash belongs to the port of the domain.
        let (name, tag) = match text.rsplit_once(':') {
            Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
            _ => (text, None),
        };
        let (domain, path) = match name.split_once('/') {
            Some((domain, path)) if is_domain(domain) => (Some(domain), path),
            _ => (None, name),
        };
        let is_valid = path.len() <= LONGEST_PATH
            && path.split('/').all(is_path_component)
            && tag.is_none_or(is_tag)
            && digest.is_none_or(is_digest);
        is_valid.then_some(ImageReference { domain, path, tag, digest })
    }

    /// The last component of the path: the name of the image in every registry.
    pub fn short_name(&self) -> &'i str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }
}

/// A host name, or an IPv6 address in brackets, with an optional port.
fn is_domain(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let is_host = match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => !address.is_empty() && address.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b':'),
        None => host.split('.').all(is_domain_component),
    };
    is_host && port.is_none_or(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_domain_component(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with('-')
        && !text.ends_with('-')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Lower-case letters and digits, with `.`, `_`, `__` or any number of `-` between them.
fn is_path_component(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let is_separator = |text: &str| matches!(text, "" | "." | "_" | "__") || text.bytes().all(|byte| byte == b'-');
    text.starts_with(is_plain) && text.ends_with(is_plain) && text.split(is_plain).all(is_separator)
}

fn is_tag(text: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.len() <= LONGEST_TAG
        && text.bytes().next().is_some_and(is_word)
        && text.bytes().all(|byte| is_word(byte) || matches!(byte, b'.' | b'-'))
}

fn is_digest(text: &str) -> bool {
    let Some((algorithm, value)) = text.split_once(':') else { return false };
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    DIGESTS.contains(&(algorithm, value.len())) && value.bytes().all(is_digit)
}
