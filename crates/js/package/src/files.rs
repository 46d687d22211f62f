//! The files of the package.

use anyhow::{Result, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::bindings::{Bindings, STEM};

/// What the package exports; `functions.js` defines them.
const FUNCTIONS: &str = "check, nodeChanges, relation, tolerates, validateSettings";

const BODY: &str = include_str!("../functions.js");
const MANIFEST: &str = include_str!("../package.json");
const README: &str = include_str!("../README.md");
const LICENSE: &str = include_str!("../../../../LICENSE");

/// Every file by its path in the package.
pub fn of(bindings: &Bindings) -> Result<Vec<(String, Vec<u8>)>> {
    let web = format!(
        "import * as wasm from './wasm/{STEM}.js';\nimport bytes from './wasm/bytes.js';\n\n\
         wasm.initSync({{ module: bytes }});\n\n{BODY}\nexport {{ {FUNCTIONS} }};\n"
    );
    let node = format!(
        "'use strict';\n\nconst wasm = require('./wasm/{STEM}.cjs');\n\n{BODY}\nmodule.exports = {{ {FUNCTIONS} }};\n"
    );
    // Inside a script, because every bundler and every browser takes scripts, and each takes wasm in its own way.
    let bytes = format!(
        "const text = atob('{}');\nexport default Uint8Array.from(text, (letter) => letter.charCodeAt(0));\n",
        BASE64_STANDARD.encode(&bindings.wasm)
    );
    Ok(vec![
        (String::from("package.json"), manifest()?.into()),
        (String::from("README.md"), README.into()),
        (String::from("LICENSE"), LICENSE.into()),
        (String::from("index.js"), web.into()),
        (String::from("index.cjs"), node.into()),
        (String::from("index.d.ts"), bindings.types.clone().into()),
        (String::from("index.d.cts"), bindings.types.clone().into()),
        (format!("wasm/{STEM}.js"), bindings.web.clone().into()),
        (String::from("wasm/bytes.js"), bytes.into()),
        (format!("wasm/{STEM}.cjs"), bindings.node.clone().into()),
        (format!("wasm/{STEM}_bg.wasm"), bindings.wasm.clone()),
    ])
}

/// The manifest with the workspace's version. As text: the order of its conditions counts, the first that applies wins.
fn manifest() -> Result<String> {
    let version = r#""version": "0.0.0""#;
    ensure!(MANIFEST.contains(version), "package.json has no `{version}`");
    Ok(MANIFEST.replace(version, concat!(r#""version": ""#, env!("CARGO_PKG_VERSION"), r#"""#)))
}
