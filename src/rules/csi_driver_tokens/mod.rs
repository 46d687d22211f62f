//! `csiDriverTokens`: which service-account tokens a CSI driver may ask for, and that they stay secret on the way.
//!
//! Judged is a CSIDriver with `tokenRequests`; without them nothing is handed out. On an UPDATE each token that reaches
//! the driver just as it did before is left alone, whatever else changes: what is new is judged, not what was there. A
//! token is known by its audience, so shortening the life of one that is still in the volume context is no new leak.

use crate::kubernetes::csi_driver::{CsiDriver, DEFAULT_EXPIRATION_SECONDS, EXPIRATION_SECONDS, TokenRequest};
use crate::kubernetes::field::{Field, Unreadable, quoted, short};
use crate::kubernetes::request::Request;
use crate::logic::Budget;
use crate::rules::decision::Report;
use crate::rules::finding::{Code, Few, Finding};
use crate::rules::glob::Glob;
use crate::rules::rule::{Rule, Stopped};
use crate::rules::section::{NEEDS_CLUSTER, only_keys, when_cluster_unreadable};

/// What is said of every token in the volume context: why not there, what instead, in which order, and the way back.
const WHY_SECRETS: &[&str] = &[
    "`volume_context` is not kept secret: drivers logged it with the tokens in it (CVE-2023-2878 in secrets-store, \
     CVE-2024-3744 in azure-file)",
    "accepted: `serviceAccountTokenInSecrets: true`",
    "in this order: API servers and kubelets of 1.35 or later; on every node a driver that reads `secrets` and falls \
     back to `volume_context`; then this field, in an update of its own",
    "API servers before 1.35 drop the field, so `requireSecrets` cannot be met there",
    "in an incident, `enforcement: warn` or `exempt` in the settings of `csiDriverTokens` lets this pass",
];

/// The section's settings.
#[derive(Debug)]
pub struct CsiDriverTokens {
    require_secrets: bool,
    /// `None` when audiences are not judged; an empty list allows none.
    audiences: Option<Vec<Audiences>>,
    expiration: Option<Seconds>,
    require_republish: bool,
}

/// The audiences that the drivers with one of these names may ask for.
#[derive(Debug)]
struct Audiences {
    drivers: Vec<Glob>,
    allow: Vec<String>,
}

/// The seconds that a token may live; what is absent sets no limit.
#[derive(Debug, Clone, Copy)]
struct Seconds {
    min: Option<i64>,
    max: Option<i64>,
}

impl CsiDriverTokens {
    /// # Errors
    /// Whatever is not exactly understood, or needs the live cluster.
    pub fn read(section: &Field<'_, '_>) -> Result<Self, Unreadable> {
        only_keys(
            section,
            &[
                "requireSecrets",
                "audiences",
                "expirationSeconds",
                "requireRepublish",
                "rollout",
                "whenClusterUnreadable",
            ],
        )?;
        let rollout = section.get("rollout")?;
        if rollout.is_present() {
            return Err(rollout.unreadable(NEEDS_CLUSTER));
        }
        when_cluster_unreadable(section)?;
        let audiences = section.get("audiences")?;
        let rules = audiences.each(Audiences::read)?;
        Ok(CsiDriverTokens {
            require_secrets: section.boolean_of("requireSecrets")?.unwrap_or(false),
            audiences: audiences.is_present().then_some(rules),
            expiration: Seconds::read(&section.get("expirationSeconds")?)?,
            require_republish: section.boolean_of("requireRepublish")?.unwrap_or(false),
        })
    }
}

impl Audiences {
    fn read(item: &Field<'_, '_>) -> Result<Self, Unreadable> {
        item.only(&["drivers", "allow"])?;
        let drivers = item.get("drivers")?;
        let Some(globs) = Glob::read_list(&drivers)? else {
            return Err(drivers.unreadable("is missing; must be a list of driver names, in which `*` is any text"));
        };
        let allow = item.get("allow")?;
        if !allow.is_present() {
            return Err(allow.unreadable("is missing; must be a list of audiences, `[]` for none"));
        }
        Ok(Audiences { drivers: globs, allow: allow.strings()?.into_iter().map(str::to_owned).collect() })
    }
}

