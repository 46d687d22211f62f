//! What a scalar of YAML means to `kubectl`: YAML 1.1's booleans, octal numbers and underscores, and what its own library
//! (`go.yaml.in/yaml/v2`, `resolve.go`, and `sigs.k8s.io/yaml` above it) adds.

use std::borrow::Cow;

/// The meaning of a scalar.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar<'t> {
    Null,
    Boolean(bool),
    /// Fits into 64 bits, with or without a sign.
    Integer(i128),
    Float(f64),
    Text(Cow<'t, str>),
}

/// The meaning of a scalar, or what is wrong with it. `plain` is without quotes, not a block, and without a tag.
pub fn resolve<'t>(text: &'t str, plain: bool, tag: Option<&str>) -> Result<Scalar<'t>, String> {
    let tag = match tag {
        None | Some("") if plain => None,
        None | Some("") => return Ok(Scalar::Text(Cow::Borrowed(text))),
        Some(tag) => match tag.strip_prefix("tag:yaml.org,2002:") {
            Some(name) => Some(name),
            // `!`, and tags of other programs, which `kubectl` reads as strings.
            None => return Ok(Scalar::Text(Cow::Borrowed(text))),
        },
    };
    match tag {
        None => Ok(plain_scalar(text)),
        Some("binary") => from_base64(text).map(|text| Scalar::Text(Cow::Owned(text))),
        Some(tag @ ("null" | "bool" | "int" | "float" | "timestamp")) => {
            let scalar = plain_scalar(text);
            match (tag, &scalar) {
                ("float", Scalar::Integer(value)) => Ok(Scalar::Float(*value as f64)),
                ("null", Scalar::Null)
                | ("bool", Scalar::Boolean(_))
                | ("int", Scalar::Integer(_))
                | ("float", Scalar::Float(_)) => Ok(scalar),
                ("timestamp", Scalar::Text(text)) if is_dated(text) => Ok(scalar),
                _ => Err(format!(
                    "`{}` is not a value of `!!{tag}`",
                    placement_guard::kubernetes::field::short(text, 40)
                )),
            }
        }
        Some(_) => Ok(Scalar::Text(Cow::Borrowed(text))),
    }
}

/// Whether a text begins as a date does: a timestamp stays a string.
fn is_dated(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.by_ref().take(4).all(|byte| byte.is_ascii_digit()) && bytes.next() == Some(b'-')
}

fn plain_scalar(text: &str) -> Scalar<'_> {
    let as_text = || Scalar::Text(Cow::Borrowed(text));
    let Some(first) = text.bytes().next() else { return Scalar::Null };
    match first {
        b'~' | b'n' | b'N' | b'y' | b'Y' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' => match text {
            "~" | "null" | "Null" | "NULL" => Scalar::Null,
            "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Scalar::Boolean(true),
            "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
                Scalar::Boolean(false)
            }
            _ => as_text(),
        },
        b'.' => match text {
            ".nan" | ".NaN" | ".NAN" => Scalar::Float(f64::NAN),
            ".inf" | ".Inf" | ".INF" => Scalar::Float(f64::INFINITY),
            // Go reads underscores only in numbers whose base is given.
            _ => float(text).map_or_else(as_text, Scalar::Float),
        },
        b'+' | b'-' | b'0'..=b'9' => match text {
            "+.inf" | "+.Inf" | "+.INF" => Scalar::Float(f64::INFINITY),
            "-.inf" | "-.Inf" | "-.INF" => Scalar::Float(f64::NEG_INFINITY),
            _ if is_dated(text) => as_text(),
            _ => {
                let bare: Cow<'_, str> =
                    if text.contains('_') { Cow::Owned(text.replace('_', "")) } else { Cow::Borrowed(text) };
                match integer(&bare).map(Scalar::Integer).or_else(|| float(&bare).map(Scalar::Float)) {
                    Some(scalar) => scalar,
                    None => as_text(),
                }
            }
        },
        _ => as_text(),
    }
}

