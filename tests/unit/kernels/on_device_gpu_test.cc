// SPDX-License-Identifier: Apache-2.0
// Tests that need a device: graphs, streams, kernels that overlap, and very large tensors.
#include <cuda_runtime_api.h>

#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/attention/attention.h"
#include "kernels/base/float_types.h"
#include "kernels/built_in_catalog.h"
#include "kernels/cuda/buffer.h"
#include "kernels/dispatch/cuda_library.h"
#include "kernels/dispatch/device_timer.h"
#include "kernels/dispatch/kernel_counters.h"
#include "kernels/frame_convert/frame_convert.h"
#include "kernels/norm_linear/norm_linear.h"
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/rope/rope.h"
#include "kernels/rows/fused_norms.h"
#include "tests/unit/kernels/cuda_library_path.h"

namespace reel::kernels {
namespace {

using Bytes = std::vector<unsigned char>;

class OnDevice : public testing::Test {
 protected:
  void SetUp() override {
    const auto library = LoadCudaLibrary(CudaLibraryPath());
    ASSERT_TRUE(library.ok()) << library.status();
    const auto properties = PropertiesOf(**library, 0);
    if (!properties.ok()) GTEST_SKIP() << "SKIPPED: this machine has no CUDA device";
    library_ = *library;
    catalog_ = BuiltInCatalog({.device = 0, .sm = properties->sm}, library_);
    for (int i = 0; i < 2; ++i) {
      auto stream = CudaStream::Create(0);
      ASSERT_TRUE(stream.ok()) << stream.status();
      streams_.push_back(*std::move(stream));
    }
  }

