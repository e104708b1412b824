# SPDX-License-Identifier: Apache-2.0
"""The includes that each folder may have, as CMake's PRIVATE edges say it too."""

import re

from tree import Finding, folder_of

# Third-party headers by kind; the first match counts. Standard and operating-system headers are free for all.
KINDS = [
    ("worker_proto", r"reel/worker/.*\.pb\.h$"),
    ("config_proto", r"reel/config/.*\.pb\.h$"),
    ("fleet_proto", r"reel/fleet/.*\.pb\.h$"),
    ("grpc", r"(grpc|grpcpp|grpc\+\+)/|.*\.grpc\.pb\.h$"),
    ("reel_proto", r"reel/v1/.*\.pb\.h$"),
    ("protobuf", r"google/(protobuf|rpc)/|.*\.pb\.h$"),
    ("absl", r"absl/"),
    ("torch", r"(torch|ATen|c10)/"),
    ("cutlass", r"(cutlass|cute)/"),
    ("cuda", r"(cuda|cudnn|cublas|nvrtc|nvtx|nvml|nccl|cub|thrust|mma)[\w./]*(\.h(pp)?)?$|driver_types\.h$|vector_types\.h$"),
    ("ffmpeg", r"lib(av|sw)\w+/"),
    ("sqlite", r"sqlite3"),
    ("nats", r"nats/"),
    ("curl", r"curl/"),
    ("prometheus", r"prometheus/"),
    ("http", r"httplib\.h"),
    ("json", r"nlohmann/"),
    ("asio", r"boost/(asio|beast)/"),
    ("crypto", r"openssl/"),
    ("spdlog", r"spdlog/"),
    ("cli", r"CLI/"),
    ("sentencepiece", r"sentencepiece"),
    ("python", r"(Python\.h|pybind11/)"),
    ("system", r"(sys|linux|netinet|arpa|asm)/[\w.]+$|[\w]+(\.h)?$"),
]
FREE = {"system"}
OURS = ("kernels/", "model/", "server/", "client/", "tests/", "deploy/build/headers/")

# What every program shares, the client too, which sees nothing else of ours.
GROUND_FLOOR = ["kernels/base/digest/", "kernels/base/program/", "kernels/base/statistics/"]
DISPATCH = ["kernels/base/", "kernels/dispatch/"]
OPERATOR_TABLE = r"kernels/operators\.def"  # rows of macros
MODEL_API = DISPATCH + [r"model/\w+\.h"]  # torch-free
TORCH_CUDA_ENTRIES = r"model/torch_cuda/(copy_lane|cudnn_convolutions|graph_recorder|lt_products|memory_limit|peer_link)\.h"  # of a library that is opened
MODEL_FILES = [r"model/weights/(config_reader|json_file|mapped_file)\.h"]  # what any folder of a model is read with
# It shows that what families share is enough for one.
TOY_FAMILY = r"tests/toy_family/toy_(network|pipeline)\."
MODEL_SHARED = r"model/(adapters|adapting|bridge|conditions|denoise|family|frames|graphs|latents|layers|sampler|text|tokenizer|tokens|vae|weights)/"
SERVER_BASE = MODEL_API + ["server/errors/", "server/logging/", "server/protocol/"]
ENGINE = ["server/worker/engine/"]
MEDIA = ["server/worker/media/"]
SCHEDULING = ["server/front/scheduling/"]
JOBS = ["server/front/jobs/", *SCHEDULING]
STORE = ["server/front/store/"]
WORKERS = ["server/front/workers/"]
API = ["server/front/api/"]  # what every door needs
FRONT = ["server/front/", "server/convert/"]

