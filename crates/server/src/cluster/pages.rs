//! Lists of the API server, page by page, so that no list is ever held twice.

use std::time::Duration;

use kube::Client;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::kind::Resource;
use super::trouble::Trouble;

/// Objects of one page, as `kubectl` asks for them.
const PAGE: u32 = 500;

#[derive(Deserialize)]
struct Page<'p> {
    metadata: ListMetadata,
    // Some API servers write `null` for no items.
    #[serde(borrow, default)]
    items: Option<Vec<&'p RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListMetadata {
    resource_version: Option<String>,
    #[serde(rename = "continue")]
    rest: Option<String>,
}

/// Reads all objects, or those of one namespace, and hands over the items of each page. Returns the version of the list, from which a watch
/// goes on.
///
/// # Errors
/// What the API server says, that a page takes longer than `patience`, and what `each` complains of.
pub async fn read(
    client: &Client,
    resource: Resource,
    namespace: Option<&str>,
    patience: Duration,
    mut each: impl FnMut(&[&RawValue]) -> Result<(), Trouble>,
) -> Result<String, Trouble> {
    let begin = format!("{}?limit={PAGE}", resource.path(namespace));
    let mut path = begin.clone();
    loop {
        let text = text(client, resource, &path, patience).await?;
        let page: Page<'_> = serde_json::from_str(&text).map_err(|error| Trouble::garbled(&error))?;
        each(&page.items.unwrap_or_default())?;
        match page.metadata.rest.filter(|rest| !rest.is_empty()) {
            Some(rest) => path = format!("{begin}&continue={}", encoded(&rest)),
            None => {
                let missing = || Trouble::garbled(&"the list has no resourceVersion");
                return page.metadata.resource_version.ok_or_else(missing);
            }
        }
    }
}

/// The body at a path, which has to come whole in this time.
async fn text(client: &Client, resource: Resource, path: &str, patience: Duration) -> Result<String, Trouble> {
    let asked = tokio::time::timeout(patience, client.request_text(request(path)?)).await;
    asked.map_err(|_elapsed| Trouble::too_long())?.map_err(|error| Trouble::of(resource, &error))
}

/// A request for a path with a query.
pub fn request(path: &str) -> Result<hyper::Request<Vec<u8>>, Trouble> {
    let request = hyper::Request::get(path).header(hyper::header::ACCEPT, "application/json");
    request.body(Vec::new()).map_err(|error| Trouble::garbled(&error))
}

/// A value of a query.
pub fn encoded(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