  TensorView Zeros(Dtype dtype, const std::vector<int64_t>& sizes) {
    TensorView view = Contiguous(nullptr, dtype, sizes, 0);
    const auto bytes = static_cast<size_t>(view.num_elements() * DtypeSize(dtype));
    auto buffer = DeviceBuffer::Create(0, bytes);
    if (!buffer.ok()) {
      ADD_FAILURE() << buffer.status();
      return view;
    }
    view.data = buffer->data();
    EXPECT_EQ(cudaMemset(view.data, 0, bytes), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);  // streams here do not wait for it
    buffers_.push_back(*std::move(buffer));
    return view;
  }
  // bf16 of about N(0,1).
  TensorView Normal(const std::vector<int64_t>& sizes) {
    const TensorView view = Zeros(Dtype::kBf16, sizes);
    FillNormal(view, 0, view.num_elements());
    return view;
  }
  void FillNormal(const TensorView& view, int64_t from, int64_t count) {
    std::mt19937_64 generator(7);
    std::normal_distribution<float> normal;
    std::vector<BFloat16> values(static_cast<size_t>(count));
    for (BFloat16& value : values) value = RoundTo<BFloat16>(normal(generator));
    EXPECT_EQ(cudaMemcpy(static_cast<BFloat16*>(view.data) + from, values.data(),
                         values.size() * sizeof(BFloat16), cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  Bytes Read(const TensorView& view, int64_t from = 0, int64_t count = -1) {
    const int64_t size = DtypeSize(view.dtype);
    if (count < 0) count = view.num_elements();
    Bytes bytes(static_cast<size_t>(count * size));
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(bytes.data(), static_cast<char*>(view.data) + from * size, bytes.size(),
                         cudaMemcpyDeviceToHost),
              cudaSuccess);
    return bytes;
  }

  KernelPlan PlanOf(const std::string& op, const std::string& variant) {
    auto plan = catalog_.Plan("auto", {{op, variant}});
    EXPECT_TRUE(plan.ok()) << plan.status();
    return *plan;
  }
  Execution On(const KernelPlan& plan, int stream = 0) {
    return {.plan = plan,
            .counters = counters_,
            .timer = nullptr,
            .stream = streams_[static_cast<size_t>(stream)].view().stream()};
  }
  cudaStream_t Handle(int stream = 0) {
    return streams_[static_cast<size_t>(stream)].view().handle();
  }
  // For outputs in the rows' type.
  std::vector<std::string> CudaVariants(const std::string& op) {
    const std::set<std::string> others = {"cpu", "loops", kE4m3Sm80, kE4m3Sm90};
    std::vector<std::string> found;
    for (const std::string& variant : catalog_.VariantNames(op)) {
      if (others.count(variant) == 0) found.push_back(variant);
    }
    EXPECT_FALSE(found.empty()) << op;
    return found;
  }

  const CudaLibraryTable* library_ = nullptr;
  KernelCatalog catalog_;
  KernelCounters counters_;
  std::vector<CudaStream> streams_;
  std::vector<DeviceBuffer> buffers_;
};

TEST_F(OnDevice, TellsTheTimeOfCallsByEvents) {
  const TensorView small = Normal({256, 2048}), large = Normal({65536, 2048});
  const KernelPlan plan = PlanOf("rms_norm", "generic");
  DeviceTimer timer(*library_, 0);
  Execution run = On(plan);
  run.timer = &timer;
  const auto norm = [&](const TensorView& x) {
    EXPECT_TRUE(RmsNorm({.x = x, .weight = {}, .bias = {}, .out = x}, run).ok());
  };
  const auto time = [&](const TensorView& x, int calls) {
    for (int i = 0; i < calls; ++i) norm(x);
    const auto times = timer.Take();
    EXPECT_EQ(times.size(), 1u);
    EXPECT_EQ(times.at(0).variant, "generic");
    EXPECT_EQ(times.at(0).calls, calls);
    return times.at(0).total_ns / calls;
  };
  time(small, 3);
  // 512 MB are 256 times the work, and more than 60 us on any device.
  const int64_t quick = time(small, 10), slow = time(large, 10);
  EXPECT_GT(slow, 60'000);
  EXPECT_GT(slow, 4 * quick);
  EXPECT_LT(slow, 1'000'000'000);
  EXPECT_TRUE(timer.Take().empty());
}

// Steps that each read what the one before wrote: x += y * gate, norm of it, y = that norm.
struct Chain {
  FusedArgs tail;
  RmsNormArgs norm;
  KernelPlan plan;

  absl::Status Step(const Execution& run) const {
    absl::Status status = GateResidualAdaln(tail, run);
    status.Update(RmsNorm(norm, run));
    return status;
  }
};

class OnDeviceChain : public OnDevice {
 protected:
  static constexpr int kSteps = 50;
  // Small enough that kernels end soon after they began, large enough to fill the device.
  Chain Make(const std::string& variant) {
    Chain chain;
    chain.plan = *catalog_.Plan("auto", {{"gate_residual_adaln", variant}, {"rms_norm", variant}});
    const std::vector<int64_t> sizes = {2, 300, 2048};
    chain.tail.sum = chain.tail.x = Normal(sizes);
    chain.tail.residual = chain.norm.out = Normal(sizes);
    chain.tail.residual_gate = Normal({2, 1, 2048});
    chain.tail.scale = Normal({2, 1, 2048});
    chain.tail.shift = Normal({2, 1, 2048});
    chain.tail.out = chain.norm.x = Zeros(Dtype::kBf16, sizes);
    return chain;
  }
  std::pair<Bytes, Bytes> ResultOf(const Chain& chain) {
    return {Read(*chain.tail.sum), Read(chain.norm.out)};
  }
  // With the device at rest between any two kernels.
  std::pair<Bytes, Bytes> OneByOne(const std::string& variant) {
    const Chain chain = Make(variant);
    for (int i = 0; i < kSteps; ++i) {
      absl::Status status = GateResidualAdaln(chain.tail, On(chain.plan));
      EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      status.Update(RmsNorm(chain.norm, On(chain.plan)));
      EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      EXPECT_TRUE(status.ok()) << status;
      if (!status.ok()) break;
    }
    return ResultOf(chain);
  }
};

TEST_F(OnDeviceChain, GivesTheSameBitsOneByOneInABurstAndAsAGraph) {
  for (const std::string& variant : CudaVariants("rms_norm")) {
    SCOPED_TRACE(variant);
    const auto want = OneByOne(variant);
    const Chain burst = Make(variant);
    for (int i = 0; i < kSteps; ++i) ASSERT_TRUE(burst.Step(On(burst.plan)).ok());
    EXPECT_TRUE(ResultOf(burst) == want);

    const Chain captured = Make(variant);
    ASSERT_EQ(cudaStreamBeginCapture(Handle(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
    for (int i = 0; i < kSteps; ++i) EXPECT_TRUE(captured.Step(On(captured.plan)).ok());
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(Handle(), &graph), cudaSuccess);
    cudaGraphExec_t ready = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(ready, Handle()), cudaSuccess);
    EXPECT_TRUE(ResultOf(captured) == want);
    EXPECT_EQ(cudaGraphExecDestroy(ready), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  }
}

TEST_F(OnDeviceChain, GivesTheSameBitsOnTwoStreamsAtOnce) {
  for (const std::string& variant : CudaVariants("rms_norm")) {
    SCOPED_TRACE(variant);
    const auto want = OneByOne(variant);
    const Chain first = Make(variant);
    const Chain second = Make(variant);
    for (int i = 0; i < kSteps; ++i) {
      ASSERT_TRUE(first.Step(On(first.plan, 0)).ok());
      ASSERT_TRUE(second.Step(On(second.plan, 1)).ok());
    }
    EXPECT_TRUE(ResultOf(first) == want);
    EXPECT_TRUE(ResultOf(second) == want);
  }
}

TEST_F(OnDevice, GivesTheSameBitsEveryTime) {
  for (const std::string& variant : CudaVariants("rms_norm")) {
    const KernelPlan plan = PlanOf("rms_norm", variant);
    RmsNormArgs args;
    args.x = Normal({3000, 2048});
    args.out = Zeros(Dtype::kBf16, {3000, 2048});
    Bytes first;
    for (int i = 0; i < 10; ++i) {
      ASSERT_TRUE(RmsNorm(args, On(plan)).ok());
      const Bytes now = Read(args.out);
      if (i == 0) first = now;
      EXPECT_TRUE(now == first) << variant;
    }
  }
}

TEST_F(OnDevice, MultipliesNormedRowsInOneKernelThatNeedsNoMemory) {
  for (const std::string& variant : CudaVariants("norm_linear")) {
    SCOPED_TRACE(variant);
    const KernelPlan plan = PlanOf("norm_linear", variant);
    const NormLinearArgs args{.x = Normal({300, 2048}),
                              .linear = {Normal({520, 2048}), std::nullopt, std::nullopt},
                              .out = Zeros(Dtype::kBf16, {300, 520})};
    ASSERT_TRUE(NormLinear(args, On(plan)).ok());
    const Bytes want = Read(args.out);
    ASSERT_EQ(cudaStreamBeginCapture(Handle(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
    EXPECT_TRUE(NormLinear(args, On(plan)).ok());
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(Handle(), &graph), cudaSuccess);
    size_t nodes = 0;
    ASSERT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
    ASSERT_EQ(nodes, 1u);
    cudaGraphNode_t node = nullptr;
    cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    ASSERT_EQ(cudaGraphGetNodes(graph, &node, &nodes), cudaSuccess);
    ASSERT_EQ(cudaGraphNodeGetType(node, &type), cudaSuccess);
    EXPECT_EQ(type, cudaGraphNodeTypeKernel);
    cudaGraphExec_t ready = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess);
    ASSERT_EQ(cudaMemset(args.out.data, 0, want.size()), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(ready, Handle()), cudaSuccess);
    EXPECT_TRUE(Read(args.out) == want);
    EXPECT_EQ(cudaGraphExecDestroy(ready), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  }
}

class OnDeviceLarge : public OnDevice {
 protected:
  // `call` over tensors of `units` units gives the last unit the bits of the unit alone.
  struct Made {
    TensorView in, out;
    std::function<absl::Status(const Execution&)> call;
  };
  void ExpectLastLikeAlone(const std::string& op, int64_t units,
                           const std::function<Made(int64_t)>& make) {
    for (const std::string& variant : CudaVariants(op)) {
      SCOPED_TRACE(op + " " + variant);
      const KernelPlan plan = PlanOf(op, variant);
      const Made alone = make(1);
      const int64_t in = alone.in.num_elements();
      const int64_t out = alone.out.num_elements();
      FillNormal(alone.in, 0, in);
      ASSERT_TRUE(alone.call(On(plan)).ok());
      const Bytes want = Read(alone.out);
      const Made many = make(units);
      ASSERT_GT(many.in.num_elements(), int64_t{1} << 31);
      for (const int64_t unit : {int64_t{0}, units / 2, units - 2, units - 1}) {
        FillNormal(many.in, unit * in, in);
      }
      ASSERT_TRUE(many.call(On(plan)).ok());
      for (const int64_t unit : {int64_t{0}, units / 2, units - 2, units - 1}) {
        EXPECT_TRUE(Read(many.out, unit * out, out) == want) << unit;
      }
      buffers_.clear();
    }
  }
};

TEST_F(OnDeviceLarge, NormsRowsBeyondTwoToThe31Elements) {
  ExpectLastLikeAlone("rms_norm", 1048577, [this](int64_t rows) {
    RmsNormArgs args;
    args.x = Zeros(Dtype::kBf16, {rows, 2048});
    args.out = Zeros(Dtype::kBf16, {rows, 2048});
    return Made{args.x, args.out, [args](const Execution& run) { return RmsNorm(args, run); }};
  });
}

TEST_F(OnDeviceLarge, MultipliesNormedRowsBeyondTwoToThe31Elements) {
  ExpectLastLikeAlone("norm_linear", 1048577, [this](int64_t rows) {
    const NormLinearArgs args{.x = Zeros(Dtype::kBf16, {rows, 2048}),
                              .linear = {Normal({24, 2048}), std::nullopt, std::nullopt},
                              .out = Zeros(Dtype::kBf16, {rows, 24})};
    return Made{args.x, args.out, [args](const Execution& run) { return NormLinear(args, run); }};
  });
}

TEST_F(OnDeviceLarge, TurnsTokensBeyondTwoToThe31Elements) {
  ExpectLastLikeAlone("rope_1d", 1048577, [this](int64_t tokens) {
    Rope1dArgs args;
    // Batches, so that each has the positions of the one alone.
    args.q = Zeros(Dtype::kBf16, {tokens, 1, 32, 64});
    args.q_out = Zeros(Dtype::kBf16, {tokens, 1, 32, 64});
    args.offset = 11;
    return Made{args.q, args.q_out, [args](const Execution& run) { return Rope1d(args, run); }};
  });
}

TEST_F(OnDeviceLarge, AttendsForQueriesBeyondTwoToThe31Elements) {
  ExpectLastLikeAlone("cross_attention", 1048577, [this](int64_t queries) {
    AttentionArgs args{.q = Zeros(Dtype::kBf16, {1, queries, 32, 64}),
                       .k = Normal({1, 4, 32, 64}),
                       .v = Normal({1, 4, 32, 64}),
                       .bias = {},
                       .key_lengths = {},
                       .q_scale = {},
                       .out = Zeros(Dtype::kBf16, {1, queries, 32, 64})};
    return Made{args.q, args.out,
                [args](const Execution& run) { return CrossAttention(args, run); }};
  });
}

TEST_F(OnDeviceLarge, ConvertsFramesBeyondTwoToThe31Elements) {
  ExpectLastLikeAlone("frame_convert", 360, [this](int64_t frames) {
    FrameConvertArgs args;
    args.frames = Zeros(Dtype::kBf16, {frames, 1080, 1920, 3});
    args.rgb = Zeros(Dtype::kU8, {frames, 1080, 1920, 3});
    return Made{args.frames, *args.rgb,
                [args](const Execution& run) { return FrameConvert(args, run); }};
  });
}

// Counters of libraries, recorded: kernels in the place of small zeros, and everything in order.
TEST_F(OnDevice, SmallZerosOfAGraphAreKernels) {
  const TensorView bytes = Zeros(Dtype::kF32, {4096}), copy = Zeros(Dtype::kF32, {4096});
  auto* const from = static_cast<char*>(bytes.data);
  const size_t size = 4096 * sizeof(float);
  const cudaStream_t stream = streams_[0].view().handle();
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(from, 0x7f, size, stream), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(from + 4, 0, 4, stream), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(from + 17, 0, 5, stream), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(from + 4096, 0, 4096, stream), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(from + 8192, 0, 4097, stream), cudaSuccess);  // no counter
  EXPECT_EQ(cudaMemcpyAsync(copy.data, from, size, cudaMemcpyDeviceToDevice, stream), cudaSuccess);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  int32_t replaced = 0;
  ASSERT_EQ(library_->zeros_as_kernels(graph, &replaced), cudaSuccess);
  EXPECT_EQ(replaced, 3);
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(cudaMemset(copy.data, 1, size), cudaSuccess);
    EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    const Bytes read = Read(copy);
    const auto is_zero = [](size_t i) {
      return (i >= 4 && i < 8) || (i >= 17 && i < 22) || (i >= 4096 && i < 8192 + 4097);
    };
    for (size_t i = 0; i < read.size(); ++i) ASSERT_EQ(read[i], is_zero(i) ? 0 : 0x7f) << i;
  }
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

}  // namespace
}  // namespace reel::kernels
