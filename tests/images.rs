//! References to images are taken apart as `distribution/reference` takes them apart, tags are read as versions, and CSI
//! sidecars are recognised in the registries that people use.

#![allow(clippy::restriction)]

use placement_guard::kubernetes::image::ImageReference;
use placement_guard::kubernetes::version::{Age, TagVersion};
use placement_guard::kubewarden;
use semver::Version;
use serde_json::{Value, json};

const SHA: &str = "sha256:ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";

/// Reference, then what it consists of: domain, path, tag, digest; an empty part is not there.
///
/// Source: `TestReferenceParse` in `reference_test.go`, `distribution/reference`.
const PARSED: &[(&str, [&str; 4])] = &[
    ("test_com", ["", "test_com", "", ""]),
    ("test.com:tag", ["", "test.com", "tag", ""]),
    ("test.com:5000", ["", "test.com", "5000", ""]),
    ("test.com/repo:tag", ["test.com", "repo", "tag", ""]),
    ("test:5000/repo", ["test:5000", "repo", "", ""]),
    ("test:5000/repo:tag", ["test:5000", "repo", "tag", ""]),
    ("test:5000/repo@SHA", ["test:5000", "repo", "", SHA]),
    ("test:5000/repo:tag@SHA", ["test:5000", "repo", "tag", SHA]),
    ("lowercase:Uppercase", ["", "lowercase", "Uppercase", ""]),
    ("sub-dom1.foo.com/bar/baz/quux", ["sub-dom1.foo.com", "bar/baz/quux", "", ""]),
    ("sub-dom1.foo.com/bar/baz/quux:some-long-tag", ["sub-dom1.foo.com", "bar/baz/quux", "some-long-tag", ""]),
    (
        "b.gcr.io/test.example.com/my-app:test.example.com",
        ["b.gcr.io", "test.example.com/my-app", "test.example.com", ""],
    ),
    ("xn--n3h.com/myimage:xn--n3h.com", ["xn--n3h.com", "myimage", "xn--n3h.com", ""]),
    ("foo_bar.com:8080", ["", "foo_bar.com", "8080", ""]),
    ("foo/foo_bar.com:8080", ["foo", "foo_bar.com", "8080", ""]),
    ("192.168.1.1", ["", "192.168.1.1", "", ""]),
    ("192.168.1.1:tag", ["", "192.168.1.1", "tag", ""]),
    ("192.168.1.1:5000", ["", "192.168.1.1", "5000", ""]),
    ("192.168.1.1/repo", ["192.168.1.1", "repo", "", ""]),
    ("192.168.1.1:5000/repo", ["192.168.1.1:5000", "repo", "", ""]),
    ("192.168.1.1:5000/repo:5050", ["192.168.1.1:5000", "repo", "5050", ""]),
    ("[2001:db8::1]/repo", ["[2001:db8::1]", "repo", "", ""]),
    ("[2001:db8:1:2:3:4:5:6]/repo:tag", ["[2001:db8:1:2:3:4:5:6]", "repo", "tag", ""]),
    ("[2001:db8::1]:5000/repo", ["[2001:db8::1]:5000", "repo", "", ""]),
    ("[2001:db8::1]:5000/repo:tag", ["[2001:db8::1]:5000", "repo", "tag", ""]),
    ("[2001:db8::1]:5000/repo@SHA", ["[2001:db8::1]:5000", "repo", "", SHA]),
    ("[2001:db8::1]:5000/repo:tag@SHA", ["[2001:db8::1]:5000", "repo", "tag", SHA]),
    ("[2001:db8::]:5000/repo", ["[2001:db8::]:5000", "repo", "", ""]),
    ("[::1]:5000/repo", ["[::1]:5000", "repo", "", ""]),
    // An upper-case first component can only be a host.
    ("Uppercase/lowercase:tag", ["Uppercase", "lowercase", "tag", ""]),
];

