//! What the module wants from its host, and what it offers.

use testkit::golden::assert_golden;
use wasm_tests::Module;
use wasmtime::ExternType;

/// No clock, no randomness, no files: whatever engine runs the module, a request has one answer.
#[test]
fn the_module_imports_wapc_and_nothing_else() {
    let module = Module::built().unwrap_or_else(|error| panic!("{error}"));
    let others: Vec<_> =
        module.compiled().imports().filter(|import| import.module() != "wapc").map(|import| import.name()).collect();
    assert!(others.is_empty(), "{others:?}");
}

#[test]
fn the_imports_and_exports_are_the_reviewed_ones() {
    let module = Module::built().unwrap_or_else(|error| panic!("{error}"));
    let imports = module
        .compiled()
        .imports()
        .map(|import| format!("import {}.{}{}", import.module(), import.name(), kind(&import.ty())));
    let exports = module.compiled().exports().map(|export| format!("export {}{}", export.name(), kind(&export.ty())));
    // The order is the linker's own.
    let mut lines: Vec<String> = imports.chain(exports).collect();
    lines.sort();
    assert_golden(
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/imports_exports.txt"),
        &format!("{}\n", lines.join("\n")),
    );
}

/// Memory and globals without sizes and addresses, which change with every build.
fn kind(item: &ExternType) -> String {
    match item {
        ExternType::Func(function) => {
            let names = |types: &mut dyn Iterator<Item = wasmtime::ValType>| {
                types.map(|of| of.to_string()).collect::<Vec<_>>().join(", ")
            };
            format!("({}) -> ({})", names(&mut function.params()), names(&mut function.results()))
        }
        ExternType::Memory(_) => ": memory".into(),
        ExternType::Global(_) => ": global".into(),
        other => format!(": {other:?}"),
    }
}
