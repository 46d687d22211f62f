{{- /*
The kinds that settings read of the cluster, as a YAML list: `files/reads.yaml` says which setting needs which. Takes a list of
the root and the settings.
*/ -}}
{{- define "placement-guard.kindsOf" -}}
{{- $root := index . 0 -}}
{{- $settings := index . 1 -}}
{{- $kinds := list -}}
{{- range ($root.Files.Get "files/reads.yaml" | fromYaml).settings -}}
{{- $value := $settings -}}
{{- range .path -}}
{{- if kindIs "map" $value -}}{{- $value = get $value . -}}{{- else -}}{{- $value = "" -}}{{- end -}}
{{- end -}}
{{- /* What is absent or null is "" or nil here. */ -}}
{{- if not (or (kindIs "invalid" $value) (has $value (list "" "ignore" "anyNode" false))) -}}
{{- $kinds = concat $kinds .kinds -}}
{{- end -}}
{{- end -}}
{{- $kinds | uniq | toYaml -}}
{{- end -}}

{{- /* The kinds that the server must be told: it does not know the parameters of constraints before Gatekeeper asks. */ -}}
{{- define "placement-guard.told" -}}
{{- $kinds := default list .Values.readsCluster -}}
{{- if .Values.gatekeeper.enabled -}}
{{- range $section, $constraint := include "placement-guard.constraints" . | fromYaml -}}
{{- $settings := dict $section (default dict $constraint.spec.parameters) -}}
{{- $kinds = concat $kinds (include "placement-guard.kindsOf" (list $ $settings) | fromYamlArray) -}}
{{- end -}}
{{- end -}}
{{- $kinds | uniq | sortAlpha | toYaml -}}
{{- end -}}

{{- /* Every kind that the server reads. */ -}}
{{- define "placement-guard.reads" -}}
{{- $kinds := include "placement-guard.told" . | fromYamlArray -}}
{{- if .Values.webhook.enabled -}}
{{- $settings := include "placement-guard.settings" . | fromYaml -}}
{{- $kinds = concat $kinds (include "placement-guard.kindsOf" (list . $settings) | fromYamlArray) -}}
{{- end -}}
{{- $kinds | uniq | sortAlpha | toYaml -}}
{{- end -}}
