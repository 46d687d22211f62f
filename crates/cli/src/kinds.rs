//! Custom resources that hold what the rules judge: templates of pods, lists of tolerations, taints of nodes, and claims. A
//! table says where. Each such part is judged as the object of Kubernetes that it will become.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::manifest::{Identity, Manifest};

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    PodTemplate,
    PodSpec,
    Tolerations,
    Taints,
    Claim,
}

/// A place in the objects of a kind.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Entry {
    #[serde(default)]
    pub api_group: String,
    pub kind: String,
    /// Names of fields with dots between them; `[*]` behind a list, and `*` for every member.
    pub path: String,
}

/// Where custom resources hold what the rules judge.
#[derive(Debug, Clone, Default)]
pub struct Kinds(Vec<(Holds, Entry)>);

/// What a settings file of the command line adds to what is built in.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Tables {
    pub pod_templates: Vec<Entry>,
    pub pod_specs: Vec<Entry>,
    pub tolerations: Vec<Entry>,
    pub taints: Vec<Entry>,
    pub claims: Vec<Entry>,
}

const BUILT_IN: &[(Holds, &str, &str, &str)] = &[
    (Holds::PodTemplate, "argoproj.io", "Rollout", "spec.template"),
    (Holds::PodTemplate, "apps.openshift.io", "DeploymentConfig", "spec.template"),
    (Holds::PodTemplate, "serving.knative.dev", "Service", "spec.template"),
    (Holds::PodTemplate, "serving.knative.dev", "Configuration", "spec.template"),
    (Holds::PodTemplate, "jobset.x-k8s.io", "JobSet", "spec.replicatedJobs[*].template.spec.template"),
    (Holds::PodTemplate, "batch.volcano.sh", "Job", "spec.tasks[*].template"),
    (Holds::PodTemplate, "ray.io", "RayCluster", "spec.headGroupSpec.template"),
    (Holds::PodTemplate, "ray.io", "RayCluster", "spec.workerGroupSpecs[*].template"),
    (Holds::PodTemplate, "ray.io", "RayJob", "spec.rayClusterSpec.headGroupSpec.template"),
    (Holds::PodTemplate, "ray.io", "RayJob", "spec.rayClusterSpec.workerGroupSpecs[*].template"),
    (Holds::PodTemplate, "ray.io", "RayService", "spec.rayClusterConfig.headGroupSpec.template"),
    (Holds::PodTemplate, "ray.io", "RayService", "spec.rayClusterConfig.workerGroupSpecs[*].template"),
    (Holds::PodTemplate, "sparkoperator.k8s.io", "SparkApplication", "spec.driver.template"),
    (Holds::PodTemplate, "sparkoperator.k8s.io", "SparkApplication", "spec.executor.template"),
    (Holds::Tolerations, "kubevirt.io", "VirtualMachine", "spec.template.spec.tolerations"),
    (Holds::Tolerations, "kubevirt.io", "VirtualMachineInstance", "spec.tolerations"),
    (Holds::Tolerations, "kubevirt.io", "VirtualMachineInstanceReplicaSet", "spec.template.spec.tolerations"),
    (Holds::Tolerations, "sparkoperator.k8s.io", "SparkApplication", "spec.driver.tolerations"),
    (Holds::Tolerations, "sparkoperator.k8s.io", "SparkApplication", "spec.executor.tolerations"),
    (Holds::Tolerations, "sparkoperator.k8s.io", "ScheduledSparkApplication", "spec.template.driver.tolerations"),
    (Holds::Tolerations, "sparkoperator.k8s.io", "ScheduledSparkApplication", "spec.template.executor.tolerations"),
    (Holds::Tolerations, "ceph.rook.io", "CephCluster", "spec.placement.*.tolerations"),
    (Holds::Tolerations, "ceph.rook.io", "CephCluster", "spec.storage.storageClassDeviceSets[*].placement.tolerations"),
    (Holds::Tolerations, "ceph.rook.io", "CephObjectStore", "spec.gateway.placement.tolerations"),
    (Holds::Tolerations, "ceph.rook.io", "CephFilesystem", "spec.metadataServer.placement.tolerations"),
    (Holds::Tolerations, "monitoring.coreos.com", "Prometheus", "spec.tolerations"),
    (Holds::Tolerations, "monitoring.coreos.com", "Alertmanager", "spec.tolerations"),
    (Holds::Tolerations, "monitoring.coreos.com", "ThanosRuler", "spec.tolerations"),
    (Holds::Taints, "karpenter.sh", "NodePool", "spec.template.spec.taints"),
    (Holds::Taints, "karpenter.sh", "NodePool", "spec.template.spec.startupTaints"),
    (Holds::Taints, "kops.k8s.io", "InstanceGroup", "spec.taints"),
    (Holds::Taints, "bootstrap.cluster.x-k8s.io", "KubeadmConfig", "spec.joinConfiguration.nodeRegistration.taints"),
    (Holds::Taints, "bootstrap.cluster.x-k8s.io", "KubeadmConfig", "spec.initConfiguration.nodeRegistration.taints"),
    (
        Holds::Taints,
        "bootstrap.cluster.x-k8s.io",
        "KubeadmConfigTemplate",
        "spec.template.spec.joinConfiguration.nodeRegistration.taints",
    ),
    (
        Holds::Taints,
        "controlplane.cluster.x-k8s.io",
        "KubeadmControlPlane",
        "spec.kubeadmConfigSpec.joinConfiguration.nodeRegistration.taints",
    ),
    (
        Holds::Taints,
        "controlplane.cluster.x-k8s.io",
        "KubeadmControlPlane",
        "spec.kubeadmConfigSpec.initConfiguration.nodeRegistration.taints",
    ),
    (Holds::Claim, "ceph.rook.io", "CephCluster", "spec.storage.storageClassDeviceSets[*].volumeClaimTemplates[*]"),
    (Holds::Claim, "ceph.rook.io", "CephCluster", "spec.mon.volumeClaimTemplate"),
    (Holds::Claim, "monitoring.coreos.com", "Prometheus", "spec.storage.volumeClaimTemplate"),
    (Holds::Claim, "monitoring.coreos.com", "Alertmanager", "spec.storage.volumeClaimTemplate"),
];

