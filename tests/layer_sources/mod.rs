//! What the sources of a crate name, as paths from its root.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// A file of a crate.
pub struct Source {
    /// Below `src`.
    pub file: String,
    /// Where in the crate it is; empty for the root.
    pub module: Vec<String>,
    syntax: syn::File,
}

/// Whether what is only compiled for tests counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Tests {
    Too,
    Not,
}

impl Source {
    /// Panics where the text is not Rust.
    pub fn of(file: &str, text: &str) -> Self {
        let syntax = syn::parse_file(text).unwrap_or_else(|error| panic!("{file}: {error}"));
        let mut module: Vec<String> = file.trim_end_matches(".rs").split('/').map(String::from).collect();
        module.pop_if(|name| name == "mod" || name == "lib" || name == "main");
        Source { file: file.to_owned(), module, syntax }
    }
}

/// Every file of Rust below a folder, in the order of their paths.
pub fn sources_below(folder: &Path) -> Vec<Source> {
    let mut files = Vec::new();
    collect(folder, &mut files);
    files.sort_unstable();
    // A program next to a library is a crate of its own.
    if files.contains(&folder.join("lib.rs")) {
        files.retain(|file| *file != folder.join("main.rs"));
    }
    let name = |file: &Path| file.strip_prefix(folder).expect("it lies there").display().to_string();
    files.iter().map(|file| Source::of(&name(file), &read(file))).collect()
}

pub fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("a file or a folder").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

/// Every path of more than one name, and every single name that a `use` brings in, in the order of the text; from the root of
/// the crate, `crate` first, where they begin there or with a module that is known.
pub fn paths(source: &Source, modules: &BTreeSet<Vec<String>>, tests: Tests) -> Vec<Vec<String>> {
    let mut found = Paths { here: source.module.clone(), modules, tests, found: Vec::new() };
    found.visit_file(&source.syntax);
    found.found
}

/// The sets of files that name each other, straight or by way of others; each in order, and they as well.
///
/// A module is made of those below it, so that it names them says nothing. What it only passes on counts as named where it is.
pub fn circles(sources: &[Source]) -> Vec<Vec<String>> {
    let modules: BTreeSet<Vec<String>> = sources.iter().map(|source| source.module.clone()).collect();
    let numbers: BTreeMap<&[String], usize> =
        sources.iter().enumerate().map(|(number, source)| (source.module.as_slice(), number)).collect();
    let passed_on: BTreeMap<Vec<String>, Vec<String>> =
        sources.iter().flat_map(|source| passed_on(source, &modules)).collect();
    let named = |source: &Source| -> BTreeSet<usize> {
        let paths = paths(source, &modules, Tests::Not).into_iter().filter(|path| path[0] == "crate");
        let defined = paths.map(|path| defined(path, &passed_on));
        // The file that a path leads into is that of the innermost module on it.
        let file = |path: Vec<String>| (1..=path.len()).rev().find_map(|end| numbers.get(&path[1..end]).copied());
        defined.filter_map(file).filter(|target| !sources[*target].module.starts_with(&source.module)).collect()
    };
    let arrows: Vec<BTreeSet<usize>> = sources.iter().map(named).collect();
    let reached: Vec<BTreeSet<usize>> = (0..sources.len()).map(|from| reach(&arrows, from)).collect();
    let together = |one: usize| -> Vec<String> {
        let others = (0..sources.len())
            .filter(|other| *other == one || reached[one].contains(other) && reached[*other].contains(&one));
        others.map(|other| sources[other].file.clone()).collect()
    };
    let circles: BTreeSet<Vec<String>> = (0..sources.len()).map(together).filter(|circle| circle.len() > 1).collect();
    circles.into_iter().collect()
}

/// What a file passes on by `pub use`: the path under which others find it, and where it is.
fn passed_on(source: &Source, modules: &BTreeSet<Vec<String>>) -> Vec<(Vec<String>, Vec<String>)> {
    let uses = source.syntax.items.iter().filter_map(|item| match item {
        syn::Item::Use(item) if !matches!(item.vis, syn::Visibility::Inherited) => Some(item),
        _ => None,
    });
    let mut found = Paths { here: source.module.clone(), modules, tests: Tests::Not, found: Vec::new() };
    uses.for_each(|item| found.visit_item_use(item));
    let with_names = found.found.into_iter().filter_map(|path| {
        let name = path.last()?.clone();
        let here = [String::from("crate")].into_iter().chain(source.module.iter().cloned()).chain([name]);
        Some((here.collect(), path))
    });
    with_names.collect()
}

