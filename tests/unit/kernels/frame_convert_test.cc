// SPDX-License-Identifier: Apache-2.0
#include "kernels/frame_convert/frame_convert.h"

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "kernels/base/float_types.h"
#include "tests/unit/kernels/op_test.h"

namespace reel::kernels {
namespace {

using Bytes = std::vector<int>;

// Frames of F x H x W pixels in a layout, and planes of a format.
struct Case {
  Case(FrameLayout use_layout, FrameFormat use_format, Dtype use_dtype, std::vector<int64_t> pixels,
       Layout memory = Layout::kContiguous)
      : layout(use_layout),
        format(use_format),
        dtype(use_dtype),
        size(std::move(pixels)),
        frames(use_dtype, Sizes(), memory) {
    const int64_t rows = (size[1] + 1) / 2;
    const int64_t columns = (size[2] + 1) / 2;
    if (format == FrameFormat::kRgb8) {
      AddPlane("rgb", {size[0], size[1], size[2], 3}, memory);
      return;
    }
    AddPlane("y", size, memory);
    if (format == FrameFormat::kNv12) {
      AddPlane("uv", {size[0], rows, columns, 2}, memory);
    } else {
      AddPlane("u", {size[0], rows, columns}, memory);
      AddPlane("v", {size[0], rows, columns}, memory);
    }
  }
  void AddPlane(const std::string& name, std::vector<int64_t> sizes, Layout memory) {
    planes.try_emplace(name, Dtype::kU8, std::move(sizes), memory);
  }
  std::vector<int64_t> Sizes() const {
    switch (layout) {
      case FrameLayout::kPacked:
        return {size[0], size[1], size[2], 3};
      case FrameLayout::kPlanar:
        return {size[0], 3, size[1], size[2]};
      default:
        return {size[0], size[1] / 4, size[2] / 4, 48};
    }
  }
  // The index of a sample in `frames`.
  int64_t IndexOf(int64_t f, int64_t y, int64_t x, int64_t c) const {
    const int64_t height = size[1];
    const int64_t width = size[2];
    switch (layout) {
      case FrameLayout::kPacked:
        return ((f * height + y) * width + x) * 3 + c;
      case FrameLayout::kPlanar:
        return ((f * 3 + c) * height + y) * width + x;
      default:
        return ((f * (height / 4) + y / 4) * (width / 4) + x / 4) * 48 + 16 * c + 4 * (x % 4) +
               y % 4;
    }
  }

  FrameConvertArgs Args(ForcedRun& run) {
    FrameConvertArgs args;
    args.frames = run.Use(frames);
    args.layout = layout;
    args.format = format;
    const auto plane = [&](const std::string& name) -> std::optional<TensorView> {
      const auto found = planes.find(name);
      if (found == planes.end()) return std::nullopt;
      return run.Use(found->second);
    };
    args.rgb = plane("rgb");
    args.y = plane("y");
    args.u = plane("u");
    args.v = plane("v");
    args.uv = plane("uv");
    args.exact = exact;
    args.bt601 = bt601;
    args.full_range = full_range;
    args.center_chroma = center;
    return args;
  }

  // In [0,1], by the definition: rounded in the storage type at each step unless exact.
  double Unit(int64_t f, int64_t y, int64_t x, int64_t c) const {
    y = std::min(y, size[1] - 1);
    x = std::min(std::max<int64_t>(x, 0), size[2] - 1);
    const double value = frames.Get(IndexOf(f, y, x, c));
    const auto rounded = [&](double v) {
      return exact ? static_cast<double>(static_cast<float>(v))
                   : VisitFloating(dtype, [&]<typename T>(T) {
                       return static_cast<double>(ToFloat(RoundTo<T>(v)));
                     });
    };
    const double unit = rounded(rounded(value * 0.5) + 0.5);
    return std::isnan(unit) ? 0 : std::min(std::max(unit, 0.0), 1.0);
  }
  double Red() const { return bt601 ? .299 : .2126; }
  double Blue() const { return bt601 ? .114 : .0722; }
  double LumaOf(const double (&rgb)[3]) const {
    return Red() * rgb[0] + (1 - Red() - Blue()) * rgb[1] + Blue() * rgb[2];
  }
  double Luma(int64_t f, int64_t y, int64_t x) const {
    const double rgb[3] = {Unit(f, y, x, 0), Unit(f, y, x, 1), Unit(f, y, x, 2)};
    return full_range ? 255 * LumaOf(rgb) : 16 + 219 * LumaOf(rgb);
  }
  double Chroma(int64_t f, int64_t y, int64_t x, bool is_v) const {
    double rgb[3] = {};
    for (int64_t c = 0; c < 3; ++c) {
      for (int64_t dy = 0; dy < 2; ++dy) {
        const auto at = [&](int64_t dx) { return Unit(f, 2 * y + dy, 2 * x + dx, c); };
        rgb[c] += center ? (at(0) + at(1)) / 4 : (at(-1) + 2 * at(0) + at(1)) / 8;
      }
    }
    const double scale = full_range ? 255 : 224;
    const double difference = rgb[is_v ? 0 : 2] - LumaOf(rgb);
    return 128 + scale * difference / (2 * (1 - (is_v ? Red() : Blue())));
  }

