{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{- define "reel.statefulSet" -}}
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: {{ include "reel.name" . }}
  labels: {{- include "reel.labels" . | nindent 4 }}
spec:
  serviceName: {{ include "reel.name" . }}
  {{- /* Where KEDA has the count, an upgrade must not set it back. */}}
  {{- if not (include "reel.isScaled" .) }}
  replicas: {{ .Values.replicas }}
  {{- end }}
  podManagementPolicy: Parallel
  updateStrategy:
    type: RollingUpdate
  persistentVolumeClaimRetentionPolicy:
    whenDeleted: Retain
    whenScaled: Retain
  selector:
    matchLabels: {{- include "reel.podLabels" . | nindent 6 }}
  template:
    {{- include "reel.podTemplate" . | nindent 4 }}
  volumeClaimTemplates:
    - metadata:
        name: data
      spec:
        accessModes: [ReadWriteOnce]
        {{- with .Values.storage.className }}
        storageClassName: {{ . }}
        {{- end }}
        resources:
          requests:
            storage: {{ .Values.storage.size }}
{{- end }}
{{- define "reel.isScaled" -}}{{ if and .Values.fleet.name .Values.autoscaling.prometheus }}yes{{ end }}{{- end }}
{{/* So many nodes that each has backlogSeconds of the device time that waits and runs. Every server tells the whole. */}}
{{- define "reel.scaledObject" -}}
{{- $scaling := .Values.autoscaling -}}
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: {{ include "reel.name" . }}
  labels: {{- include "reel.labels" . | nindent 4 }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: StatefulSet
    name: {{ include "reel.name" . }}
  minReplicaCount: {{ $scaling.min }}
  maxReplicaCount: {{ $scaling.max }}
  pollingInterval: 15
  advanced:
    horizontalPodAutoscalerConfig:
      behavior:
        scaleUp:
          stabilizationWindowSeconds: 0
          policies:
            - {type: Percent, value: 100, periodSeconds: 60}
            - {type: Pods, value: 2, periodSeconds: 60}
        scaleDown:
          # One at a time, each longer than a drain takes: nobody is asked to leave while another one still renders.
          stabilizationWindowSeconds: {{ $scaling.calmSeconds }}
          policies:
            - {type: Pods, value: 1, periodSeconds: {{ include "reel.grace" . }}}
  triggers:
    - type: prometheus
      metricType: AverageValue
      metadata:
        serverAddress: {{ $scaling.prometheus | quote }}
        query: {{ printf "max(reel_fleet_backlog_seconds{job=\"reel\",model=\"%s\"})" (.Values.model.name | default "ltx-demo") | quote }}
        threshold: {{ $scaling.backlogSeconds | quote }}
{{- end }}
