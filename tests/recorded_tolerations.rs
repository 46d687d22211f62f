//! What Kubernetes v1.36.3 answered, held against the matcher, the algebra and the settings.
//!
//! Every recorded case is either run or skipped for a reason that is written here, and both are counted: a case that is
//! added to the files, or that is no longer reached, fails a test.

#![allow(clippy::restriction)]

mod pods;

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Taint, Toleration};
use placement_guard::kubernetes::field::{self, Field};
use placement_guard::kubernetes::toleration::{
    EFFECTS, FOR_EVER, TaintAxes, canonical_number, is_numeric, read_taints, read_tolerations, seconds, tolerates,
};
use placement_guard::logic::{Budget, Condition, Containment, Domain, Facts, Outline, contained};
use pods::{ask, create, refusal, update};
use serde_json::{Value, json};

/// The cases of one kind in one file.
fn cases(file: &str, kind: Option<&str>) -> Vec<Value> {
    let path = format!("{}/tests/vectors/{file}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut document: Value = serde_json::from_str(&text).expect("the file is JSON");
    let Value::Array(cases) = document["cases"].take() else { panic!("{path} holds no cases") };
    cases
        .into_iter()
        .filter(|case| case["kind"].as_str() == kind)
        .map(|case| {
            // Derived cases keep their input below `input`, the upstream tables next to everything else.
            let mut flat = case.clone();
            for (key, value) in case["input"].as_object().into_iter().flatten() {
                flat[key] = value.clone();
            }
            flat
        })
        .collect()
}

fn name(case: &Value) -> &str {
    case["name"].as_str().expect("every case has a name")
}

/// How many cases were run, and how many skipped for which reason.
#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    run: usize,
    skipped: BTreeMap<&'static str, usize>,
}

impl Count {
    fn skip(&mut self, reason: &'static str) {
        *self.skipped.entry(reason).or_default() += 1;
    }

