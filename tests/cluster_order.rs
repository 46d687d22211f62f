//! The order of the objects in the cluster changes no answer, not by a byte: engines keep none.

#![allow(clippy::restriction)]

use placement_guard::kubewarden;
use placement_guard::objects::Objects;
use placement_guard::verdict;
use serde_json::{Value, json};
use testkit::Case;
use testkit::fake_host::FakeHost;

fn answer(case: &Case, host: &FakeHost) -> String {
    let answer = kubewarden::validate_with(&case.payload(), &|operation, payload| {
        host.call(operation, payload).map_err(|said| format!("Host error: {said}"))
    });
    String::from_utf8(answer).unwrap()
}

/// Every order that begins elsewhere, forwards and backwards, and some that are mixed.
fn orders(objects: usize) -> Vec<Vec<usize>> {
    let mut orders = Vec::new();
    for first in 0..objects {
        let forwards: Vec<usize> = (0..objects).map(|position| (position + first) % objects).collect();
        orders.push(forwards.iter().rev().copied().collect());
        orders.push(forwards);
    }
    let mut seed = 1_u64;
    for _ in 0..20 {
        let mut mixed: Vec<usize> = (0..objects).collect();
        for last in (1..objects).rev() {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            mixed.swap(last, usize::try_from((seed >> 33) % (last as u64 + 1)).unwrap());
        }
        orders.push(mixed);
    }
    orders
}

#[test]
fn no_order_of_the_objects_changes_an_answer() {
    let (mut judged, mut with_several) = (0, 0);
    for case in testkit::cases().unwrap() {
        if case.request().is_none() {
            continue;
        }
        let mut objects = Vec::new();
        case.host_with(|all| objects.clone_from(all));
        if objects.is_empty() {
            continue;
        }
        let expected = answer(&case, &case.host());
        let settings = String::from_utf8(case.settings()).unwrap();
        let request = case.request().unwrap().to_string();
        for order in orders(objects.len()) {
            let reordered: Vec<Value> = order.iter().map(|position| objects[*position].clone()).collect();
            let given = case.host_with(|all| all.clone_from(&reordered));
            assert_eq!(answer(&case, &given), expected, "{}: {order:?}", case.name);
            if case.has_unreadable_kinds() {
                continue;
            }
            let given = Objects::read(&json!(reordered).to_string()).unwrap();
            let first = Objects::read(&json!(objects).to_string()).unwrap();
            let verdict = |objects: &Objects| verdict::check_in(&settings, &request, objects);
            assert_eq!(verdict(&given), verdict(&first), "{}: {order:?}", case.name);
        }
        judged += 1;
        with_several += usize::from(objects.len() > 3);
    }
    assert!(judged >= 20 && with_several >= 10, "{judged} cases with a cluster, {with_several} with several objects");
}
