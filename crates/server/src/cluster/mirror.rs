//! A mirror of the objects of one kind: listed once, then watched, for as long as the server runs.
//!
//! `kube` has reflectors too. They do not say when the API server was heard last, though, and that is what decides here
//! whether their objects may still be answered.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures_util::io::AsyncBufReadExt;
use kube::Client;
use kube::core::Status;
use placement_guard::kubernetes::kind::Kind;
use placement_guard::rules::rule::Reads;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::fields::Fields;
use super::kind::{kept, resource};
use super::limits::Limits;
use super::pages;
use super::store::{Metadata, Objects};
use super::trouble::{Cause, Trouble};
use crate::metrics::Metrics;

/// How much longer than it was asked for a watch may last before its connection counts as dead.
const GRACE: Duration = Duration::from_secs(5);

/// All objects of one kind.
#[derive(Debug)]
pub struct Mirror {
    pub kind: Kind,
    /// Whether it is followed at all: otherwise nothing is held.
    pub reads: Reads,
    pub kept: Fields,
    limits: Limits,
    state: RwLock<State>,
}

#[derive(Debug, Default)]
struct State {
    /// None until the first list was read to its end.
    objects: Option<Objects>,
    /// When the API server said last that the objects are these.
    heard: Option<Instant>,
    /// What went wrong since then.
    trouble: Option<Trouble>,
}

/// What a metric or a person wants to know about a mirror.
#[derive(Debug)]
pub struct Condition {
    pub has_synced: bool,
    pub objects: usize,
    pub age: Option<Duration>,
    pub trouble: Option<Trouble>,
}

#[derive(Deserialize)]
struct Event<'e> {
    #[serde(rename = "type")]
    event: &'e str,
    #[serde(borrow)]
    object: &'e RawValue,
}

/// From where the next watch goes on; none where a list has to come first.
type Version = Option<String>;

impl Mirror {
    pub fn new(kind: Kind, reads: Reads, limits: Limits) -> Self {
        Mirror { kind, reads, kept: kept(kind), limits, state: RwLock::default() }
    }

