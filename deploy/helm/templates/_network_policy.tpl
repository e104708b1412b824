{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{/* Of one kind of pods. Clients reach a fleet's gateways, and the pods that were there before it. */}}
{{- define "reel.networkPolicy" -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "reel.name" . }}
  labels: {{- include "reel.labels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels: {{- include "reel.podLabels" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress:
    {{- if or (not .part) (include "reel.isGateway" .) }}
    - from:
        - podSelector:
            matchLabels:
              {{ .Values.networkPolicy.clientLabel }}: "true"
      ports:
        - {protocol: TCP, port: 50051}
    {{- end }}
    - from:
        - namespaceSelector:
            matchLabels:
              kubernetes.io/metadata.name: {{ .Values.networkPolicy.monitoringNamespace }}
      ports:
        - {protocol: TCP, port: 9464}
    {{- if .Values.fleet.name }}
    - from:
        - podSelector:
            matchLabels: {{- include "reel.fleetLabel" . | nindent 14 }}
      ports:
        - {protocol: TCP, port: 50053}
    {{- end }}
  egress:
    - to:
        - namespaceSelector:
            matchLabels:
              kubernetes.io/metadata.name: kube-system
      ports:
        - {protocol: UDP, port: 53}
        - {protocol: TCP, port: 53}
    {{- if .Values.traces.host }}
    - to:
        - namespaceSelector:
            matchLabels:
              kubernetes.io/metadata.name: {{ .Values.traces.namespace }}
      ports:
        - {protocol: TCP, port: {{ .Values.traces.port }}}
    {{- end }}
    {{- if .Values.fleet.name }}
    - to:
        - podSelector:
            matchLabels: {{- include "reel.fleetLabel" . | nindent 14 }}
      ports:
        - {protocol: TCP, port: 50053}
    - to:
        {{- include "reel.peer" .Values.fleet.nats | nindent 8 }}
      ports:
        - {protocol: TCP, port: {{ .Values.fleet.nats.port }}}
    - to:
        {{- include "reel.peer" .Values.fleet.objects | nindent 8 }}
      ports:
        - {protocol: TCP, port: {{ .Values.fleet.objects.port }}}
    {{- end }}
{{- end }}
{{/* A namespace, or addresses outside of the cluster. */}}
{{- define "reel.peer" -}}
{{- if .namespace -}}
- namespaceSelector:
    matchLabels:
      kubernetes.io/metadata.name: {{ .namespace }}
{{- else -}}
- ipBlock: {cidr: {{ .cidr }}}
{{- end }}
{{- end }}
