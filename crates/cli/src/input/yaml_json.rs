//! One YAML value as JSON, written as it is read.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Any YAML value, as JSON.
pub struct Json(pub String);

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut json = String::new();
        Write(&mut json).deserialize(deserializer)?;
        Ok(Json(json))
    }
}

/// The methods of a [`Visitor`] that take everything but mappings and lists: each makes its value of the JSON.
macro_rules! visit_scalars {
    ($of_json:expr) => {
        visit_scalars!($of_json; visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_i128(i128), visit_u128(u128),
            visit_f64(f64), visit_str(&str));

        fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
            Ok($of_json(String::from("null")))
        }
    };
    ($of_json:expr; $($visit:ident($type:ty)),*) => {$(
        fn $visit<E: serde::de::Error>(self, value: $type) -> Result<Self::Value, E> {
            let mut json = String::new();
            Write(&mut json).$visit(value)?;
            Ok($of_json(json))
        }
    )*};
}
pub(super) use visit_scalars;

/// Appends a value as JSON.
pub struct Write<'a>(pub &'a mut String);

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

/// Appends a string as JSON.
pub fn push_text<E: Error>(json: &mut String, text: &str) -> Result<(), E> {
    if text.bytes().all(|byte| byte >= b' ' && !matches!(byte, b'"' | b'\\')) {
        json.push('"');
        json.push_str(text);
        json.push('"');
    } else {
        json.push_str(&serde_json::to_string(text).map_err(E::custom)?);
    }
    Ok(())
}
