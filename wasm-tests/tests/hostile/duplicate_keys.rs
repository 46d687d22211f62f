//! A key that appears twice. Readers disagree about which of the two counts. So a duplicate key could show the policy
//! something else than what the API server stores.

use crate::document::{place, places_below};
use crate::{assert_unreadable, payload, update};

#[test]
fn a_key_that_stands_twice_in_what_is_judged_is_refused_by_name() {
    let payload = payload(update());
    let below = places_below(&payload, &["request.object.spec.nodeAffinity", "request.oldObject.spec.nodeAffinity"]);
    let above =
        ["request", "request.operation", "request.kind", "request.kind.kind", "request.object", "request.oldObject"];
    let above = above.map(|path| place(&payload, path));
    for place in above.into_iter().chain(below).filter(|place| !place.is_element()) {
        let path = place.to_string();
        let key = path.rsplit('.').next().unwrap();
        let value = place.of(&payload).to_string();
        for other in ["null", "{}", value.as_str()] {
            for (first, second) in [(value.as_str(), other), (other, value.as_str())] {
                let twice = place.spliced(&payload, &format!("{first},\"{key}\":{second}"));
                assert_unreadable(twice.as_bytes(), path.trim_start_matches("request."));
            }
        }
    }
}
