# SPDX-License-Identifier: Apache-2.0
# docker build -t reel . ; docker run --rm --read-only --tmpfs /tmp -p 127.0.0.1:50051:50051 reel
# The image carries libx264 and is therefore GPL as a whole (NOTICE).

FROM debian:12 AS build
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
WORKDIR /src
# First what changes rarely, so that its layer is kept.
COPY deploy/build deploy/build
RUN deploy/build/setup --torch && rm -rf /var/lib/apt/lists/*
COPY . .
RUN source deploy/build/env && cmake --preset quickstart && cmake --build --preset quickstart \
    && strip build/release/bin/reeld build/release/bin/reel-worker build/release/bin/reel build/release/bin/reel-frames
# What libtorch's CPU half loads; the binaries look for it in lib/reel beside their folder.
RUN mkdir libtorch && cd .deps/venv/lib/python3*/site-packages \
    && cp torch/lib/libtorch_cpu.so torch/lib/libc10.so torch/lib/libgomp.so.1 \
       nvidia/cu13/lib/libcupti.so.13 nvidia/cu13/lib/libcudart.so.13 /src/libtorch/

FROM debian:12-slim
COPY deploy/container/runtime-packages.txt /tmp/runtime-packages.txt
RUN apt-get update \
    && grep -v '^#' /tmp/runtime-packages.txt | xargs apt-get install -y --no-install-recommends \
    && rm -rf /var/lib/apt/lists/* /tmp/runtime-packages.txt \
    && groupadd --gid 10001 reel \
    && useradd --uid 10001 --gid reel --no-create-home --home-dir /var/lib/reel --shell /usr/sbin/nologin reel \
    && install -d -o reel -g reel -m 0700 /var/lib/reel \
    && install -d /etc/reel
COPY --from=build /src/build/release/bin/reeld /src/build/release/bin/reel-worker /src/build/release/bin/reel /src/build/release/bin/reel-frames /usr/bin/
COPY --from=build /src/libtorch /usr/lib/reel
COPY --from=build /src/model/demo/weights /usr/share/reel/models/ltx-demo
COPY --from=build /src/LICENSE /src/NOTICE /usr/share/doc/reel/
COPY deploy/config/container.textproto /etc/reel/reel.textproto
# Everything but these is read-only at run time; the socket of the workers lies in /tmp.
VOLUME ["/var/lib/reel"]
EXPOSE 50051 9464
USER 10001:10001
# Kubernetes probes over gRPC; elsewhere `reel doctor` and /readyz tell.
HEALTHCHECK NONE
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/reeld", "--config", "/etc/reel/reel.textproto"]
