//! Why the API server's objects cannot be read, in the words of the policy server.

use kube::core::Status;

use super::kind::Resource;

/// Why a read failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    pub cause: Cause,
    /// As the policy server prints it.
    pub text: String,
}

/// What kind of failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    Forbidden,
    NotServed,
    /// What was asked for is older than what the API server remembers.
    Gone,
    TooLong,
    Down,
    Garbled,
}

impl Cause {
    /// For metrics.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Forbidden => "forbidden",
            Cause::NotServed => "not-served",
            Cause::Gone => "gone",
            Cause::TooLong => "too-long",
            Cause::Down => "down",
            Cause::Garbled => "garbled",
        }
    }
}

impl Trouble {
    /// Of a failed request for objects.
    pub fn of(resource: Resource, error: &kube::Error) -> Self {
        let cause = match error {
            kube::Error::Api(status) => match status.code {
                401 | 403 => Cause::Forbidden,
                404 => Cause::NotServed,
                410 => Cause::Gone,
                _ => Cause::Down,
            },
            _ => Cause::Down,
        };
        let Resource { api_version, kind, .. } = resource;
        let text = match cause {
            // The policy server first asks which kinds there are, and fails there.
            Cause::NotServed if resource.is_core() => format!("Cannot find resource {api_version}/{kind}"),
            Cause::NotServed => format!("error finding resource {api_version} / {kind}: {error}"),
            _ => error.to_string(),
        };
        Trouble { cause, text }
    }

    /// Of a watch that ends with an error.
    pub fn of_status(resource: Resource, status: Status) -> Self {
        Trouble::of(resource, &kube::Error::Api(status.boxed()))
    }

    /// Of a connection that broke off.
    pub fn broken(error: &std::io::Error) -> Self {
        Trouble { cause: Cause::Down, text: format!("Error reading events stream: {error}") }
    }

    /// Of an API server that does not answer in time. The policy server has no such error: it waits.
    pub fn too_long() -> Self {
        Trouble { cause: Cause::TooLong, text: String::from("ServiceError: deadline has elapsed") }
    }

    /// Of an answer that is not what was asked for.
    pub fn garbled(error: &dyn std::fmt::Display) -> Self {
        Trouble { cause: Cause::Garbled, text: format!("Error deserializing response: {error}") }
    }

    /// For the log and for people: the first line, without the status that repeats it.
    pub fn line(&self) -> &str {
        let line = self.text.lines().next().unwrap_or_default();
        line.split_once(" (Status {").map_or(line, |(line, _)| line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use placement_guard::kubernetes::kind::Kind;

    use crate::cluster::resource;

    #[test]
    fn people_read_what_the_api_server_says_once() {
        let forbidden = Status::failure("nodes is forbidden: User \"u\" cannot list", "Forbidden").with_code(403);
        let trouble = Trouble::of_status(resource(Kind::Node), forbidden);
        assert_eq!(trouble.cause, Cause::Forbidden);
        assert_eq!(trouble.line(), "ApiError: nodes is forbidden: User \"u\" cannot list: Forbidden");
        assert!(trouble.text.contains("code: 403"), "{}", trouble.text);
        assert_eq!(Trouble::too_long().line(), "ServiceError: deadline has elapsed");
    }
}