# Files (regular expression from the root; the first match counts), what of ours they may include beside their own
# folder, and which third-party kinds.
WALLS = [
    (r"kernels/plugins/example/.*\.cu$", [r"kernels/plugins/plugin_v1\.h", r"kernels/[\w/]+_launch\.h", r"kernels/rows/fused_norm\.h"], {"cuda"}),
    (r"kernels/.*\.cuh?$", [r"kernels/[\w/]+_(launch|layout|job)\.h", r"kernels/rows/fused_norm\.h", r"kernels/[\w/]+\.cuh"], {"cuda", "cutlass"}),
    (r"kernels/torch_views/", ["kernels/base/"], {"torch"}),
    (r"kernels/torch_ops/", ["kernels/"], {"absl", "torch", "cuda"}),
    (r"kernels/base/digest/", [], {"absl", "crypto"}),
    (r"kernels/base/", ["kernels/base/"], {"absl"}),
    (r"kernels/plugins/example/", ["kernels/"], {"torch"}),
    (r"kernels/plugins/", ["kernels/"], {"absl", "json"}),
    (r"kernels/cuda/", DISPATCH + [OPERATOR_TABLE], {"absl", "cuda"}),
    (r"kernels/dispatch/", ["kernels/base/", "kernels/cuda/"], {"absl", "cuda"}),
    (r"kernels/(\w+\.(h|cc)$|library/|cuda_library/)", ["kernels/"], {"absl", "cuda"}),
    (r"kernels/\w+/", DISPATCH + [OPERATOR_TABLE, "kernels/cuda/", "kernels/rows/"], {"absl", "cuda"}),
    (r"model/registry\.cc$", MODEL_API + [r"model/testcard/test_card\.h", r"model/weights/checkpoint\.h",
                               r"model/bridge/framework_\w+\.h"], {"absl"}),
    (r"model/torch_plugins/", MODEL_API + ["model/bridge/", "kernels/"], {"absl", "torch"}),
    (r"model/plugins", MODEL_API + ["kernels/plugins/"], {"absl"}),
    (r"model/\w+\.(h|cc)$", MODEL_API, {"absl"}),
    (r"model/testcard/", MODEL_API, {"absl"}),
    (r"model/sampler/", MODEL_API + MODEL_FILES, {"absl", "json"}),
    (r"model/tokenizer/", MODEL_API + MODEL_FILES, {"absl", "json"}),
    (r"model/weights/", MODEL_API, {"absl", "json"}),
    (r"model/states/", MODEL_API + [r"model/weights/(json_file|safetensors_header)\.h"], {"absl", "json"}),
    (r"model/origin/", MODEL_API + [r"model/states/spec_json\.h"], {"absl", "json"}),
    (r"model/adapters/", MODEL_API + ["model/weights/"], {"absl", "json"}),
    (r"model/torch_cuda/", MODEL_API + ["model/bridge/"], {"absl", "torch", "cuda"}),
    (r"model/bridge/", MODEL_API + ["model/bridge/", "kernels/", TORCH_CUDA_ENTRIES], {"absl", "torch"}),
    (r"model/(denoise|frames|graphs|latents|tokens)/", MODEL_API + ["model/bridge/", "kernels/"], {"absl", "torch"}),
    (r"model/conditions/", MODEL_API + [r"model/(bridge|latents)/", "kernels/"], {"absl", "torch"}),
    (r"model/family/", MODEL_API + [r"model/(bridge|denoise|frames|weights)/", "kernels/"], {"absl", "torch", "json"}),
    (r"model/layers/", MODEL_API + [r"model/(bridge|weights)/", "kernels/"], {"absl", "torch"}),
    (r"model/adapting/", MODEL_API + [r"model/(adapters|bridge|layers|weights)/"], {"absl", "torch"}),
    (r"model/vae/", MODEL_API + [r"model/(bridge|frames|latents|layers|weights)/", "kernels/"], {"absl", "torch", "json"}),
    (r"model/text/", MODEL_API + [r"model/(bridge|layers|tokenizer|weights)/", "kernels/"], {"absl", "torch", "json"}),
    (TOY_FAMILY, MODEL_API + [MODEL_SHARED, "kernels/"], {"absl", "torch"}),
    # Each other folder is a family: it sees what families share, and no other family; its own folders see each other.
    (r"model/ltx/", MODEL_API + [MODEL_SHARED, "kernels/", "model/ltx/"], {"absl", "torch", "json"}),
    (r"model/\w+/", MODEL_API + [MODEL_SHARED, "kernels/"], {"absl", "torch", "json"}),
    # Of others alone: what of ours changes is not precompiled, but for the public API's messages.
    (r"deploy/build/headers/", ["deploy/build/headers/"], {"absl", "grpc", "reel_proto"}),
    (r"server/errors/", MODEL_API, {"absl", "protobuf"}),
    (r"server/protocol/", MODEL_API, {"absl"}),
    (r"server/logging/", DISPATCH, {"absl", "spdlog", "json"}),
    (r"server/convert/(worker|report)_", SERVER_BASE, {"absl", "reel_proto", "worker_proto", "protobuf"}),
    (r"server/convert/", SERVER_BASE, {"absl", "reel_proto", "protobuf"}),
    (r"server/worker/engine/", SERVER_BASE + [r"server/worker/media/\w+\.h", r"model/states/video_state\.h", r"model/origin/origin_text\.h"], {"absl"}),
    (r"server/worker/media/", SERVER_BASE, {"absl", "ffmpeg"}),
    (r"server/worker/link/", SERVER_BASE + ENGINE + MEDIA + ["server/convert/"],
     {"absl", "grpc", "worker_proto", "reel_proto", "protobuf"}),
    (r"server/worker/\w+\.(h|cc)$", SERVER_BASE + ["server/worker/", "server/convert/", "kernels/"],
     {"absl", "grpc", "worker_proto", "reel_proto", "protobuf", "cli"}),
    (r"server/render/", SERVER_BASE + [r"model/adapters/adapter_file\.h", r"model/states/video_state\.h"] + ENGINE + MEDIA + ["server/convert/", "kernels/"],
     {"absl", "cli", "json", "reel_proto", "protobuf"}),
    (r"server/front/api/", SERVER_BASE + JOBS + ["server/convert/", r"server/front/config/\w+\.h"],
     {"absl", "reel_proto", "protobuf", "crypto"}),
    (r"server/front/rpc/", SERVER_BASE + JOBS + API + ["server/convert/", "server/front/metrics/", r"server/front/config/\w+\.h"],
     {"absl", "grpc", "reel_proto", "protobuf", "crypto"}),
    # Values and pure functions: no service can be called from here.
    (r"server/front/scheduling/", SERVER_BASE + SCHEDULING + [r"server/front/workers/worker_info\.h"], {"absl"}),
    (r"server/front/jobs/", SERVER_BASE + JOBS + [r"server/front/(store|workers)/\w+\.h"], {"absl"}),
    (r"server/front/store/", SERVER_BASE + [r"server/front/jobs/\w+\.h"], {"absl", "sqlite"}),
    # The judge of a fleet's log is pure; one source knows its messages, those named for the broker or the log's own the broker.
    (r"server/front/fleet/(log_fold|subjects)\.(h|cc)$", [], {"absl"}),
    (r"server/front/fleet/log_messages\.(h|cc)$", [], {"absl", "fleet_proto", "protobuf"}),
    (r"server/front/fleet/(view_(queries|store|tables))\.(h|cc)$", SERVER_BASE + [r"server/front/store/sqlite\.h"], {"absl"}),
    (r"server/front/fleet/seal\.(h|cc)$", ["kernels/base/digest/"], {"absl", "crypto"}),
    (r"server/front/fleet/", SERVER_BASE + [r"server/front/workers/file_descriptor\.h"], {"absl", "json", "nats"}),
    (r"server/front/objects/file_store\.(h|cc)$", SERVER_BASE + ["kernels/base/digest/", r"server/front/store/media_file\.h"], {"absl"}),
    (r"server/front/curl/", [], {"absl", "curl"}),
    (r"server/front/objects/", SERVER_BASE + ["kernels/base/digest/", "server/front/curl/", r"server/front/config/secret_files\.h",
                                                r"server/front/workers/file_descriptor\.h"], {"absl", "curl"}),
    # The only folder that joins a fleet's log with this server's jobs; it knows no broker.
    (r"server/front/node/", SERVER_BASE + JOBS + ["kernels/base/digest/", r"server/front/store/(file_spool|inbox)\.h", r"server/front/objects/object_store\.h", r"server/front/workers/worker_pool\.h",
                                                  r"server/front/fleet/(fleet_view|log_\w+|node_table|seal|subjects|view_video)\.h"], {"absl"}),
    # Other nodes by what they serve to each other.
    (r"server/front/peers/", SERVER_BASE + JOBS + ["kernels/base/digest/", r"server/front/node/peer_port\.h", r"server/front/config/\w+\.h",
                                                   r"server/front/api/(authorizer|video_convert)\.h"],
     {"absl", "grpc", "reel_proto", "protobuf"}),
    (r"server/front/workers/frames_comparer\.(h|cc)$", SERVER_BASE, {"absl", "json"}),
    (r"server/front/workers/", SERVER_BASE + JOBS + ["server/convert/"],
     {"absl", "grpc", "worker_proto", "reel_proto", "protobuf", "crypto"}),
    (r"server/front/metrics/", SERVER_BASE +
     [r"server/front/config/\w+\.h", r"server/front/jobs/(fleet_status|job_observer)\.h", r"server/front/api/call_observer\.h",
      r"server/front/kernel_log/xid\.h", r"server/front/traces/trace_observer\.h", r"server/front/workers/worker_pool\.h"],
     {"absl", "prometheus"}),
    (r"server/front/kernel_log/", SERVER_BASE + [r"server/front/workers/file_descriptor\.h"], {"absl"}),
    (r"server/front/traces/", SERVER_BASE + ["kernels/base/digest/", "server/front/curl/", r"server/front/config/\w+\.h",
                                             r"server/front/jobs/(job_observer|video)\.h"], {"absl", "curl", "json"}),
    (r"server/front/http/(door_(connection|intake|server)|http_(server|stream))\.(h|cc)$", SERVER_BASE + API + [r"server/front/config/\w+\.h",
      r"server/front/workers/file_descriptor\.h"], {"absl", "asio"}),
    (r"server/front/http/", SERVER_BASE + API + GROUND_FLOOR +
     [r"server/front/config/\w+\.h", r"server/front/jobs/job(_service)?\.h", r"server/front/workers/file_descriptor\.h"],
     {"absl", "reel_proto", "protobuf", "json"}),
    (r"server/front/health/", SERVER_BASE + [r"server/front/rpc/\w+\.h"], {"absl", "grpc", "protobuf"}),
    (r"server/front/config/", SERVER_BASE + ["server/convert/", r"server/front/workers/file_descriptor\.h"],
     {"absl", "config_proto", "worker_proto", "reel_proto", "protobuf", "crypto", "cli"}),
    (r"server/front/configured_models\.(h|cc)$", SERVER_BASE + FRONT + ["kernels/base/", "model/adapters/", r"model/weights/manifest\.h"], {"absl", "config_proto"}),
    (r"server/front/", SERVER_BASE + FRONT + ["kernels/"],
     {"absl", "grpc", "config_proto", "worker_proto", "reel_proto", "protobuf", "cli", "prometheus"}),
    (r"client/frames/", [r"client/frames/", r"model/frame_sink\.h", "kernels/base/"] + MEDIA, {"absl", "ffmpeg", "cli"}),
    (r"client/main\.cc$", ["client/", r"kernels/base/program_folder\.h"], {"absl"}),
    (r"client/", ["client/"] + GROUND_FLOOR, {"absl", "grpc", "reel_proto", "protobuf", "cli", "json"}),
]
# (file, include) -> why it is allowed all the same
EXEMPT = {}