/// An integer of 64 bits as Go reads it when the base is in its prefix.
fn integer(text: &str) -> Option<i128> {
    let (negative, signed, digits) = match text.as_bytes().first()? {
        b'-' => (true, true, text.get(1..)?),
        b'+' => (false, true, text.get(1..)?),
        _ => (false, false, text),
    };
    let lower = digits.get(..2).map(str::to_ascii_lowercase);
    let (base, digits) = match lower.as_deref() {
        Some("0x") => (16, digits.get(2..)?),
        Some("0b") => (2, digits.get(2..)?),
        Some("0o") => (8, digits.get(2..)?),
        Some(_) if digits.starts_with('0') => (8, digits.get(1..)?),
        _ => (10, digits),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let value = i128::from_str_radix(digits, base).ok()?;
    let value = if negative { value.checked_neg()? } else { value };
    // What has a sign is not read as an unsigned number.
    let most = if signed { i128::from(i64::MAX) } else { i128::from(u64::MAX) };
    (i128::from(i64::MIN)..=most).contains(&value).then_some(value)
}

/// A number of the form `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?` that is finite.
fn float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (number, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let of_number = match number.split_once('.') {
        Some((whole, part)) => digits(whole) && digits(part) && !(whole.is_empty() && part.is_empty()),
        None => !number.is_empty() && digits(number),
    };
    let of_exponent = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    if !of_number || !of_exponent {
        return None;
    }
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

fn from_base64(text: &str) -> Result<String, String> {
    let problem = || String::from("a value of `!!binary` is not base64 of a string");
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0_u32, 0_u32);
    let mut padded = false;
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        let value = match byte {
            b'A'..=b'Z' => byte.wrapping_sub(b'A'),
            b'a'..=b'z' => byte.wrapping_sub(b'a').wrapping_add(26),
            b'0'..=b'9' => byte.wrapping_sub(b'0').wrapping_add(52),
            b'+' => 62,
            b'/' => 63,
            b'=' => {
                padded = true;
                continue;
            }
            _ => return Err(problem()),
        };
        if padded {
            return Err(problem());
        }
        bits = (bits.wrapping_shl(6) | u32::from(value)) & 0xFFFF;
        held = held.wrapping_add(6);
        if held >= 8 {
            held = held.wrapping_sub(8);
            bytes.push(u8::try_from(bits.wrapping_shr(held) & 0xFF).map_err(|_| problem())?);
        }
    }
    String::from_utf8(bytes).map_err(|_| problem())
}

impl Scalar<'_> {
    /// The meaning of a scalar that is JSON already; `None` for a list or an object.
    pub fn of_json(json: &str) -> Option<Scalar<'static>> {
        match serde_json::from_str(json).ok()? {
            serde_json::Value::Null => Some(Scalar::Null),
            serde_json::Value::Bool(value) => Some(Scalar::Boolean(value)),
            serde_json::Value::Number(number) => match json.parse::<i128>() {
                Ok(value) => Some(Scalar::Integer(value)),
                Err(_) => number.as_f64().map(Scalar::Float),
            },
            serde_json::Value::String(text) => Some(Scalar::Text(Cow::Owned(text))),
            _ => None,
        }
    }

    /// As the key of an object; `None` for null, which cannot be one.
    pub fn key(&self) -> Option<String> {
        Some(match self {
            Scalar::Null => return None,
            Scalar::Boolean(value) => value.to_string(),
            Scalar::Integer(value) => value.to_string(),
            Scalar::Float(value) => match *value {
                value if value.is_nan() => String::from(".nan"),
                f64::INFINITY => String::from(".inf"),
                f64::NEG_INFINITY => String::from("-.inf"),
                // Of 32 bits, as `kubectl` writes keys.
                value => (value as f32).to_string(),
            },
            Scalar::Text(text) => text.clone().into_owned(),
        })
    }

    /// Appends it as JSON.
    ///
    /// # Errors
    /// For infinity and what is not a number, which JSON does not have.
    pub fn push(&self, json: &mut String) -> Result<(), String> {
        match self {
            Scalar::Null => json.push_str("null"),
            Scalar::Boolean(value) => json.push_str(if *value { "true" } else { "false" }),
            Scalar::Integer(value) => json.push_str(&value.to_string()),
            Scalar::Float(value) if !value.is_finite() => {
                return Err(String::from("a number must be finite"));
            }
            // `3.0` is `3`, as `kubectl` sends it.
            Scalar::Float(value) if value.abs() >= 1e-6 && value.abs() < 1e21 || *value == 0.0 => {
                json.push_str(&value.to_string());
            }
            Scalar::Float(value) => json.push_str(&format!("{value:e}")),
            Scalar::Text(text) => push_text(json, text),
        }
        Ok(())
    }
}

/// Appends a string as JSON.
pub fn push_text(json: &mut String, text: &str) {
    if text.bytes().all(|byte| byte >= b' ' && !matches!(byte, b'"' | b'\\')) {
        json.push('"');
        json.push_str(text);
        json.push('"');
    } else {
        json.push_str(&serde_json::Value::from(text).to_string());
    }
}
