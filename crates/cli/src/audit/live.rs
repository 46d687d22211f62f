//! The objects of a cluster itself.

use super::judged;
use crate::cluster::{Listed, Live};
use crate::complaint::Complaint;
use crate::input::{self, Piece};
use crate::judge::Judge;
use crate::manifest::Manifest;
use crate::reading::Read;

/// Where the report says that an object is.
const NAME: &str = "the cluster";

/// Gives `take` every object of the kinds that the sections of the settings judge, or only those of one namespace, and says which
/// kinds cannot be listed.
pub fn scan(
    live: &Live,
    namespace: Option<&str>,
    judge: &Judge<'_>,
    read: &mut Read,
    take: &mut dyn FnMut(&Manifest),
) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let of_namespace = |listed: &Listed| namespace.is_none() || listed.is_namespaced();
    for listed in judged::by(judge.settings()).into_iter().filter(of_namespace) {
        let listed = live.each(listed, namespace, &mut |json| {
            input::read_text(NAME, json.as_bytes(), &mut |piece| match piece {
                Piece::Document(document) => {
                    if let Some(mut manifest) = read.manifest(document) {
                        manifest.document.line = 0;
                        take(&manifest);
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
