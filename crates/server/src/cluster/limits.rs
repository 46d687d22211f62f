//! How long reading the cluster may take, and how old it may be.

use std::time::Duration;

/// Every wait for the API server has a limit here.
#[derive(Debug, Clone)]
pub struct Limits {
    /// For how long objects are still answered after the last word from the API server. Then they cannot be read,
    /// because it is not known any more whether they are true.
    pub stale: Duration,
    /// How long one watch lasts. The API server sends bookmarks about once a minute, so a watch without changes is silent:
    /// that it begins anew, and is accepted, is the sign of life. Well below `stale`.
    pub watch: Duration,
    /// For one page of a list, or for a watch to begin.
    pub page: Duration,
    /// For one object. A part of the time limit of the evaluation that asks for it, if that is less.
    pub get: Duration,
    /// Between two attempts: at first, and at most.
    pub retry: (Duration, Duration),
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            stale: Duration::from_secs(60),
            watch: Duration::from_secs(30),
            page: Duration::from_secs(30),
            get: Duration::from_secs(2),
            retry: (Duration::from_secs(1), Duration::from_secs(5)),
        }
    }
}
