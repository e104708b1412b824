{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{- define "reel.labels" -}}
app.kubernetes.io/name: reel
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
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
{{- if .Values.model.name }}
models {
  name: {{ .Values.model.name | quote }}
  path: {{ printf "/models/%s" .Values.model.path | quote }}
  {{- if .Values.model.sums }}
  manifest_file: {{ printf "%s/%s" (include "reel.modelFolder" .) .Values.model.sums | quote }}
  {{- end }}
}
{{- end }}
workers { name: {{ .Values.device | replace ":" "" | quote }} device: {{ .Values.device | quote }} }
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
  otlp_endpoint: {{ printf "http://%s:%v" .Values.traces.host .Values.traces.port | quote }}
  trace_share: {{ .Values.traces.share }}
  {{- end }}
}
{{- with .Values.extraConfig }}
{{ . }}
{{- end }}
{{- end }}
{{- define "reel.restricted" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}