/// A part of a custom resource, as the object of Kubernetes that it will become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Which kind of object it is judged as; name and namespace are those of the custom resource.
    pub identity: Identity,
    pub json: String,
    pub moved: Moved,
}

/// Where a part is in the custom resource, and where in the object that it is judged as.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moved {
    from: String,
    to: &'static str,
}

impl Moved {
    /// The field of the custom resource that a field of the part is; the part itself for what was put around it.
    pub fn field(&self, judged: &str) -> String {
        let rest = judged
            .strip_prefix(self.to)
            .filter(|rest| rest.is_empty() || rest.starts_with(['.', '[']) || self.to.is_empty());
        match rest {
            Some(rest) if rest.is_empty() || rest.starts_with(['.', '[']) => format!("{}{rest}", self.from),
            Some(rest) => format!("{}.{rest}", self.from),
            None => self.from.clone(),
        }
    }
}

impl Kinds {
    /// What is built in, and more.
    pub fn with(more: &Tables) -> Self {
        let built_in = BUILT_IN.iter().map(|(holds, group, kind, path)| {
            let (api_group, kind, path) = ((*group).to_owned(), (*kind).to_owned(), (*path).to_owned());
            (*holds, Entry { api_group, kind, path })
        });
        let listed = [
            (Holds::PodTemplate, &more.pod_templates),
            (Holds::PodSpec, &more.pod_specs),
            (Holds::Tolerations, &more.tolerations),
            (Holds::Taints, &more.taints),
            (Holds::Claim, &more.claims),
        ];
        let listed =
            listed.into_iter().flat_map(|(holds, entries)| entries.iter().map(move |entry| (holds, entry.clone())));
        Kinds(built_in.chain(listed).collect())
    }

    /// The parts of an object that the rules judge; none for objects of Kubernetes itself.
    pub fn parts(&self, manifest: &Manifest) -> Vec<Part> {
        let Manifest { identity, document } = manifest;
        let entries =
            self.0.iter().filter(|(_, entry)| entry.api_group == identity.group && entry.kind == identity.kind);
        let mut parts = Vec::new();
        let mut parsed: Option<Value> = None;
        for (holds, entry) in entries {
            let value = parsed.get_or_insert_with(|| serde_json::from_str(document.json()).unwrap_or_default());
            let steps: Vec<&str> = entry.path.split('.').collect();
            let mut found = Vec::new();
            walk(value, &steps, String::new(), &mut found);
            parts.extend(
                found
                    .into_iter()
                    .filter(|(_, value)| !value.is_null())
                    .map(|(path, value)| part(identity, *holds, path, value)),
            );
        }
        parts
    }
}

/// Gathers every value at a path, with its own path.
fn walk<'v>(value: &'v Value, steps: &[&str], path: String, found: &mut Vec<(String, &'v Value)>) {
    let Some((step, rest)) = steps.split_first() else {
        found.push((path, value));
        return;
    };
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    if *step == "*" {
        for (name, member) in value.as_object().into_iter().flatten() {
            walk(member, rest, below(name), found);
        }
        return;
    }
    let (name, each) = match step.strip_suffix("[*]") {
        Some(name) => (name, true),
        None => (*step, false),
    };
    let Some(member) = value.get(name) else { return };
    if each {
        for (index, item) in member.as_array().into_iter().flatten().enumerate() {
            walk(item, rest, format!("{}[{index}]", below(name)), found);
        }
    } else {
        walk(member, rest, below(name), found);
    }
}