INCLUDE = re.compile(r'\s*#\s*include\s+[<"]([^">]+)[">]')
SOURCES = (".h", ".cc", ".cu", ".cuh")


def kind_of(header):
    return next((kind for kind, pattern in KINDS if re.match(pattern, header)), "unknown")


def wall_of(path):
    return next((wall for wall in WALLS if re.match(wall[0], path)), None)


def check(tree):
    for path in tree.matching(*SOURCES):
        if path.startswith("tests/") and not re.match(TOY_FAMILY, path):
            continue
        wall = wall_of(path)
        if wall is None:
            yield Finding(path, 1, "no wall is set for this folder: add a row to tests/lint/rules/include_walls.py")
            continue
        for number, line in tree.lines(path):
            if (found := INCLUDE.match(line)) and (path, found[1]) not in EXEMPT:
                if problem := problem_of(path, found[1], wall):
                    yield Finding(path, number, problem)


def problem_of(path, header, wall):
    _, ours, kinds = wall
    if header.startswith(OURS):
        if folder_of(header) == folder_of(path) and not path.endswith((".cu", ".cuh")):
            return None
        if any(re.match(allowed, header) for allowed in ours):
            return None
        return f"{folder_of(path)}/ may not see {header}"
    kind = kind_of(header)
    if kind in kinds or kind in FREE:
        return None
    return f"{folder_of(path)}/ may not see {header} ({kind})"


