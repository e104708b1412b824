{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{- define "reel.labels" -}}
app.kubernetes.io/name: reel
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{/* What pods are told apart by. Those without `part` are the StatefulSet of the release, whose selector can never change. */}}
{{- define "reel.podLabels" -}}
app.kubernetes.io/name: {{ if .part }}reel-{{ .part.kind }}{{ else }}reel{{ end }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- if .part }}
reel/part: {{ .part.name }}
{{- end }}
{{- end }}
{{/* All of a fleet's pods carry it beside those. */}}
{{- define "reel.fleetLabel" -}}reel/fleet: {{ .Release.Name }}{{- end }}
{{/* Of one kind of pods: the release's own, or with the part behind it. */}}
{{- define "reel.name" -}}{{ .Release.Name }}{{ if .part }}-{{ .part.name }}{{ end }}{{- end }}
{{/* What is rendered for `part`: the values with those of the part over them. */}}
{{- define "reel.isGateway" -}}{{ if .part }}{{ eq .part.kind "gateway" | ternary "yes" "" }}{{ end }}{{- end }}
{{/* Of the fleet's keys and certificates: the part's own, or the release's. */}}
{{- define "reel.fleetSecret" -}}{{ if .part }}{{ .part.secretName }}{{ else }}{{ .Values.fleet.secretName }}{{ end }}{{- end }}
{{/* The longest render, 5 s until endpoints notice, 15 s flush, 10 s, and room to spare. */}}
{{- define "reel.grace" -}}{{ add .Values.timeoutSeconds 60 }}{{- end }}
{{- define "reel.image" -}}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{- end }}
{{/* A kubelet's gRPC probe speaks no TLS, so it has a port of its own then. */}}
{{- define "reel.healthPort" -}}{{ if .Values.tls.secretName }}50052{{ else }}50051{{ end }}{{- end }}
{{/* The folder in which a model's SHA256SUMS lie: its own, or that of a single file. */}}
{{- define "reel.modelFolder" -}}
{{- if hasSuffix ".safetensors" .Values.model.path }}{{ clean (printf "/models/%s" (dir .Values.model.path)) }}{{ else }}/models/{{ .Values.model.path }}{{ end }}
{{- end }}
{{- define "reel.config" -}}
listen: "0.0.0.0:50051"
metrics_listen: "0.0.0.0:9464"
{{- if .Values.tls.secretName }}
health_listen: "0.0.0.0:50052"
tls { certificate_file: "/etc/reel-tls/tls.crt" key_file: "/etc/reel-tls/tls.key" }
{{- else }}
insecure_listen: true
{{- end }}
{{- if .Values.auth.secretName }}
auth { tokens_file: "/etc/reel-tokens/tokens" }
{{- end }}
data { folder: "/var/lib/reel" keep { seconds: {{ .Values.storage.keepSeconds }} } }
{{- if and .Values.model.name (not (include "reel.isGateway" .)) }}
models {
  name: {{ .Values.model.name | quote }}
  path: {{ printf "/models/%s" .Values.model.path | quote }}
  {{- if .Values.model.sums }}
  manifest_file: {{ printf "%s/%s" (include "reel.modelFolder" .) .Values.model.sums | quote }}
  {{- end }}
}
{{- end }}
{{- if not (include "reel.isGateway" .) }}
workers { name: {{ .Values.device | replace ":" "" | quote }} device: {{ .Values.device | quote }} }
{{- end }}
timing {
  default_timeout { seconds: {{ .Values.timeoutSeconds }} }
  max_timeout { seconds: {{ .Values.timeoutSeconds }} }
  propagation { seconds: 5 }
  drain { seconds: {{ sub (include "reel.grace" . | int) 10 }} }
}
telemetry {
  log_level: "info"
  log_format: "json"
  {{- if .Values.traces.host }}
  otlp_endpoint: {{ printf "%s://%s:%v" (ternary "https" "http" (ne .Values.traces.secretName "")) .Values.traces.host .Values.traces.port | quote }}
  {{- if .Values.traces.secretName }}
  otlp_ca_file: "/etc/reel-traces/ca.crt"
  otlp_headers_file: "/etc/reel-traces/headers"
  {{- end }}
  trace_share: {{ .Values.traces.share }}
  {{- end }}
}
{{- if .Values.fleet.name }}
{{ include "reel.fleetConfig" . }}
{{- end }}
{{- with .Values.extraConfig }}
{{ . }}
{{- end }}
{{- end }}
{{/* POD_HOST is put in before the start: what a pod is called is known there. */}}
{{- define "reel.fleetConfig" -}}
{{- $fleet := .Values.fleet -}}
fleet {
  name: {{ $fleet.name | quote }}
  {{- if include "reel.isGateway" . }}
  gateway: true
  {{- end }}
  listen: "0.0.0.0:50053"
  advertise: "POD_HOST:50053"
  {{- if $fleet.insecure }}
  insecure: true
  {{- else }}
  tls {
    certificate_file: "/etc/reel-fleet/tls.crt" key_file: "/etc/reel-fleet/tls.key"
    client_ca_file: "/etc/reel-fleet/servers.crt"
  }
  {{- end }}
  nats {
    {{- range $fleet.nats.urls }}
    urls: {{ . | quote }}
    {{- end }}
    replicas: {{ $fleet.nats.replicas }}
    {{- if $fleet.insecure }}
    insecure: true
    {{- else }}
    ca_file: "/etc/reel-fleet/brokers.crt" nkey_seed_file: "/etc/reel-fleet/nkey.seed"
    {{- end }}
  }
  {{- if $fleet.encryptPrompts }}
  encrypt_prompts_key_file: "/etc/reel-fleet/prompts.key"
  {{- end }}
  objects {
    endpoint: {{ $fleet.objects.endpoint | quote }}
    bucket: {{ $fleet.objects.bucket | quote }}
    region: {{ $fleet.objects.region | quote }}
    credentials_file: "/etc/reel-store/credentials"
    {{- if hasPrefix "http://" $fleet.objects.endpoint }}
    insecure: true
    {{- end }}
  }
}
{{- end }}
{{- define "reel.restricted" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}
{{- define "reel.configMap" -}}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "reel.name" . }}-config
  labels: {{- include "reel.labels" . | nindent 4 }}
data:
  reel.textproto: |
    {{- include "reel.config" . | nindent 4 }}
{{- end }}
{{- define "reel.disruptionBudget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "reel.name" . }}
  labels: {{- include "reel.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {{- include "reel.podLabels" . | nindent 6 }}
{{- end }}
{{- define "reel.metricsService" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "reel.name" . }}-metrics
  labels:
    app.kubernetes.io/component: metrics
    {{- include "reel.labels" . | nindent 4 }}
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector: {{- include "reel.podLabels" . | nindent 4 }}
  ports:
    - {name: metrics, port: 9464, targetPort: metrics}
{{- end }}
