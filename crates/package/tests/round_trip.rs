//! What annotating changes in a module, and what it leaves alone.

#![allow(clippy::restriction)]

use package::{Metadata, NotAModule, PROTOCOL_VERSION, SECTION, annotate, read};
use wasm_encoder::{
    CodeSection, CustomSection, ExportKind, ExportSection, Function, FunctionSection, Module, NameMap, NameSection,
    TypeSection,
};
use wasmparser::Parser;

const METADATA: &str = r#"
rules:
  - {apiGroups: [""], apiVersions: ["v1"], resources: ["persistentvolumes"], operations: ["CREATE", "UPDATE"]}
mutating: false
annotations: {b: second, a: first}
contextAwareResources: [{apiVersion: v1, kind: Node}]
"#;

fn metadata() -> Metadata {
    Metadata::parse(METADATA).unwrap()
}

/// One exported function, a name section, and custom sections before and behind the code.
fn module() -> Vec<u8> {
    let mut module = Module::new();
    module.section(&CustomSection { name: "before".into(), data: b"one".as_slice().into() });
    let mut types = TypeSection::new();
    types.ty().function([], []);
    module.section(&types);
    let mut functions = FunctionSection::new();
    functions.function(0);
    module.section(&functions);
    let mut exports = ExportSection::new();
    exports.export("wapc_init", ExportKind::Func, 0);
    module.section(&exports);
    let mut code = CodeSection::new();
    let mut body = Function::new([]);
    body.instructions().end();
    code.function(&body);
    module.section(&code);
    let mut names = NameSection::new();
    let mut function_names = NameMap::new();
    function_names.append(0, "placement_guard::wapc_init");
    names.functions(&function_names);
    module.section(&names);
    module.section(&CustomSection { name: "producers".into(), data: b"\0".as_slice().into() });
    module.finish()
}

/// Every section: its id, its name where it is a custom one, and its bytes.
fn sections(module: &[u8]) -> Vec<(u8, Option<String>, &[u8])> {
    Parser::new(0)
        .parse_all(module)
        .filter_map(|payload| {
            let payload = payload.unwrap();
            let (id, range) = payload.as_section()?;
            let name = match &payload {
                wasmparser::Payload::CustomSection(custom) => Some(custom.name().to_owned()),
                _ => None,
            };
            Some((id, name, &module[range]))
        })
        .collect()
}

fn named<'a>(name: &str, sections: &[(u8, Option<String>, &'a [u8])]) -> Vec<&'a [u8]> {
    sections.iter().filter(|section| section.1.as_deref() == Some(name)).map(|section| section.2).collect()
}

#[test]
fn the_section_is_compact_json_in_the_order_that_kubewardens_own_tool_writes() {
    let annotated = annotate(&module(), &metadata()).unwrap();
    let section = read(&annotated).unwrap().expect("the annotated module has the section");
    assert_eq!(
        std::str::from_utf8(section).unwrap(),
        concat!(
            r#"{"protocolVersion":"v1","#,
            r#""rules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["persistentvolumes"],"operations":["CREATE","UPDATE"]}],"#,
            r#""annotations":{"a":"first","b":"second"},"mutating":false,"backgroundAudit":true,"executionMode":"kubewarden-wapc","#,
            r#""policyType":"kubernetes","contextAwareResources":[{"apiVersion":"v1","kind":"Node"}]}"#
        )
    );
    assert_eq!(PROTOCOL_VERSION, "v1");
}

#[test]
fn the_other_sections_keep_their_bytes_and_their_order_and_only_the_names_go() {
    let plain = module();
    let annotated = annotate(&plain, &metadata()).unwrap();
    let mut expected = sections(&plain);
    expected.retain(|section| section.1.as_deref() != Some("name"));
    assert_eq!(expected.len(), sections(&plain).len() - 1, "the module under test has a name section");

    let mut actual = sections(&annotated);
    let last = actual.pop().unwrap();
    assert_eq!(last.1.as_deref(), Some(SECTION), "the metadata stands behind everything else");
    assert_eq!(actual, expected);
}

#[test]
fn annotating_again_replaces_the_section() {
    let first = annotate(&module(), &metadata()).unwrap();
    let other = Metadata { mutating: true, ..metadata() };
    let second = annotate(&first, &other).unwrap();
    let found = named(SECTION, &sections(&second)).len();
    assert_eq!(found, 1);
    assert!(std::str::from_utf8(read(&second).unwrap().unwrap()).unwrap().contains(r#""mutating":true"#));
    assert_eq!(annotate(&second, &metadata()).unwrap(), first, "nothing of the section in between is left");
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let reordered = METADATA.replace("{b: second, a: first}", "{a: first, b: second}");
    assert_ne!(reordered, METADATA);
    let once = annotate(&module(), &metadata()).unwrap();
    assert_eq!(annotate(&module(), &Metadata::parse(&reordered).unwrap()).unwrap(), once);
}

#[test]
fn a_module_that_nobody_annotated_has_no_section() {
    assert_eq!(read(&module()).unwrap(), None);
}

#[test]
fn what_is_no_core_module_is_refused_with_a_sentence() {
    let whole = module();
    for (bytes, complaint) in [
        (b"rules: []".as_slice(), "not a WebAssembly module: "),
        (b"", "not a WebAssembly module: "),
        (&whole[..whole.len() - 1], "not a WebAssembly module: "),
        (
            b"\0asm\x0d\0\x01\0",
            "a WebAssembly component, but Kubewarden loads only core modules; build for wasm32-unknown-unknown",
        ),
    ] {
        let error: NotAModule = annotate(bytes, &metadata()).unwrap_err();
        assert!(error.to_string().starts_with(complaint), "{error}");
    }
}
