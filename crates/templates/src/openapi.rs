//! The schema of the settings as a custom resource takes it: OpenAPI 3, structural. A subset of JSON Schema, without
//! references, conditions, null and `additionalProperties: false`: in a custom resource an unknown field is an error
//! when it is applied with validation, and dropped otherwise.

use serde_json::{Map, Value, json};

/// Members of a mapping whose names are checked: more regions or aliases than anyone has.
const MOST_NAMES: u32 = 500;

/// The schema of the parameters: that of one section.
///
/// # Errors
/// When the section does not exist, or OpenAPI cannot express something in its schema.
pub fn of_section(settings: &Value, section: &str) -> Result<Value, String> {
    let section = &settings["properties"][section];
    let converted = Converter { definitions: &settings["$defs"] }.schema(section)?;
    if converted["type"] == "object" { Ok(converted) } else { Err(format!("no section is described by {section}")) }
}

struct Converter<'s> {
    definitions: &'s Value,
}

impl Converter<'_> {
    /// A schema that says what type its values have.
    fn schema(&self, schema: &Value) -> Result<Value, String> {
        if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
            let mut found = self.schema(&self.definitions[name])?;
            // What is said where the type is used comes before what is said of the type.
            if let Some(description) = schema.get("description") {
                found["description"] = description.clone();
            }
            return Ok(found);
        }
        if let Some(one) = schema["anyOf"].as_array().and_then(|list| or_null(list)) {
            let mut found = self.schema(one)?;
            if let Some(description) = schema.get("description") {
                found["description"] = description.clone();
            }
            return Ok(found);
        }
        let mut converted = Map::new();
        let mut all = Vec::new();
        for (keyword, value) in members(schema)? {
            match keyword.as_str() {
                "type" => {
                    // A structural schema knows one type. A value of several types has an `enum` that says which values.
                    match without_null(value) {
                        Value::Array(_) => {
                            converted.insert(String::from("x-kubernetes-preserve-unknown-fields"), json!(true))
                        }
                        one => converted.insert(keyword.clone(), one),
                    };
                }
                "enum" => {
                    converted.insert(keyword.clone(), without_null(value));
                    if schema.get("type").is_none() {
                        converted.insert(String::from("type"), json!(type_of(&without_null(value)[0])));
                    }
                }
                "const" => {
                    converted.insert(String::from("enum"), json!([value]));
                    converted.insert(String::from("type"), json!(type_of(value)));
                }
                "oneOf" => {
                    converted.extend(constants(value)?);
                }
                "properties" => {
                    // What may only be null is not there.
                    let properties = members(value)?.filter(|(_, schema)| schema["type"] != "null");
                    let properties: Result<Map<String, Value>, String> =
                        properties.map(|(name, schema)| Ok((name.clone(), self.schema(schema)?))).collect();
                    converted.insert(keyword.clone(), Value::from(properties?));
                }
                "items" => {
                    converted.insert(keyword.clone(), self.schema(value)?);
                }
                "additionalProperties" if *value == json!(false) => {}
                "additionalProperties" => {
                    converted.insert(keyword.clone(), self.schema(value)?);
                }
                "propertyNames" => {
                    let pattern = value["pattern"].as_str().ok_or_else(|| unknown(keyword, value))?;
                    let rule = format!("self.all(name, name.matches({}))", json!(pattern));
                    let message = format!("names match {pattern}");
                    // The API server wants to know in advance what a check can cost.
                    converted.insert(String::from("maxProperties"), json!(MOST_NAMES));
                    converted
                        .insert(String::from("x-kubernetes-validations"), json!([{"rule": rule, "message": message}]));
                }
                "allOf" | "dependentSchemas" | "anyOf" => all.extend(condition(keyword, value)?),
                "description" | "format" | "maxItems" | "maximum" | "minItems" | "minLength" | "minProperties"
                | "minimum" | "pattern" | "required" => {
                    converted.insert(keyword.clone(), value.clone());
                }
                "title" => {}
                _ => return Err(unknown(keyword, value)),
            }
        }
        if !all.is_empty() {
            converted.insert(String::from("allOf"), Value::from(all));
        }
        Ok(Value::from(converted))
    }
}

