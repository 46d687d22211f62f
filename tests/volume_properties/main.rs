//! Whole updates of PersistentVolumes, generated, judged through the face, and held against every node of a small world.

#![allow(clippy::restriction)]

mod generate;
mod judge;
mod world;

use std::collections::{BTreeMap, BTreeSet};

use placement_guard::kubernetes::affinity::Affinity;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use generate::{
    BETA_REGION, BETA_ZONE, Edit, Fact, GENERATION, Pv, SUCCESSORS, Term, consistent, fact, facts, palette, pv,
    requirement, term, update,
};
use judge::{are_valid, judge, names};
use world::{holds, is_label_value, may_exist, oracle, world};

fn config(cases: u32) -> ProptestConfig {
    let asked = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { asked.cases } else { cases };
    let max_shrink_iters = testkit::max_shrink_iters();
    ProptestConfig { cases, max_shrink_iters, failure_persistence: None, max_global_rejects: u32::MAX, ..asked }
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn relation_and_findings_are_those_that_every_node_of_the_world_shows(update in update()) {
        let (answer, oracle) = (update.judge(), oracle(&update));
        prop_assert_eq!(&answer.relation, &oracle.relation, "loses {:?}, gains {:?}", oracle.loses, oracle.gains);
        prop_assert_eq!(&answer.findings, &oracle.findings);
        prop_assert_eq!(answer.loses.is_some(), oracle.loses.is_some());
        prop_assert_eq!(answer.gains.is_some(), oracle.gains.is_some());
    }

    #[test]
    fn facts_are_refused_only_where_no_node_could_satisfy_them(
        facts in palette().prop_flat_map(|palette| prop::collection::vec(fact(palette), 1..=5)).prop_map(consistent)
    ) {
        let possible = world(&[], &facts).iter().any(|node| may_exist(node) && facts.iter().all(|fact| holds(fact, node)));
        prop_assert_eq!(are_valid(&facts), possible);
    }
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn live_nodes_that_lose_and_gain_are_those_of_the_matcher(
        update in update(), some in prop::collection::vec(any::<Index>(), 0..12)
    ) {
        let world = world(&[&update.before, &update.after], &update.facts);
        let valid: Vec<_> = world.into_iter().filter(|node| node.values().all(|value| is_label_value(value))).collect();
        let mut nodes: Vec<_> = some.iter().map(|index| index.get(&valid).clone()).collect();
        let (old, new) = (update.before.volume(), update.after.volume());
        let named = |wanted: (bool, bool)| -> BTreeSet<String> {
            let like = |(_, node): &(usize, &_)| (old.admits(node), new.admits(node)) == wanted;
            (0..).zip(&nodes).filter(like).map(|(name, _)| format!("n{name}")).collect()
        };
        let (loses, gains) = (named((true, false)), named((false, true)));
        let any = update.judge_among(&nodes, "anyNode");
        // What is equivalent for every node that the facts allow asks for none.
        if !matches!(any.relation.as_str(), "equivalent" | "unchanged") {
            prop_assert_eq!((&any.loses_live, &any.gains_live), (&loses, &gains));
            let live = update.judge_among(&nodes, "liveNodes");
            let relation = match (loses.is_empty(), gains.is_empty()) {
                (true, true) => "equivalent",
                (true, false) => "widened",
                (false, true) => "narrowed",
                (false, false) => "shifted",
            };
            prop_assert_eq!(live.relation, relation);
            nodes.reverse();
            prop_assert_eq!(update.judge_among(&nodes, "liveNodes").relation, relation);
        }
    }
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn example_nodes_replay_and_satisfy_every_fact(update in update()) {
        let answer = update.judge();
        let (old, new) = (update.before.volume(), update.after.volume());
        let contradicted = answer.findings.contains("facts-contradict-volume");
        for (node, winner, loser) in [(&answer.loses, &old, &new), (&answer.gains, &new, &old)] {
            let Some(node) = node else { continue };
            prop_assert!(winner.admits(node) && !loser.admits(node), "{:?}", node);
            prop_assert!(node.values().all(|value| is_label_value(value)), "{:?}", node);
            for fact in update.facts.iter().filter(|_| !contradicted) {
                prop_assert!(holds(fact, node), "{:?} is not true of {:?}", fact, node);
            }
            let asks = |key: &str| old.keys().chain(new.keys()).any(|asked| asked == key);
            let mixed = [BETA_ZONE, BETA_REGION].iter().any(|key| asks(key));
            prop_assert!(contradicted || !mixed || may_exist(node), "a built-in alias is not true of {:?}", node);
        }
    }

    #[test]
    fn the_update_back_has_the_opposite_relation(update in update()) {
        let (there, back) = (update.judge(), update.swapped().judge());
        prop_assume!(![&there, &back].iter().any(|answer| answer.findings.contains("facts-contradict-volume")));
        // What is lost one way is gained back the other, unless only nodes without the beta label tell the two apart.
        let aliased = [&there, &back].iter().any(|answer| answer.facts.iter().any(|fact| is_built_in(fact)));
        let relations = (there.relation.as_str(), back.relation.as_str());
        let opposite = matches!(
            relations,
            ("unchanged", "unchanged") | ("equivalent", "equivalent") | ("shifted", "shifted")
                | ("widened", "narrowed") | ("narrowed", "widened")
        );
        let one_way = matches!(
            relations,
            ("equivalent" | "narrowed", "narrowed") | ("narrowed", "equivalent") | ("shifted", "narrowed") | ("narrowed", "shifted")
        );
        prop_assert!(opposite || aliased && one_way, "{:?}", relations);
    }

    #[test]
    fn the_order_of_terms_requirements_and_values_changes_nothing(update in update(), turn in any::<Index>()) {
        let turned = |pv: &Pv| {
            let mut pv = pv.clone();
            let terms = pv.terms.as_deref_mut().unwrap_or_default();
            for term in &mut *terms {
                term.expressions.iter_mut().for_each(|requirement| requirement.values.reverse());
                turn_by(&mut term.expressions, turn);
            }
            turn_by(terms, turn);
            pv
        };
        let (before, after) = (turned(&update.before), turned(&update.after));
        // An unchanged fragment is one that is written alike, so both sides are turned alike.
        let answer = update.judge();
        let other = judge(Some(&before), &after, &update.facts);
        prop_assert_eq!((&other.relation, &other.facts, &other.findings), (&answer.relation, &answer.facts, &answer.findings));
        // Written otherwise on one side only, nothing changes but that.
        let half = judge(Some(&update.before), &after, &update.facts);
        let same = |relation: &str| relation.replace("unchanged", "equivalent");
        prop_assert_eq!(same(&half.relation), same(&answer.relation));
    }

    #[test]
    fn the_facts_named_are_enough_and_none_of_them_can_be_left_out(update in update()) {
        let answer = update.judge();
        let names = names(&update.facts);
        let known = |fact: &String| names.contains(fact) || is_built_in(fact);
        prop_assert!(answer.facts.iter().all(known), "{:?} of {:?}", answer.facts, names);
        let named: Vec<Fact> =
            names.iter().zip(&update.facts).filter(|(name, _)| answer.facts.contains(*name)).map(|(_, fact)| fact.clone()).collect();
        if !answer.findings.contains("facts-contradict-volume") {
            prop_assert_eq!(&judge(Some(&update.before), &update.after, &named).relation, &answer.relation);
        }
        for left_out in 0..named.len() {
            let mut fewer = named.clone();
            fewer.remove(left_out);
            prop_assert_ne!(&judge(Some(&update.before), &update.after, &fewer).relation, &answer.relation);
        }
    }

    #[test]
    fn adding_a_term_never_narrows(
        (before, term, facts) in palette().prop_flat_map(|palette| (pv(palette), term(palette), facts(palette)))
    ) {
        prop_assume!(before.terms.is_some());
        let after = before.edited(&Edit::AddTerm(term));
        let relation = judge(Some(&before), &after, &facts).relation;
        prop_assert!(matches!(relation.as_str(), "equivalent" | "widened"), "{}", relation);
    }

    #[test]
    fn adding_a_requirement_never_widens(
        (before, at, requirement, facts) in
            palette().prop_flat_map(|palette| (pv(palette), any::<Index>(), requirement(palette), facts(palette)))
    ) {
        // A term without any requirement matches nothing: its first one gives it nodes.
        let asks = |term: &Term| !term.expressions.is_empty() || term.field.is_some();
        prop_assume!(before.terms.iter().flatten().all(asks));
        let after = before.edited(&Edit::AddRequirement(at, requirement));
        prop_assume!(before.terms.is_some());
        let relation = judge(Some(&before), &after, &facts).relation;
        prop_assert!(matches!(relation.as_str(), "unchanged" | "equivalent" | "narrowed"), "{}", relation);
    }
}

