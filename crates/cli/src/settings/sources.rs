//! Settings where they are: in a file of their own, or in what is deployed. A ClusterAdmissionPolicy or AdmissionPolicy of
//! Kubewarden and the ConfigMap of a server carry them whole; a constraint of Gatekeeper carries one section.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{config_map, location};
use crate::complaint::Complaint;
use crate::input::files::{self, Excludes};
use crate::input::{Document, Piece, read, shown};
use placement_guard::kubernetes::field::Unreadable;
use placement_guard::verdict;
use templates::RULES;

/// Settings as JSON, with where they come from.
#[derive(Debug, Clone)]
pub struct Found {
    pub json: String,
    document: Document,
    /// The field of the document that the settings are; empty for the document.
    path: &'static str,
    section: Option<&'static str>,
}

impl Found {
    /// A document that is settings.
    pub fn of(document: Document) -> Self {
        Found { json: document.json().to_owned(), document, path: "", section: None }
    }

    /// The settings as JSON.
    ///
    /// # Errors
    /// The first thing that is wrong with them, and where.
    pub fn usable(&self) -> Result<String, Complaint> {
        if let Some(twice) = super::appears_twice(&self.document) {
            return Err(twice);
        }
        match verdict::validate_settings(&self.json) {
            Ok(()) => Ok(self.json.clone()),
            Err(unreadable) if self.path.is_empty() => Err(super::complaint(&self.document, &unreadable)),
            Err(unreadable) => Err(self.complain(&unreadable, "`placement-guard settings` prints what is known")),
        }
    }

    /// What a module says against settings, with the location as far as it names the field as this program does.
    pub fn refused_by_a_module(&self, message: &str) -> Complaint {
        let said = message.strip_prefix("settings are not valid: ").unwrap_or(message);
        let remedy = "write settings that this module knows";
        match said.split_once(": ") {
            Some((path, problem)) => {
                self.complain(&Unreadable { path: path.to_owned(), problem: problem.to_owned() }, remedy)
            }
            None => Complaint::new(shown(&self.document.file), said, remedy),
        }
    }

    fn complain(&self, unreadable: &Unreadable, remedy: &str) -> Complaint {
        let inner = match self.section {
            Some(section) => unreadable.path.strip_prefix(section).unwrap_or(&unreadable.path).trim_start_matches('.'),
            None => &unreadable.path,
        };
        let path = match (self.path, inner) {
            ("", inner) => inner.to_owned(),
            (path, "" | "settings") => path.to_owned(),
            (path, inner) => format!("{path}.{inner}"),
        };
        let at = Unreadable { path, problem: unreadable.problem.clone() };
        Complaint::new(
            location::of(&self.document, &at),
            format!("{}: {}", unreadable.path, unreadable.problem),
            remedy,
        )
    }
}