fn part(of: &Identity, holds: Holds, from: String, value: &Value) -> Part {
    let metadata = json!({"name": of.name, "namespace": of.namespace});
    let template = |template: Value| {
        ("PodTemplate", json!({"apiVersion": "v1", "kind": "PodTemplate", "metadata": metadata, "template": template}))
    };
    let ((kind, object), to) = match holds {
        Holds::PodTemplate => (template(value.clone()), "template"),
        Holds::PodSpec => (template(json!({"spec": value})), "template.spec"),
        Holds::Tolerations => (template(json!({"spec": {"tolerations": value}})), "template.spec.tolerations"),
        Holds::Taints => {
            let taints = value.as_array().map(|taints| taints.iter().map(taint).collect::<Value>());
            let spec = json!({"taints": taints.unwrap_or_else(|| value.clone())});
            (
                ("Node", json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": of.name}, "spec": spec})),
                "spec.taints",
            )
        }
        Holds::Claim => {
            let mut claim = value.clone();
            if let Some(members) = claim.as_object_mut() {
                members.insert(String::from("apiVersion"), Value::from("v1"));
                members.insert(String::from("kind"), Value::from("PersistentVolumeClaim"));
            }
            (("PersistentVolumeClaim", claim), "")
        }
    };
    let namespace = of.namespace.clone().filter(|_| holds != Holds::Taints);
    let (group, version) = (String::new(), String::from("v1"));
    let identity = Identity { kind: kind.to_owned(), namespace, name: of.name.clone(), group, version };
    Part { identity, json: object.to_string(), moved: Moved { from, to } }
}

/// kops writes taints as `key=value:Effect`.
fn taint(value: &Value) -> Value {
    let Some((key, effect)) = value.as_str().and_then(|text| text.rsplit_once(':')) else { return value.clone() };
    let (key, value) = key.split_once('=').unwrap_or((key, ""));
    json!({"key": key, "value": value, "effect": effect})
}

#[cfg(test)]
#[allow(clippy::restriction)]
mod tests {
    use super::*;

    fn parts(yaml: &str, more: &Tables) -> Vec<(String, String, String)> {
        let source = crate::input::Source::of("a.yaml", yaml);
        let manifests = Manifest::all(&source).unwrap();
        let parts = Kinds::with(more).parts(&manifests[0]);
        parts.into_iter().map(|part| (part.identity.kind, part.moved.from, part.json)).collect()
    }

    #[test]
    fn parts_are_found_by_the_table() {
        let set = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\nspec:\n  replicatedJobs:\n  - template: {spec: {template: {spec: {hostPID: true}}}}\n  - {}\n";
        let found = parts(set, &Tables::default());
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].0.as_str(), found[0].1.as_str()),
            ("PodTemplate", "spec.replicatedJobs[0].template.spec.template")
        );
        assert!(found[0].2.contains("\"template\":{\"spec\":{\"hostPID\":true}}"), "{}", found[0].2);
        let ceph = "apiVersion: ceph.rook.io/v1\nkind: CephCluster\nmetadata: {name: a, namespace: b}\nspec: {placement: {all: {tolerations: [{operator: Exists}]}, mon: {}}}\n";
        assert_eq!(parts(ceph, &Tables::default())[0].1, "spec.placement.all.tolerations");
        let own = "apiVersion: example.com/v1\nkind: Thing\nspec: {pod: {hostPID: true}}\n";
        assert_eq!(parts(own, &Tables::default()), []);
        let entry = Entry { api_group: "example.com".into(), kind: "Thing".into(), path: "spec.pod".into() };
        let more = Tables { pod_specs: vec![entry], ..Tables::default() };
        assert_eq!(parts(own, &more)[0].1, "spec.pod");
        let pod = "apiVersion: v1\nkind: Pod\nspec: {}\n";
        assert_eq!(parts(pod, &Tables::default()), []);
    }

    #[test]
    fn taints_of_kops_are_strings() {
        let group = "apiVersion: kops.k8s.io/v1alpha2\nkind: InstanceGroup\nmetadata: {name: a}\nspec: {taints: [\"a=b:NoSchedule\", \"c:NoExecute\"]}\n";
        let found = parts(group, &Tables::default());
        let object: Value = serde_json::from_str(&found[0].2).unwrap();
        let taint = |key: &str, value: &str, effect: &str| json!({"key": key, "value": value, "effect": effect});
        assert_eq!(object["spec"]["taints"], json!([taint("a", "b", "NoSchedule"), taint("c", "", "NoExecute")]));
    }

    #[test]
    fn a_field_of_a_part_is_a_field_of_the_whole() {
        let moved = Moved { from: String::from("spec.tasks[1].template"), to: "template" };
        assert_eq!(moved.field("template.spec.tolerations[0]"), "spec.tasks[1].template.spec.tolerations[0]");
        assert_eq!(moved.field("metadata.name"), "spec.tasks[1].template");
        let claim = Moved { from: String::from("spec.claim"), to: "" };
        assert_eq!(claim.field("spec.accessModes"), "spec.claim.spec.accessModes");
        assert_eq!(claim.field(""), "spec.claim");
    }
}
