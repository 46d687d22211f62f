//! The verdict on tolerations against brute force ([`toleration_oracle`]).
//!
//! Each property asks the module's own entry point, so what holds here holds of the whole way from bytes to bytes.

#![allow(clippy::restriction)]

mod pods;
mod toleration_oracle;

use pods::{Answer, KINDS, ask, create, request, update, workload};
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use toleration_oracle::{
    EFFECTS, FOR_EVER, Seconds, Taint, Toleration, every_taint, evicted_after, is_key, is_value, number, standard,
    tolerated, tolerates,
};

/// A question with everything that decides it.
#[derive(Debug, Clone)]
struct Asked {
    allowed: Vec<Toleration>,
    denied: Vec<Toleration>,
    standard: bool,
    /// On an UPDATE, the list that stood there before.
    old: Option<Vec<Toleration>>,
    new: Vec<Toleration>,
}

impl Asked {
    fn taints(&self) -> Vec<Taint> {
        let standard = standard();
        every_taint([self.allowed.as_slice(), &self.denied, &standard, self.old(), &self.new])
    }

    fn old(&self) -> &[Toleration] {
        self.old.as_deref().unwrap_or_default()
    }

    /// The entries that the settings permit, with the limit of each.
    fn entries(&self) -> Vec<Toleration> {
        let standard = if self.standard { standard() } else { Vec::new() };
        self.allowed.iter().cloned().chain(standard).collect()
    }

    /// Tolerated, neither allowed nor tolerated before.
    fn is_not_allowed(&self, taint: &Taint) -> bool {
        tolerated(&self.new, taint) && !tolerated(&self.entries(), taint) && !tolerated(self.old(), taint)
    }

    /// Tolerated, denied and not tolerated before.
    fn is_denied(&self, taint: &Taint) -> bool {
        tolerated(&self.new, taint) && tolerated(&self.denied, taint) && !tolerated(self.old(), taint)
    }

    /// The largest limit of what permits this taint, an old list permitting it for as long as the pod stayed then. What
    /// Kubernetes adds has no limit, unless the settings admit the taint: then it is the 300 s of Kubernetes' own default.
    fn limit(&self, taint: &Taint) -> Option<Seconds> {
        let entries = self.allowed.iter().filter(|entry| tolerates(entry, taint));
        let written = entries.map(|entry| entry.seconds.unwrap_or(FOR_EVER)).max();
        let added = self.standard && tolerated(&standard(), taint);
        let added = added.then(|| if written.is_some() { 300 } else { FOR_EVER });
        let before = tolerated(self.old(), taint).then(|| evicted_after(self.old(), taint));
        written.max(added).max(before)
    }

    /// A permitted taint that evicts, and after which the pod stays longer than permitted.
    fn stays_too_long(&self, taint: &Taint) -> bool {
        taint.effect == "NoExecute" && self.limit(taint).is_some_and(|limit| evicted_after(&self.new, taint) > limit)
    }

    /// The scheduler alone looks at this taint, and a pod whose node is named may not get past it.
    fn may_not_be_skipped(&self, taint: &Taint) -> bool {
        let before = tolerated(self.old(), taint);
        let permitted = before || tolerated(&self.entries(), taint);
        taint.effect != "NoExecute" && (!permitted || (tolerated(&self.denied, taint) && !before))
    }

    fn section(&self) -> Value {
        let entry = |entry: &Toleration| {
            let mut entry = entry.json();
            if let Some(seconds) = entry.as_object_mut().and_then(|entry| entry.remove("tolerationSeconds")) {
                entry["maxTolerationSeconds"] = seconds;
            }
            entry
        };
        json!({"allowed": self.allowed.iter().map(entry).collect::<Vec<_>>(), "denied": list(&self.denied),
               "standard": self.standard})
    }

    fn answer(&self) -> Answer {
        let request = match &self.old {
            None => create(&list(&self.new)),
            Some(old) => update(&list(old), &list(&self.new)),
        };
        ask(&self.section(), &request)
    }
}

impl Toleration {
    fn json(&self) -> Value {
        let mut object = json!({});
        for (name, text) in
            [("key", &self.key), ("operator", &self.operator), ("value", &self.value), ("effect", &self.effect)]
        {
            if !text.is_empty() {
                object[name] = json!(text);
            }
        }
        if let Some(seconds) = self.seconds {
            object["tolerationSeconds"] = json!(seconds);
        }
        object
    }
}

