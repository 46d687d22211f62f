{{- define "placement-guard.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- /* 40 characters leave room for the longest suffix. */ -}}
{{- define "placement-guard.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- $full := default (ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name)) .Values.fullnameOverride -}}
{{- $full | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "placement-guard.selector" -}}
app.kubernetes.io/name: {{ include "placement-guard.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "placement-guard.labels" -}}
{{ include "placement-guard.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- /* The name in the serving certificate. */ -}}
{{- define "placement-guard.host" -}}
{{ include "placement-guard.fullname" . }}.{{ .Release.Namespace }}.svc
{{- end -}}

{{- define "placement-guard.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default (printf "v%s" .Chart.AppVersion) .Values.image.tag }}
{{- end -}}
{{- end -}}

{{- define "placement-guard.module" -}}
{{- default (printf "registry://ghcr.io/placement-guard/placement-guard:v%s" .Chart.AppVersion) .Values.module.reference -}}
{{- end -}}

{{- define "placement-guard.certificate" -}}
{{- if .Values.certificates.certManager -}}
{{ include "placement-guard.fullname" . }}-tls
{{- else -}}
{{ .Values.certificates.secret }}
{{- end -}}
{{- end -}}

{{- /* The CA of the serving certificate, base64; empty until cert-manager has made it. */ -}}
{{- define "placement-guard.ca" -}}
{{- if .Values.certificates.ca -}}
{{- .Values.certificates.ca | b64enc -}}
{{- else if .Values.certificates.certManager -}}
{{- $secret := lookup "v1" "Secret" .Release.Namespace (printf "%s-ca" (include "placement-guard.fullname" .)) -}}
{{- dig "data" "tls.crt" "" ($secret | default dict) -}}
{{- end -}}
{{- end -}}

{{- /* The settings of the webhook as a file. */ -}}
{{- define "placement-guard.settings" -}}
{{- if .Values.webhook.settings -}}
{{- toYaml .Values.webhook.settings -}}
{{- else -}}
{{- .Files.Get "files/settings.yaml" -}}
{{- end -}}
{{- end -}}

{{- /* Each constraint of the release, as a YAML object from its section to the whole constraint. */ -}}
{{- define "placement-guard.constraints" -}}
{{- $found := dict -}}
{{- range $path, $text := .Files.Glob "files/constraints/*.yaml" -}}
{{- $constraint := $.Files.Get $path | fromYaml -}}
{{- $section := base $path | trimSuffix ".yaml" -}}
{{- $given := default dict (get (default dict $.Values.gatekeeper.constraints) $section) -}}
{{- if dig "enabled" true $given -}}
{{- $spec := $constraint.spec -}}
{{- if $given.enforcementAction -}}
{{- $_ := set $spec "enforcementAction" $given.enforcementAction -}}
{{- $_ := unset $spec "scopedEnforcementActions" -}}
{{- end -}}
{{- if hasKey $given "parameters" -}}
{{- $_ := set $spec "parameters" (default dict $given.parameters) -}}
{{- end -}}
{{- if hasKey $spec.match "excludedNamespaces" -}}
{{- $_ := set $spec.match "excludedNamespaces" (append (default list $.Values.gatekeeper.excludedNamespaces) $.Release.Namespace | uniq) -}}
{{- end -}}
{{- $_ := set $found $section $constraint -}}
{{- end -}}
{{- end -}}
{{- toYaml $found -}}
{{- end -}}

{{- /*
Whether the constraints are part of the release now. Gatekeeper makes their kinds of the templates, which an upgrade may be the
first to apply.
*/ -}}
{{- define "placement-guard.appliesConstraints" -}}
{{- $kindsExist := .Capabilities.APIVersions.Has "constraints.gatekeeper.sh/v1beta1/PlacementGuardVolumeNodeAffinity" -}}
{{- $auto := and (eq .Values.gatekeeper.applyConstraints "auto") .Release.IsUpgrade $kindsExist -}}
{{- if or (eq .Values.gatekeeper.applyConstraints "always") $auto -}}true{{- end -}}
{{- end -}}

{{- /* Whether this release judges edits of the node affinity, so that a user sees a message. */ -}}
{{- define "placement-guard.showsDemo" -}}
{{- if and .Values.webhook.enabled (kindIs "map" (include "placement-guard.settings" . | fromYaml).volumeNodeAffinity) -}}
true
{{- else if and .Values.gatekeeper.enabled (include "placement-guard.appliesConstraints" .) -}}
{{- with (include "placement-guard.constraints" . | fromYaml).volumeNodeAffinity -}}
{{- if ne (toString .spec.enforcementAction) "dryrun" -}}true{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
