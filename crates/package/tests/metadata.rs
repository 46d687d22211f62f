//! The metadata of this project, and metadata that is refused.

#![allow(clippy::restriction)]

use package::Metadata;

const RULE: &str = r#"{apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], operations: ["CREATE"]}"#;

fn project_metadata() -> Metadata {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../metadata.yml");
    Metadata::parse(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn the_version_in_the_metadata_is_that_of_the_workspace() {
    assert_eq!(project_metadata().annotations["io.kubewarden.policy.version"], env!("CARGO_PKG_VERSION"));
}

/// Without these Kubewarden's tools make no package for Artifact Hub and no manifest.
#[test]
fn the_metadata_names_everything_that_the_tools_around_it_need() {
    let annotations = project_metadata().annotations;
    for key in [
        "io.artifacthub.displayName",
        "io.artifacthub.resources",
        "io.kubewarden.policy.ociUrl",
        "io.kubewarden.policy.title",
        "io.kubewarden.policy.description",
        "io.kubewarden.policy.author",
        "io.kubewarden.policy.license",
        "io.kubewarden.policy.source",
    ] {
        assert!(
            annotations.get(key).is_some_and(|value| !value.trim().is_empty()),
            "metadata.yml says nothing at `{key}`"
        );
    }
    let author = &annotations["io.kubewarden.policy.author"];
    assert!(author.ends_with('>') && author.contains(" <"), "`{author}` is not of the form `name <address>`");
}

/// One block per API group and version, and no sub-resources: anything else makes the audit scanner fail the whole policy.
#[test]
fn every_rule_can_be_audited() {
    for rule in project_metadata().rules {
        assert_eq!((rule.api_groups.len(), rule.api_versions.len()), (1, 1), "{rule:?}");
        assert!(rule.operations.contains(&package::Operation::Create), "audits send CREATE: {rule:?}");
        assert!(rule.resources.iter().all(|resource| !resource.contains(['/', '*'])), "{rule:?}");
    }
}

#[test]
fn what_is_not_said_has_kubewardens_defaults() {
    let metadata = Metadata::parse(&format!("rules: [{RULE}]\nmutating: false")).unwrap();
    let spelt_out = format!(
        "rules: [{RULE}]\nmutating: false\nbackgroundAudit: true\nexecutionMode: kubewarden-wapc\npolicyType: kubernetes\n\
         contextAwareResources: []\nannotations: {{}}"
    );
    assert_eq!(metadata, Metadata::parse(&spelt_out).unwrap());
}

#[test]
fn broken_metadata_is_refused_with_a_sentence_that_names_the_place() {
    let with_rule = |rest: &str| format!("rules: [{RULE}]\n{rest}");
    let with_list = |list: &str| format!("mutating: false\nrules: [{RULE}, {{{list}}}]");
    let unreadable = |what: &str| format!("not the metadata of a policy: {what}");
    let cases = [
        (
            with_rule("mutating: false\ncontextAware: false"),
            unreadable(
                "unknown field `contextAware`, expected one of rules, annotations, mutating, backgroundAudit, \
                 executionMode, policyType, contextAwareResources at line 3, column 1",
            ),
        ),
        (with_rule(""), unreadable("missing field `mutating` at line 1, column 1")),
        (with_rule("mutating: maybe"), unreadable("invalid boolean at line 2, column 11")),
        (
            with_rule("mutating: false\nexecutionMode: opa"),
            unreadable("unknown variant `opa`, expected one of kubewarden-wapc at line 3, column 16"),
        ),
        (
            with_rule("mutating: false\npolicyType: raw"),
            unreadable("unknown variant `raw`, expected one of kubernetes at line 3, column 13"),
        ),
        (with_rule("mutating: false\nannotations: [a]"), unreadable("expected mapping start at line 3, column 14")),
        (
            with_rule("mutating: false\nmutating: true"),
            unreadable("duplicate mapping key `mutating` is not allowed here at line 3, column 1"),
        ),
        ("rules: [".to_owned(), unreadable("unclosed bracket '[' at line 1, column 8")),
        (String::new(), unreadable("unexpected end of file at line 1, column 1")),
        (
            with_list(r#"apiGroups: [], apiVersions: ["v1"], resources: ["pods"], operations: ["CREATE"]"#),
            String::from(
                "`rules[1].apiGroups` is empty: the policy would never be called; name at least one, or remove the rule",
            ),
        ),
        (
            with_list(r#"apiGroups: [""], apiVersions: ["v1"], resources: ["*", "pods"], operations: ["CREATE"]"#),
            String::from("`rules[1].resources` has `*` next to other entries; remove `*` or the others"),
        ),
        (
            with_list(r#"apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], operations: ["CREATE", "*"]"#),
            String::from("`rules[1].operations` has `*` next to other entries; remove `*` or the others"),
        ),
        (
            with_list(r#"apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], operations: ["PATCH"]"#),
            unreadable(
                "unknown variant `PATCH`, expected one of CREATE, UPDATE, DELETE, CONNECT, * at line 2, column 167",
            ),
        ),
    ];
    for (yaml, complaint) in cases {
        match Metadata::parse(&yaml) {
            Ok(metadata) => panic!("accepted {yaml:?} as {metadata:?}"),
            Err(error) => assert_eq!(error.to_string(), complaint, "for {yaml:?}"),
        }
    }
}
