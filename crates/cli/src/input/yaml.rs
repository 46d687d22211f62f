//! The YAML documents of a text.

use std::borrow::Cow;

use serde_saphyr::{Spanned, UserMessageFormatter};

use super::yaml_document::{Whole, line, options};
use super::{Document, Source, yaml_chunks};
use crate::complaint::Complaint;

/// Every document of a YAML text, without empty ones; `None` where all are empty.
pub fn documents<'t>(source: &'t Source, seen: &dyn Fn(u64)) -> Result<Option<Vec<Document<'t>>>, Complaint> {
    if let Some(documents) = yaml_chunks::documents(source.text(), seen) {
        return Ok(Some(documents));
    }
    let read = serde_saphyr::from_multiple_with_options::<Spanned<Whole>>(source.text(), options());
    let mut documents = None;
    for whole in read.map_err(|error| unreadable(source, &error))? {
        let first = line(&whole);
        let documents: &mut Vec<Document<'t>> = documents.get_or_insert_default();
        match whole.value {
            Whole::One(json) => documents.push(Document { json: Cow::Owned(json), line: first, of_list: None }),
            Whole::List(kind, items) => documents.extend(items.into_iter().map(|item| Document {
                line: line(&item),
                json: Cow::Owned(item.value.0),
                of_list: kind.clone(),
            })),
        }
    }
    Ok(documents)
}

/// What is wrong with a text, and where.
pub fn unreadable(source: &Source, error: &serde_saphyr::Error) -> Complaint {
    let location = match error.location() {
        Some(at) if at.line() > 0 => format!("{}:{}:{}", source.shown(), at.line(), at.column()),
        _ => source.shown().to_owned(),
    };
    let problem = error.without_snippet().render_with_formatter(&UserMessageFormatter);
    // The location is said already.
    let problem = problem.split(" at line ").next().unwrap_or_default().replace('\n', " ");
    Complaint::new(location, format!("is not usable YAML: {problem}"), "correct it")
}
