//! From the path of a field to its line and column.

use placement_guard::kubernetes::field::Unreadable;
use serde_saphyr::Spanned;

use crate::input::{Located, Source, locate};

/// Where in the file the complaint is about: the value, the key where it is the key that is wrong (the second of two), and
/// where nothing is what is wrong, what should hold it.
pub fn of(source: &Source, unreadable: &Unreadable) -> String {
    let Ok(root) = locate(source) else { return source.shown().to_owned() };
    let about_the_key = ["is not a known key", "appears twice"].iter().any(|key| unreadable.problem.starts_with(key));
    let mut found = (root.referenced, 0);
    visit(&root.value, "", &mut |path, key, value| {
        let within =
            unreadable.path.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
        if within && path.len() >= found.1 {
            let exact = path == unreadable.path;
            found = (key.filter(|_| about_the_key && exact).unwrap_or(value), path.len());
        }
    });
    format!("{}:{}:{}", source.shown(), found.0.line(), found.0.column())
}

/// Shows every field below `node`: its path as the library spells it, the location of its key, and its own.
fn visit(
    node: &Located,
    path: &str,
    see: &mut dyn FnMut(&str, Option<serde_saphyr::Location>, serde_saphyr::Location),
) {
    let mut below = |path: String, key: Option<&Spanned<String>>, value: &Spanned<Located>| {
        see(&path, key.map(|key| key.referenced), value.referenced);
        visit(&value.value, &path, see);
    };
    match node {
        Located::Scalar => {}
        Located::List(items) => {
            for (index, item) in items.iter().enumerate() {
                below(format!("{path}[{index}]"), None, item);
            }
        }
        Located::Mapping(members) => {
            for (key, value) in members {
                let name = &key.value;
                let here = match path {
                    "" => name.clone(),
                    _ if name.contains(['.', '/']) => format!("{path}[{name}]"),
                    _ => format!("{path}.{name}"),
                };
                below(here, Some(key), value);
            }
        }
    }
}
