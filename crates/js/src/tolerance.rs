//! A list of tolerations and one taint, put to the plain matcher.

use placement_guard::kubernetes::field::Unreadable;
use placement_guard::kubernetes::toleration::{self, read_taint, read_tolerations};
use placement_guard::rules::decision::Decision;

use crate::answers::Tolerance;
use crate::document;

pub fn of(tolerations: &str, taint: &str) -> Tolerance {
    match is_tolerated(tolerations, taint) {
        Ok(tolerated) => Tolerance { tolerated, code: None, message: None },
        Err(unreadable) => {
            let Decision { code, message, .. } = Decision::unreadable(&unreadable);
            Tolerance { tolerated: false, code, message }
        }
    }
}

fn is_tolerated(tolerations: &str, taint: &str) -> Result<bool, Unreadable> {
    let tolerations = document::read("tolerations", tolerations, read_tolerations)?;
    let taint = document::read("taint", taint, |taint| {
        // A taint always has both; without them the answer would be about no taint at all.
        for required in ["key", "effect"] {
            taint.get(required)?.required_string()?;
        }
        read_taint(taint)
    })?;
    Ok(tolerations.iter().any(|toleration| toleration::tolerates(toleration, &taint)))
}
