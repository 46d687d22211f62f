//! All objects of a kind, read once: for programs that end.

use std::time::Duration;

use super::access::{Access, NoAccess};
use super::kind::Resource;
use super::pages;
use super::trouble::{Cause, Trouble};

/// For one page of a list.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why a cluster cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CannotRead {
    #[error("{0}")]
    NoAccess(#[from] NoAccess),
    #[error("{} cannot be read: {problem}", resource.plural)]
    Resource { resource: Resource, cause: Cause, problem: String },
    #[error("the system does not let the program read a cluster: {0}")]
    System(#[from] std::io::Error),
}

/// Reads all objects of a resource, or those of one namespace, and hands over each as JSON, with its `apiVersion` and `kind`,
/// as `kubectl get -o json` prints it. Blocks; not for threads of an asynchronous runtime.
///
/// # Errors
/// When the API server does not answer, or not with all objects, so that a part is not taken for the whole.
pub fn read_once(
    access: &Access,
    resource: Resource,
    namespace: Option<&str>,
    mut each: impl FnMut(String),
) -> Result<(), CannotRead> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let client = access.client().await?;
        let Resource { api_version, kind, .. } = resource;
        let read = pages::read(&client, resource, namespace, PATIENCE, |items| {
            for item in items {
                let members = item
                    .get()
                    .trim_start()
                    .strip_prefix('{')
                    .ok_or_else(|| Trouble::garbled(&"an item is not an object"))?;
                let separator = if members.trim_start().starts_with('}') { "" } else { "," };
                each(format!(r#"{{"apiVersion":"{api_version}","kind":"{kind}"{separator}{members}"#));
            }
            Ok(())
        });
        let cannot = |trouble: Trouble| CannotRead::Resource {
            resource,
            cause: trouble.cause,
            problem: trouble.line().to_owned(),
        };
        read.await.map(|_version| ()).map_err(cannot)
    })
}