CASES = [
    ("torch in the model API", {"model/resolve.h": "#include <torch/torch.h>"}, 1),
    ("gRPC in jobs", {"server/front/jobs/job.cc": "#include <grpcpp/grpcpp.h>"}, 1),
    ("worker protocol in rpc", {"server/front/rpc/a.cc": '#include "reel/worker/v1/worker.pb.h"'}, 1),
    ("protobuf in the engine", {"server/worker/engine/e.cc": '  #  include "reel/v1/video.pb.h"'}, 1),
    ("kernels in the client", {"client/a.cc": '#include "kernels/base/tensor_view.h"'}, 1),
    ("the broker in the judge of its log", {"server/front/fleet/log_fold.cc": "#include <nats/nats.h>"}, 1),
    ("the broker in jobs", {"server/front/jobs/a.cc": "#include <nats/nats.h>"}, 1),
    ("ours in the client", {"client/video_client.cc": '#include "server/errors/error.h"'}, 1),
    ("a family in another", {"model/wan/wan.cc": '#include "model/ltx/presets.h"'}, 1),
    ("a family in what families share", {"model/text/t5.cc": '#include "model/ltx/presets.h"'}, 1),
    ("a family in the toy family", {"tests/toy_family/toy_network.h": '#include "model/ltx/presets.h"'}, 1),
    ("a family in the registry", {"model/registry.cc": '#include "model/ltx/ltx_pipeline.h"'}, 1),
    ("model sees server", {"model/ltx/a.cc": '#include "server/logging/log.h"'}, 1),
    ("another operator", {"kernels/rope/rope.cc": '#include "kernels/rms_norm/rms_norm.h"'}, 1),
    ("absl in a kernel", {"kernels/rope/rope_sm80.cu": '#include "absl/status/status.h"'}, 1),
    ("a header of a kernel that is not plain", {"kernels/rope/rope_sm80.cu": '#include "kernels/rope/rope.h"'}, 1),
    ("folder without a wall", {"extra/a.cc": ""}, 1),
    ("good", {
        "server/front/rpc/a.cc": '#include <sys/un.h>\n#include <vector>\n#include "reel/v1/video_service.grpc.pb.h"\n',
        "model/wan/w.cc": '#include "model/wan/w.h"\n#include "model/text/t5.h"',
        "model/ltx/t.cc": "#include <ATen/core/Tensor.h>\n#include \"kernels/rope/rope.h\"",
        "kernels/rope/rope_sm80.cu": '#include <cuda_bf16.h>\n#include "kernels/rope/rope_launch.h"',
        "client/video_file.cc": '#include "kernels/base/digest/sha256.h"',
        "server/front/store/s.cc": "#include <sqlite3.h>",
        "server/front/fleet/nats_port.cc": "#include <nats/nats.h>",
        "tests/unit/x_test.cc": "#include <torch/torch.h>",
    }, 0),
]