fn list(tolerations: &[Toleration]) -> Value {
    tolerations.iter().map(Toleration::json).collect()
}

/// A taint as an annotation writes it.
fn read_taint(text: &str) -> Taint {
    let (front, effect) = text.rsplit_once(':').expect("a taint has an effect");
    let (key, value) = front.split_once('=').unwrap_or((front, ""));
    Taint { key: key.to_owned(), value: value.to_owned(), effect: effect.to_owned() }
}

// --- The generators. Few keys and few numbers, close together, so that lists overlap and almost cover each other. ---

const NUMBERS: [&str; 9] = ["0", "1", "4", "5", "6", "7", "10", "9223372036854775806", "9223372036854775807"];
const NEGATIVE: [&str; 3] = ["-1", "-5", "-9223372036854775808"];
const WORDS: [&str; 5] = ["", "x", "05", "007", "9223372036854775808"];
const NO_NUMBERS: [&str; 6] = ["", "x", "05", "+5", "-0", "9223372036854775808"];

/// Operator and value, as an API server with the feature gate on accepts them.
fn condition() -> impl Strategy<Value = (&'static str, &'static str)> {
    let bound = || prop_oneof![8 => select(&NUMBERS[..]), 1 => select(&NEGATIVE[..])];
    prop_oneof![
        3 => Just(("Exists", "")),
        3 => (select(vec!["Equal", ""]), prop_oneof![2 => select(&NUMBERS[..]), 1 => select(&WORDS[..])]),
        4 => (Just("Gt"), bound()),
        4 => (Just("Lt"), bound()),
    ]
}

fn effect() -> impl Strategy<Value = &'static str> {
    prop_oneof![3 => Just(""), 4 => Just("NoExecute"), 2 => Just("NoSchedule"), 1 => Just("PreferNoSchedule")]
}

fn seconds() -> impl Strategy<Value = Option<i64>> {
    prop_oneof![
        3 => Just(None),
        4 => select(vec![0, 1, 30, 31, 300, 301]).prop_map(Some),
        1 => select(vec![-5, i64::MIN, i64::MAX - 1, i64::MAX]).prop_map(Some),
    ]
}

fn toleration(seconds: impl Strategy<Value = Option<i64>>) -> impl Strategy<Value = Toleration> {
    let key = prop_oneof![
        6 => Just("a"),
        3 => Just("example.com/b"),
        2 => Just("node.kubernetes.io/not-ready"),
        1 => Just(""),
    ];
    (key, condition(), effect(), seconds).prop_map(|(key, (operator, value), effect, seconds)| {
        // No key goes with `Exists` alone.
        let (operator, value) = if key.is_empty() { ("Exists", "") } else { (operator, value) };
        Toleration {
            key: key.to_owned(),
            operator: operator.to_owned(),
            value: value.to_owned(),
            effect: effect.to_owned(),
            seconds,
        }
    })
}

/// An entry of the settings: a limit is never negative.
fn entry() -> impl Strategy<Value = Toleration> {
    toleration(seconds().prop_map(|seconds| seconds.map(|seconds| seconds.max(0))))
}

/// What appears in a pod: mostly what an API server accepts, sometimes what it never accepts.
fn of_pod() -> impl Strategy<Value = Toleration> {
    let odd = (toleration(seconds()), select(vec!["Gt", "Lt", "Ge", "exists"]), select(&NO_NUMBERS[..]));
    prop_oneof![
        12 => toleration(seconds()),
        1 => odd.prop_map(|(toleration, operator, value)| Toleration {
            operator: operator.to_owned(),
            value: value.to_owned(),
            ..toleration
        }),
    ]
}

fn several<S: Strategy>(one: S, most: usize) -> impl Strategy<Value = Vec<S::Value>> {
    proptest::collection::vec(one, 0..=most)
}

