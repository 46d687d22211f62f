//! What a rule has to say: the codes in the order in which they are reported, and one finding in words.

/// Declares [`Code`] as one table of section, code and default severity: order, names, severity and rule cannot drift apart.
macro_rules! codes {
    ($([$section:expr] $($variant:ident $name:literal $severity:ident,)*)*) => {
        /// What was found. The order of the variants is the order of every report.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code { $($($variant,)*)* }

        impl Code {
            /// Every code, in report order.
            pub const ALL: &'static [Code] = &[$($(Code::$variant,)*)*];

            /// The stable name that machines read, for instance `node-affinity-narrowed`.
            pub const fn name(self) -> &'static str {
                match self { $($(Code::$variant => $name,)*)* }
            }

            /// What the finding does under `enforcement: deny`, unless its rule's settings say that it only warns.
            pub const fn severity(self) -> Severity {
                match self { $($(Code::$variant => Severity::$severity,)*)* }
            }

            /// The section of the settings whose rule finds it; `None` when every rule can.
            pub const fn section(self) -> Option<&'static str> {
                match self { $($(Code::$variant => $section,)*)* }
            }
        }
    };
}

/// What a finding does to the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The request is refused.
    Refuses,
    /// The request passes, with a warning.
    Warns,
}

codes! {
    [Some("volumeNodeAffinity")]
    NodeAffinityNarrowed "node-affinity-narrowed" Refuses,
    NodeAffinityShifted "node-affinity-shifted" Refuses,
    NodeAffinityWidened "node-affinity-widened" Refuses,
    NodeAffinityUndecided "node-affinity-undecided" Refuses,
    VolumeInUse "volume-in-use" Refuses,
    VolumeModificationInFlight "volume-modification-in-flight" Refuses,
    NoLiveNode "no-live-node" Refuses,
    NodeAffinityWithoutRequired "node-affinity-without-required" Warns,
    MatchFieldsIgnored "match-fields-ignored" Warns,
    DeadTerm "dead-term" Warns,
    RedundantTerm "redundant-term" Warns,
    ZoneLabelBinds "zone-label-binds" Warns,
    FactsContradictVolume "facts-contradict-volume" Warns,
    FactsContradictNodes "facts-contradict-nodes" Warns,
    [Some("tolerations")]
    TolerationNotAllowed "toleration-not-allowed" Refuses,
    TolerationDenied "toleration-denied" Refuses,
    TolerationSecondsExceeded "toleration-seconds-exceeded" Refuses,
    TolerationInvalidNumber "toleration-invalid-number" Refuses,
    TolerationMatchesNothing "toleration-matches-nothing" Warns,
    TolerationAdmitsEverything "toleration-admits-everything" Warns,
    NumericOperatorDisabled "numeric-operator-disabled" Refuses,
    NodeNameSkipsTaints "node-name-skips-taints" Refuses,
    TolerationDoesNotAttract "toleration-does-not-attract" Warns,
    [Some("nodeTaints")]
    TaintNotNumeric "taint-not-numeric" Refuses,
    TaintEvicts "taint-evicts" Refuses,
    [Some("csiDriverTokens")]
    TokenInVolumeContext "token-in-volume-context" Refuses,
    TokenAudienceNotAllowed "token-audience-not-allowed" Refuses,
    TokenExpirationOutOfRange "token-expiration-out-of-range" Refuses,
    TokenRepublishMissing "token-republish-missing" Refuses,
    TokenRolloutIncomplete "token-rollout-incomplete" Refuses,
    TokenBackToVolumeContext "token-back-to-volume-context" Warns,
    [Some("accessModes")]
    SingleWriterRequired "single-writer-required" Refuses,
    RwopNotAlone "rwop-not-alone" Refuses,
    RwopNotCsi "rwop-not-csi" Refuses,
    RwopShared "rwop-shared" Refuses,
    SidecarTooOld "sidecar-too-old" Refuses,
    SidecarVersionUnknown "sidecar-version-unknown" Warns,
    [Some("localVolumes")]
    LocalPathNotAllowed "local-path-not-allowed" Refuses,
    LocalNotPinned "local-not-pinned" Refuses,
    LocalNodeMissing "local-node-missing" Refuses,
    LocalPathOverlap "local-path-overlap" Refuses,
    LocalMoved "local-moved" Refuses,
    LocalForeignNode "local-foreign-node" Refuses,
    HostPathNotAllowed "host-path-not-allowed" Refuses,
    HostPathNotRecursive "host-path-not-recursive" Warns,
    ImmediateBinding "immediate-binding" Refuses,
    [Some("volumeBinding")]
    BindingUnreachable "binding-unreachable" Refuses,
    VolumesUnreachableTogether "volumes-unreachable-together" Warns,
    [None]
    ClusterUnreadable "cluster-unreadable" Refuses,
    RequestTooLarge "request-too-large" Refuses,
}

