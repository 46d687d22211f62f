//! YAML becomes JSON as `kubectl` makes it: YAML 1.1's booleans and octal numbers, merge keys, 64-bit integers kept. Keys
//! that stand twice, tags that mean nothing here, and aliases that multiply without end are refused.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Options, Spanned, UserMessageFormatter};

use super::{Document, ListKind, Source};
use crate::complaint::Complaint;

/// The depth to which the library reads JSON.
const DEPTH: usize = 127;

fn options() -> Options {
    serde_saphyr::options! {
        // The text bounds all that is counted here, but for depth and for aliases, whose own limits stand.
        budget: serde_saphyr::budget! {
            max_reader_input_bytes: None,
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

/// Every document of a YAML text; empty ones are none.
pub fn documents<'t>(source: &'t Source, seen: &dyn Fn(u64)) -> Result<Vec<Document<'t>>, Complaint> {
    let mut reader = Counted { text: source.text().as_bytes(), at: 0, seen };
    let mut documents = Vec::new();
    for read in serde_saphyr::read_with_options::<_, Spanned<Whole>>(&mut reader, options()) {
        let whole = read.map_err(|error| unreadable(source, &error))?;
        let line = usize::try_from(whole.referenced.line()).unwrap_or_default();
        match whole.value {
            Whole::One(json) => documents.push(Document { json: Cow::Owned(json), line, of_list: None }),
            Whole::List(kind, items) => documents.extend(items.into_iter().map(|item| Document {
                line: usize::try_from(item.referenced.line()).unwrap_or_default(),
                json: Cow::Owned(item.value.0),
                of_list: kind.clone(),
            })),
        }
    }
    Ok(documents)
}

fn unreadable(source: &Source, error: &serde_saphyr::Error) -> Complaint {
    let place = match error.location() {
        Some(at) if at.line() > 0 => format!("{}:{}:{}", source.shown(), at.line(), at.column()),
        _ => source.shown().to_owned(),
    };
    let problem = error.without_snippet().render_with_formatter(&UserMessageFormatter);
    // The place is said already.
    let problem = problem.split(" at line ").next().unwrap_or_default().replace('\n', " ");
    Complaint::new(place, format!("is no usable YAML: {problem}"), "correct it")
}

/// A text that tells how far it has been read.
struct Counted<'a> {
    text: &'a [u8],
    at: u64,
    seen: &'a dyn Fn(u64),
}

impl std::io::Read for Counted<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let read = std::io::Read::read(&mut self.text, into)?;
        self.at = self.at.saturating_add(read as u64);
        (self.seen)(self.at);
        Ok(read)
    }
}

/// A document, or what a List holds, each item with its place.
enum Whole {
    One(String),
    List(Option<ListKind>, Vec<Spanned<Json>>),
}

/// Any YAML value, as JSON.
struct Json(String);

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut json = String::new();
        Write(&mut json).deserialize(deserializer)?;
        Ok(Json(json))
    }
}

/// Appends a value as JSON.
struct Write<'a>(&'a mut String);

impl<'de> DeserializeSeed<'de> for Write<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Write<'_> {
    fn plain<E>(self, value: impl fmt::Display) -> Result<(), E> {
        self.0.push_str(&value.to_string());
        Ok(())
    }
}

impl<'de> Visitor<'de> for Write<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value that JSON knows")
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.plain(value)
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.plain(value)
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.plain(value)
    }

    fn visit_i128<E>(self, value: i128) -> Result<(), E> {
        self.plain(value)
    }

    fn visit_u128<E>(self, value: u128) -> Result<(), E> {
        self.plain(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        let text = serde_json::to_string(&value).map_err(E::custom)?;
        self.plain(text)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        push_text(self.0, value)
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.plain("null")
    }

    fn visit_none<E>(self) -> Result<(), E> {
        self.plain("null")
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.0.push('[');
        let mut between = "";
        loop {
            let before = self.0.len();
            self.0.push_str(between);
            if items.next_element_seed(Write(self.0))?.is_none() {
                self.0.truncate(before);
                break;
            }
            between = ",";
        }
        self.0.push(']');
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        self.0.push('{');
        let mut between = "";
        while let Some(key) = members.next_key::<String>()? {
            self.0.push_str(between);
            push_text(self.0, &key)?;
            self.0.push(':');
            members.next_value_seed(Write(self.0))?;
            between = ",";
        }
        self.0.push('}');
        Ok(())
    }
}

fn push_text<E: Error>(json: &mut String, text: &str) -> Result<(), E> {
    json.push_str(&serde_json::to_string(text).map_err(E::custom)?);
    Ok(())
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

            fn visit_str<E: Error>(self, value: &str) -> Result<Items, E> {
                let mut json = String::new();
                Write(&mut json).visit_str(value)?;
                Ok(Items::Other(Json(json)))
            }

            fn visit_unit<E>(self) -> Result<Items, E> {
                Ok(Items::Other(Json(String::from("null"))))
            }
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
                out.write_str("a mapping, as an object, a request or settings are")
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

/// A document as a tree of places.
#[derive(Debug)]
pub enum Located {
    Scalar,
    List(Vec<Spanned<Located>>),
    /// Each member with the place of its key.
    Mapping(Vec<(Spanned<String>, Spanned<Located>)>),
}

/// The places of everything in a text of one document. JSON is YAML here.
pub fn locate(source: &Source) -> Result<Spanned<Located>, Complaint> {
    serde_saphyr::from_str_with_options(source.text(), options()).map_err(|error| unreadable(source, &error))
}

impl<'de> Deserialize<'de> for Located {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LocatedVisitor;

        impl<'de> Visitor<'de> for LocatedVisitor {
            type Value = Located;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a value that JSON knows")
            }

            fn visit_bool<E>(self, _: bool) -> Result<Located, E> {
                Ok(Located::Scalar)
            }

            fn visit_i64<E>(self, _: i64) -> Result<Located, E> {
                Ok(Located::Scalar)
            }

            fn visit_u64<E>(self, _: u64) -> Result<Located, E> {
                Ok(Located::Scalar)
            }

            fn visit_i128<E>(self, _: i128) -> Result<Located, E> {
                Ok(Located::Scalar)
            }

            fn visit_u128<E>(self, _: u128) -> Result<Located, E> {
                Ok(Located::Scalar)
            }

            fn visit_f64<E>(self, _: f64) -> Result<Located, E> {
                Ok(Located::Scalar)
            }

            fn visit_str<E>(self, _: &str) -> Result<Located, E> {
                Ok(Located::Scalar)
            }

            fn visit_unit<E>(self) -> Result<Located, E> {
                Ok(Located::Scalar)
            }

            fn visit_none<E>(self) -> Result<Located, E> {
                Ok(Located::Scalar)
            }

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