/// The path under which something is defined, through everything that passes it on.
fn defined(mut path: Vec<String>, passed_on: &BTreeMap<Vec<String>, Vec<String>>) -> Vec<String> {
    // No source passes a name on more often than this.
    for _ in 0..8 {
        let step = (2..=path.len()).rev().find_map(|end| Some((end, passed_on.get(&path[..end])?)));
        let Some((end, to)) = step.filter(|(end, to)| to[..] != path[..*end]) else { break };
        path = to.iter().chain(&path[end..]).cloned().collect();
    }
    path
}

fn reach(arrows: &[BTreeSet<usize>], from: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(next) = open.pop() {
        open.extend(arrows[next].iter().copied().filter(|target| reached.insert(*target)));
    }
    reached
}

struct Paths<'a> {
    /// The module at this place.
    here: Vec<String>,
    modules: &'a BTreeSet<Vec<String>>,
    tests: Tests,
    found: Vec<Vec<String>>,
}

impl Paths<'_> {
    fn add(&mut self, path: &[String]) {
        let up = path.iter().take_while(|name| *name == "super").count();
        let child = |name: &String| self.here.iter().chain([name]).cloned().collect::<Vec<_>>();
        let root = [String::from("crate")].into_iter();
        let path: Vec<String> = match path[0].as_str() {
            "super" => {
                let above = &self.here[..self.here.len().saturating_sub(up)];
                root.chain(above.iter().cloned()).chain(path[up..].iter().cloned()).collect()
            }
            "self" => root.chain(self.here.iter().cloned()).chain(path[1..].iter().cloned()).collect(),
            _ if self.modules.contains(&child(&path[0])) => {
                root.chain(self.here.iter().cloned()).chain(path.iter().cloned()).collect()
            }
            _ => path.to_vec(),
        };
        self.found.push(path);
    }

    fn tree(&mut self, before: &[String], tree: &syn::UseTree) {
        let with = |name: String| before.iter().cloned().chain([name]).collect::<Vec<_>>();
        // `self` in a tree is the path before it.
        let leaf = |name: String| if name == "self" && !before.is_empty() { before.to_vec() } else { with(name) };
        match tree {
            syn::UseTree::Path(path) => self.tree(&with(path.ident.to_string()), &path.tree),
            syn::UseTree::Name(name) => self.add(&leaf(name.ident.to_string())),
            syn::UseTree::Rename(name) => self.add(&leaf(name.ident.to_string())),
            syn::UseTree::Glob(_) => self.add(&with(String::from("*"))),
            syn::UseTree::Group(group) => group.items.iter().for_each(|item| self.tree(before, item)),
        }
    }

    /// The input of a macro or an attribute is not syntax yet: every row of names with `::` between them is a path.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        // Whether the colons of a `::` were the last that was read, and how many of them.
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.end(&mut path);
                    }
                    path.push(name.to_string());
                    colons = 0;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' && colons < 2 => colons += 1,
                TokenTree::Group(group) => {
                    self.end(&mut path);
                    colons = 0;
                    self.tokens(group.stream());
                }
                _ => {
                    self.end(&mut path);
                    colons = 0;
                }
            }
        }
        self.end(&mut path);
    }

    fn end(&mut self, path: &mut Vec<String>) {
        if path.len() > 1 {
            self.add(path);
        }
        path.clear();
    }

    fn is_left_out(&self, attributes: &[syn::Attribute]) -> bool {
        let is_test = |attribute: &syn::Attribute| {
            let list = attribute.meta.require_list();
            attribute.path().is_ident("cfg") && list.is_ok_and(|list| list.tokens.to_string() == "test")
        };
        self.tests == Tests::Not && attributes.iter().any(is_test)
    }
}

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if self.is_left_out(&module.attrs) {
            return;
        }
        self.here.push(module.ident.to_string());
        visit::visit_item_mod(self, module);
        self.here.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !self.is_left_out(&item.attrs) {
            self.tree(&[], &item.tree);
        }
    }

    fn visit_item_extern_crate(&mut self, item: &'ast syn::ItemExternCrate) {
        self.add(&[item.ident.to_string()]);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if names.len() > 1 {
            self.add(&names);
        }
        visit::visit_path(self, path);
    }

    fn visit_vis_restricted(&mut self, visibility: &'ast syn::VisRestricted) {
        // `pub(crate)` and `pub(super)` name no one; `pub(in path)` does.
        if visibility.in_token.is_some() {
            self.visit_path(&visibility.path);
        }
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        self.visit_path(&called.path);
        self.tokens(called.tokens.clone());
    }

    fn visit_meta_list(&mut self, list: &'ast syn::MetaList) {
        self.visit_path(&list.path);
        self.tokens(list.tokens.clone());
    }
}