/// A pod's list that often stays within what is allowed: some of the entries, narrowed or as they are, and others.
fn near(entries: Vec<Toleration>) -> impl Strategy<Value = Vec<Toleration>> {
    let count = entries.len();
    let some = subsequence(entries, 0..=count);
    let narrowed =
        (some, proptest::collection::vec((any::<bool>(), effect(), seconds()), count)).prop_map(|(some, changes)| {
            let pairs = some.into_iter().zip(changes);
            let change = |(entry, (keep, effect, seconds)): (Toleration, (bool, &str, Option<i64>))| {
                let effect = if keep || !entry.effect.is_empty() { entry.effect.clone() } else { effect.to_owned() };
                let seconds = if keep { entry.seconds } else { seconds };
                Toleration { effect, seconds, ..entry }
            };
            pairs.map(change).collect::<Vec<_>>()
        });
    let others = prop_oneof![2 => Just(Vec::new()), 2 => several(of_pod(), 3)];
    (narrowed, others).prop_map(|(own, others)| [own, others].concat()).prop_shuffle()
}

fn settings() -> impl Strategy<Value = Asked> {
    let denied = prop_oneof![1 => Just(Vec::new()), 1 => several(entry().prop_map(without_seconds), 2)];
    (several(entry(), 5), denied, any::<bool>()).prop_map(|(allowed, denied, standard)| Asked {
        allowed,
        denied,
        standard,
        old: None,
        new: Vec::new(),
    })
}

fn without_seconds(entry: Toleration) -> Toleration {
    Toleration { seconds: None, ..entry }
}

fn created() -> impl Strategy<Value = Asked> {
    let near = settings()
        .prop_flat_map(|asked| near(asked.allowed.clone()).prop_map(move |new| Asked { new, ..asked.clone() }));
    prop_oneof![3 => near, 1 => tiled()]
}

/// A pod with one toleration, the settings with the parts of it, each with a limit of its own, of which one may be missing:
/// only together do they allow the pod, or nearly.
fn tiled() -> impl Strategy<Value = Asked> {
    let parts = |whole: Toleration| {
        let parts: Vec<Toleration> = each_effect(&whole)
            .iter()
            .flat_map(first_number_apart)
            .flat_map(|part| first_number_apart(&part))
            .collect();
        let limits =
            proptest::collection::vec(seconds().prop_map(|limit| limit.map(|limit| limit.max(0))), parts.len());
        (Just(whole), Just(parts).prop_shuffle(), limits, any::<Index>(), any::<bool>())
    };
    (settings(), toleration(seconds()).prop_flat_map(parts)).prop_map(|(asked, (whole, parts, limits, one, all))| {
        let missing = (!all).then(|| one.index(parts.len()));
        let entries = parts.into_iter().zip(limits).map(|(part, seconds)| Toleration { seconds, ..part });
        let entries = entries.enumerate().filter(|(position, _)| Some(*position) != missing);
        Asked { allowed: entries.map(|(_, entry)| entry).collect(), new: vec![whole], ..asked }
    })
}

/// The new list of an UPDATE is made of what is allowed and of the old list, whose seconds change.
fn updated() -> impl Strategy<Value = Asked> {
    (settings(), several(of_pod(), 4)).prop_flat_map(|(asked, old)| {
        near([old.clone(), asked.allowed.clone()].concat()).prop_map(move |new| Asked {
            old: Some(old.clone()),
            new,
            ..asked.clone()
        })
    })
}

fn asked() -> impl Strategy<Value = Asked> {
    prop_oneof![created(), updated()]
}

// --- The properties. ---

/// Failures leave no file behind: the tests write nothing.
fn config(cases: u32) -> Config {
    let max_shrink_iters = testkit::max_shrink_iters();
    Config { cases, failure_persistence: None, max_shrink_iters, ..Config::default() }
}

/// Findings that are about taints; what a list looks like aside.
const ABOUT_TAINTS: [&str; 3] = ["toleration-not-allowed", "toleration-denied", "toleration-seconds-exceeded"];

fn found(answer: &Answer) -> [bool; 3] {
    ABOUT_TAINTS.map(|finding| answer.found(finding))
}

fn expected(asked: &Asked, taints: &[Taint]) -> [bool; 3] {
    // A list that stayed as it was is not judged.
    if asked.old.as_ref() == Some(&asked.new) {
        return [false; 3];
    }
    [
        taints.iter().any(|taint| asked.is_not_allowed(taint)),
        taints.iter().any(|taint| asked.is_denied(taint)),
        taints.iter().any(|taint| asked.stays_too_long(taint)),
    ]
}

