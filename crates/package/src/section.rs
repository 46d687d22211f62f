//! The custom section in the module's bytes.

use serde::Serialize;
use wasm_encoder::{CustomSection, Module, RawSection};
use wasmparser::{Encoding, Parser, Payload};

use crate::Metadata;

/// The section in which Kubewarden looks for the metadata.
pub const SECTION: &str = "io.kubewarden.metadata";

/// The version of Kubewarden's guest protocol that the module speaks.
pub const PROTOCOL_VERSION: &str = "v1";

/// Names of functions, for debuggers. Kubewarden's tool drops it, and nothing that a user sees needs it.
const NAME_SECTION: &str = "name";

/// Why bytes are not a module that can be annotated.
#[derive(Debug, thiserror::Error)]
pub enum NotAModule {
    #[error("not a WebAssembly module: {0}; give the file that the compiler wrote")]
    Malformed(#[from] wasmparser::BinaryReaderError),
    #[error("a WebAssembly component, but Kubewarden loads only core modules; build for wasm32-unknown-unknown")]
    Component,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Content<'a> {
    protocol_version: &'static str,
    #[serde(flatten)]
    metadata: &'a Metadata,
}

/// Gives the module with `metadata` as its only section of that name, behind everything else; the rest, without the name
/// section, stays as it is and where it is.
pub fn annotate(module: &[u8], metadata: &Metadata) -> Result<Vec<u8>, NotAModule> {
    let mut annotated = Module::new();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload?;
        match &payload {
            Payload::Version { encoding: Encoding::Component, .. } => return Err(NotAModule::Component),
            Payload::CustomSection(custom) if [SECTION, NAME_SECTION].contains(&custom.name()) => continue,
            _ => {}
        }
        if let Some((id, range)) = payload.as_section() {
            #[expect(clippy::indexing_slicing, reason = "the parser names ranges of what it was given")]
            let data = &module[range];
            annotated.section(&RawSection { id, data });
        }
    }
    let content = Content { protocol_version: PROTOCOL_VERSION, metadata };
    #[expect(clippy::expect_used, reason = "strings, booleans and lists of them have a form in JSON")]
    let json = serde_json::to_vec(&content).expect("metadata is always representable as JSON");
    annotated.section(&CustomSection { name: SECTION.into(), data: json.into() });
    Ok(annotated.finish())
}

/// The JSON in the module's metadata section, where it has one.
pub fn read(module: &[u8]) -> Result<Option<&[u8]>, NotAModule> {
    for payload in Parser::new(0).parse_all(module) {
        if let Payload::CustomSection(custom) = payload?
            && custom.name() == SECTION
        {
            return Ok(Some(custom.data()));
        }
    }
    Ok(None)
}