/// Source: the same test, where it expects an error.
const REFUSED: &[&str] = &[
    "",
    ":justtag",
    "@SHA",
    "repo@sha256:ffffffffffffffffffffffffffffffffff",
    "validname@invaliddigest:ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "Uppercase:tag",
    "test:5000/Uppercase/lowercase:tag",
    "aa/asdf$$^/aa",
    "[2001:db8::1]",
    "[2001:db8::1]:5000",
    "[2001:db8::1]:tag",
    "[fe80::1%eth0]:5000/repo",
    "[fe80::1%@invalidzone]:5000/repo",
];

/// Names and whether they are valid.
///
/// Source: `TestFullNameRegexp` and `TestReferenceRegexp` in `regexp_test.go`, `distribution/reference`. Names with a port
/// and no slash are in the table above: as references they end in a tag.
const NAMES: &[(&str, bool)] = &[
    ("short", true),
    ("simple/name", true),
    ("library/ubuntu", true),
    ("docker/stevvooe/app", true),
    ("aa/aa/aa/aa/aa/aa/aa/aa/aa/bb/bb/bb/bb/bb/bb", true),
    ("a/a/a/a", true),
    ("a/a/a/a/", false),
    ("a//a/a", false),
    ("foo.com", true),
    ("foo.com/", false),
    ("foo.com:8080/bar", true),
    ("foo.com:http/bar", false),
    ("localhost:8080/bar", true),
    ("a^a", false),
    ("asdf$$^/aa", false),
    ("aa-a/a", true),
    ("a-/a/a/a", false),
    ("foo.com/a-/a/a", false),
    ("-foo/bar", false),
    ("foo/bar-", false),
    ("foo-/bar", false),
    ("foo/-bar", false),
    ("_foo/bar", false),
    ("foo_bar", true),
    ("foo_bar.com:8080/app", false),
    ("foo.com/foo_bar", true),
    ("____/____", false),
    ("_docker/_docker", false),
    ("docker_/docker_", false),
    ("example.com/xn--7o8h.com/myimage", true),
    ("example.com/some_separator__underscore/myimage", true),
    ("example.com/__underscore/myimage", false),
    ("example.com/..dots/myimage", false),
    ("example.com/.dots/myimage", false),
    ("example.com/nodouble..dots/myimage", false),
    ("docker./docker", false),
    (".docker/docker", false),
    ("docker-/docker", false),
    ("do..cker/docker", false),
    ("do__cker:8080/docker", false),
    ("do__cker/docker", true),
    ("registry.io/foo/project--id.module--name.ver---sion--name", true),
    ("Asdf.com/foo/bar", true),
    ("Foo/FarB", false),
    ("registry.com:8080/myapp:invalid~tag", false),
    ("bad_hostname.com:8080/myapp:tag", false),
    ("registry.com:8080/myapp@bad", false),
    ("registry.com:8080/myapp@sha256:badbadbadbad", false),
    ("localhost:8080@SHA", true),
    ("localhost:http/name@SHA", false),
    ("[fd00:1:2::3]75050/a", false),
    ("[fd00:1:2::3]::75050/a", false),
    ("fd00:1:2::3:75050/a", false),
];

#[test]
fn references_consist_of_what_distribution_says() {
    for (text, parts) in PARSED {
        let text = text.replace("SHA", SHA);
        let reference = ImageReference::parse(&text).unwrap_or_else(|| panic!("{text} is a reference"));
        let found = [
            reference.domain.unwrap_or_default(),
            reference.path,
            reference.tag.unwrap_or_default(),
            reference.digest.unwrap_or_default(),
        ];
        assert_eq!(&found, parts, "{text}");
    }
}

#[test]
fn what_distribution_refuses_is_no_reference() {
    let names = NAMES.iter().map(|(name, valid)| (*name, *valid));
    for (text, valid) in REFUSED.iter().map(|text| (*text, false)).chain(names) {
        assert_eq!(ImageReference::parse(&text.replace("SHA", SHA)).is_some(), valid, "{text}");
    }
}

#[test]
fn names_and_tags_are_as_long_as_distribution_lets_them_be() {
    let path = "a/".repeat(127) + "a";
    for (text, valid) in [
        (format!("host/{path}"), true),
        (format!("host/{path}/a"), false),
        (format!("a:{}", "t".repeat(128)), true),
        (format!("a:{}", "t".repeat(129)), false),
        (format!("a@sha384:{}", "0".repeat(96)), true),
        (format!("a@sha384:{}", "0".repeat(64)), false),
        (format!("a@sha256:{}", "F".repeat(64)), false),
    ] {
        assert_eq!(ImageReference::parse(&text).is_some(), valid, "{text}");
    }
}