fn is_built_in(fact: &str) -> bool {
    SUCCESSORS.iter().any(|(beta, successor)| fact == format!("{beta} is an alias of {successor}"))
}

/// Begins a list somewhere else.
fn turn_by<T>(list: &mut [T], turn: Index) {
    if !list.is_empty() {
        list.rotate_left(turn.index(list.len()));
    }
}

/// The properties are worth what the generators reach.
#[test]
fn the_generators_reach_what_can_go_wrong() {
    let mut runner = TestRunner::deterministic();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut see = |what: String| *seen.entry(what).or_default() += 1;
    for _ in 0..1_500 {
        let update = generate::update().new_tree(&mut runner).expect("an update").current();
        let answer = update.judge();
        see(format!("relation {}", answer.relation));
        answer.findings.iter().for_each(|finding| see(format!("finding {finding}")));
        for (label, value) in update.before.labels.iter().chain(&update.after.labels) {
            see(format!("label {label}"));
            see(format!("label value {}", value.replace("b", "zone").replace("c", "zone")));
        }
        for pv in [&update.before, &update.after] {
            let terms = pv.terms.iter().flatten();
            terms
                .flat_map(|term| &term.expressions)
                .for_each(|requirement| see(format!("operator {}", requirement.operator)));
            if let Affinity::Absent = pv.volume().affinity {
                see("affinity absent".to_owned());
            }
        }
        for node in [&answer.loses, &answer.gains].into_iter().flatten() {
            if node.is_empty() {
                see("node without labels".to_owned());
            }
            if node.get(GENERATION).is_some_and(|value| value.starts_with("00")) {
                see("node with a number spelled as nobody did".to_owned());
            }
        }
        for (name, fact) in
            names(&update.facts).iter().zip(&update.facts).filter(|(name, _)| answer.facts.contains(*name))
        {
            see(format!(
                "needed {}",
                match fact {
                    Fact::Zone { .. } => "zone",
                    Fact::Alias { .. } => "alias",
                    Fact::Implies { when: None, .. } => "implication of every node",
                    Fact::Implies { .. } => name.split('[').next().unwrap_or_default(),
                }
            ));
        }
        if answer.facts.iter().any(|fact| is_built_in(fact)) {
            see("needed built-in alias".to_owned());
        }
        if answer.facts.len() > 1 {
            see("several facts needed".to_owned());
        }
    }
    for wanted in [
        "affinity absent",
        "finding dead-term",
        "finding facts-contradict-volume",
        "finding match-fields-ignored",
        "finding redundant-term",
        "finding zone-label-binds",
        "label failure-domain.beta.kubernetes.io/region",
        "label failure-domain.beta.kubernetes.io/zone",
        "label topology.kubernetes.io/region",
        "label topology.kubernetes.io/zone",
        "label value zone",
        "label value zone____zone",
        "label value zone__zone",
        "needed alias",
        "needed built-in alias",
        "needed implication of every node",
        "needed implications",
        "needed zone",
        "node with a number spelled as nobody did",
        "node without labels",
        "operator DoesNotExist",
        "operator Exists",
        "operator Gt",
        "operator In",
        "operator Lt",
        "operator NotIn",
        "operator in",
        "relation equivalent",
        "relation narrowed",
        "relation shifted",
        "relation unchanged",
        "relation widened",
        "several facts needed",
    ] {
        let count = seen.get(wanted).copied().unwrap_or_default();
        assert!(count >= 5, "`{wanted}` was generated {count} times; all of it: {seen:#?}");
    }
}
