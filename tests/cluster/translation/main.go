// Records how k8s.io/csi-translation-lib translates the node affinity of in-tree volumes. The scheduler matches nodes
// against the result. Run it after another version is pinned in go.mod:
//
//	go -C tests/cluster/translation run . > tests/vectors/csi_translation.json
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	csitranslation "k8s.io/csi-translation-lib"
	"k8s.io/klog/v2"
)

const (
	gaZone     = v1.LabelTopologyZone
	gaRegion   = v1.LabelTopologyRegion
	betaZone   = v1.LabelFailureDomainBetaZone
	betaRegion = v1.LabelFailureDomainBetaRegion
)

// A case: a volume as it is written, and what the library makes of its node affinity.
type recorded struct {
	Name   string `json:"name"`
	Plugin string `json:"plugin"`
	Volume any    `json:"volume"`
	// The translated node affinity, absent where the translation fails.
	NodeAffinity *v1.VolumeNodeAffinity `json:"nodeAffinity,omitempty"`
	Error        string                 `json:"error,omitempty"`
}

type source struct {
	name   string
	source v1.PersistentVolumeSource
}

type affinity struct {
	name string
	is   *v1.VolumeNodeAffinity
}

type labels struct {
	name string
	are  map[string]string
}

func sources() []source {
	managed, unmanaged, namespace := v1.AzureManagedDisk, v1.AzureSharedBlobDisk, "storage"
	return []source{
		{"gcePersistentDisk", v1.PersistentVolumeSource{GCEPersistentDisk: &v1.GCEPersistentDiskVolumeSource{PDName: "disk"}}},
		{"awsElasticBlockStore", v1.PersistentVolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1234"}}},
		{"awsElasticBlockStore of an unreadable identifier", v1.PersistentVolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: "aws://us-east-1b/disk"}}},
		{"cinder", v1.PersistentVolumeSource{Cinder: &v1.CinderPersistentVolumeSource{VolumeID: "disk"}}},
		{"azureDisk", v1.PersistentVolumeSource{AzureDisk: &v1.AzureDiskVolumeSource{DiskName: "disk", DataDiskURI: "/disk", Kind: &managed}}},
		{"azureDisk that is not managed", v1.PersistentVolumeSource{AzureDisk: &v1.AzureDiskVolumeSource{DiskName: "disk", DataDiskURI: "/disk", Kind: &unmanaged}}},
		{"azureFile", v1.PersistentVolumeSource{AzureFile: &v1.AzureFilePersistentVolumeSource{SecretName: "secret", ShareName: "share", SecretNamespace: &namespace}}},
		{"vsphereVolume", v1.PersistentVolumeSource{VsphereVolume: &v1.VsphereVirtualDiskVolumeSource{VolumePath: "[store] disk.vmdk"}}},
		{"portworxVolume", v1.PersistentVolumeSource{PortworxVolume: &v1.PortworxVolumeSource{VolumeID: "disk"}}},
		{"nfs", v1.PersistentVolumeSource{NFS: &v1.NFSVolumeSource{Server: "nfs", Path: "/"}}},
	}
}

func ask(key string, operator v1.NodeSelectorOperator, values ...string) v1.NodeSelectorRequirement {
	return v1.NodeSelectorRequirement{Key: key, Operator: operator, Values: values}
}

func term(requirements ...v1.NodeSelectorRequirement) v1.NodeSelectorTerm {
	return v1.NodeSelectorTerm{MatchExpressions: requirements}
}

func required(terms ...v1.NodeSelectorTerm) *v1.VolumeNodeAffinity {
	return &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: terms}}
}

func affinities() []affinity {
	const in, notIn, exists = v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn, v1.NodeSelectorOpExists
	b, c, east := "us-east1-b", "us-east1-c", "us-east1"
	named := v1.NodeSelectorTerm{MatchFields: []v1.NodeSelectorRequirement{ask("metadata.name", in, "n")}}
	return []affinity{
		{"no affinity", nil},
		{"nothing required", &v1.VolumeNodeAffinity{}},
		{"no terms", required()},
		{"an empty term", required(term())},
		{"an empty term next to a zone", required(term(), term(ask(gaZone, in, b)))},
		{"a node's name", required(named)},
		{"GA zone", required(term(ask(gaZone, in, b)))},
		{"GA zone and region", required(term(ask(gaZone, in, b, c), ask(gaRegion, in, east)))},
		{"beta zone", required(term(ask(betaZone, in, b)))},
		{"beta zone and region", required(term(ask(betaZone, in, b, c), ask(betaRegion, in, east)))},
		{"beta zone in one term, GA zone in another", required(term(ask(betaZone, in, b)), term(ask(gaZone, in, c)))},
		{"both generations in one term", required(term(ask(betaZone, in, b), ask(gaZone, in, b), ask(betaRegion, in, east)))},
		{"GA region only", required(term(ask(gaRegion, in, east)))},
		{"beta region only", required(term(ask(betaRegion, in, east)))},
		{"GA zone exists", required(term(ask(gaZone, exists)))},
		{"beta zone exists, with a region", required(term(ask(betaZone, exists), ask(betaRegion, in, east)))},
		{"beta zone exists in one term, named in another", required(term(ask(betaZone, exists)), term(ask(betaZone, in, b)))},
		{"GA zone exists, beta zone named", required(term(ask(gaZone, exists)), term(ask(betaZone, in, b)))},
		{"not in a GA zone", required(term(ask(gaZone, notIn, c)))},
		{"not in a beta zone, beta region exists", required(term(ask(betaZone, notIn, c), ask(betaRegion, exists)))},
		{"a GA zone greater than", required(term(ask(gaZone, v1.NodeSelectorOpGt, "5")))},
		{"an empty value", required(term(ask(gaZone, in, "")))},
		{"the driver's own key", required(term(ask("topology.gke.io/zone", in, b)))},
		{"another key", required(term(ask("disk", in, "ssd")), term(ask("disk", exists)))},
	}
}

