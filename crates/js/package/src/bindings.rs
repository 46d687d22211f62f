//! What wasm-bindgen makes of the built face: the final module, the JavaScript around it, and its types.

use anyhow::{Context, Result, ensure};
use walrus::{Module, RawCustomSection};
use wasm_bindgen_cli_support::{Bindgen, Output};

/// The name of the generated files; wasm-bindgen puts it into them.
pub const STEM: &str = "placement_guard";

/// The features of WebAssembly that a module was built for, in the section that stripping takes away: one, switched on,
/// with a name of 15 letters. rustc switches it on for all that it builds, and wasm-bindgen asks.
const FEATURES: &[u8] = b"\x01+\x0freference-types";

pub struct Bindings {
    pub wasm: Vec<u8>,
    /// CommonJS for Node; reads the module from the file next to it.
    pub node: String,
    /// An ES module, which is given the bytes.
    pub web: String,
    /// TypeScript declarations of the face.
    pub types: String,
}

pub fn of(built: &[u8]) -> Result<Bindings> {
    let face = prepared(built)?;
    let mut node = generate(&face, |bindgen| {
        bindgen.nodejs(true)?.typescript(false).reset_state_function(true);
        Ok(())
    })?;
    let mut web = generate(&face, |bindgen| {
        bindgen.web(true)?.omit_default_module_path(true).typescript(false).reset_state_function(true);
        Ok(())
    })?;
    let types = generate(&face, |bindgen| {
        bindgen.bundler(true)?.typescript(true);
        Ok(())
    })?;
    let wasm = node.wasm_mut().emit_wasm();
    ensure!(wasm == web.wasm_mut().emit_wasm(), "the modules for Node and for browsers differ");
    for import in node.wasm().imports.iter() {
        let (module, name) = (&import.module, &import.name);
        ensure!(*module == format!("./{STEM}_bg.js"), "imports `{module}.{name}`, which no JavaScript host has");
    }
    Ok(Bindings {
        wasm,
        node: node.js().to_owned(),
        web: web.js().to_owned(),
        types: types.ts().context("wasm-bindgen wrote no types")?.to_owned(),
    })
}

fn prepared(built: &[u8]) -> Result<Vec<u8>> {
    let mut module = Module::from_buffer(built)?;
    let name = String::from("target_features");
    if !module.customs.iter().any(|(_, section)| section.name() == name) {
        module.customs.add(RawCustomSection { name, data: FEATURES.to_vec() });
    }
    Ok(module.emit_wasm())
}

fn generate(face: &[u8], choose: impl FnOnce(&mut Bindgen) -> Result<()>) -> Result<Output> {
    let mut bindgen = Bindgen::new();
    bindgen.input_bytes(STEM, face.to_vec()).remove_name_section(true).remove_producers_section(true);
    choose(&mut bindgen)?;
    bindgen.generate_output()
}
