//! Tolerations and taints: what they say, which tolerate which, and what they mean as terms of the algebra.
//!
//! Follows `Toleration.ToleratesTaint` (`k8s.io/api/core/v1`, Kubernetes 1.36, comparison operators on), `ValidateTolerations`
//! and the taint eviction controller. A permission, not an attraction: `Lt 5` lets a pod stay where the taint's number is
//! *below* 5.

use k8s_openapi::api::core::v1::{Taint, Toleration};

use super::field::{Field, Unreadable, short};
use crate::logic::{Axis, Condition, Domain, Outline, Space, Term};

/// The effects that a taint can have.
pub const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// How long a pod may stay on a node with a `NoExecute` taint, in seconds; [`FOR_EVER`] means no limit.
pub type Seconds = i64;

/// The eviction controller reads the largest number as "no limit".
pub const FOR_EVER: Seconds = i64::MAX;

/// Reads a list of tolerations.
///
/// # Errors
/// A wrong JSON type.
pub fn read_tolerations(list: &Field<'_, '_>) -> Result<Vec<Toleration>, Unreadable> {
    list.items()?.map(|item| read_toleration(&item)).collect()
}

/// Reads one toleration, whatever it says.
///
/// # Errors
/// A wrong JSON type.
pub fn read_toleration(item: &Field<'_, '_>) -> Result<Toleration, Unreadable> {
    let text = |field: Field<'_, '_>| Ok(field.string()?.filter(|text| !text.is_empty()).map(str::to_owned));
    Ok(Toleration {
        key: text(item.get("key")?)?,
        operator: text(item.get("operator")?)?,
        value: text(item.get("value")?)?,
        effect: text(item.get("effect")?)?,
        toleration_seconds: item.get("tolerationSeconds")?.integer()?,
    })
}

/// Reads a node's list of taints.
///
/// # Errors
/// A wrong JSON type.
pub fn read_taints(list: &Field<'_, '_>) -> Result<Vec<Taint>, Unreadable> {
    list.items()?.map(|item| read_taint(&item)).collect()
}

/// Reads one taint, whatever it says.
///
/// # Errors
/// A wrong JSON type.
pub fn read_taint(item: &Field<'_, '_>) -> Result<Taint, Unreadable> {
    item.get("timeAdded")?.string()?;
    Ok(Taint {
        key: item.get("key")?.string()?.unwrap_or_default().to_owned(),
        value: item.get("value")?.string()?.filter(|text| !text.is_empty()).map(str::to_owned),
        effect: item.get("effect")?.string()?.unwrap_or_default().to_owned(),
        time_added: None,
    })
}

/// A taint as `kubectl` writes it: `key=value:Effect`, without a value `key:Effect`.
pub fn taint_text(taint: &Taint) -> String {
    match taint.value.as_deref() {
        None | Some("") => format!("{}:{}", taint.key, taint.effect),
        Some(value) => format!("{}={value}:{}", taint.key, taint.effect),
    }
}

/// The number in a taint's value or in a `Gt` or `Lt` bound: a canonical decimal in 64 bits. `007`, `+5` and `-0` are not
/// canonical.
pub fn canonical_number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let canonical = match digits.as_bytes() {
        [b'0'] => digits.len() == text.len(),
        [first, rest @ ..] => (b'1'..=b'9').contains(first) && rest.iter().all(u8::is_ascii_digit),
        [] => false,
    };
    if canonical { text.parse().ok() } else { None }
}

/// What a toleration asks of a taint's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison<'t> {
    Any,
    Equal(&'t str),
    Above(i64),
    Below(i64),
    /// A `Gt` or `Lt` bound that is not a canonical 64-bit decimal: no taint is tolerated.
    NotANumber(&'t str),
    /// An operator that does not exist: no taint is tolerated.
    Unknown(&'t str),
}

/// Reads the operator and the value of a toleration.
pub fn comparison(toleration: &Toleration) -> Comparison<'_> {
    let value = toleration.value.as_deref().unwrap_or_default();
    match toleration.operator.as_deref().unwrap_or_default() {
        "" | "Equal" => Comparison::Equal(value),
        "Exists" => Comparison::Any,
        "Gt" => canonical_number(value).map_or(Comparison::NotANumber(value), Comparison::Above),
        "Lt" => canonical_number(value).map_or(Comparison::NotANumber(value), Comparison::Below),
        other => Comparison::Unknown(other),
    }
}

/// Whether the toleration compares numbers.
pub fn is_numeric(toleration: &Toleration) -> bool {
    matches!(toleration.operator.as_deref(), Some("Gt" | "Lt"))
}

/// Whether a pod with this toleration may be on a node with this taint: the plain matcher.
pub fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let same = |wanted: &Option<String>, actual: &str| wanted.as_deref().is_none_or(|wanted| wanted == actual);
    if !same(&toleration.effect, &taint.effect) || !same(&toleration.key, &taint.key) {
        return false;
    }
    let value = taint.value.as_deref().unwrap_or_default();
    match comparison(toleration) {
        Comparison::Any => true,
        Comparison::Equal(wanted) => wanted == value,
        Comparison::Above(bound) => canonical_number(value).is_some_and(|number| number > bound),
        Comparison::Below(bound) => canonical_number(value).is_some_and(|number| number < bound),
        Comparison::NotANumber(_) | Comparison::Unknown(_) => false,
    }
}

