//! The files of the package.

use anyhow::Result;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;

use crate::bindings::{Bindings, STEM};

/// What the package exports; `functions.js` defines them.
const FUNCTIONS: &str = "check, relation, tolerates, validateSettings";

const BODY: &str = include_str!("../functions.js");
const README: &str = include_str!("../README.md");
const LICENSE: &str = include_str!("../../../LICENSE");

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
        (String::from("package.json"), manifest()?),
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

fn manifest() -> Result<Vec<u8>> {
    let manifest = json!({
        "name": "placement-guard",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "Decides, exactly and with a counterexample, whether a change to where Kubernetes may place \
                        volumes and pods is safe",
        "license": env!("CARGO_PKG_LICENSE"),
        "keywords": ["kubernetes", "admission", "node-affinity", "persistent-volume", "tolerations", "taints"],
        "type": "module",
        "engines": {"node": ">=20"},
        "sideEffects": false,
        "main": "./index.cjs",
        "module": "./index.js",
        "types": "./index.d.ts",
        // Node alone has `require` without a bundler; bundlers and browsers are given the ES module, and so is its `import`.
        "exports": {
            ".": {
                "node": {"require": {"types": "./index.d.cts", "default": "./index.cjs"}},
                "types": "./index.d.ts",
                "default": "./index.js",
            },
            "./package.json": "./package.json",
        },
        "files": ["index.*", "wasm/"],
    });
    Ok((serde_json::to_string_pretty(&manifest)? + "\n").into())
}