proptest! {
    #![proptest_config(config(700))]

    /// Not allowed, denied, too long: each is found exactly where some taint shows it.
    #[test]
    fn the_verdict_is_that_of_brute_force(asked in asked()) {
        prop_assert_eq!(found(&asked.answer()), expected(&asked, &asked.taints()));
    }

    /// The annotation names a valid taint which shows the first of the findings.
    #[test]
    fn the_example_taint_shows_the_finding(asked in asked()) {
        let answer = asked.answer();
        let Some(text) = &answer.taint else {
            prop_assert_eq!(found(&answer), [false; 3]);
            return Ok(());
        };
        let taint = read_taint(text);
        prop_assert!(is_key(&taint.key) && is_value(&taint.value) && EFFECTS.contains(&taint.effect.as_str()));
        let shows = match found(&answer) {
            [true, ..] => asked.is_not_allowed(&taint),
            [_, true, _] => asked.is_denied(&taint),
            _ => asked.stays_too_long(&taint),
        };
        prop_assert!(shows, "{} does not show {:?}", text, answer.findings);
        prop_assert!(answer.message.contains(&format!("`{text}`")), "{}", answer.message);
    }

    /// A refusal has a finding that refuses and an acceptance has none, and nothing is ever undecided at this size.
    #[test]
    fn a_request_is_refused_for_a_finding_and_never_for_want_of_time(asked in asked()) {
        let answer = asked.answer();
        let refuses = found(&answer).contains(&true) || answer.found("toleration-invalid-number");
        prop_assert_eq!(answer.accepted, !refuses, "{:?}", answer);
        prop_assert_eq!(answer.code, refuses.then_some(403));
        prop_assert!(!answer.message.contains("not decided"), "{}", answer.message);
    }
}

proptest! {
    #![proptest_config(config(300))]

    /// The order of a pod's tolerations decides how long it stays, and nothing else.
    #[test]
    fn the_order_of_tolerations_matters_for_seconds_only(
        (asked, shuffled) in asked().prop_flat_map(|asked| {
            let shuffled = Just(asked.new.clone()).prop_shuffle();
            (Just(asked), shuffled)
        })
    ) {
        let without_seconds = |answer: Answer| {
            answer.findings.into_iter().filter(|finding| finding != "toleration-seconds-exceeded").collect::<Vec<_>>()
        };
        let other = Asked { new: shuffled, ..asked.clone() };
        // An old list that becomes the new one only by shuffling is judged, with nothing but seconds to be found.
        let (before, after) = (without_seconds(asked.answer()), without_seconds(other.answer()));
        if asked.old.as_ref() == Some(&asked.new) || other.old.as_ref() == Some(&other.new) {
            prop_assert_eq!(before.iter().chain(&after).count(), 0);
        }
        prop_assert_eq!(before, after);
    }

    /// The order of the settings' entries, and writing one twice, changes nothing.
    #[test]
    fn the_order_of_entries_matters_for_nothing(
        (asked, allowed, denied, again) in asked().prop_flat_map(|asked| {
            let shuffled = |list: &[Toleration]| Just(list.to_vec()).prop_shuffle();
            let (allowed, denied) = (shuffled(&asked.allowed), shuffled(&asked.denied));
            (Just(asked), allowed, denied, any::<Index>())
        })
    ) {
        let mut allowed = allowed;
        if !allowed.is_empty() {
            allowed.push(allowed[again.index(allowed.len())].clone());
        }
        let before = asked.answer();
        let after = Asked { allowed, denied, ..asked }.answer();
        prop_assert_eq!(
            (before.accepted, before.code, before.findings, before.taint, before.warnings),
            (after.accepted, after.code, after.findings, after.taint, after.warnings)
        );
    }

    /// Writing one toleration as several that mean the same together, in its place, changes no finding; neither does it
    /// in the settings.
    #[test]
    fn a_toleration_and_its_parts_are_judged_alike(asked in created(), by_effect in any::<bool>()) {
        let split = |tolerations: &[Toleration]| {
            let parts = |toleration| if by_effect { each_effect(toleration) } else { first_number_apart(toleration) };
            tolerations.iter().flat_map(parts).collect::<Vec<_>>()
        };
        let of_pod = Asked { new: split(&asked.new), ..asked.clone() };
        let of_settings = Asked { allowed: split(&asked.allowed), denied: split(&asked.denied), ..asked.clone() };
        let whole = asked.answer();
        for parts in [of_pod, of_settings] {
            let parts = parts.answer();
            prop_assert_eq!((whole.accepted, &whole.findings), (parts.accepted, &parts.findings));
        }
    }

    /// Nothing is found in an UPDATE that keeps the list, or the front of it, whatever the settings say now.
    #[test]
    fn what_stays_and_what_goes_is_not_held_against_an_update(
        (asked, kept) in created().prop_flat_map(|asked| {
            let kept = 0..=asked.new.len();
            (Just(asked), kept)
        })
    ) {
        // The front of a list decides for the same taints as before, for as long.
        let nothing = Asked { allowed: Vec::new(), standard: false, old: Some(asked.new.clone()), new: asked.new[..kept].to_vec(), ..asked };
        let answer = nothing.answer();
        prop_assert!(answer.accepted && answer.findings.is_empty(), "{:?}", answer);
    }
}

