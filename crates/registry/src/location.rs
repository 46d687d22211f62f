//! Where a module is: a reference as people write it.

use std::net::IpAddr;

use oci_client::Reference;

use crate::RegistryError;

/// What Kubewarden writes before a reference to a registry.
const SCHEME: &str = "registry://";

/// A reference that may be spoken to.
#[derive(Debug, Clone)]
pub(crate) struct Location {
    pub reference: Reference,
}

impl Location {
    /// Reads `HOST/REPOSITORY:TAG` or `HOST/REPOSITORY@DIGEST`, with or without `registry://` before it; a reference with
    /// neither tag nor digest means the tag `latest`, one without a host Docker's registry, as everywhere.
    pub fn read(text: &str, insecure: bool) -> Result<Self, RegistryError> {
        let malformed = |reason: String| RegistryError::Reference { reference: text.to_owned(), reason };
        let bare = text.strip_prefix(SCHEME).unwrap_or(text);
        if let Some((scheme, _)) = bare.split_once("://") {
            return Err(malformed(format!("`{scheme}://` is not a registry")));
        }
        let reference: Reference = bare.parse().map_err(|error| malformed(format!("{error}")))?;
        let location = Location { reference };
        if insecure && !location.is_on_this_machine() {
            return Err(RegistryError::InsecureElsewhere { host: location.host() });
        }
        Ok(location)
    }

    /// The registry, with its port where it was named.
    pub fn host(&self) -> String {
        self.reference.registry().to_owned()
    }

    /// The same repository, by digest.
    pub fn by_digest(&self, digest: &str) -> String {
        format!("{}/{}@{digest}", self.reference.registry(), self.reference.repository())
    }

    /// Whether the registry is asked over the loopback interface.
    pub fn is_on_this_machine(&self) -> bool {
        let registry = self.reference.registry();
        let name = registry.rsplit_once(':').map_or(registry, |(name, _port)| name);
        let is_loopback = |address: IpAddr| address.is_loopback();
        name == "localhost" || name.ends_with(".localhost") || name.parse().is_ok_and(is_loopback)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, insecure: bool) -> Result<String, String> {
        Location::read(text, insecure).map(|location| location.reference.whole()).map_err(|error| error.to_string())
    }

    #[test]
    fn references_are_read_as_docker_and_kubewarden_read_them() {
        let digest = format!("sha256:{}", "a".repeat(64));
        let cases = [
            ("localhost:5000/guard:v1", String::from("localhost:5000/guard:v1")),
            ("registry://ghcr.io/team/guard:v0.1.0", String::from("ghcr.io/team/guard:v0.1.0")),
            ("ghcr.io/team/guard", String::from("ghcr.io/team/guard:latest")),
            ("guard:v1", String::from("docker.io/library/guard:v1")),
            (&format!("127.0.0.1:5000/guard@{digest}"), format!("127.0.0.1:5000/guard@{digest}")),
        ];
        for (text, whole) in cases {
            assert_eq!(read(text, false), Ok(whole), "{text}");
        }
    }

    #[test]
    fn what_is_no_reference_is_refused_with_what_would_be_one() {
        let hint = "; write `HOST/REPOSITORY:TAG` or `HOST/REPOSITORY@sha256:…`";
        let cases = [
            ("", "repository name must have at least one component"),
            ("localhost:5000/Guard:v1", "invalid reference format"),
            ("localhost:5000/guard:v 1", "invalid reference format"),
            ("localhost:5000/guard@sha256:abc", "invalid reference format"),
            ("https://ghcr.io/team/guard:v1", "`https://` is not a registry"),
        ];
        for (text, reason) in cases {
            let complaint = format!("`{text}` is not a reference to a module in a registry: {reason}{hint}");
            assert_eq!(read(text, false), Err(complaint));
        }
    }

    #[test]
    fn plain_http_is_for_this_machine_alone() {
        for host in ["localhost", "localhost:5000", "kind.localhost:5001", "127.0.0.1:5000", "127.9.9.9"] {
            assert!(read(&format!("{host}/guard:v1"), true).is_ok(), "{host}");
        }
        for host in ["ghcr.io", "10.0.0.1:5000", "localhost.example.com", "registry:5000"] {
            let complaint = format!(
                "`--insecure` speaks plain HTTP, and `{host}` is not on this machine; without this option, the \
                 program uses HTTPS"
            );
            assert_eq!(read(&format!("{host}/guard:v1"), true), Err(complaint));
        }
    }
}