/// One thing found, in words for a person and with a code for a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub code: Code,
    pub severity: Severity,
    /// What is wrong, with the evidence; its first 120 characters carry the sense.
    pub headline: String,
    /// Where (field path and value), why, and what would be accepted: one line each.
    pub details: Vec<String>,
    /// The field that it is about, as a path within the object. The field may be absent: then it should be there, or an edit
    /// took it away. `None` where it is about the object as a whole.
    pub path: Option<String>,
}

impl Finding {
    // Not inlined, like `detail`: the module is some kilobytes smaller for it.
    #[inline(never)]
    pub fn new(code: Code, headline: impl Into<String>) -> Self {
        Finding { code, severity: code.severity(), headline: headline.into(), details: Vec::new(), path: None }
    }

    /// Adds the line about a field: its path within the object, and what it says. The first such field is what the finding is
    /// about.
    #[must_use]
    #[inline(never)]
    pub fn at(mut self, path: impl Into<String>, said: &str) -> Self {
        let path = path.into();
        let mut line = path.clone();
        if !said.is_empty() {
            line.push_str(": ");
            line.push_str(said);
        }
        self.path.get_or_insert(path);
        self.detail(line)
    }

    #[must_use]
    #[inline(never)]
    pub fn detail(mut self, line: impl Into<String>) -> Self {
        self.details.push(line.into());
        self
    }

    /// The same finding, as one that only warns (`prefer`, and settings of the form `…: warn`).
    #[must_use]
    pub fn as_warning(mut self) -> Self {
        self.severity = Severity::Warns;
        self
    }

    /// The same finding, as one that does what a setting says.
    #[must_use]
    pub fn with_severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// The finding as a block of lines, for a refusal's message.
    pub fn block(&self) -> String {
        let mut text = self.headline.clone();
        for line in &self.details {
            text.push_str("\n  ");
            text.push_str(line);
        }
        text
    }

    /// The finding in one line, for a warning: an HTTP header cannot carry line breaks.
    pub fn line(&self) -> String {
        let mut text = self.headline.clone();
        for line in &self.details {
            text.push_str("; ");
            text.push_str(line);
        }
        text
    }
}

/// Findings of one code in one object, of which a person is shown the first few and told the number of the rest.
#[derive(Debug)]
pub struct Few {
    code: Code,
    what: String,
    first: Vec<Finding>,
    more: usize,
}

impl Few {
    const MOST: usize = 10;

    /// `what` names what is found, in the plural, and where.
    pub fn new(code: Code, what: impl Into<String>) -> Self {
        Few { code, what: what.into(), first: Vec::new(), more: 0 }
    }

    pub fn push(&mut self, finding: Finding) {
        self.push_with(|| finding);
    }

    /// Writes the finding only when it is shown.
    pub fn push_with(&mut self, write: impl FnOnce() -> Finding) {
        if self.first.len() < Self::MOST {
            self.first.push(write());
        } else {
            self.more = self.more.saturating_add(1);
        }
    }

    pub fn into_findings(self) -> impl Iterator<Item = Finding> {
        let Few { code, what, first, more } = self;
        let severity = first.first().map_or(code.severity(), |finding| finding.severity);
        // The list in which they are.
        let list = first.first().and_then(|finding| Some(finding.path.as_deref()?.rsplit_once('[')?.0.to_owned()));
        let rest = (more > 0).then(|| Finding {
            severity,
            path: list,
            ..Finding::new(code, format!("{}: the same for {more} more {what}", code.name()))
        });
        first.into_iter().chain(rest)
    }
}
