//! `csiDriverTokens`: which service-account tokens a CSI driver may ask for, and that they stay secret on the way.
//!
//! This rule judges a CSIDriver with `tokenRequests`; without them the driver gets no token. On an UPDATE it leaves alone
//! each token that reaches the driver as it did before: it judges what is new. A token is identified by its audience, so a
//! shorter lifetime for a token that is still in the volume context is not a new leak. Where the settings ask for it, it reads
//! the cluster: whether every node is ready for tokens in `secrets`.

mod rollout;

use crate::kubernetes::csi_driver::{
    CsiDriver, DEFAULT_EXPIRATION_SECONDS, EXPIRATION_SECONDS, EXTENDED_SECONDS, TokenRequest,
};
use crate::kubernetes::field::{Field, Unreadable, short};
use crate::kubernetes::kind::Kind;
use crate::kubernetes::listing::first_few;
use crate::kubernetes::names::Names;
use crate::kubernetes::request::Request;
use crate::logic::Budget;
use crate::rules::cluster::{Live, Missing, WhenUnreadable};
use crate::rules::decision::Report;
use crate::rules::finding::{Code, Few, Finding};
use crate::rules::glob::Glob;
use crate::rules::rule::{Reads, Rule, Stopped};
use crate::rules::section::{only_keys, when_cluster_unreadable};
use rollout::Rollout;

/// The lines about every token in the volume context: why not there, what instead, in which order, and the way back.
const WHY_SECRETS: &[&str] = &[
    "`volume_context` is not kept secret: drivers logged it together with the tokens (CVE-2023-2878 in secrets-store, \
     CVE-2024-3744 in azure-file)",
    "accepted: `serviceAccountTokenInSecrets: true`",
    "upgrade in this order: API servers and kubelets to 1.35 or later; then the driver on every node, to a version that \
     reads `secrets` and falls back to `volume_context`; then set this field, in a separate update",
    "API servers before 1.35 drop the field, so `requireSecrets` cannot be met there",
    "in an incident, `enforcement: warn` or `exempt` in the settings of `csiDriverTokens` lets this request pass",
];

/// Where a driver says how it gets its tokens.
const IN_SECRETS: &str = "spec.serviceAccountTokenInSecrets";

/// The audiences that an API server has unless `--api-audiences` or the issuer says otherwise.
const API_SERVER_AUDIENCES: [&str; 2] =
    ["https://kubernetes.default.svc", "https://kubernetes.default.svc.cluster.local"];

/// The section's settings.
#[derive(Debug)]
pub struct CsiDriverTokens {
    require_secrets: bool,
    /// `None` when audiences are not judged; an empty list allows none.
    audiences: Option<Vec<Audiences>>,
    expiration: Option<Seconds>,
    /// The audiences of the API server, in addition to the empty one.
    api_server_audiences: Vec<String>,
    require_republish: bool,
    rollout: Option<Rollout>,
    when_unreadable: Option<WhenUnreadable>,
}

/// The audiences that the drivers with one of these names may ask for.
#[derive(Debug)]
struct Audiences {
    drivers: Vec<Glob>,
    allow: Vec<String>,
}

/// How many seconds a token may live. What is absent sets no limit.
#[derive(Debug, Clone, Copy)]
struct Seconds {
    min: Option<i64>,
    max: Option<i64>,
}

impl CsiDriverTokens {
    /// # Errors
    /// A key or value that is not known.
    pub fn read(section: &Field<'_, '_>) -> Result<Self, Unreadable> {
        only_keys(
            section,
            &[
                "requireSecrets",
                "audiences",
                "expirationSeconds",
                "apiServerAudiences",
                "requireRepublish",
                "rollout",
                "whenClusterUnreadable",
            ],
        )?;
        let audiences = section.get("audiences")?;
        let rules = audiences.each(Audiences::read)?;
        let own = section.get("apiServerAudiences")?;
        let own_audiences = if own.is_present() { own.strings()? } else { API_SERVER_AUDIENCES.to_vec() };
        Ok(CsiDriverTokens {
            require_secrets: section.boolean_of("requireSecrets")?.unwrap_or(false),
            audiences: audiences.is_present().then_some(rules),
            expiration: Seconds::read(&section.get("expirationSeconds")?)?,
            api_server_audiences: own_audiences.into_iter().map(str::to_owned).collect(),
            require_republish: section.boolean_of("requireRepublish")?.unwrap_or(false),
            rollout: Rollout::read(&section.get("rollout")?)?,
            when_unreadable: when_cluster_unreadable(section)?,
        })
    }

