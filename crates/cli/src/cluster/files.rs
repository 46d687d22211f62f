//! Files with the objects of a cluster.

use std::path::{Path, PathBuf};

use placement_guard::kubernetes::field::{self, Field, Unreadable};
use placement_guard::kubernetes::kind::Kind;
use placement_guard::objects::Objects;

use crate::complaint::Complaint;
use crate::input::files::{self, Excludes};
use crate::input::{self, Piece, Reason, Source, shown};
use crate::manifest::Manifest;

const REMEDY: &str = "give what `kubectl get … -A -o yaml` prints";

/// Reads the objects in files and folders, and counts them. Of two objects of one name the last counts.
///
/// # Errors
/// What cannot be read, and documents that are not objects: a part of a cluster must not be taken for the whole.
pub fn read(paths: &[PathBuf]) -> Result<(Objects, usize), Complaint> {
    let mut objects = Objects::of_kinds(&Kind::ALL);
    let mut count = 0_usize;
    let (files, problems) = files::below(paths, &Excludes::new(&[])?)?;
    if let Some(problem) = problems.first() {
        return Err(problem.complaint());
    }
    for file in files {
        let mut broken = None;
        let any = input::read(&file.path, &mut |piece| {
            let added = match piece {
                Piece::Document(document) => Manifest::read(document).map(Some),
                Piece::NotJudged(wrong) => Err(wrong),
                Piece::Came(_) => Ok(None),
            };
            let added = match added {
                Ok(None) => return,
                Ok(Some(manifest)) => add(&mut objects, &manifest, REMEDY),
                // Among the files of a folder are some for other programs.
                Err(wrong) if !file.named && wrong.reason == Reason::NotKubernetes => return,
                Err(wrong) => Err(wrong.complaint()),
            };
            count = count.saturating_add(1);
            broken = broken.take().or(added.err());
        });
        let any = any.map_err(|wrong| wrong.complaint())?;
        if let Some(complaint) = broken {
            return Err(complaint);
        }
        // A List without items is a cluster without such objects; nothing at all is a `kubectl` that failed.
        if file.named && !any {
            return Err(Complaint::new(shown(&file.path.display().to_string()), "holds no document", REMEDY));
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
        add(&mut nodes, &manifest, REMEDY)?;
    }
    if nodes.count(Kind::Node) == 0 {
        return Err(Complaint::new(source.shown(), "holds no `Node`", REMEDY));
    }
    Ok(nodes)
}

fn add(objects: &mut Objects, manifest: &Manifest, remedy: &str) -> Result<(), Complaint> {
    let Manifest { identity, document } = manifest;
    let complain = |problem: String| Complaint::new(format!("{}:{}", document.shown(), document.line), problem, remedy);
    let known = Kind::ALL.into_iter().find(|kind| (kind.group(), kind.name()) == (&*identity.group, &*identity.kind));
    let Some(kind) = known else { return Ok(()) };
    if identity.name.is_none() {
        return Err(complain(format!("is a `{}` without a name", kind.name())));
    }
    let parsed = field::parse(document.json().as_bytes());
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