func zoneLabels() []labels {
	return []labels{
		{"no labels", nil},
		{"GA zone", map[string]string{gaZone: "us-east1-b"}},
		{"beta zone and region", map[string]string{betaZone: "us-east1-b", betaRegion: "us-east1"}},
		{"both zones", map[string]string{betaZone: "us-east1-b", gaZone: "us-east1-c"}},
		{"two GA zones", map[string]string{gaZone: "us-east1-c__us-east1-b", gaRegion: "us-east1"}},
		{"two GA zones, the beta zone empty", map[string]string{gaZone: "us-east1-c__us-east1-b", betaZone: ""}},
		{"the same zone twice", map[string]string{gaZone: "us-east1-b__us-east1-b"}},
		{"an empty zone between two", map[string]string{gaZone: "us-east1-b____us-east1-c"}},
		{"three underscores", map[string]string{gaZone: "us-east1-b___us-east1-c"}},
		{"an empty GA zone", map[string]string{gaZone: ""}},
		{"an empty GA zone, a beta zone", map[string]string{gaZone: "", betaZone: "us-east1-b"}},
		{"zones of two regions", map[string]string{gaZone: "us-east1-b__us-west1-a"}},
		{"two zones of another form", map[string]string{gaZone: "nova__other"}},
		{"one zone of another form", map[string]string{betaZone: "nova"}},
		{"GA region only", map[string]string{gaRegion: "us-east1"}},
		{"beta region only", map[string]string{betaRegion: "us-east1"}},
	}
}

func main() {
	translator := csitranslation.New()
	var cases []string
	for _, source := range sources() {
		plugin := strings.Fields(source.name)[0]
		for at, affinity := range affinities() {
			for nth, labels := range zoneLabels() {
				if !worthwhile(source.name, at, nth) {
					continue
				}
				volume := &v1.PersistentVolume{
					ObjectMeta: metav1.ObjectMeta{Labels: labels.are},
					Spec:       v1.PersistentVolumeSpec{PersistentVolumeSource: source.source, NodeAffinity: affinity.is},
				}
				name := fmt.Sprintf("%s: %s, labels: %s", source.name, affinity.name, labels.name)
				cases = append(cases, record(translator, name, plugin, volume))
			}
		}
	}
	fmt.Printf("{\"cases\": [\n%s\n]}\n", strings.Join(cases, ",\n"))
}

// Every combination for GCE, whose translation reads most. For the two others that the scheduler translates to another
// key, each affinity with two sets of labels, and all labels without an affinity; for the rest a few of each.
func worthwhile(source string, affinity, labels int) bool {
	switch source {
	case "gcePersistentDisk":
		return true
	case "awsElasticBlockStore", "cinder":
		return labels == 0 || labels == 2 || affinity == 0
	default:
		return (affinity == 0 || affinity == 6 || affinity == 10) && (labels == 0 || labels == 2)
	}
}

func record(translator csitranslation.CSITranslator, name, plugin string, volume *v1.PersistentVolume) string {
	answer := recorded{Name: name, Plugin: plugin, Volume: written(volume)}
	if translator.IsPVMigratable(volume) {
		translated, err := translator.TranslateInTreePVToCSI(klog.Background(), volume)
		if err != nil {
			answer.Error = err.Error()
		} else {
			answer.NodeAffinity = translated.Spec.NodeAffinity
		}
	} else {
		answer.Error = "not migratable"
	}
	return encode(answer)
}

// The volume without what its type always writes.
func written(volume *v1.PersistentVolume) any {
	object := map[string]any{}
	check(json.Unmarshal([]byte(encode(volume)), &object))
	delete(object, "status")
	return object
}

func encode(value any) string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	check(encoder.Encode(value))
	return strings.TrimSpace(text.String())
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