/// How long a pod stays once a `NoExecute` taint that this toleration tolerates is there; not positive is at once.
pub fn seconds(toleration: &Toleration) -> Seconds {
    toleration.toleration_seconds.unwrap_or(FOR_EVER).max(0)
}

/// The space of taints: key × value × effect.
#[derive(Debug, Clone, Copy)]
pub struct TaintAxes {
    pub key: Axis,
    pub value: Axis,
    pub effect: Axis,
}

impl TaintAxes {
    pub fn of(outline: &mut Outline<'_>) -> Self {
        TaintAxes {
            key: outline.axis("key", Domain::Name),
            value: outline.axis("value", Domain::Text),
            effect: outline.axis("effect", Domain::Listed(&EFFECTS)),
        }
    }

    /// The taints that a toleration tolerates, as a term; `None` where its operator or its bound leaves none.
    pub fn term<'t>(&self, toleration: &'t Toleration) -> Option<Term<'t>> {
        let mut term = Term::new();
        term.extend(toleration.key.as_deref().map(|key| (self.key, Condition::In(vec![key]))));
        term.extend(toleration.effect.as_deref().map(|effect| (self.effect, Condition::In(vec![effect]))));
        match comparison(toleration) {
            Comparison::Any => {}
            Comparison::Equal(value) => term.push((self.value, Condition::In(vec![value]))),
            Comparison::Above(bound) => term.push((self.value, Condition::Above(bound))),
            Comparison::Below(bound) => term.push((self.value, Condition::Below(bound))),
            Comparison::NotANumber(_) | Comparison::Unknown(_) => return None,
        }
        Some(term)
    }

    /// The taint at a point of the space.
    pub fn taint(&self, space: &Space<'_>, point: &crate::logic::Point) -> Option<Taint> {
        let value = |axis: Axis| space.value(axis, point).map(str::to_owned);
        Some(Taint {
            key: value(self.key)?,
            value: value(self.value).filter(|value| !value.is_empty()),
            effect: value(self.effect)?,
            time_added: None,
        })
    }
}

/// A toleration in words: `` `disk > 5, effect NoExecute` ``.
pub fn describe(toleration: &Toleration) -> String {
    let key = toleration.key.as_deref().map_or_else(|| String::from("every key"), |key| short(key, 120));
    let effect = toleration
        .effect
        .as_deref()
        .map_or_else(|| String::from("every effect"), |effect| format!("effect {}", short(effect, 20)));
    let what = match comparison(toleration) {
        Comparison::Any if toleration.key.is_none() && toleration.effect.is_none() => {
            return String::from("`every taint`");
        }
        Comparison::Any if toleration.key.is_none() => key,
        Comparison::Any => format!("{key} exists"),
        Comparison::Equal(value) => format!("{key} = {}", short(value, 63)),
        Comparison::Above(bound) => format!("{key} > {bound}"),
        Comparison::Below(bound) => format!("{key} < {bound}"),
        Comparison::NotANumber(value) => {
            format!("{key} {} {}", toleration.operator.as_deref().unwrap_or_default(), short(value, 63))
        }
        Comparison::Unknown(operator) => format!("{key} {}", short(operator, 40)),
    };
    format!("`{what}, {effect}`")
}

/// Which taint values a toleration admits, in words. A taint's number is never negative.
pub fn describe_values(toleration: &Toleration) -> String {
    match comparison(toleration) {
        Comparison::Any => String::from("every taint value"),
        Comparison::Equal("") => String::from("the empty taint value"),
        Comparison::Equal(value) => format!("the taint value `{}`", short(value, 63)),
        Comparison::Above(i64::MAX) => String::from("no taint value"),
        Comparison::Above(bound) => format!("taint values {} and up", bound.saturating_add(1).max(0)),
        Comparison::Below(bound) if bound <= 0 => String::from("no taint value"),
        Comparison::Below(bound) => format!("taint values below {bound}"),
        Comparison::NotANumber(_) | Comparison::Unknown(_) => String::from("no taint value"),
    }
}
