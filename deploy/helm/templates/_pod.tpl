{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{/* One pod: of the StatefulSet of the release, or of a part of a fleet. deploy/kubernetes says why each piece is so. */}}
{{- define "reel.podTemplate" -}}
metadata:
  labels:
    {{- include "reel.podLabels" . | nindent 4 }}
    {{- if .Values.fleet.name }}
    {{- include "reel.fleetLabel" . | nindent 4 }}
    {{- end }}
  annotations:
    reel/config-sha256: {{ include "reel.config" . | sha256sum }}
spec:
  serviceAccountName: {{ .Release.Name }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ include "reel.grace" . }}
  {{- with .Values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  affinity:
    podAntiAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 100
          podAffinityTerm:
            topologyKey: kubernetes.io/hostname
            labelSelector:
              matchLabels: {{- include "reel.podLabels" . | nindent 16 }}
  {{- with .Values.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- $weights := and .Values.model.name (not (include "reel.isGateway" .)) }}
  {{- $checked := and $weights .Values.model.sums }}
  {{- if or $checked .Values.fleet.name }}
  initContainers:
    {{- if $checked }}
    {{- include "reel.checkWeights" . | nindent 4 }}
    {{- end }}
    {{- if .Values.fleet.name }}
    {{- include "reel.placeConfig" . | nindent 4 }}
    {{- end }}
  {{- end }}
  containers:
    {{- include "reel.container" (dict "root" . "weights" $weights) | nindent 4 }}
  volumes:
    {{- include "reel.volumes" (dict "root" . "weights" $weights) | nindent 4 }}
{{- end }}

{{- define "reel.checkWeights" -}}
- name: check-weights
  image: {{ include "reel.image" . }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  command: [sh, -euc, 'cd "$0"; sha256sum --check --strict --quiet "$1"', {{ include "reel.modelFolder" . | quote }}, {{ .Values.model.sums | quote }}]
  securityContext: {{- include "reel.restricted" . | nindent 4 }}
  resources:
    requests: {cpu: "1", memory: 64Mi}
    limits: {memory: 1Gi}
  volumeMounts:
    - {name: weights, mountPath: /models, readOnly: true}
{{- end }}

{{/* A pod of a StatefulSet is called by its name, whose certificate it has; nobody asks a gateway for a video. */}}
{{- define "reel.placeConfig" -}}
- name: place-config
  image: {{ include "reel.image" . }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  command: [sh, -euc, 'sed "s/POD_HOST/$POD_HOST/" /etc/reel-config/reel.textproto > /etc/reel/reel.textproto']
  env:
    {{- if include "reel.isGateway" . }}
    - name: POD_HOST
      valueFrom:
        fieldRef: {fieldPath: status.podIP}
    {{- else }}
    - name: POD_NAME
      valueFrom:
        fieldRef: {fieldPath: metadata.name}
    - name: POD_HOST
      value: $(POD_NAME).{{ include "reel.name" . }}.{{ .Release.Namespace }}.svc
    {{- end }}
  securityContext: {{- include "reel.restricted" . | nindent 4 }}
  resources:
    requests: {cpu: 10m, memory: 16Mi}
    limits: {memory: 64Mi}
  volumeMounts:
    - {name: config, mountPath: /etc/reel-config, readOnly: true}
    - {name: placed-config, mountPath: /etc/reel}
{{- end }}

{{- define "reel.container" -}}
{{- $weights := .weights }}
{{- with .root -}}
- name: reeld
  image: {{ include "reel.image" . }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  ports:
    - {name: grpc, containerPort: 50051}
    - {name: metrics, containerPort: 9464}
    {{- if .Values.tls.secretName }}
    - {name: health, containerPort: 50052}
    {{- end }}
    {{- if .Values.fleet.name }}
    - {name: fleet, containerPort: 50053}
    {{- end }}
  securityContext: {{- include "reel.restricted" . | nindent 4 }}
  startupProbe:
    grpc: {port: {{ include "reel.healthPort" . }}, service: startup}
    periodSeconds: 10
    timeoutSeconds: 3
    failureThreshold: {{ div (add .Values.startupSeconds 9) 10 }}
  readinessProbe:
    grpc: {port: {{ include "reel.healthPort" . }}, service: ""}
    periodSeconds: 2
    timeoutSeconds: 2
    failureThreshold: 1
  livenessProbe:
    grpc: {port: {{ include "reel.healthPort" . }}, service: liveness}
    periodSeconds: 10
    timeoutSeconds: 3
    failureThreshold: 3
  resources:
    requests: {{- toYaml .Values.resources.requests | nindent 6 }}
    limits:
      {{- toYaml .Values.resources.limits | nindent 6 }}
      {{- if and (hasPrefix "cuda:" .Values.device) (not (include "reel.isGateway" .)) }}
      nvidia.com/gpu: 1
      {{- end }}
  volumeMounts:
    - {name: data, mountPath: /var/lib/reel}
    - {name: {{ if .Values.fleet.name }}placed-config{{ else }}config{{ end }}, mountPath: /etc/reel, readOnly: true}
    - {name: run, mountPath: /tmp}
    {{- if $weights }}
    - {name: weights, mountPath: /models, readOnly: true}
    {{- end }}
    {{- if .Values.tls.secretName }}
    - {name: tls, mountPath: /etc/reel-tls, readOnly: true}
    {{- end }}
    {{- if .Values.auth.secretName }}
    - {name: tokens, mountPath: /etc/reel-tokens, readOnly: true}
    {{- end }}
    {{- if and .Values.traces.host .Values.traces.secretName }}
    - {name: traces, mountPath: /etc/reel-traces, readOnly: true}
    {{- end }}
    {{- if .Values.fleet.name }}
    - {name: store, mountPath: /etc/reel-store, readOnly: true}
    {{- if not .Values.fleet.insecure }}
    - {name: fleet, mountPath: /etc/reel-fleet, readOnly: true}
    {{- end }}
    {{- end }}
{{- end }}
{{- end }}

{{- define "reel.volumes" -}}
{{- $weights := .weights }}
{{- with .root -}}
- name: config
  configMap: {name: {{ include "reel.name" . }}-config}
- name: run
  emptyDir: {medium: Memory, sizeLimit: 16Mi}
{{- if $weights }}
- name: weights
  persistentVolumeClaim: {claimName: {{ .Values.model.claim }}, readOnly: true}
{{- end }}
{{- with .Values.tls.secretName }}
- name: tls
  secret: {secretName: {{ . }}, defaultMode: 0440}
{{- end }}
{{- with .Values.auth.secretName }}
- name: tokens
  secret: {secretName: {{ . }}, defaultMode: 0440}
{{- end }}
{{- if and .Values.traces.host .Values.traces.secretName }}
- name: traces
  secret: {secretName: {{ .Values.traces.secretName }}, defaultMode: 0440}
{{- end }}
{{- if .Values.fleet.name }}
- name: placed-config
  emptyDir: {medium: Memory, sizeLimit: 1Mi}
- name: store
  secret: {secretName: {{ .Values.fleet.objects.secretName }}, defaultMode: 0440}
{{- if not .Values.fleet.insecure }}
- name: fleet
  secret: {secretName: {{ include "reel.fleetSecret" . }}, defaultMode: 0440}
{{- end }}
{{- if include "reel.isGateway" . }}
- name: data
  emptyDir: {sizeLimit: {{ .Values.fleet.gateways.scratch }}}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