  FrameLayout layout;
  FrameFormat format;
  Dtype dtype;
  std::vector<int64_t> size;
  HostTensor frames;
  std::map<std::string, HostTensor> planes;
  bool exact = false;
  bool bt601 = false;
  bool full_range = false;
  bool center = false;
};

class FrameConvertTest : public OpTest {
 protected:
  FrameConvertTest() : OpTest("frame_convert") {}

  // False when the variant does not take the call, which only tuned variants may say.
  bool Converts(Case& call) {
    ForcedRun run("frame_convert", GetParam());
    const absl::Status status = FrameConvert(call.Args(run), run.execution());
    if (status.code() == absl::StatusCode::kFailedPrecondition && !TakesEverything(GetParam())) {
      return false;
    }
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(run.calls(), 1);
    run.Fetch();
    for (const auto& [name, plane] : call.planes) EXPECT_TRUE(plane.SurroundingsIntact()) << name;
    return true;
  }
  // Every sample of a plane within `levels` of what it should be.
  static void ExpectPlane(const HostTensor& plane, double levels,
                          const std::function<double(int64_t)>& want) {
    for (int64_t i = 0; i < plane.size(); ++i) {
      const double level = std::min(std::max(std::nearbyint(want(i)), 0.0), 255.0);
      ASSERT_LE(std::abs(plane.Get(i) - level), levels) << i;
    }
  }
  void ExpectRight(Case& call) { EXPECT_TRUE(Right(call)); }
  bool Right(Case& call) {
    if (!Converts(call)) return false;
    const int64_t height = call.size[1];
    const int64_t width = call.size[2];
    const int64_t rows = (height + 1) / 2;
    const int64_t columns = (width + 1) / 2;
    const auto chroma = [&](bool is_v) {
      return [&call, rows, columns, is_v](int64_t i) {
        return call.Chroma(i / columns / rows, i / columns % rows, i % columns, is_v);
      };
    };
    for (const auto& [name, plane] : call.planes) {
      SCOPED_TRACE(name);
      if (name == "rgb") {
        ExpectPlane(plane, 0, [&](int64_t i) {
          const int64_t at = i / 3;
          return static_cast<double>(
              255.0f * static_cast<float>(
                           call.Unit(at / width / height, at / width % height, at % width, i % 3)));
        });
      } else if (name == "y") {
        ExpectPlane(plane, 1, [&](int64_t i) {
          return call.Luma(i / width / height, i / width % height, i % width);
        });
      } else if (name == "uv") {
        ExpectPlane(plane, 1, [&](int64_t i) { return chroma(i % 2 == 1)(i / 2); });
      } else {
        ExpectPlane(plane, 1, chroma(name == "v"));
      }
    }
    return true;
  }
};
INSTANTIATE_TEST_SUITE_P(Variants, FrameConvertTest, testing::ValuesIn(VariantsOf("frame_convert")),
                         NameOf);

constexpr FrameLayout kLayouts[] = {FrameLayout::kPacked, FrameLayout::kPlanar,
                                    FrameLayout::kPatched};
constexpr FrameFormat kFormats[] = {FrameFormat::kRgb8, FrameFormat::kI420, FrameFormat::kNv12};

TEST_P(FrameConvertTest, EqualsTheReferenceForEveryLayoutFormatAndMemory) {
  for (const FrameLayout layout : kLayouts) {
    for (const FrameFormat format : kFormats) {
      for (const Layout memory : AllLayouts()) {
        SCOPED_TRACE(testing::Message()
                     << static_cast<int>(layout) << static_cast<int>(format) << LayoutName(memory));
        Case call(layout, format, dtype(), {2, 8, 12}, memory);
        call.frames.FillNormal(1, 0.6);
        EXPECT_TRUE(Right(call) || memory != Layout::kContiguous);
      }
    }
  }
}

TEST_P(FrameConvertTest, TakesOddSizes) {
  for (const FrameFormat format : kFormats) {
    for (const auto& size : std::vector<std::vector<int64_t>>{{1, 1, 1}, {1, 5, 7}, {2, 4, 3}}) {
      Case call(FrameLayout::kPacked, format, dtype(), size);
      call.frames.FillNormal(2, 0.6);
      EXPECT_EQ(Right(call), TakesEverything(GetParam()) || GetParam().variant == "cpu");
    }
  }
}

TEST_P(FrameConvertTest, KnowsBothMatricesRangesSitesAndRoundings) {
  for (int bits = 0; bits < 16; ++bits) {
    SCOPED_TRACE(bits);
    Case call(FrameLayout::kPacked, FrameFormat::kI420, dtype(), {1, 8, 8});
    call.frames.FillNormal(3, 0.6);
    call.exact = (bits & 1) != 0;
    call.bt601 = (bits & 2) != 0;
    call.full_range = (bits & 4) != 0;
    call.center = (bits & 8) != 0;
    ExpectRight(call);
  }
}

TEST_P(FrameConvertTest, GivesTheLevelsOfEveryValueOfItsType) {
  // Parity and exact differ for some bf16 values: the parity chain rounds twice in the type.
  int differ = 0;
  Case parity(FrameLayout::kPacked, FrameFormat::kRgb8, dtype(), {1, 64, 172});
  parity.frames.SetAll([&](int64_t i) {
    return static_cast<double>(i) / static_cast<double>(64 * 172 * 3) * 2 - 1;
  });
  ExpectRight(parity);
  Case exact(FrameLayout::kPacked, FrameFormat::kRgb8, dtype(), {1, 64, 172});
  exact.frames.SetAll([&](int64_t i) { return parity.frames.Get(i); });
  exact.exact = true;
  ExpectRight(exact);
  for (int64_t i = 0; i < parity.frames.size(); ++i) {
    differ += parity.planes.at("rgb").Get(i) != exact.planes.at("rgb").Get(i) ? 1 : 0;
  }
  EXPECT_TRUE(dtype() != Dtype::kBf16 || differ > 0);
  EXPECT_TRUE(dtype() != Dtype::kF32 || differ == 0);
}

TEST_P(FrameConvertTest, CutsWhatIsNotFinite) {
  Case call(FrameLayout::kPacked, FrameFormat::kRgb8, dtype(), {1, 4, 4});
  const double infinity = std::numeric_limits<double>::infinity();
  const double values[] = {NAN, infinity, -infinity};
  call.frames.SetAll([&](int64_t i) { return values[i % 3]; });
  ASSERT_TRUE(Converts(call));
  const double want[] = {0, 255, 0};
  for (int64_t i = 0; i < 48; ++i) EXPECT_EQ(call.planes.at("rgb").Get(i), want[i % 3]) << i;
}

TEST_P(FrameConvertTest, GivesTheKnownLevelsOfWhiteBlackAndRed) {
  Case call(FrameLayout::kPacked, FrameFormat::kI420, dtype(), {3, 4, 4});
  call.frames.SetAll([](int64_t i) {
    if (i / 48 == 0) return 1.0;
    return i / 48 == 1 || i % 3 != 0 ? -1.0 : 1.0;
  });
  ASSERT_TRUE(Converts(call));
  const double y[] = {235, 16, 63};
  const double u[] = {128, 128, 102};
  const double v[] = {128, 128, 240};
  for (int64_t i = 0; i < 48; ++i) EXPECT_EQ(call.planes.at("y").Get(i), y[i / 16]) << i;
  for (int64_t i = 0; i < 12; ++i) {
    EXPECT_EQ(call.planes.at("u").Get(i), u[i / 4]) << i;
    EXPECT_EQ(call.planes.at("v").Get(i), v[i / 4]) << i;
  }
}

class FrameConvertRefusals : public RefusalTest {
 protected:
  FrameConvertRefusals() : RefusalTest("frame_convert") {}
  void Refused(const std::function<void(FrameConvertArgs&)>& change, absl::StatusCode code,
               const std::string& text) {
    FrameConvertArgs args = call.Args(run);
    change(args);
    ExpectRefused([&] { return FrameConvert(args, run.execution()); }, call.planes.at("y"), code,
                  text);
  }
  Case call{FrameLayout::kPacked, FrameFormat::kI420, Dtype::kF32, {1, 4, 4}};
};

TEST_F(FrameConvertRefusals, NamesWhatDoesNotFit) {
  Refused([](auto& args) { args.layout = FrameLayout::kPlanar; }, kInvalid,
          "do not fit the layout");
  Refused([](auto& args) { args.u.reset(); }, kInvalid, "u is missing");
  Refused([](auto& args) { args.format = FrameFormat::kNv12; }, kInvalid, "u must be absent");
  Refused([](auto& args) { args.v = Slice(*args.v, 2, 0, 1); }, kInvalid, "expected [1, 2, 2]");
  Refused([](auto& args) { args.y->dtype = Dtype::kI32; }, kUnimplemented, "legal are uint8");
  Refused([](auto& args) { args.v = args.u; }, kInvalid, "overlaps another tensor");
  Refused([](auto& args) { args.frames.dtype = Dtype::kF64; }, kUnimplemented, "frames is fp64");
}

}  // namespace
}  // namespace reel::kernels