    /// How long the tokens of a request live, in seconds.
    fn lifetime(&self, request: &TokenRequest<'_>) -> i64 {
        request.lifetime(|audience| {
            audience.is_empty() || self.api_server_audiences.iter().any(|own| own.as_str() == audience)
        })
    }
}

impl Audiences {
    fn read(item: &Field<'_, '_>) -> Result<Self, Unreadable> {
        item.only(&["drivers", "allow"])?;
        let drivers = item.get("drivers")?;
        let Some(globs) = Glob::read_list(&drivers)? else {
            return Err(
                drivers.unreadable("is missing; must be a list of driver names, in which `*` matches any characters")
            );
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
                return Err(bound.unacceptable(&format!("{least} to {most} seconds, as the API server requires")));
            }
        }
        match (field.get("min")?.integer()?, field.get("max")?.integer()?) {
            (None, None) => Err(field.unreadable("sets neither `min` nor `max`, so nothing would be judged")),
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
    fn needs(&self) -> Vec<(Kind, Reads)> {
        self.rollout.as_ref().map(Rollout::needs).unwrap_or_default()
    }

    fn judge(
        &self,
        request: &Request<'_, '_>,
        live: &Live<'_>,
        budget: &mut Budget,
        report: &mut Report,
    ) -> Result<(), Stopped> {
        if !request.stores() || !request.is_about("storage.k8s.io", "CSIDriver") {
            return Ok(());
        }
        let name = request.object_name()?;
        let new = CsiDriver::read(request.new_state()?, budget)??;
        let old = match request.old_state()? {
            Some(object) => CsiDriver::read(object, budget)??,
            None => CsiDriver::default(),
        };
        let judgement = Judgement { rule: self, driver: name, name: short(name, 120), new: &new, old: &old };
        judgement.volume_context(report);
        judgement.audiences(report);
        judgement.expiration(report);
        judgement.republish(report);
        if let Some(rollout) = &self.rollout {
            let mut missing = Missing::default();
            report.find_all(rollout.find(name, (&old, &new), live, &mut missing, budget)?);
            missing.find(self.when_unreadable, report);
        }
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
        let value = shown(self.new.token_in_secrets);
        let added = added(&now, &before.audiences_in_volume_context());
        if self.rule.require_secrets && !added.is_empty() {
            let headline = format!(
                "token in volume context: driver `{name}` gets service-account tokens in `volume_context`, not in `secrets`"
            );
            let mut finding = Finding::new(Code::TokenInVolumeContext, headline)
                .at(IN_SECRETS, &format!("{value}, with tokens for {}", audiences(&added)));
            for line in WHY_SECRETS {
                finding = finding.detail(*line);
            }
            report.find(finding);
        }
        if before.token_in_secrets == Some(true) && !now.is_empty() {
            let headline = format!(
                "token back to volume context: driver `{name}` used to get its tokens in `secrets`, and now gets them \
                 in `volume_context`"
            );
            let finding = Finding::new(Code::TokenBackToVolumeContext, headline)
                .at(IN_SECRETS, &format!("{value}, was `true`, with tokens for {}", audiences(&now)))
                .detail("`volume_context` is not kept secret: a token that is logged there is valid until it expires")
                .detail("a driver that no longer reads `volume_context` gets no token at all");
            report.find(finding);
        }
    }

    fn audiences(&self, report: &mut Report) {
        let Some(rules) = &self.rule.audiences else { return };
        let mine = rules.iter().filter(|rule| rule.drivers.iter().any(|glob| glob.matches(self.driver)));
        let mine: Vec<&Audiences> = mine.collect();
        // A driver that no entry names may ask for nothing, so that another entry never allows it more or less.
        let allowed: Vec<&str> = mine.iter().flat_map(|rule| &rule.allow).map(String::as_str).collect();
        let (named, before) = (Names::of(allowed.iter().copied()), Names::of(self.old.audiences()));
        let mut few = Few::new(Code::TokenAudienceNotAllowed, "audiences in spec.tokenRequests");
        for (index, request) in self.new.token_requests.iter().enumerate() {
            if named.contains(request.audience) || before.contains(request.audience) {
                continue;
            }
            few.push_with(|| {
                let audience = audience(request.audience);
                let headline =
                    format!("token audience not allowed: driver `{}` asks for tokens for {audience}", self.name);
                let mut finding = Finding::new(Code::TokenAudienceNotAllowed, headline).at(
                    format!("spec.tokenRequests[{index}].audience"),
                    &format!("`{}`", short(request.audience, 200)),
                );
                if request.audience.is_empty() {
                    finding = finding.detail(
                        "with such a token the driver can act as the pod when it calls the API server; to allow this, \
                         list `\"\"`",
                    );
                }
                finding.detail(match (mine.is_empty(), allowed.is_empty()) {
                    (true, _) => String::from(
                        "accepted: no audience, because no entry of `csiDriverTokens.audiences` matches this driver",
                    ),
                    (false, true) => String::from("accepted: no audience"),
                    (false, false) => format!("accepted: {}", audiences(&allowed)),
                })
            });
        }
        report.find_few(few);
    }

    fn expiration(&self, report: &mut Report) {
        let Some(limits) = self.rule.expiration else { return };
        let before = Names::of(self.old.audiences());
        let mut few = Few::new(Code::TokenExpirationOutOfRange, "expirations in spec.tokenRequests");
        for (index, request) in self.new.token_requests.iter().enumerate() {
            let lifetime = self.rule.lifetime(request);
            let old = before.position(request.audience).and_then(|position| self.old.token_requests.get(position));
            if limits.admits(lifetime) || old.is_some_and(|old| self.rule.lifetime(old) == lifetime) {
                continue;
            }
            few.push_with(|| {
                let headline = format!(
                    "token expiration out of range: driver `{}` gets tokens that are valid for {lifetime} s, \
                     accepted: {}",
                    self.name,
                    limits.describe()
                );
                let value = match request.expiration_seconds {
                    Some(seconds) => format!("`{seconds}`"),
                    None => {
                        format!("absent, which defaults to {DEFAULT_EXPIRATION_SECONDS} s when the token is requested")
                    }
                };
                let finding = Finding::new(Code::TokenExpirationOutOfRange, headline)
                    .at(format!("spec.tokenRequests[{index}].expirationSeconds"), &value)
                    .detail(format!("the tokens are for {}", audience(request.audience)));
                if request.expiration_seconds == Some(lifetime) || lifetime == DEFAULT_EXPIRATION_SECONDS {
                    return finding;
                }
                finding
                    .detail(format!(
                        "the API server extends a token of exactly {EXTENDED_SECONDS} s for its own audience to a year \
                         (`--service-account-extend-token-expiration` is on by default)"
                    ))
                    .detail(format!(
                        "accepted: any number other than {EXTENDED_SECONDS}; `csiDriverTokens.apiServerAudiences` \
                         lists the API server's own audiences"
                    ))
            });
        }
        report.find_few(few);
    }

    fn republish(&self, report: &mut Report) {
        let added = added(&self.new.audiences_without_republish(), &self.old.audiences_without_republish());
        if !self.rule.require_republish || added.is_empty() {
            return;
        }
        let headline = format!(
            "token republish missing: driver `{}` gets a token when a volume is mounted, but no fresh one when it expires",
            self.name
        );
        let finding = Finding::new(Code::TokenRepublishMissing, headline)
            .at(
                "spec.requiresRepublish",
                &format!("{}, with tokens for {}", shown(self.new.requires_republish), audiences(&added)),
            )
            .detail(
                "accepted: `requiresRepublish: true`, with which the kubelet passes fresh tokens to the driver \
                 periodically",
            );
        report.find(finding);
    }
}

/// What is in `now` and was not in `before`.
fn added<'a>(now: &[&'a str], before: &[&'a str]) -> Vec<&'a str> {
    let before = Names::of(before.iter().copied());
    now.iter().filter(|audience| !before.contains(audience)).copied().collect()
}

fn shown(value: Option<bool>) -> String {
    value.map_or_else(|| String::from("absent"), |value| format!("`{value}`"))
}

fn audience(name: &str) -> String {
    if name.is_empty() {
        String::from("the API server itself (audience `\"\"`)")
    } else {
        format!("`{}`", short(name, 120))
    }
}

fn audiences(names: &[&str]) -> String {
    let shown = |name: &&str| if name.is_empty() { String::from("`\"\"`") } else { format!("`{}`", short(name, 120)) };
    first_few(names.iter().map(shown), 5, ", ")
}