impl Seconds {
    fn read(field: &Field<'_, '_>) -> Result<Option<Self>, Unreadable> {
        field.only(&["min", "max"])?;
        if !field.is_present() {
            return Ok(None);
        }
        for name in ["min", "max"] {
            let bound = field.get(name)?;
            if bound.integer()?.is_some_and(|seconds| !EXPIRATION_SECONDS.contains(&seconds)) {
                let (least, most) = (EXPIRATION_SECONDS.start(), EXPIRATION_SECONDS.end());
                return Err(
                    bound.unacceptable(&format!("{least} to {most} seconds, which is what the API server accepts"))
                );
            }
        }
        match (field.get("min")?.integer()?, field.get("max")?.integer()?) {
            (None, None) => Err(field.unreadable("says neither `min` nor `max`, so nothing would be judged")),
            (Some(min), Some(max)) if min > max => {
                Err(field.unreadable(format!("`min` {min} is more than `max` {max}: nothing could be accepted")))
            }
            (min, max) => Ok(Some(Seconds { min, max })),
        }
    }

    fn admits(self, seconds: i64) -> bool {
        self.min.is_none_or(|min| seconds >= min) && self.max.is_none_or(|max| seconds <= max)
    }

    fn describe(self) -> String {
        match (self.min, self.max) {
            (Some(min), Some(max)) => format!("{min} to {max} s"),
            (Some(min), None) => format!("{min} s or more"),
            (None, max) => format!("{} s or less", max.unwrap_or_default()),
        }
    }
}

impl Rule for CsiDriverTokens {
    fn judge(&self, request: &Request<'_, '_>, _budget: &mut Budget, report: &mut Report) -> Result<(), Stopped> {
        if !request.stores() || !request.is_about("storage.k8s.io", "CSIDriver") {
            return Ok(());
        }
        let name = request.object_name()?;
        let new = CsiDriver::read(request.new_state()?)?;
        let old = request.old_state()?.map(CsiDriver::read).transpose()?.unwrap_or_default();
        let judgement = Judgement { rule: self, driver: name, name: short(name, 120), new: &new, old: &old };
        judgement.volume_context(report);
        judgement.audiences(report);
        judgement.expiration(report);
        judgement.republish(report);
        Ok(())
    }
}

/// One CSIDriver before the rule. On a CREATE the old one asks for no token.
struct Judgement<'j> {
    rule: &'j CsiDriverTokens,
    driver: &'j str,
    /// The driver's name, as it is shown.
    name: String,
    new: &'j CsiDriver<'j>,
    old: &'j CsiDriver<'j>,
}

