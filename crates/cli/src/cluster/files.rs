//! Files with the objects of a cluster.

use std::path::{Path, PathBuf};

use placement_guard::kubernetes::field::{self, Field, Unreadable};
use placement_guard::kubernetes::kind::Kind;
use placement_guard::objects::Objects;

use crate::audit::files;
use crate::complaint::Complaint;
use crate::input::Source;
use crate::manifest::Manifest;

const REMEDY: &str = "give what `kubectl get … -A -o yaml` prints";

/// Reads the objects in files and folders, and counts them. Of two objects of one name the last counts.
///
/// # Errors
/// What cannot be read, and documents that are not objects.
pub fn read(paths: &[PathBuf]) -> Result<(Objects, usize), Complaint> {
    let mut objects = Objects::of_kinds(&Kind::ALL);
    let mut count = 0_usize;
    for file in files::below(paths)? {
        let source = Source::read(&file.path)?;
        let documents = source.documents()?;
        // A List without items is a cluster without such objects; nothing at all is a `kubectl` that failed.
        if file.named && documents.is_none() {
            return Err(Complaint::new(source.shown(), "holds no document", REMEDY));
        }
        for document in documents.unwrap_or_default() {
            let line = document.line;
            let Some(manifest) = Manifest::read(&source, document)? else {
                if file.named {
                    let location = format!("{}:{line}", source.shown());
                    return Err(Complaint::new(location, "has no `apiVersion` or no `kind`", REMEDY));
                }
                // Among the files of a folder are some for other programs.
                continue;
            };
            add(&mut objects, &source, &manifest, REMEDY)?;
            count = count.saturating_add(1);
        }
    }
    Ok((objects, count))
}

/// Reads what `kubectl get nodes -o yaml` printed.
///
/// # Errors
/// A document that is not a node, and a file without any.
pub fn nodes(path: &Path) -> Result<Objects, Complaint> {
    const REMEDY: &str = "give what `kubectl get nodes -o yaml` prints";
    let source = Source::read(path)?;
    let mut nodes = Objects::of_kinds(&[Kind::Node]);
    for manifest in Manifest::all(&source)? {
        let Manifest { identity, document } = &manifest;
        if (identity.group.as_str(), identity.kind.as_str()) != ("", Kind::Node.name()) {
            let location = format!("{}:{}", source.shown(), document.line);
            return Err(Complaint::new(location, format!("is a `{}`, not a `Node`", identity.kind), REMEDY));
        }
        add(&mut nodes, &source, &manifest, REMEDY)?;
    }
    if nodes.count(Kind::Node) == 0 {
        return Err(Complaint::new(source.shown(), "holds no `Node`", REMEDY));
    }
    Ok(nodes)
}

fn add(objects: &mut Objects, source: &Source, manifest: &Manifest<'_>, remedy: &str) -> Result<(), Complaint> {
    let Manifest { identity, document } = manifest;
    let complain = |problem: String| Complaint::new(format!("{}:{}", source.shown(), document.line), problem, remedy);
    let known = Kind::ALL.into_iter().find(|kind| (kind.group(), kind.name()) == (&*identity.group, &*identity.kind));
    let Some(kind) = known else { return Ok(()) };
    if identity.name.is_none() {
        return Err(complain(format!("is a `{}` without a name", kind.name())));
    }
    let parsed = field::parse(document.json.as_bytes());
    let added = parsed.and_then(|json| {
        let root = Field::root("", &json);
        check(kind, &root)?;
        objects.insert(kind, &root)
    });
    added.map_err(|unreadable| complain(unreadable.to_string()))
}

/// Of what rules read, what a person who writes such a file by hand gets wrong: here the line can be named.
fn check(kind: Kind, object: &Field<'_, '_>) -> Result<(), Unreadable> {
    if kind == Kind::Node {
        let metadata = object.get("metadata")?;
        metadata.get("labels")?.members()?.try_for_each(|(_, value)| value.required_string().map(drop))?;
    }
    Ok(())
}