    /// Uses the objects, if they are as the API server has them, or were less than [`Limits::stale`] ago.
    ///
    /// # Errors
    /// Why they are not known now.
    pub fn read<T>(&self, using: impl FnOnce(&Objects) -> T) -> Result<T, Trouble> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        match (&state.objects, state.heard) {
            (Some(objects), Some(heard)) if heard.elapsed() <= self.limits.stale => Ok(using(objects)),
            _ => Err(state.trouble.clone().unwrap_or_else(Trouble::too_long)),
        }
    }

    pub fn condition(&self) -> Condition {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        Condition {
            has_synced: state.objects.is_some(),
            objects: state.objects.as_ref().map_or(0, Objects::len),
            age: state.heard.map(|heard| heard.elapsed()),
            trouble: state.trouble.clone(),
        }
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Follows the API server until the task is aborted.
    pub async fn follow(self: Arc<Self>, client: Client, metrics: Arc<Metrics>) {
        let (first, most) = self.limits.retry;
        let mut version = None;
        let mut wait = first;
        let mut was_gone = false;
        loop {
            let (begin, is_list) = (Instant::now(), version.is_none());
            let trouble = self.step(&client, &mut version).await.err();
            if trouble.is_none() && is_list {
                continue;
            }
            if trouble.is_none() && begin.elapsed() >= first {
                wait = first;
                was_gone = false;
                continue;
            }
            // A watch that ends at once, again and again, is no better than one that fails.
            if let Some(trouble) = trouble {
                metrics.cluster_error(self.kind.name(), trouble.cause.name());
                if matches!(trouble.cause, Cause::Gone | Cause::Garbled) {
                    version = None;
                }
                // The API server is back after an outage: what is held is old, so the list does not wait as long as the next
                // attempt in the outage would have. If that goes on, it does.
                let is_gone = trouble.cause == Cause::Gone;
                if is_gone && !was_gone {
                    wait = first;
                }
                was_gone = is_gone;
                self.note(trouble);
            }
            tokio::time::sleep(wait).await;
            wait = wait.saturating_mul(2).min(most);
        }
    }

    /// Lists where there is nothing to go on from, and otherwise watches until the watch ends.
    async fn step(&self, client: &Client, version: &mut Version) -> Result<(), Trouble> {
        match version {
            None => {
                *version = Some(self.list(client).await?);
                Ok(())
            }
            Some(from) => self.watch(client, from).await,
        }
    }

    async fn list(&self, client: &Client) -> Result<String, Trouble> {
        let mut objects = Objects::default();
        let mut heard = None;
        let version = pages::read(client, resource(self.kind), None, self.limits.page, |items| {
            heard.get_or_insert_with(Instant::now);
            for item in items {
                objects.put(item, &self.kept).map_err(|error| Trouble::garbled(&error))?;
            }
            Ok(())
        });
        let version = version.await?;
        tracing::info!(kind = self.kind.name(), objects = objects.len(), bytes = objects.bytes(), "cluster listed");
        self.change(|state| {
            state.objects = Some(objects);
            state.heard = heard;
            state.trouble = None;
        });
        Ok(version)
    }

    /// Watches from `version` on, and moves it.
    async fn watch(&self, client: &Client, version: &mut String) -> Result<(), Trouble> {
        let path = format!(
            "{}?watch=true&allowWatchBookmarks=true&timeoutSeconds={}&resourceVersion={}",
            resource(self.kind).path(None),
            self.limits.watch.as_secs().max(1),
            pages::encoded(version)
        );
        let begun = tokio::time::timeout(self.limits.page, client.request_stream(pages::request(&path)?)).await;
        let begun = begun.map_err(|_elapsed| Trouble::too_long())?;
        let mut events = std::pin::pin!(begun.map_err(|error| Trouble::of(resource(self.kind), &error))?);
        let before = self.change(|state| state.heard);
        self.hear();
        let end = Instant::now().checked_add(self.limits.watch.saturating_add(GRACE));
        let mut line = Vec::new();
        loop {
            line.clear();
            let reading = events.read_until(b'\n', &mut line);
            let read = match end {
                Some(end) => tokio::time::timeout_at(end, reading).await.map_err(|_elapsed| Trouble::too_long())?,
                None => reading.await,
            };
            match read {
                Ok(0) => return Ok(()),
                Ok(_) if !line.ends_with(b"\n") => return Err(Trouble::broken(&unfinished())),
                Ok(_) => self.apply(&line, version).inspect_err(|trouble| {
                    // Versions that are too old are accepted at first: it was no sign of life.
                    if trouble.cause == Cause::Gone {
                        self.change(|state| state.heard = before);
                    }
                })?,
                Err(error) => return Err(Trouble::broken(&error)),
            }
        }
    }

    /// The API server is there, and has told everything up to now.
    fn hear(&self) {
        let trouble = self.change(|state| {
            state.heard = Some(Instant::now());
            state.trouble.take()
        });
        if trouble.is_some() {
            tracing::info!(kind = self.kind.name(), "cluster readable again");
        }
    }

    fn note(&self, trouble: Trouble) {
        let line = trouble.line().to_owned();
        let is_new = self.change(|state| {
            let before = state.trouble.replace(trouble);
            before.map(|before| before.cause) != state.trouble.as_ref().map(|now| now.cause)
        });
        if is_new {
            tracing::warn!(kind = self.kind.name(), problem = line, "cluster not readable");
        }
    }

    fn apply(&self, line: &[u8], version: &mut String) -> Result<(), Trouble> {
        let garbled = |error: serde_json::Error| Trouble::garbled(&error);
        let Event { event, object } = serde_json::from_slice(line).map_err(garbled)?;
        let is_new = match event {
            "ERROR" => {
                let status: Status = serde_json::from_str(object.get()).map_err(garbled)?;
                return Err(Trouble::of_status(resource(self.kind), status));
            }
            "BOOKMARK" => bookmark(object).map_err(garbled)?,
            "DELETED" => {
                let metadata = Metadata::of(object).map_err(garbled)?;
                self.change(|state| state.objects.get_or_insert_default().remove(&metadata));
                metadata.resource_version
            }
            "ADDED" | "MODIFIED" => {
                let put = self.change(|state| state.objects.get_or_insert_default().put(object, &self.kept));
                put.map_err(garbled)?.resource_version
            }
            other => return Err(Trouble::garbled(&format!("an event of type `{other}` is not known"))),
        };
        if let Some(is_new) = is_new {
            *version = is_new;
        }
        self.hear();
        Ok(())
    }
}

fn unfinished() -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "the watch ended within an event")
}

/// A bookmark has a version and no name.
fn bookmark(object: &RawValue) -> serde_json::Result<Option<String>> {
    #[derive(Deserialize)]
    struct Bookmark {
        metadata: Marked,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Marked {
        resource_version: Option<String>,
    }
    serde_json::from_str::<Bookmark>(object.get()).map(|bookmark| bookmark.metadata.resource_version)
}