/// Settings that often allow every taint of an effect, a denied one aside.
fn wide_open() -> impl Strategy<Value = Asked> {
    let entries = select(vec![vec!["NoSchedule"], vec!["NoSchedule", "PreferNoSchedule"], vec![""], vec!["NoExecute"]]);
    (asked(), entries).prop_map(|(asked, effects)| {
        let everything = effects.into_iter().map(|effect| Toleration {
            key: String::new(),
            operator: String::from("Exists"),
            value: String::new(),
            effect: effect.to_owned(),
            seconds: None,
        });
        Asked { allowed: asked.allowed.iter().cloned().chain(everything).collect(), ..asked }
    })
}

proptest! {
    #![proptest_config(config(300))]

    /// A node name is found exactly where some taint of the scheduler's shows it, whatever the list of tolerations says.
    #[test]
    fn a_node_name_is_found_where_brute_force_finds_a_taint(
        asked in prop_oneof![asked(), wide_open()], in_place in any::<bool>()
    ) {
        let request = |old_node: Option<&str>| {
            let mut request = match &asked.old {
                None => create(&list(&asked.new)),
                Some(old) => update(&list(old), &list(&asked.new)),
            };
            request["object"]["spec"]["nodeName"] = json!("n1");
            if asked.old.is_some() {
                request["oldObject"]["spec"]["nodeName"] = json!(old_node);
            }
            request
        };
        let answer = ask(&asked.section(), &request(None));
        let expected = asked.taints().iter().any(|taint| asked.may_not_be_skipped(taint));
        prop_assert_eq!(answer.found("node-name-skips-taints"), expected, "{:?}", answer);
        let others: Vec<&String> = answer.findings.iter().filter(|code| *code != "node-name-skips-taints").collect();
        let without = asked.answer();
        prop_assert_eq!(others, without.findings.iter().collect::<Vec<_>>());
        if without.taint.is_none() && expected {
            let taint = read_taint(&answer.taint.expect("the example"));
            prop_assert!(asked.may_not_be_skipped(&taint), "{:?}", taint);
        }
        if in_place && asked.old.is_some() {
            let stays = ask(&asked.section(), &request(Some("n1")));
            prop_assert!(!stays.found("node-name-skips-taints"));
        }
    }
}

proptest! {
    #![proptest_config(config(60))]

    /// A template is judged as the pod that is made of it.
    #[test]
    fn every_kind_of_workload_is_judged_as_its_pod_is(asked in created()) {
        let (section, list) = (asked.section(), list(&asked.new));
        let of_pod = ask(&section, &create(&list));
        for (group, kind, template) in KINDS {
            let answer = ask(&section, &request(group, kind, None, &workload(template, &list)));
            let here = format!("{}.spec.tolerations", template.trim_start_matches('/').replace('/', "."));
            let in_pod = |text: &String| text.replace(here.trim_start_matches('.'), "spec.tolerations");
            let as_pod = Answer {
                message: in_pod(&answer.message),
                warnings: answer.warnings.iter().map(in_pod).collect(),
                ..answer
            };
            prop_assert_eq!(&as_pod, &of_pod, "{}", kind);
        }
    }
}

/// The same toleration for each effect.
fn each_effect(toleration: &Toleration) -> Vec<Toleration> {
    match toleration.effect.as_str() {
        "" => EFFECTS.map(|effect| Toleration { effect: effect.to_owned(), ..toleration.clone() }).to_vec(),
        _ => vec![toleration.clone()],
    }
}