#[test]
fn an_image_is_known_by_the_last_part_of_its_path() {
    for (text, name) in [
        ("csi-attacher", "csi-attacher"),
        ("registry.k8s.io/sig-storage/csi-attacher:v4.8.1", "csi-attacher"),
        ("mirror.example.com:5000/a/b/csi-attacher@SHA", "csi-attacher"),
        ("csi-attacher/other", "other"),
    ] {
        let text = text.replace("SHA", SHA);
        assert_eq!(ImageReference::parse(&text).map(|reference| reference.short_name()), Some(name), "{text}");
    }
}

#[test]
fn a_tag_is_as_old_as_the_version_that_it_begins_with() {
    use Age::{Enough, TooOld, Unknown};
    for (tag, minimum, age) in [
        ("v3.0.0", "3.0.0", Enough),
        ("3.0.0", "3.0.0", Enough),
        ("V3.0.0", "3.0.0", Enough),
        ("v2.2.2", "3.0.0", TooOld),
        ("v10.0.0", "3.0.0", Enough),
        // Numbers, not text: 10 is more than 9.
        ("v1.10.0", "1.9.0", Enough),
        ("v1.3.0-rc1", "1.3.0", TooOld),
        ("v1.3.0-RC.1", "1.3.0", TooOld),
        ("v1.3.0-alpha", "1.3.0-beta", TooOld),
        ("v1.4.0-rc1", "1.3.0", Enough),
        // A vendor's suffix says nothing of the version before it.
        ("v3.0.0-eks-1-30-2", "3.0.0", Enough),
        ("v3.0.0-gke.4", "3.0.0", Enough),
        ("v3.0.0_build7", "3.0.0", Enough),
        ("v3.0.0.1", "3.0.0", Enough),
        ("v2.9.9-eks-1-30-2", "3.0.0", TooOld),
        // Without a patch it matches every patch; without a minor version, every minor version.
        ("v3.3", "3.3.0", Enough),
        ("3.3", "3.3.0", Enough),
        ("v3.3", "3.3.1", Unknown),
        ("v3.2", "3.3.0", TooOld),
        ("v3", "3.0.0", Enough),
        ("v3", "3.3.0", Unknown),
        ("v2", "3.0.0", TooOld),
        ("v4", "3.3.0", Enough),
    ] {
        let version = TagVersion::read(tag).unwrap_or_else(|| panic!("{tag} is a version"));
        assert_eq!(version.compare(&Version::parse(minimum).expect("a version")), age, "{tag} against {minimum}");
    }
}

#[test]
fn what_begins_with_no_version_is_no_version() {
    for tag in
        ["latest", "canary", "", "v", "1", "20240131", "release-3.0", "v3x", "1e5f00d", "v3.0.0rc1", ".3", "-3.0"]
    {
        assert_eq!(TagVersion::read(tag), None, "{tag}");
    }
    let huge = "v99999999999999999999.0.0";
    assert_eq!(TagVersion::read(huge), None, "{huge}");
}