    fn is(&self, run: usize, skipped: &[(&'static str, usize)]) {
        assert_eq!(*self, Count { run, skipped: skipped.iter().copied().collect() });
    }
}

fn tolerations(list: &Value) -> Vec<Toleration> {
    let text = list.to_string();
    let parsed = field::parse(text.as_bytes()).expect("it is JSON");
    read_tolerations(&Field::root("tolerations", &parsed)).expect("recorded tolerations can be read")
}

fn taints(list: &Value) -> Vec<Taint> {
    let text = list.to_string();
    let parsed = field::parse(text.as_bytes()).expect("it is JSON");
    read_taints(&Field::root("taints", &parsed)).expect("recorded taints can be read")
}

/// Whether a node can have the taint at all: only such taints are points of the algebra's space.
fn can_exist(taint: &Taint) -> bool {
    Domain::Name.contains(&taint.key)
        && Domain::Text.contains(taint.value.as_deref().unwrap_or_default())
        && EFFECTS.contains(&taint.effect.as_str())
}

/// Whether the union that holds this one taint is contained in what the tolerations admit.
fn algebra_says(tolerations: &[Toleration], taint: &Taint) -> bool {
    let mut outline = Outline::default();
    let axes = TaintAxes::of(&mut outline);
    let point = vec![
        (axes.key, Condition::In(vec![&taint.key])),
        (axes.value, Condition::In(vec![taint.value.as_deref().unwrap_or_default()])),
        (axes.effect, Condition::In(vec![&taint.effect])),
    ];
    let terms: Vec<_> = tolerations.iter().filter_map(|toleration| axes.term(toleration)).collect();
    outline.mention(&point);
    terms.iter().for_each(|term| outline.mention(term));
    let budget = &mut Budget::of(10_000);
    let space = outline.cut(budget).unwrap();
    let (point, union) = (space.union([&point], budget).unwrap(), space.union(&terms, budget).unwrap());
    assert!(!point.is_empty(), "{taint:?} is a point of the space");
    match contained(&space, &point, &union, &Facts::default(), budget) {
        Containment::Contained => true,
        Containment::Escapes(_) => false,
        Containment::Undecided => panic!("one point is decided within any budget"),
    }
}

const NOT_IN_THE_SPACE: &str = "no node can have this taint, so the algebra does not know it: matcher only";
const GATE_OFF: &str = "comparison with the feature gate off: the matcher answers for clusters that have it on";

/// The matcher and, for taints that can exist, the algebra give the recorded answer.
fn both_say(case: &Value, tolerations: &[Toleration], taint: &Taint, expected: bool, count: &mut Count) {
    let plainly = tolerations.iter().any(|toleration| tolerates(toleration, taint));
    assert_eq!(plainly, expected, "the matcher: {case}");
    if can_exist(taint) {
        assert_eq!(algebra_says(tolerations, taint), expected, "the algebra: {case}");
    } else {
        count.skip(NOT_IN_THE_SPACE);
    }
    count.run += 1;
}

fn tolerates_taint(cases: Vec<Value>) -> Count {
    let mut count = Count::default();
    for case in cases {
        let tolerations = tolerations(&json!([case["toleration"]]));
        let taint = &taints(&json!([case["taint"]]))[0];
        if case["enableComparisonOperators"] == false && is_numeric(&tolerations[0]) {
            count.skip(GATE_OFF);
            continue;
        }
        let expected = case["expect"]["tolerated"].as_bool().expect("the answer is recorded");
        both_say(&case, &tolerations, taint, expected, &mut count);
    }
    count
}

#[test]
fn a_taint_is_tolerated_where_upstream_tolerates_it() {
    tolerates_taint(cases("tolerates_taint", Some("ToleratesTaint"))).is(9, &[]);
    tolerates_taint(cases("derived_edge_cases", Some("ToleratesTaint")))
        .is(28, &[(NOT_IN_THE_SPACE, 8), (GATE_OFF, 1)]);
}

#[test]
fn numbers_compare_as_upstream_compares_them() {
    const NO_COMPARISON: &str = "the helper answers false for an operator that is no comparison, by construction";
    let mut count = Count::default();
    for case in cases("tolerates_taint", Some("compareNumericValues")) {
        if !matches!(case["operator"].as_str(), Some("Gt" | "Lt")) {
            count.skip(NO_COMPARISON);
            continue;
        }
        let toleration = json!([{"key": "k", "operator": case["operator"], "value": case["tolerationValue"]}]);
        let taint = &taints(&json!([{"key": "k", "value": case["taintValue"], "effect": "NoSchedule"}]))[0];
        let expected = case["expect"]["result"].as_bool().expect("the answer is recorded");
        both_say(&case, &tolerations(&toleration), taint, expected, &mut count);
    }
    count.is(25, &[(NO_COMPARISON, 1), (NOT_IN_THE_SPACE, 7)]);
}

#[test]
fn a_list_tolerates_a_list_where_upstream_finds_no_untolerated_taint() {
    let mut count = Count::default();
    for case in cases("tolerates_taint", Some("FindMatchingUntoleratedTaint")) {
        let filter = case["taintFilter"].as_str().unwrap_or("all");
        let looked_at = |taint: &&Taint| match filter {
            "all" => true,
            "none" => false,
            "effect==NoExecute" => taint.effect == "NoExecute",
            other => panic!("unknown filter {other}"),
        };
        let tolerations = tolerations(&case["tolerations"]);
        let taints = taints(&case["taints"]);
        let mut looked_at = taints.iter().filter(looked_at);
        let all = looked_at.clone().all(|taint| tolerations.iter().any(|toleration| tolerates(toleration, taint)));
        let all_by_algebra = looked_at.all(|taint| algebra_says(&tolerations, taint));
        let expected = case["expect"]["allTolerated"].as_bool().expect("the answer is recorded");
        assert_eq!((all, all_by_algebra), (expected, expected), "{case}");
        count.run += 1;
    }
    count.is(6, &[]);
}

#[test]
fn random_points_are_tolerated_where_upstream_tolerates_them() {
    let path = format!("{}/tests/vectors/random_tolerates.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the recorded points are there");
    let mut count = Count::default();
    let mut tolerated = 0;
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).expect("every line is a case");
        let expected = case["tolerates"].as_bool().expect("the answer is recorded");
        tolerated += usize::from(expected);
        let taint = &taints(&json!([case["taint"]]))[0];
        both_say(&case, &tolerations(&json!([case["toleration"]])), taint, expected, &mut count);
    }
    // `-3` is not a valid label value.
    count.is(2_500, &[(NOT_IN_THE_SPACE, 191)]);
    assert_eq!(tolerated, 313);
}

/// `IsDecimalInteger` asks for the form alone; the range is `ParseInt`'s, a step later. `canonical_number` is both at
/// once, so it must be there for a valid form exactly when that also fits into 64 bits, and be what `ParseInt` reads.
#[test]
fn a_number_is_a_valid_decimal_integer_that_fits_into_64_bits() {
    let (mut count, mut too_large) = (Count::default(), 0);
    for case in cases("decimal_integer", None) {
        let text = case["input"].as_str().expect("the input is text");
        let valid = case["expect"]["valid"].as_bool().expect("the answer is recorded");
        let in_range = text.parse::<i64>().ok();
        assert_eq!(canonical_number(text), in_range.filter(|_| valid), "{case}");
        too_large += usize::from(valid && in_range.is_none());
        // The algebra reads taint values, which have no sign, on its own.
        if Domain::Text.contains(text) {
            assert_eq!(Domain::Text.number(text), canonical_number(text), "{case}");
        }
        count.run += 1;
    }
    count.is(104, &[]);
    assert_eq!(too_large, 1);
}

