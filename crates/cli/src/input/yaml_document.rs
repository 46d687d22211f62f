//! YAML becomes JSON as `kubectl` makes it: YAML 1.1's booleans and octal numbers, merge keys, 64-bit integers kept. Keys
//! that appear twice, tags without a meaning here, and aliases that multiply without end are refused.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Options, Spanned};

use super::ListKind;
use super::yaml_json::{Json, Write, push_text, visit_scalars};

/// The depth to which the library reads JSON.
const DEPTH: usize = 127;

/// How YAML is read.
pub fn options() -> Options {
    serde_saphyr::options! {
        // The length of the text limits everything counted here, except depth and aliases, which keep their own limits.
        budget: serde_saphyr::budget! {
            max_events: usize::MAX,
            max_nodes: usize::MAX,
            max_documents: usize::MAX,
            max_total_scalar_bytes: usize::MAX,
            max_total_comment_bytes: usize::MAX,
            max_buffered_comment_events: usize::MAX,
            max_depth: DEPTH,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        non_finite_float_policy: NonFiniteFloatPolicy::Reject,
        legacy_octal_numbers: true,
        reject_unsupported_tags: true,
        emit_comments: false,
        with_snippet: false,
    }
}

/// The line on which a value begins.
pub fn line<T>(value: &Spanned<T>) -> usize {
    usize::try_from(value.referenced.line()).unwrap_or_default()
}

/// A document, or what a List holds, each item with its place.
pub enum Whole {
    One(String),
    List(Option<ListKind>, Vec<Spanned<Json>>),
}

/// The value of a member `items`.
enum Items {
    Listed(Vec<Spanned<Json>>),
    Other(Json),
}

impl<'de> Deserialize<'de> for Items {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ItemsVisitor;

        impl<'de> Visitor<'de> for ItemsVisitor {
            type Value = Items;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Items, A::Error> {
                let mut all = Vec::new();
                while let Some(item) = items.next_element()? {
                    all.push(item);
                }
                Ok(Items::Listed(all))
            }

            fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Items, A::Error> {
                let mut json = String::new();
                Write(&mut json).visit_map(members)?;
                Ok(Items::Other(Json(json)))
            }

            visit_scalars!(|json| Items::Other(Json(json)));
        }

        deserializer.deserialize_any(ItemsVisitor)
    }
}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WholeVisitor;

        impl<'de> Visitor<'de> for WholeVisitor {
            type Value = Whole;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a value that JSON knows")
            }

            visit_scalars!(Whole::One);

            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Whole, A::Error> {
                let mut json = String::new();
                Write(&mut json).visit_seq(items)?;
                Ok(Whole::One(json))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Whole, A::Error> {
                let mut members: Vec<(String, String)> = Vec::new();
                let mut listed = None;
                while let Some(key) = map.next_key::<String>()? {
                    let value = if key == "items" {
                        match map.next_value()? {
                            Items::Other(json) => json,
                            Items::Listed(items) => {
                                listed = Some((members.len(), items));
                                continue;
                            }
                        }
                    } else {
                        map.next_value()?
                    };
                    members.push((key, value.0));
                }
                let text = |name: &str| {
                    let (_, value) = members.iter().find(|(key, _)| key == name)?;
                    serde_json::from_str::<String>(value).ok()
                };
                let kind = text("kind").filter(|kind| kind.ends_with("List"));
                let api_version = text("apiVersion");
                match (listed, kind) {
                    (Some((_, items)), Some(kind)) => {
                        Ok(Whole::List(ListKind::of(api_version.as_deref(), &kind), items))
                    }
                    (listed, _) => {
                        if let Some((at, items)) = listed {
                            let items: Vec<&str> = items.iter().map(|item| item.value.0.as_str()).collect();
                            members.insert(at, (String::from("items"), format!("[{}]", items.join(","))));
                        }
                        let mut json = String::from("{");
                        for (index, (key, value)) in members.iter().enumerate() {
                            if index > 0 {
                                json.push(',');
                            }
                            push_text(&mut json, key)?;
                            json.push(':');
                            json.push_str(value);
                        }
                        json.push('}');
                        Ok(Whole::One(json))
                    }
                }
            }
        }

        deserializer.deserialize_any(WholeVisitor)
    }
}
