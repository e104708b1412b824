// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention/attention.h"
#include "kernels/torch_ops/torch_operator.h"

namespace reel::kernels {
namespace {

AttentionArgs ArgsOf(const TorchCall& call) {
  return {.q = call.View("q"),
          .k = call.View("k"),
          .v = call.View("v"),
          .bias = call.OptionalView("bias"),
          .key_lengths = call.OptionalView("key_lengths"),
          .q_scale = call.OptionalView("q_scale"),
          .out = call.View("out"),
          .scale = call.Real("scale")};
}

absl::Status RunAttention(const TorchCall& call, const Execution& run) {
  return Attention(ArgsOf(call), run);
}
absl::Status RunCrossAttention(const TorchCall& call, const Execution& run) {
  return CrossAttention(ArgsOf(call), run);
}

absl::Status RunAttentionRest(const TorchCall& call, const Execution& run) {
  return AttentionRest({.q = call.View("q"),
                        .k = call.View("k"),
                        .v = call.View("v"),
                        .before = call.View("before"),
                        .log_sums = call.View("log_sums"),
                        .out = call.View("out"),
                        .scale = call.Real("scale")},
                       run);
}

TorchOutputs LikeQ(const TorchCall& call) {
  const at::Tensor q = call.Tensor("q");
  return {EmptyBeside(q, q.sym_sizes())};
}

constexpr char kArguments[] =
    "Tensor q, Tensor k, Tensor v, Tensor? bias=None, Tensor? key_lengths=None, "
    "Tensor? q_scale=None, *, float scale=0.0";

}  // namespace

std::vector<TorchOperator> AttentionOperators() {
  return {
      {"attention", "attention", "Tensor(a!) out", "Tensor", kArguments, LikeQ, RunAttention},
      {"cross_attention", "cross_attention", "Tensor(a!) out", "Tensor", kArguments, LikeQ,
       RunCrossAttention},
      {"attention_rest", "attention_rest", "Tensor(a!) out", "Tensor",
       "Tensor q, Tensor k, Tensor v, Tensor before, Tensor log_sums, *, float scale=0.0", LikeQ,
       RunAttentionRest},
  };
}

}  // namespace reel::kernels
