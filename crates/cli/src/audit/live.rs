//! The objects of a cluster itself.

use super::report::{Object, Report};
use super::{Rules, judge, judged};
use crate::cluster::Live;
use crate::complaint::Complaint;
use crate::input::Source;
use crate::manifest::{Manifest, audit_request};

/// Where the report says that an object is.
const NAME: &str = "the cluster";

/// Judges every object of the kinds that the sections of the settings judge. What cannot be listed is among the complaints.
pub fn scan(live: &Live, settings: &str, rules: &Rules<'_>, report: &mut Report, complaints: &mut Vec<Complaint>) {
    for listed in judged::by(settings) {
        let mut broken = None;
        let read = live.each(listed, &mut |json| {
            let source = Source::of(NAME, &json);
            match Manifest::all(&source) {
                Ok(manifests) => {
                    for Manifest { identity, document } in &manifests {
                        let object = Object::new(identity, &source, 0);
                        judge(rules, &audit_request(identity, &document.json), &object, report);
                    }
                }
                Err(complaint) => broken = Some(complaint),
            }
        });
        complaints.extend(broken);
        if let Err(unlisted) = read {
            complaints.push(unlisted.complaint);
            if !unlisted.is_alone {
                return;
            }
        }
    }
}