const SECONDS: &str = "sets tolerationSeconds, which an entry of the settings does not have";

fn validate_tolerations(cases: Vec<Value>) -> Count {
    let mut count = Count::default();
    for case in cases {
        let list = &case["tolerations"];
        let numeric = tolerations(list).iter().any(is_numeric);
        if case["allowComparisonOperators"] == false && numeric {
            count.skip(GATE_OFF);
            continue;
        }
        if list.as_array().into_iter().flatten().any(|entry| !entry["tolerationSeconds"].is_null()) {
            count.skip(SECONDS);
            continue;
        }
        let valid = case["expect"]["valid"].as_bool().expect("the answer is recorded");
        for section in ["allowed", "denied"] {
            let said = refusal("tolerations", &json!({section: list}));
            assert_eq!(said.is_none(), valid, "{section}: {case}: {said:?}");
            let Some(said) = said else { continue };
            let first = |errors: &Value| errors[0].as_str().map(str::to_owned);
            let upstream = first(&case["expect"]["errors"]).or_else(|| first(&case["expect"]["allErrors_v1_36"]));
            let upstream = upstream.expect("upstream says why");
            let field = field_of(&upstream);
            assert!(said.contains(&format!("{section}[0].{field}: ")), "{said} does not name {field}: {case}");
        }
        count.run += 1;
    }
    count
}

/// The field that upstream complains about; it puts a bad value of `Equal` and `Exists` down to the operator.
fn field_of(error: &str) -> &str {
    let field = error.split(": ").next().and_then(|path| path.rsplit('.').next()).expect("an error starts with a path");
    let about_the_value = error.contains("a valid label must be") || error.contains("value must be empty");
    if about_the_value { "value" } else { field }
}

#[test]
fn entries_of_the_settings_are_valid_where_upstream_accepts_them_as_tolerations() {
    validate_tolerations(cases("validate_tolerations", Some("ValidateTolerations")))
        .is(15, &[(GATE_OFF, 2), (SECONDS, 3)]);
    validate_tolerations(cases("derived_edge_cases", Some("ValidateTolerations")))
        .is(18, &[(GATE_OFF, 1), (SECONDS, 2)]);
}

#[test]
fn entries_of_the_settings_are_valid_where_the_whitelist_plugin_accepts_its_own() {
    let mut count = Count::default();
    for case in cases("validate_tolerations", Some("PodTolerationRestrictionConfig")) {
        let lists = ["default", "whitelist"].map(|list| case["config"][list].as_array().cloned().unwrap_or_default());
        let said = refusal("tolerations", &json!({"allowed": lists.concat()}));
        assert_eq!(Some(said.is_none()), case["expect"]["valid"].as_bool(), "{case}: {said:?}");
        count.run += 1;
    }
    count.is(2, &[]);
}

#[test]
fn comparisons_are_in_use_where_upstream_finds_them_in_use() {
    let mut count = Count::default();
    for case in cases("validate_tolerations", Some("ComparisonOperatorsInUse")) {
        let in_use = tolerations(&case["tolerations"]).iter().any(is_numeric);
        assert_eq!(Some(in_use), case["expect"]["inUse"].as_bool(), "{case}");
        // `numericOperators: deny` goes by the same answer.
        let answer = ask(&json!({"numericOperators": "deny"}), &create(&case["tolerations"]));
        assert_eq!(answer.found("numeric-operator-disabled"), in_use, "{case}");
        count.run += 1;
    }
    count.is(6, &[]);
}

#[test]
fn a_taint_can_exist_where_upstream_accepts_it() {
    let mut count = Count::default();
    for case in cases("derived_edge_cases", Some("validateNodeTaints")) {
        let all = taints(&case["taints"]).iter().all(can_exist);
        assert_eq!(Some(all), case["expect"]["valid"].as_bool(), "{case}");
        count.run += 1;
    }
    count.is(4, &[]);
}

