//! Which functions of a module can reach a panic: a walk over the calls of a module that has kept its names.
//!
//! A panic in WebAssembly is a trap, and says nothing. The lints forbid every call that panics by itself, but not what the standard
//! library and the dependencies do inside. Each panic is a call of one of the functions of [`ENTRIES`]; who calls one is listed
//! in `panics.txt`, with the reason why it is not reached. A line that begins with `*` is the reason for one panic, for every
//! caller. A name that ends in `*` is every function whose name begins so: which functions of a library are copied into their
//! callers changes with every change of the code.

use std::collections::{BTreeMap, BTreeSet};

use wasmparser::{ElementItems, KnownCustom, Name, Operator, Parser, Payload, TypeRef};

/// Where panics begin, by the beginning of the name without hashes.
pub const ENTRIES: [&str; 7] = [
    "core::panicking::",
    "core::cell::panic_",
    "core::option::unwrap_failed",
    "core::option::expect_failed",
    "core::result::unwrap_failed",
    "core::slice::index::slice_",
    "alloc::raw_vec::handle_error",
];

/// Whether a name of the list is the name of this function, or the beginning of it and `*`.
pub fn is_listed_as(listed: &str, function: &str) -> bool {
    listed.strip_suffix('*').map_or(listed == function, |begin| function.starts_with(begin))
}

/// The functions of a module and their calls.
#[derive(Debug, Default)]
pub struct Calls {
    names: BTreeMap<u32, String>,
    /// For each function those that it calls, and those whose address it or the table takes.
    calls: BTreeMap<u32, BTreeSet<u32>>,
    table: BTreeSet<u32>,
}

impl Calls {
    /// Reads a module.
    ///
    /// # Errors
    /// When the bytes are not a module.
    pub fn read(module: &[u8]) -> Result<Self, wasmparser::BinaryReaderError> {
        let mut calls = Calls::default();
        let (mut imported, mut body) = (0_u32, 0_u32);
        for payload in Parser::new(0).parse_all(module) {
            match payload? {
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        imported += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                    }
                }
                Payload::ElementSection(elements) => {
                    for element in elements {
                        if let ElementItems::Functions(functions) = element?.items {
                            for function in functions {
                                calls.table.insert(function?);
                            }
                        }
                    }
                }
                Payload::CodeSectionEntry(function) => {
                    let of = calls.calls.entry(imported + body).or_default();
                    body += 1;
                    for operator in function.get_operators_reader()? {
                        match operator? {
                            Operator::Call { function_index } | Operator::ReturnCall { function_index } => {
                                _ = of.insert(function_index)
                            }
                            _ => {}
                        }
                    }
                }
                Payload::CustomSection(section) => {
                    if let KnownCustom::Name(names) = section.as_known() {
                        for name in names {
                            if let Name::Function(functions) = name? {
                                for function in functions {
                                    let function = function?;
                                    calls.names.insert(function.index, plain(function.name));
                                }
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(calls)
    }

    pub fn has_names(&self) -> bool {
        self.names.len() >= self.calls.len() && !self.calls.is_empty()
    }

    fn name(&self, function: u32) -> &str {
        self.names.get(&function).map_or("?", String::as_str)
    }

    fn is_entry(&self, function: u32) -> bool {
        ENTRIES.iter().any(|entry| self.name(function).starts_with(entry))
    }

    /// The functions that call a panic themselves, by name, with the panics that they call. Those that are panics themselves do not
    /// count.
    pub fn panicking(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (function, called) in self.calls.iter().filter(|(function, _)| !self.is_entry(**function)) {
            let panics = called.iter().filter(|called| self.is_entry(**called));
            for panic in panics {
                found.entry(self.name(*function).to_owned()).or_default().insert(self.name(*panic).to_owned());
            }
        }
        found
    }

    /// How many functions there are, and how many of them can reach a panic by direct calls.
    pub fn reach(&self) -> (usize, usize) {
        let mut reach: BTreeSet<u32> = self.calls.keys().copied().filter(|function| self.is_entry(*function)).collect();
        loop {
            let more: Vec<u32> = self
                .calls
                .iter()
                .filter(|(function, called)| !reach.contains(function) && !called.is_disjoint(&reach))
                .map(|(function, _)| *function)
                .collect();
            if more.is_empty() {
                return (self.calls.len(), reach.len());
            }
            reach.extend(more);
        }
    }
}

/// A name without what changes with every compiler.
fn plain(name: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(name))
}