/// Every set of settings in a file, a folder, or standard input. Several constraints make one set, as long as each is of
/// another kind; of two policies each is a set of its own, and an object must pass both.
///
/// # Errors
/// What cannot be read, and a folder or a file without settings.
pub fn find(path: &Path) -> Result<Vec<Found>, Complaint> {
    let (mut documents, mut wrong) = (Vec::new(), Vec::new());
    let in_folder = path.is_dir();
    let (files, problems) = files::below(&[PathBuf::from(path)], &Excludes::new(&[])?)?;
    wrong.extend(problems);
    for file in files {
        let opened = read(&file.path, &mut |piece| match piece {
            Piece::Document(document) => documents.push(document),
            Piece::NotJudged(one) => wrong.push(one),
            Piece::Came(_) => {}
        });
        wrong.extend(opened.err());
    }
    if let Some(wrong) = wrong.first() {
        return Err(wrong.complaint());
    }
    let count = documents.len();
    let mut sets: Vec<Found> = Vec::new();
    let mut sections: Vec<BTreeMap<&'static str, Found>> = Vec::new();
    for mut document in documents {
        document.settle();
        let value: Value = serde_json::from_str(document.json()).unwrap_or_default();
        match deployed(&value) {
            Some(Deployed::Policy(settings)) => {
                sets.push(Found { json: settings, document, path: "spec.settings", section: None });
            }
            Some(Deployed::Constraint(section, parameters)) => {
                let found = Found { json: parameters, document, path: "spec.parameters", section: Some(section) };
                match sections.iter_mut().find(|set| !set.contains_key(section)) {
                    Some(set) => drop(set.insert(section, found)),
                    None => sections.push(BTreeMap::from([(section, found)])),
                }
            }
            None if config_map::is_config_map(&value) => {
                let alone = !in_folder && count == 1;
                let entries = config_map::settings(&document, &value, alone).map_err(|wrong| wrong.complaint())?;
                if alone && entries.is_empty() {
                    let location = format!("{}:{}", shown(&document.file), document.line);
                    let problem = "is a ConfigMap whose `data` holds no settings";
                    return Err(Complaint::new(location, problem, OTHERS));
                }
                sets.extend(entries.into_iter().map(Found::of));
            }
            None if is_typed(&value) && (in_folder || count > 1) => {}
            None if is_typed(&value) => {
                let problem = "is neither settings nor a policy of this program";
                return Err(Complaint::new(format!("{}:{}", shown(&document.file), document.line), problem, OTHERS));
            }
            None if count > 1 && !in_folder => {
                let location = format!("{}:{}", shown(&document.file), document.line);
                return Err(Complaint::new(location, "is another document", format!("leave one: {}", super::WHAT)));
            }
            None if in_folder => {}
            None => {
                sets.push(Found::of(document));
            }
        }
    }
    sets.extend(sections.into_iter().filter_map(together));
    if sets.is_empty() {
        let name = path.display().to_string();
        return Err(match (in_folder, count) {
            (true, _) => Complaint::new(shown(&name), "holds no policy of this program", "name another folder"),
            (false, 0) => Complaint::new(shown(&name), "holds no document", format!("write {}, into it", super::WHAT)),
            (false, _) => Complaint::new(shown(&name), "holds neither settings nor a policy of this program", OTHERS),
        });
    }
    Ok(sets)
}

/// What could be named instead.
const OTHERS: &str = "name settings, a ClusterAdmissionPolicy, a constraint, or a ConfigMap with settings";

/// Makes one set of constraints of different kinds, each of which is checked first, where it is written.
fn together(set: BTreeMap<&'static str, Found>) -> Option<Found> {
    let sections: Vec<String> =
        set.iter().map(|(section, found)| format!("{}:{}", Value::from(*section), found.json)).collect();
    let json = format!("{{{}}}", sections.join(","));
    // What is wrong is said of the first that is wrong.
    let is_wrong = |(section, found): &(&&'static str, &Found)| {
        verdict::validate_settings(&format!("{{{}:{}}}", Value::from(**section), found.json)).is_err()
    };
    let (_, found) = set.iter().find(is_wrong).or_else(|| set.iter().next())?;
    Some(Found { json, ..found.clone() })
}

enum Deployed {
    Policy(String),
    Constraint(&'static str, String),
}

/// The settings in a policy.
fn deployed(object: &Value) -> Option<Deployed> {
    let api_version = object.get("apiVersion")?.as_str()?;
    let kind = object.get("kind")?.as_str()?;
    let (group, _) = api_version.split_once('/')?;
    match group {
        "policies.kubewarden.io" => {
            let is_policy = matches!(kind, "ClusterAdmissionPolicy" | "AdmissionPolicy");
            let module = object.pointer("/spec/module").and_then(Value::as_str)?;
            (is_policy && module.contains("placement-guard")).then(|| {
                let settings = object.pointer("/spec/settings").unwrap_or(&Value::Null);
                Deployed::Policy(settings.to_string())
            })
        }
        "constraints.gatekeeper.sh" => {
            let section = RULES.iter().find(|rule| rule.kind == kind)?.section;
            let parameters = object.pointer("/spec/parameters").filter(|parameters| !parameters.is_null());
            let parameters = parameters.map_or_else(|| String::from("{}"), Value::to_string);
            Some(Deployed::Constraint(section, parameters))
        }
        _ => None,
    }
}

/// Whether an object has the type of a Kubernetes object, which settings do not have.
fn is_typed(object: &Value) -> bool {
    object.get("apiVersion").is_some() && object.get("kind").is_some()
}