/// Kinds of which no case is run, how many there are, and why: upstream functions that have no counterpart here.
const NOT_OURS: [(&str, &str, usize, &str); 7] = [
    ("tolerates_taint", "MatchTaint", 4, "compares taints by key and effect; nothing here does"),
    ("validate_tolerations", "AllowComparisonOperators", 7, "decides about the feature gate, not about a toleration"),
    ("validate_tolerations", "PodUpdateTolerations", 6, WHAT_MAY_CHANGE),
    ("derived_edge_cases", "validateOnlyAddedTolerations", 6, WHAT_MAY_CHANGE),
    ("toleration_whitelist", "MergeTolerations", 3, MUTATES),
    ("derived_edge_cases", "MergeTolerations", 5, MUTATES),
    ("toleration_whitelist", "PodTolerationRestriction.Admit(CREATE)", 10, MUTATES),
];

const WHAT_MAY_CHANGE: &str = "the API server's rule for updates: what it lets through is judged here";
const MUTATES: &str = "merges defaults into the pod; nothing here changes an object, and the check that follows is run";

/// Kinds of which this file runs every case that it does not count as skipped.
const RUN: [(&str, &str); 15] = [
    ("tolerates_taint", "ToleratesTaint"),
    ("tolerates_taint", "compareNumericValues"),
    ("tolerates_taint", "FindMatchingUntoleratedTaint"),
    ("validate_tolerations", "ValidateTolerations"),
    ("validate_tolerations", "PodTolerationRestrictionConfig"),
    ("validate_tolerations", "ComparisonOperatorsInUse"),
    ("toleration_whitelist", "isSuperset"),
    ("toleration_whitelist", "VerifyAgainstWhitelist"),
    ("toleration_defaults", "DefaultTolerationSeconds"),
    ("toleration_defaults", "GetMinTolerationTimeSeconds"),
    ("derived_edge_cases", "ToleratesTaint"),
    ("derived_edge_cases", "isSuperset"),
    ("derived_edge_cases", "VerifyAgainstWhitelist"),
    ("derived_edge_cases", "ValidateTolerations"),
    ("derived_edge_cases", "validateNodeTaints"),
];

/// Derived cases that are about node selectors and tokens.
const OTHER_RULES: [&str; 5] = [
    "nodeSelectorMatch(lazy)",
    "pvNodeAffinity",
    "ValidateNodeSelector",
    "validatePvNodeAffinity(gate off, old non-nil)",
    "validateTokenRequests",
];

#[test]
fn every_recorded_kind_is_run_or_skipped_for_a_reason() {
    for (file, kind, number, reason) in NOT_OURS {
        assert_eq!(cases(file, Some(kind)).len(), number, "{kind} in {file}: {reason}");
    }
    let files: std::collections::BTreeSet<&str> = RUN.iter().map(|(file, _)| *file).collect();
    for file in files {
        let path = format!("{}/tests/vectors/{file}.json", env!("CARGO_MANIFEST_DIR"));
        let document: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("it is there")).expect("JSON");
        for case in document["cases"].as_array().expect("cases") {
            let kind = case["kind"].as_str().expect("a kind");
            let skipped = NOT_OURS.iter().any(|(in_file, skipped, ..)| (*in_file, *skipped) == (file, kind));
            let elsewhere = file == "derived_edge_cases" && OTHER_RULES.contains(&kind);
            assert!(RUN.contains(&(file, kind)) || skipped || elsewhere, "{kind} in {file} is forgotten");
        }
    }
}

/// Where the whitelist plugin says no (it compares syntax) and we say yes, or the other way round, case by case.
const DIFFERENCE: &[(&str, bool, &str)] = &[
    ("derived#181", true, "the same comparison with one effect instead of all of them is less"),
    ("derived#182", true, "numbers above 6 are above 5"),
    ("derived#183", true, "6 is above 5"),
    ("derived#192", true, "the same value with one effect instead of all of them is less; no operator is Equal"),
    ("derived#201", true, "the same comparison for 3 seconds instead of 30 is less"),
    ("derived#203", true, "numbers above 6 are above 5"),
    ("derived#206", true, "no operator is Equal"),
    ("TestVerifyAgainstWhitelist#8", false, "an empty list allows nothing; the plugin takes it for no list"),
];

const OTHERWISE: &str = "decided otherwise than the plugin, for the reason in the table";
const NO_TOLERATION: &str = "the whitelist entry is no valid toleration, and so no valid setting";

