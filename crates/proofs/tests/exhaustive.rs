//! A fixed part of `make exhaustive`.

use proofs::exhaustive::{selectors, tolerations};

#[test]
fn a_part_of_all_small_selectors_agrees_with_the_oracle() {
    for world in selectors::WORLDS {
        for given in selectors::GIVEN {
            let count = world.ask_alone(given, 400_009);
            assert!(count.pairs > 1_500 && count.contained > 100, "{count:?}");
            assert_eq!(count.disagreements, 0, "{}, {}", world.name, given.name());
        }
    }
}

#[test]
fn a_part_of_all_small_lists_of_tolerations_agrees_with_the_oracle() {
    let count = tolerations::ask(2, 97, 1);
    assert!(count.pairs > 10_000 && count.contained > 200, "{count:?}");
    assert_eq!(count.disagreements, 0);
}

#[test]
fn a_thousandth_of_all_small_selectors_agrees_with_the_oracle() {
    let count = selectors::NARROW.ask(selectors::Given::Both, 1_000, 1);
    assert!(count.pairs > 700_000 && count.contained > 1_000, "{count:?}");
    assert_eq!(count.disagreements, 0);
}

#[test]
fn an_oracle_that_is_wrong_is_noticed() {
    use placement_guard::logic::{Budget, Condition, Domain, Facts, Outline};
    let mut outline = Outline::default();
    let axis = outline.axis("key", Domain::OptionalText);
    let terms = [vec![(axis, Condition::In(vec!["a"]))], vec![(axis, Condition::Present)]];
    terms.iter().for_each(|term| outline.mention(term));
    let budget = &mut Budget::of(10_000);
    let space = outline.cut(budget).unwrap();
    // Of the objects absent, `a` and `b`, the first list admits `a`, and the second `a` and `b`.
    let ask = |second: u128| {
        let at = |point: &placement_guard::logic::Point| match space.value(axis, point) {
            None => 0b001,
            Some("a") => 0b010,
            Some(_) => 0b100,
        };
        let unions = [&terms[0], &terms[1]].map(|term| space.union([term], &mut Budget::of(10_000)).unwrap());
        let lists = unions.into_iter().zip([0b010, second]).collect::<Vec<_>>();
        let facts = Facts::default();
        proofs::exhaustive::Family::new((&space, &facts), lists, u128::MAX, &at).ask(1, 1, &|_, _| {}).disagreements
    };
    assert_eq!(ask(0b110), 0);
    assert_eq!((ask(0b100), ask(0b010)), (1, 1));
}
