// SPDX-License-Identifier: Apache-2.0
// `cpu` variants whose rows are divided among threads.
#include "kernels/dispatch/host_threads.h"

#include <vector>

#include "kernels/activation/activation.h"
#include "kernels/channel_norm_silu/channel_norm_silu.h"
#include "kernels/frame_convert/frame_convert.h"
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/rows/fused_norms.h"
#include "tests/unit/kernels/op_test.h"

namespace reel::kernels {
namespace {

// Parts of two, the last first.
void RunBackwards(int64_t count, int64_t, HostThreads::Part part, void* context) {
  for (int64_t end = count; end > 0; end -= 2) {
    part(context, std::max<int64_t>(0, end - 2), end);
  }
}
constexpr HostThreads kBackwards = {&RunBackwards};

// What `call` writes into `out` by a variant, with the rows in one part or in many.
template <typename Call>
std::vector<unsigned char> BitsBy(const OpVariant& variant, const std::string& op,
                                  const HostThreads* threads, HostTensor& out, const Call& call) {
  out.SetAll([](int64_t) { return 7; });
  ForcedRun forced(op, variant);
  Execution run = forced.execution();
  run.threads = threads;
  EXPECT_TRUE(call(forced, run).ok());
  EXPECT_EQ(forced.calls(), 1);
  return out.Snapshot();
}

template <typename Call>
void ExpectSameBits(const std::string& op, HostTensor& out, const Call& call) {
  EXPECT_EQ(BitsBy({"cpu"}, op, nullptr, out, call), BitsBy({"cpu"}, op, &kBackwards, out, call));
}

HostTensor Normal(std::vector<int64_t> sizes, uint64_t seed, Layout layout = Layout::kContiguous) {
  HostTensor tensor(Dtype::kF32, std::move(sizes), layout);
  tensor.FillNormal(seed);
  return tensor;
}

TEST(HostThreadsTest, PartsMakeUpAllOfIt) {
  std::vector<int> seen(5);
  const auto count = [&](int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i) ++seen[static_cast<size_t>(i)];
  };
  DivideRows(&kBackwards, 5, 1, count);
  EXPECT_EQ(seen, std::vector<int>(5, 1));
  DivideRows(nullptr, 5, 1, count);
  EXPECT_EQ(seen, std::vector<int>(5, 2));
}

// In each part the gate of another row begins, and rows lie apart.
TEST(HostThreadsTest, ARowHasTheSameBitsInAnyPart) {
  HostTensor x = Normal({2, 3, 70}, 1, Layout::kPadded), y = Normal({2, 3, 70}, 2);
  HostTensor gate = Normal({2, 1, 70}, 3), weight = Normal({70}, 4), out = Normal({2, 3, 70}, 5);
  HostTensor sum = Normal({2, 3, 70}, 6);
  ExpectSameBits("rms_norm", out, [&](ForcedRun& run, const Execution& execution) {
    return RmsNorm(
        {.x = run.Use(x), .weight = run.Use(weight), .bias = {}, .out = run.Use(out), .eps = 1e-6},
        execution);
  });
  ExpectSameBits("gate_residual_adaln", out, [&](ForcedRun& run, const Execution& execution) {
    return GateResidualAdaln({.x = run.Use(x),
                              .residual = run.Use(y),
                              .residual_gate = run.Use(gate),
                              .scale = run.Use(gate),
                              .shift = run.Use(gate),
                              .sum = run.Use(sum),
                              .out = run.Use(out),
                              .eps = 1e-6},
                             execution);
  });
  ExpectSameBits("activation", out, [&](ForcedRun& run, const Execution& execution) {
    return ActivationOp(
        {.x = run.Use(x), .bias = {}, .out = run.Use(out), .kind = Activation::kGeluTanh},
        execution);
  });
}

// Parts begin and end in the middle of a frame, whose copies are written by each.
TEST(HostThreadsTest, APixelHasTheSameBitsInAnyPart) {
  HostTensor x = Normal({2, 2, 3, 5, 6}, 1, Layout::kPermuted), out = Normal({2, 5, 3, 5, 6}, 2);
  HostTensor scale = Normal({2, 6}, 3);
  ExpectSameBits("channel_norm_silu", out, [&](ForcedRun& run, const Execution& execution) {
    ChannelNormSiluArgs args;
    args.x = run.Use(x);
    args.scale = args.shift = run.Use(scale);
    args.out = run.Use(out);
    args.pad_front = 2;
    args.pad_back = 1;
    return ChannelNormSilu(args, execution);
  });
}

TEST(HostThreadsTest, PicturesHaveTheBytesOfTheLoopsInAnyPart) {
  HostTensor frames = Normal({2, 3, 10, 34}, 1);
  HostTensor y(Dtype::kU8, {2, 10, 34}), u(Dtype::kU8, {2, 5, 17}), v(Dtype::kU8, {2, 5, 17});
  for (HostTensor* plane : {&y, &u, &v}) {
    for (const bool center : {false, true}) {
      const auto call = [&](ForcedRun& run, const Execution& execution) {
        FrameConvertArgs args;
        args.frames = run.Use(frames);
        args.layout = FrameLayout::kPlanar;
        args.format = FrameFormat::kI420;
        args.y = run.Use(y);
        args.u = run.Use(u);
        args.v = run.Use(v);
        args.center_chroma = center;
        return FrameConvert(args, execution);
      };
      ExpectSameBits("frame_convert", *plane, call);
      EXPECT_EQ(BitsBy({"cpu"}, "frame_convert", nullptr, *plane, call),
                BitsBy({"loops"}, "frame_convert", nullptr, *plane, call));
    }
  }
}

}  // namespace
}  // namespace reel::kernels