/// Images of CSI sidecars, and images that are not, each with what is found: too old, version unknown, or nothing.
const SIDECARS: &[(&str, &str)] = &[
    // kubernetes-csi's own registries, today's and yesterday's.
    ("registry.k8s.io/sig-storage/csi-provisioner:v5.0.1", ""),
    ("registry.k8s.io/sig-storage/csi-provisioner:v2.2.2", "sidecar-too-old"),
    ("k8s.gcr.io/sig-storage/csi-attacher:v3.3.0", ""),
    ("quay.io/k8scsi/csi-provisioner:v1.6.0", "sidecar-too-old"),
    ("quay.io/k8scsi/csi-resizer:v1.2.0", "sidecar-too-old"),
    ("quay.io/k8scsi/csi-provisioner-amd64:v1.6.0", "sidecar-too-old"),
    ("quay.io/k8scsi/csi-attacher-linux-arm64:v4.0.0", ""),
    ("gcr.io/k8s-staging-sig-storage/csi-resizer:canary", "sidecar-version-unknown"),
    ("gcr.io/k8s-staging-sig-storage/csi-resizer:v20240131-v1.2.0", "sidecar-version-unknown"),
    ("csi-provisioner:24.10.1", "sidecar-version-unknown"),
    // Vendors that keep the versions of kubernetes-csi.
    ("public.ecr.aws/eks-distro/kubernetes-csi/external-provisioner:v3.4.0-eks-1-27-3", ""),
    ("public.ecr.aws/eks-distro/kubernetes-csi/external-provisioner:v2.1.1-eks-1-18-7", "sidecar-too-old"),
    ("public.ecr.aws/eks-distro/kubernetes-csi/external-attacher:v3.1.0-eks-1-18-7", "sidecar-too-old"),
    ("kubernetes-csi/external-resizer:v1.0.0", "sidecar-too-old"),
    ("mcr.microsoft.com/oss/kubernetes-csi/csi-provisioner:v3.5.0", ""),
    ("mcr.microsoft.com/oss/kubernetes-csi/csi-provisioner:v2.0.4", "sidecar-too-old"),
    ("rancher/mirrored-sig-storage-csi-provisioner:v3.6.2", ""),
    ("docker.io/rancher/mirrored-sig-storage-csi-provisioner:v2.1.2", "sidecar-too-old"),
    ("rancher/mirrored-longhornio-csi-resizer:v1.2.0", "sidecar-too-old"),
    ("gke.gcr.io/csi-attacher:v4.4.3-gke.2", ""),
    // Versions that are the vendor's own.
    ("quay.io/openshift/origin-csi-external-provisioner:4.14", "sidecar-version-unknown"),
    ("quay.io/openshift/origin-csi-external-attacher:latest", "sidecar-version-unknown"),
    ("registry.redhat.io/openshift4/ose-csi-external-resizer:v4.12", "sidecar-version-unknown"),
    ("registry.example.com/openshift/csi-attacher:v4.12.0", "sidecar-version-unknown"),
    ("registry.example.com/vendor-csi-provisioner:v1.0.0", "sidecar-version-unknown"),
    // The digest decides what runs.
    ("registry.k8s.io/sig-storage/csi-provisioner@SHA", "sidecar-version-unknown"),
    ("registry.k8s.io/sig-storage/csi-provisioner:v5.0.1@SHA", "sidecar-version-unknown"),
    ("registry.k8s.io/sig-storage/csi-provisioner:v1.0.0@SHA", "sidecar-version-unknown"),
    // Other programs.
    ("registry.k8s.io/sig-storage/csi-snapshotter:v1.0.0", ""),
    ("registry.k8s.io/sig-storage/csi-node-driver-registrar:v1.0.0", ""),
    ("registry.example.com/external-provisioner:v1.0.0", ""),
    ("registry.example.com/mycsi-provisioner:v1.0.0", ""),
    ("registry.example.com/csi-provisioner-tools:v1.0.0", ""),
    ("registry.example.com/csi-provisioner/tools:v1.0.0", ""),
    ("registry.example.com/nfs-subdir-external-provisioner:v4.0.2", ""),
    ("registry.example.com/provisioner:v1.0.0", ""),
    ("not an image", ""),
];

#[test]
fn sidecars_are_recognised_in_the_registries_that_people_use() {
    for (image, finding) in SIDECARS {
        let pod = json!({"spec": {"containers": [{"name": "c", "image": image.replace("SHA", SHA)}]}});
        let payload = json!({
            "settings": {"accessModes": {"csiSidecars": true}},
            "request": {
                "uid": "1", "kind": {"group": "", "version": "v1", "kind": "Pod"}, "operation": "CREATE",
                "userInfo": {"username": "admin"}, "object": pod,
            },
        });
        let answer = kubewarden::validate(payload.to_string().as_bytes());
        let answer: Value = serde_json::from_slice(&answer).expect("an answer is JSON");
        let found = answer["audit_annotations"]["findings"].as_str().unwrap_or_default();
        assert_eq!(found, *finding, "{image}: {answer}");
    }
}