impl Judgement<'_> {
    fn volume_context(&self, report: &mut Report) {
        let (name, now, before) = (&self.name, self.new.audiences_in_volume_context(), self.old);
        let field = shown("spec.serviceAccountTokenInSecrets", self.new.token_in_secrets);
        let added = added(&now, &before.audiences_in_volume_context());
        if self.rule.require_secrets && !added.is_empty() {
            let headline = format!(
                "token in volume context: driver `{name}` gets service-account tokens in `volume_context`, not in `secrets`"
            );
            let mut finding = Finding::new(Code::TokenInVolumeContext, headline)
                .detail(format!("{field}, with tokens for {}", audiences(&added)));
            for line in WHY_SECRETS {
                finding = finding.detail(*line);
            }
            report.find(finding);
        }
        if before.token_in_secrets == Some(true) && !now.is_empty() {
            let headline = format!(
                "token back to volume context: driver `{name}` got its tokens in `secrets`, now in `volume_context`"
            );
            let finding = Finding::new(Code::TokenBackToVolumeContext, headline)
                .detail(format!("{field}, was `true`, with tokens for {}", audiences(&now)))
                .detail("`volume_context` is not kept secret: a token that is logged there is good until it expires")
                .detail("a driver that no longer reads `volume_context` gets no token at all");
            report.find(finding);
        }
    }

    fn audiences(&self, report: &mut Report) {
        let Some(rules) = &self.rule.audiences else { return };
        let mine = rules.iter().filter(|rule| rule.drivers.iter().any(|glob| glob.matches(self.driver)));
        let mine: Vec<&Audiences> = mine.collect();
        if mine.is_empty() && !rules.is_empty() {
            return;
        }
        let allowed: Vec<&str> = mine.iter().flat_map(|rule| &rule.allow).map(String::as_str).collect();
        let asked_before =
            |request: &TokenRequest<'_>| self.old.token_requests.iter().any(|old| old.audience == request.audience);
        let mut few = Few::new(Code::TokenAudienceNotAllowed, "audiences in spec.tokenRequests");
        for (index, request) in self.new.token_requests.iter().enumerate() {
            if allowed.contains(&request.audience) || asked_before(request) {
                continue;
            }
            let audience = audience(request.audience);
            let headline = format!("token audience not allowed: driver `{}` asks for tokens for {audience}", self.name);
            let mut finding = Finding::new(Code::TokenAudienceNotAllowed, headline)
                .detail(format!("spec.tokenRequests[{index}].audience: `{}`", short(request.audience, 200)));
            if request.audience.is_empty() {
                finding = finding.detail(
                    "such a token speaks for the pod to the cluster itself; where that is meant, list it as `\"\"`",
                );
            }
            let accepted = if allowed.is_empty() { String::from("no audience") } else { audiences(&allowed) };
            few.push(finding.detail(format!("accepted: {accepted}")));
        }
        report.find_few(few);
    }

    fn expiration(&self, report: &mut Report) {
        let Some(limits) = self.rule.expiration else { return };
        let mut few = Few::new(Code::TokenExpirationOutOfRange, "expirations in spec.tokenRequests");
        for (index, request) in self.new.token_requests.iter().enumerate() {
            let is_same =
                |old: &TokenRequest<'_>| old.audience == request.audience && old.seconds() == request.seconds();
            if limits.admits(request.seconds()) || self.old.token_requests.iter().any(is_same) {
                continue;
            }
            let headline = format!(
                "token expiration out of range: driver `{}` asks for tokens of {} s, accepted: {}",
                self.name,
                request.seconds(),
                limits.describe()
            );
            let value = match request.expiration_seconds {
                Some(seconds) => format!("`{seconds}`"),
                None => format!("absent, which becomes {DEFAULT_EXPIRATION_SECONDS} s when the token is requested"),
            };
            few.push(
                Finding::new(Code::TokenExpirationOutOfRange, headline)
                    .detail(format!("spec.tokenRequests[{index}].expirationSeconds: {value}"))
                    .detail(format!("these are the tokens for {}", audience(request.audience))),
            );
        }
        report.find_few(few);
    }

    fn republish(&self, report: &mut Report) {
        let added = added(&self.new.audiences_without_republish(), &self.old.audiences_without_republish());
        if !self.rule.require_republish || added.is_empty() {
            return;
        }
        let headline = format!(
            "token republish missing: driver `{}` gets a token when a volume is mounted, and none when it expires",
            self.name
        );
        let finding = Finding::new(Code::TokenRepublishMissing, headline)
            .detail(format!(
                "{}, with tokens for {}",
                shown("spec.requiresRepublish", self.new.requires_republish),
                audiences(&added)
            ))
            .detail(
                "accepted: `requiresRepublish: true`, for which the kubelet hands out fresh tokens again and again",
            );
        report.find(finding);
    }
}

/// What is in `now` and was not in `before`.
fn added<'a>(now: &[&'a str], before: &[&str]) -> Vec<&'a str> {
    now.iter().filter(|audience| !before.contains(audience)).copied().collect()
}

fn shown(path: &str, value: Option<bool>) -> String {
    value.map_or_else(|| format!("{path}: absent"), |value| format!("{path}: `{value}`"))
}

fn audience(name: &str) -> String {
    if name.is_empty() {
        String::from("the API server itself (audience `\"\"`)")
    } else {
        format!("`{}`", short(name, 120))
    }
}

fn audiences(names: &[&str]) -> String {
    const MOST: usize = 5;
    let shown: Vec<String> = names.iter().take(MOST).map(|name| short(name, 120)).collect();
    let shown: Vec<&str> = shown.iter().map(|name| if name.is_empty() { "\"\"" } else { name }).collect();
    match names.len().saturating_sub(MOST) {
        0 => quoted(&shown),
        more => format!("{} and +{more}", quoted(&shown)),
    }
}
