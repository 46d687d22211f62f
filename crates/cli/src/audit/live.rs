//! The objects of a cluster itself.

use super::report::{Object, Report};
use super::{Rules, judge, judged};
use crate::cluster::Live;
use crate::complaint::Complaint;
use crate::input::{self, Piece};
use crate::manifest::{Manifest, audit_request};
use crate::reading::Read;

/// Where the report says that an object is.
const NAME: &str = "the cluster";

/// Judges every object of the kinds that the sections of the settings judge, and says which kinds cannot be listed.
pub fn scan(live: &Live, settings: &str, rules: &Rules<'_>, read: &mut Read, report: &mut Report) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for listed in judged::by(settings) {
        let listed = live.each(listed, &mut |json| {
            input::read_text(NAME, json.as_bytes(), &mut |piece| match piece {
                Piece::Document(document) => {
                    if let Some(Manifest { identity, document }) = read.manifest(document) {
                        let object = Object { line: 0, ..Object::new(&identity, &document) };
                        judge(rules, &audit_request(&identity, document.json()), &object, report);
                    }
                }
                Piece::NotJudged(wrong) => read.omit(wrong),
                Piece::Came(_) => {}
            });
        });
        if let Err(unlisted) = listed {
            complaints.push(unlisted.complaint);
            if !unlisted.is_alone {
                break;
            }
        }
    }
    complaints
}
