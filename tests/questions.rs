//! `questions-ui.yml`, the form that Rancher shows: every key of the settings that the library knows is asked, nothing
//! else is, and whatever the form offers is accepted.

#![allow(clippy::restriction)]

use std::collections::BTreeSet;

use placement_guard::rules::settings::section_names;
use placement_guard::verdict::validate_settings;
use serde::Deserialize;
use serde_json::{Value, json};

/// What the form has on one line of YAML, since it cannot ask for the members: objects with any keys, and what is nested deeper.
const WRITTEN_AS_YAML: &str = "written as YAML";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    questions: Vec<Question>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    variable: String,
    label: String,
    group: String,
    description: String,
    r#type: String,
    required: bool,
    default: Option<Value>,
    #[serde(default)]
    hide_input: bool,
    #[serde(default)]
    options: Vec<String>,
    #[serde(default)]
    sequence_questions: Vec<Question>,
}

fn form() -> Vec<Question> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/questions-ui.yml")).expect("the form");
    let form: Form = serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{error}"));
    form.questions
}

/// `a.b: value` as settings.
fn at(path: &str, value: Value) -> Value {
    path.rsplit('.').fold(value, |value, key| json!({key: value}))
}

fn complaint(settings: &Value) -> Option<String> {
    validate_settings(&settings.to_string()).err().map(|unreadable| unreadable.problem)
}

/// The keys that the library knows at a path, from its complaint about one that it does not know.
fn known_keys(path: &str, is_list: bool) -> BTreeSet<String> {
    let unknown = json!({"noSuchKey": true});
    let problem = complaint(&at(path, if is_list { json!([unknown]) } else { unknown })).unwrap_or_default();
    let known: BTreeSet<String> = problem.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    assert!(!known.is_empty(), "{path}: {problem:?}");
    known
}

/// The objects of the settings below the sections, and the lists of objects, by the schema: each path, and whether it is a
/// list.
fn objects() -> Vec<(String, bool)> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/policies/settings.schema.json"));
    let schema: Value = serde_json::from_str(&text.expect("the schema")).expect("JSON");
    let mut found = Vec::new();
    for section in section_names() {
        let section_of_schema = &schema["properties"][section];
        assert!(section_of_schema.is_object(), "rule `{section}`: no section in settings.schema.json");
        collect(&schema, section, section_of_schema, &mut found);
    }
    found
}

/// Goes down from a section into members that are objects, or lists of objects.
fn collect(schema: &Value, path: &str, member: &Value, found: &mut Vec<(String, bool)>) {
    let resolved = resolve(schema, member);
    for (name, below) in resolved["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        let below = resolve(schema, below);
        let items = resolve(schema, &below["items"]);
        if below["properties"].is_object() {
            found.push((path.clone(), false));
            collect(schema, &path, below, found);
        } else if items["properties"].is_object() {
            found.push((path, true));
        }
    }
}

/// A schema without the reference and the alternative of null that it may hide behind.
fn resolve<'s>(schema: &'s Value, member: &'s Value) -> &'s Value {
    let alternatives = member["anyOf"].as_array().into_iter().flatten();
    let member = alternatives.clone().find(|one| one["$ref"].is_string()).unwrap_or(member);
    match member["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
        Some(name) => &schema["$defs"][name],
        None => member,
    }
}

