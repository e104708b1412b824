// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/kernels/bench_case.h"

#include "absl/strings/str_cat.h"
#include "kernels/base/float_types.h"
#include "kernels/rms_norm/rms_norm.h"

namespace reel::kernels {
namespace {

struct RowsShape {
  int64_t rows;
  int64_t width;
};

BenchCase Finish(const char* op, RowsShape shape, Dtype dtype,
                 const std::shared_ptr<BenchTensors>& tensors,
                 std::function<absl::Status(const Execution&)> run) {
  return {.op = op,
          .shape = absl::StrCat(shape.rows, "x", shape.width),
          .dtype = dtype,
          .bytes = tensors->bytes(),
          .run = std::move(run),
          .tensors = tensors};
}

BenchCase RmsNormCase(RowsShape shape, Dtype dtype, bool weighted) {
  auto tensors = std::make_shared<BenchTensors>();
  RmsNormArgs args;
  args.x = tensors->Make(dtype, {shape.rows, shape.width});
  args.out = tensors->Make(dtype, {shape.rows, shape.width});
  if (weighted) args.weight = tensors->Make(dtype, {shape.width});
  return Finish("rms_norm", shape, dtype, tensors,
                [args](const Execution& run) { return RmsNorm(args, run); });
}

}  // namespace

TensorView BenchTensors::Make(Dtype dtype, std::vector<int64_t> sizes) {
  TensorView view = Contiguous(nullptr, dtype, sizes);
  const int64_t bytes = view.num_elements() * DtypeSize(dtype);
  storage_.push_back(std::make_unique<unsigned char[]>(static_cast<size_t>(bytes + 64)));
  const auto address = reinterpret_cast<uintptr_t>(storage_.back().get());
  view.data = storage_.back().get() + (64 - address % 64);
  VisitFloating(dtype, [&]<typename T>(T) {
    auto* data = static_cast<T*>(view.data);
    for (int64_t i = 0; i < view.num_elements(); ++i) {
      data[i] = RoundTo<T>(static_cast<float>(i % 251) / 125.0f - 1.0f);
    }
  });
  bytes_ += bytes;
  return view;
}

std::vector<BenchCase> BenchCases(Dtype dtype, int64_t rows, int64_t width) {
  std::vector<RowsShape> shapes = {{1024, 2048}, {2640, 2048}, {5376, 2048}};
  if (rows > 0) shapes = {{rows, width}};
  std::vector<BenchCase> cases;
  for (const RowsShape& shape : shapes) {
    cases.push_back(RmsNormCase(shape, dtype, true));
    cases.push_back(RmsNormCase(shape, dtype, false));
    cases.back().shape += " weightless";
  }
  return cases;
}

}  // namespace reel::kernels