/// What may be said besides: a condition, as something that holds or something else that does.
fn condition(keyword: &str, value: &Value) -> Result<Vec<Value>, String> {
    match keyword {
        "allOf" => {
            let each: Result<Vec<Vec<Value>>, String> =
                value.as_array().into_iter().flatten().map(implication).collect();
            Ok(each?.concat())
        }
        "dependentSchemas" => {
            let each = members(value)?.map(|(name, schema)| {
                let holds = check(schema)?.ok_or_else(|| unknown(keyword, schema))?;
                Ok(json!({"anyOf": [{"not": {"required": [name]}}, holds]}))
            });
            each.collect()
        }
        _ => Ok(check(&json!({keyword: value}))?.into_iter().collect()),
    }
}

/// "If, then, else" as one or two alternatives that hold.
fn implication(schema: &Value) -> Result<Vec<Value>, String> {
    let when = schema.get("if").map(check).transpose()?.flatten().ok_or_else(|| unknown("allOf", schema))?;
    let branches = [("then", json!({"not": when.clone()})), ("else", when)];
    let written =
        branches.into_iter().filter_map(|(keyword, otherwise)| Some((keyword, schema.get(keyword)?, otherwise)));
    let alternatives = written.map(|(keyword, branch, otherwise)| {
        let holds = check(branch)?.ok_or_else(|| unknown(keyword, branch))?;
        Ok(json!({"anyOf": [otherwise, holds]}))
    });
    alternatives.collect()
}

/// A schema that checks values of which the type is known. `None` for one that only null passes.
fn check(schema: &Value) -> Result<Option<Value>, String> {
    let mut checks = Map::new();
    for (keyword, value) in members(schema)? {
        match keyword.as_str() {
            "type" if value == "null" => return Ok(None),
            "type" => {}
            "properties" => {
                let mut properties = Map::new();
                for (name, schema) in members(value)? {
                    match check(schema)? {
                        Some(schema) if schema == json!({}) => {}
                        Some(schema) => drop(properties.insert(name.clone(), schema)),
                        None => return Ok(None),
                    }
                }
                if !properties.is_empty() {
                    checks.insert(keyword.clone(), Value::from(properties));
                }
            }
            "items" => {
                let items = check(value)?.ok_or_else(|| unknown(keyword, value))?;
                checks.insert(keyword.clone(), items);
            }
            "anyOf" => {
                let ways: Result<Vec<Option<Value>>, String> =
                    value.as_array().into_iter().flatten().map(check).collect();
                checks.insert(keyword.clone(), ways?.into_iter().flatten().collect());
            }
            "const" => drop(checks.insert(String::from("enum"), json!([value]))),
            "enum" | "maxItems" | "minItems" | "pattern" | "required" => {
                checks.insert(keyword.clone(), value.clone());
            }
            _ => return Err(unknown(keyword, value)),
        }
    }
    Ok(Some(Value::from(checks)))
}

/// Of two alternatives the one that is not null.
fn or_null(alternatives: &[Value]) -> Option<&Value> {
    let (nulls, others): (Vec<&Value>, Vec<&Value>) = alternatives.iter().partition(|one| one["type"] == "null");
    match (nulls.as_slice(), others.as_slice()) {
        ([_], [other]) => Some(other),
        _ => None,
    }
}

/// A list of constants, each with its description.
fn constants(list: &Value) -> Result<Map<String, Value>, String> {
    let mut values = Vec::new();
    for one in list.as_array().into_iter().flatten() {
        match (one.get("const"), one.get("enum").and_then(Value::as_array)) {
            (Some(value), None) => values.push(value.clone()),
            (None, Some(several)) => values.extend(several.iter().cloned()),
            _ => return Err(unknown("oneOf", one)),
        }
    }
    let first = values.first().map(type_of).ok_or_else(|| unknown("oneOf", list))?;
    Ok(Map::from_iter([(String::from("type"), json!(first)), (String::from("enum"), Value::from(values))]))
}

fn without_null(value: &Value) -> Value {
    match value {
        Value::Array(several) => {
            let others: Vec<&Value> = several.iter().filter(|one| !one.is_null() && *one != "null").collect();
            match others.as_slice() {
                [Value::String(only)] if several.len() > 1 && several.contains(&json!("null")) => json!(only),
                others => json!(others),
            }
        }
        one => one.clone(),
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Null | Value::Object(_) => "object",
    }
}

fn members(schema: &Value) -> Result<impl Iterator<Item = (&String, &Value)>, String> {
    schema.as_object().map(|members| members.iter()).ok_or_else(|| format!("no schema: {schema}"))
}

fn unknown(keyword: &str, value: &Value) -> String {
    format!("`{keyword}` of the settings' schema has no form in OpenAPI: {value}")
}
