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
