//! The places of everything in a document, for complaints about one field of it.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;
use serde_saphyr::options::DuplicateKeyPolicy;

use super::Source;
use super::yaml::unreadable;
use super::yaml_document::options;
use super::yaml_json::{Write, visit_scalars};
use crate::complaint::Complaint;

/// A document as a tree of places.
#[derive(Debug)]
pub enum Located {
    Scalar,
    List(Vec<Spanned<Located>>),
    /// Each member with the location of its key.
    Mapping(Vec<(Spanned<String>, Spanned<Located>)>),
}

/// The places of everything in a text of one document. JSON is read as YAML, and a key that appears twice has two places.
///
/// # Errors
/// Where the text is not YAML.
pub fn locate(source: &Source) -> Result<Spanned<Located>, Complaint> {
    let mut options = options();
    options.duplicate_keys = DuplicateKeyPolicy::LastWins;
    serde_saphyr::from_str_with_options(source.text(), options).map_err(|error| unreadable(source, &error))
}

impl<'de> Deserialize<'de> for Located {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LocatedVisitor;

        impl<'de> Visitor<'de> for LocatedVisitor {
            type Value = Located;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a value that JSON knows")
            }

            visit_scalars!(|_json| Located::Scalar);

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Located, A::Error> {
                let mut all = Vec::new();
                while let Some(item) = items.next_element()? {
                    all.push(item);
                }
                Ok(Located::List(all))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Located, A::Error> {
                let mut all = Vec::new();
                while let Some(member) = members.next_entry()? {
                    all.push(member);
                }
                Ok(Located::Mapping(all))
            }
        }

        deserializer.deserialize_any(LocatedVisitor)
    }
}