/// Asks whether a pod may tolerate `inside` where `outside` is allowed, the entries' seconds being limits.
fn whitelisted(case: &Value, inside: &Value, outside: &Value, expected: bool, count: &mut Count) {
    let entries = outside.as_array().into_iter().flatten().map(|entry| {
        json!({"key": entry["key"], "operator": entry["operator"], "value": entry["value"],
               "effect": entry["effect"], "maxTolerationSeconds": entry["tolerationSeconds"]})
    });
    let section = json!({"allowed": entries.collect::<Vec<_>>(), "standard": false});
    if let Some(said) = refusal("tolerations", &section) {
        assert!(said.contains("`Exists` when there is no key"), "{case}: {said}");
        assert!(!expected, "a refused entry covers nothing: {case}");
        return count.skip(NO_TOLERATION);
    }
    let answer = ask(&section, &create(inside));
    match DIFFERENCE.iter().find(|(named, ..)| *named == name(case)) {
        None => assert_eq!(answer.accepted, expected, "{case}: {answer:?}"),
        Some((_, ours, why)) => {
            assert_eq!(answer.accepted, *ours, "{why}: {case}: {answer:?}");
            assert_ne!(expected, *ours, "no difference any more: {case}");
            count.skip(OTHERWISE);
        }
    }
    count.run += 1;
}

#[test]
fn a_toleration_is_allowed_where_the_whitelist_plugin_allows_it_or_the_difference_is_named() {
    for (file, run, skipped) in [
        ("toleration_whitelist", 166, vec![(NO_TOLERATION, 9)]),
        ("derived_edge_cases", 16, vec![(NO_TOLERATION, 1), (OTHERWISE, 5)]),
    ] {
        let mut count = Count::default();
        for case in cases(file, Some("isSuperset")) {
            let expected = case["expect"]["superset"].as_bool().expect("the answer is recorded");
            whitelisted(&case, &json!([case["subset"]]), &json!([case["superset"]]), expected, &mut count);
        }
        count.is(run, &skipped);
    }
    for (file, run, skipped) in
        [("toleration_whitelist", 6, vec![(OTHERWISE, 1)]), ("derived_edge_cases", 3, vec![(OTHERWISE, 2)])]
    {
        let mut count = Count::default();
        for case in cases(file, Some("VerifyAgainstWhitelist")) {
            let expected = case["expect"]["allowed"].as_bool().expect("the answer is recorded");
            whitelisted(&case, &case["tolerations"], &case["whitelist"], expected, &mut count);
        }
        count.is(run, &skipped);
    }
    // Each name occurs once in the files, so eight differences met are the eight of the table.
    assert_eq!(DIFFERENCE.len(), 5 + 1 + 2);
}

/// The tolerations that DefaultTolerationSeconds adds pass by themselves; what the pod brought must be allowed.
#[test]
fn what_the_api_server_adds_to_a_pod_passes_under_an_empty_list_of_allowed_tolerations() {
    let mut count = Count::default();
    let mut added = 0;
    for case in cases("toleration_defaults", Some("DefaultTolerationSeconds")) {
        let (own, defaulted) = (&case["tolerations"], &case["expect"]["tolerations"]);
        let mut brought = own.as_array().cloned().unwrap_or_default();
        for entry in &mut brought {
            entry.as_object_mut().expect("a toleration").remove("tolerationSeconds");
        }
        let created = ask(&json!({"allowed": brought}), &create(defaulted));
        assert_eq!((created.accepted, created.taint.as_deref()), (true, None), "{case}: {created:?}");
        let updated = ask(&json!({"allowed": []}), &update(own, defaulted));
        assert_eq!((updated.accepted, updated.taint.as_deref()), (true, None), "{case}: {updated:?}");
        // With `standard: false` the same is refused wherever something was added.
        let bare = ask(&json!({"allowed": [], "standard": false}), &update(own, defaulted));
        assert_eq!(bare.accepted, own == defaulted, "{case}: {bare:?}");
        added += usize::from(own != defaulted);
        count.run += 1;
    }
    count.is(5, &[]);
    assert_eq!(added, 3);
}

/// `GetMinTolerationTime` is the least of the seconds of the tolerations in use, -1 for ever. Of one taint one is in use.
#[test]
fn seconds_are_read_as_the_eviction_controller_reads_them() {
    const NONE_IN_USE: &str = "no toleration in use: no taint is tolerated, and there is nothing to wait for";
    let mut count = Count::default();
    for case in cases("toleration_defaults", Some("GetMinTolerationTimeSeconds")) {
        let list = case["tolerationSeconds"].as_array().expect("a list");
        let read = tolerations(&list.iter().map(|seconds| json!({"tolerationSeconds": seconds})).collect());
        let Some(least) = read.iter().map(seconds).min() else {
            count.skip(NONE_IN_USE);
            continue;
        };
        let least = if least == FOR_EVER { -1 } else { least };
        assert_eq!(Some(least), case["expect"]["seconds"].as_i64(), "{case}");
        count.run += 1;
    }
    count.is(3, &[(NONE_IN_USE, 1)]);
}