/// The keys below a path about which the form asks.
fn asked(path: &str, form: &[Question]) -> BTreeSet<String> {
    let below = form.iter().filter_map(|question| question.variable.strip_prefix(path)?.strip_prefix('.'));
    below.map(|rest| rest.split('.').next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn every_key_that_the_library_knows_is_asked_and_no_other() {
    let form = form();
    let sections = section_names().map(|section| (section.to_owned(), false));
    for (path, is_list) in sections.chain(objects()) {
        let question = form.iter().find(|question| question.variable == path);
        if question.is_some_and(|question| question.hide_input) {
            continue;
        }
        let asked: BTreeSet<String> = match question {
            Some(list) => list.sequence_questions.iter().map(|question| question.variable.clone()).collect(),
            None => asked(&path, &form),
        };
        let mut known = known_keys(&path, is_list);
        known.remove("noSuchKey");
        let (section, _) = path.split_once('.').unwrap_or((&path, ""));
        assert_eq!(asked, known, "rule `{section}`: {path} in questions-ui.yml");
    }
}

#[test]
fn every_section_is_asked_about_and_no_other() {
    let form = form();
    let asked: BTreeSet<&str> = form.iter().filter_map(|question| question.variable.split('.').next()).collect();
    for section in section_names() {
        assert!(asked.contains(section), "rule `{section}`: no section in questions-ui.yml");
    }
    assert_eq!(asked, section_names().collect());
}

/// Every list of objects in the form is one of those that are compared with the library.
#[test]
fn no_list_of_the_form_is_left_unchecked() {
    let lists: BTreeSet<String> = form()
        .into_iter()
        .filter(|question| question.r#type == "sequence[")
        .map(|question| question.variable)
        .collect();
    let of_schema: BTreeSet<String> =
        objects().into_iter().filter(|(_, is_list)| *is_list).map(|(path, _)| path).collect();
    assert!(lists.is_subset(&of_schema), "{lists:?}, {of_schema:?}");
    assert!(lists.len() >= 5, "{lists:?}");
}

/// A default would put its section in force for everyone who opens the form.
#[test]
fn nothing_has_a_default_or_must_be_answered_and_everything_says_what_it_is() {
    for question in form() {
        let variable = &question.variable;
        assert_eq!(question.default, None, "{variable}");
        assert!(!question.required, "{variable}");
        assert!([&question.label, &question.group, &question.description].iter().all(|text| !text.is_empty()));
        let is_written_as_yaml = question.description.ends_with(WRITTEN_AS_YAML);
        assert_eq!(question.hide_input, is_written_as_yaml, "{variable}");
    }
}

/// Whatever can be chosen is accepted; an empty answer, which the form sends for lists that were opened, is too.
#[test]
fn whatever_the_form_offers_is_accepted() {
    let mut chosen = 0;
    for question in form().into_iter().filter(|question| !question.hide_input) {
        let answers: Vec<Value> = match question.r#type.as_str() {
            "boolean" => vec![json!(true), json!(false)],
            "enum" => question.options.iter().map(|option| json!(option)).collect(),
            "string" => vec![json!("1.35")],
            "int" => vec![json!(600), json!(86400)],
            "array[" | "sequence[" => vec![json!([])],
            "map[" => vec![json!({})],
            other => panic!("{}: type `{other}`", question.variable),
        };
        assert!(!answers.is_empty(), "{} offers nothing", question.variable);
        for answer in answers {
            let (variable, mut settings) = (&question.variable, at(&question.variable, answer));
            if variable == "localVolumes.pinnedBy" {
                // It says nothing alone, and nothing without a label.
                settings = json!({"localVolumes": {"pinned": true, "pinnedBy": ["kubernetes.io/hostname"]}});
            }
            if variable == "localVolumes.provisioners" {
                settings =
                    json!({"localVolumes": {"waitForFirstConsumer": true, "provisioners": ["local.example.com"]}});
            }
            assert_eq!(complaint(&settings), None, "{variable}: {settings}");
            chosen += 1;
        }
    }
    assert!(chosen >= 60, "only {chosen} answers were tried");
}

#[test]
fn the_choices_within_lists_are_accepted() {
    let toleration = |member: &str, value: &str| match (member, value) {
        ("operator", "Exists") => json!({"key": "k", "operator": "Exists"}),
        ("operator", value) => json!({"key": "k", "operator": value, "value": "5"}),
        (_, value) => json!({"key": "k", "operator": "Exists", "effect": value}),
    };
    for list in form().into_iter().filter(|question| !question.sequence_questions.is_empty()) {
        for member in &list.sequence_questions {
            for option in &member.options {
                let item = match list.variable.as_str() {
                    "tolerations.allowed" | "tolerations.denied" => toleration(&member.variable, option),
                    _ => json!({&member.variable: option}),
                };
                assert_eq!(complaint(&at(&list.variable, json!([item]))), None, "{}: {option}", list.variable);
            }
        }
    }
}
