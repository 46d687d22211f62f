//! What the built module says of itself, without running and when asked.

use serde_json::Value;
use wasm_tests::Module;

fn section() -> Value {
    let module = std::fs::read(Module::built_path()).unwrap_or_else(|error| panic!("{error}; run `make module`"));
    let json = package::read(&module).unwrap().expect("the built module has a metadata section");
    serde_json::from_slice(json).unwrap()
}

/// The policy server refuses a module that states none, and believes what is stated.
#[test]
fn the_protocol_version_stated_is_the_one_answered() {
    let module = Module::built().unwrap_or_else(|error| panic!("{error}"));
    let answered: Value = serde_json::from_slice(&module.call("protocol_version", b"").unwrap()).unwrap();
    assert_eq!(section()["protocolVersion"], "v1");
    assert_eq!(section()["protocolVersion"], answered);
}

#[test]
fn the_section_is_that_of_the_metadata_file() {
    let yaml = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../metadata.yml")).unwrap();
    let metadata = package::Metadata::parse(&yaml).unwrap();
    let mut expected = serde_json::to_value(metadata).unwrap();
    expected["protocolVersion"] = package::PROTOCOL_VERSION.into();
    assert_eq!(section(), expected, "the module was built from another metadata.yml; run `make module`");
}