/// `> 5` is `= 6` and `> 6`; `< 5` is `= 4` and `< 4`, where taints can have these values.
fn first_number_apart(toleration: &Toleration) -> Vec<Toleration> {
    let bound = number(&toleration.value);
    let next = match (toleration.operator.as_str(), bound) {
        // Neither part may be one that no taint can meet: that would be said of it.
        ("Gt", Some(bound @ -1..)) if bound < i64::MAX - 1 => bound + 1,
        ("Lt", Some(bound @ 2..)) => bound - 1,
        _ => return vec![toleration.clone()],
    };
    let rest = Toleration { value: next.to_string(), ..toleration.clone() };
    vec![Toleration { operator: String::from("Equal"), ..rest.clone() }, rest]
}

// --- The generators themselves. ---

/// The same questions on every machine.
fn sample<S: Strategy>(strategy: S, count: usize) -> Vec<S::Value> {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config(1), rng);
    (0..count).map(|_| strategy.new_tree(&mut runner).expect("no value is rejected").current()).collect()
}

/// Of each verdict the generators make enough that no property is about nothing.
#[test]
fn the_generators_make_every_verdict() {
    for (name, questions) in [("CREATE", sample(created().boxed(), 600)), ("UPDATE", sample(updated().boxed(), 600))] {
        let answers: Vec<Answer> = questions.iter().map(Asked::answer).collect();
        let share = |finding: &str| answers.iter().filter(|answer| answer.found(finding)).count();
        assert!(answers.iter().filter(|answer| answer.accepted).count() >= 120, "{name}: accepted");
        for (finding, least) in [
            ("toleration-not-allowed", 120),
            ("toleration-denied", 60),
            ("toleration-seconds-exceeded", 60),
            ("toleration-invalid-number", 6),
            ("toleration-matches-nothing", 30),
            ("toleration-admits-everything", 30),
        ] {
            assert!(share(finding) >= least, "{name}: {finding} in {} of {}", share(finding), answers.len());
        }
    }
}

/// Among the pods that are allowed are enough that only a union allows, and enough that stay too long because of an
/// earlier toleration.
#[test]
fn the_generators_make_what_is_hard() {
    let questions = sample(created().boxed(), 1_500);
    let covered_together = questions.iter().filter(|asked| {
        let taints = asked.taints();
        let within = |inner: &Toleration, outer: &Toleration| {
            taints.iter().all(|taint| !tolerates(inner, taint) || tolerates(outer, taint))
        };
        let one_entry_is_enough =
            |toleration: &Toleration| asked.entries().iter().any(|entry| within(toleration, entry));
        let allowed = !taints.iter().any(|taint| asked.is_not_allowed(taint));
        allowed && !asked.new.iter().all(one_entry_is_enough)
    });
    let covered_together = covered_together.count();
    assert!(covered_together >= 20, "{covered_together} are allowed by several entries together");
    let by_order = questions.iter().filter(|asked| {
        let reversed = Asked { new: asked.new.iter().rev().cloned().collect(), ..(*asked).clone() };
        let taints = asked.taints();
        expected(asked, &taints)[2] != expected(&reversed, &taints)[2]
    });
    let by_order = by_order.count();
    assert!(by_order >= 20, "{by_order} depend on the order of the tolerations");
    for operator in ["", "Equal", "Exists", "Gt", "Lt", "Ge"] {
        let uses = |asked: &&Asked| asked.new.iter().any(|toleration| toleration.operator == operator);
        assert!(questions.iter().filter(uses).count() >= 15, "operator {operator:?}");
    }
    for (what, is) in [
        ("no key", (|toleration| toleration.key.is_empty()) as fn(&Toleration) -> bool),
        ("no effect", |toleration| toleration.effect.is_empty()),
        ("negative seconds", |toleration| toleration.seconds.is_some_and(|seconds| seconds < 0)),
        ("no seconds", |toleration| toleration.seconds.is_none()),
        ("seconds for ever", |toleration| toleration.seconds == Some(FOR_EVER)),
        ("a negative number", |toleration| toleration.value.starts_with('-')),
    ] {
        assert!(questions.iter().filter(|asked| asked.new.iter().any(is)).count() >= 30, "{what}");
    }
}
