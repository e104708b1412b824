# SPDX-License-Identifier: Apache-2.0
# docker build -t reel . ; docker run --rm --read-only --tmpfs /tmp -p 127.0.0.1:50051:50051 reel
# With --build-arg KIND=cuda for NVIDIA's GPUs; docker, podman and buildah all build it (deploy/container/README.md).
# The image carries libx264 and is therefore GPL as a whole (NOTICE); what is in it, and where its sources are, lies in
# /usr/share/doc/reel.

# Another one by name and digest: --build-arg BUILD_BASE=debian:12@sha256:...
ARG BUILD_BASE=debian:12
ARG BASE=debian:12-slim

FROM ${BUILD_BASE} AS build
ARG KIND=cpu
WORKDIR /src
# First what changes rarely, so that its layer is kept.
COPY deploy/build deploy/build
COPY deploy/container/compile deploy/container/compile
RUN deploy/container/compile tools "$KIND"
COPY . .
ARG REVISION=unknown
RUN deploy/container/compile programs "$KIND" "$REVISION" /installed

FROM ${BASE} AS runtime
COPY deploy/container/runtime-packages.txt /tmp/runtime-packages.txt
RUN apt-get update \
    && grep -v '^#' /tmp/runtime-packages.txt | xargs apt-get install -y --no-install-recommends \
    && rm -rf /var/lib/apt/lists/* /tmp/runtime-packages.txt \
    && groupadd --gid 10001 reel \
    && useradd --uid 10001 --gid reel --no-create-home --home-dir /var/lib/reel --shell /usr/sbin/nologin reel \
    && install -d -o reel -g reel -m 0700 /var/lib/reel \
    && install -d /etc/reel

# It needs Python, and the list of the other stage's packages.
FROM build AS papers
ARG REVISION=unknown
COPY --from=runtime /var/lib/dpkg/status /status
RUN deploy/container/bill_of_materials.py --packages /status --installed /installed --revision "$REVISION" --out /papers

FROM runtime
ARG REVISION=unknown
LABEL org.opencontainers.image.title="reel" \
      org.opencontainers.image.version="0.2.0" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.licenses="GPL-2.0-or-later"
COPY --from=build /installed /usr
COPY --from=papers /papers /usr/share/doc/reel
COPY deploy/config/container.textproto /etc/reel/reel.textproto
# Everything but these is read-only at run time; the socket of the workers lies in /tmp.
VOLUME ["/var/lib/reel"]
EXPOSE 50051 9464
USER 10001:10001
# Kubernetes probes over gRPC; elsewhere `reel doctor` and /readyz tell.
HEALTHCHECK NONE
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/reeld", "--config", "/etc/reel/reel.textproto"]
