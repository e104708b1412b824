// SPDX-License-Identifier: Apache-2.0
// Sustained times of a block's linear layers on a GPU: libtorch's products, cublasLt's by timed
// algorithms, what each can fuse, and the passes that make 8-bit rows. One JSON line for each arm.
#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/dispatch/kernel_counters.h"
#include "kernels/open_device.h"
#include "model/bridge/framework_variants.h"
#include "model/bridge/matrix_products.h"
#include "model/bridge/ops.h"
#include "model/bridge/row_ops.h"
#include "model/bridge/torch_device.h"
#include "model/bridge/torch_guard.h"
#include "nlohmann/json.hpp"
#include <CLI/CLI.hpp>

namespace reel::model {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string device = "cuda:0", library = kernels::CudaLibraryPath();
  std::vector<int64_t> rows = {5376};
  int64_t width = 2048;
  double seconds = 0.5;
  int cold_sets = 4;
};

struct Arm {
  std::string name;
  double flop = 0;  // 0: a pass over memory
  std::function<at::Tensor(size_t set)> run;
};

double MicrosecondsOf(const Arm& arm, double seconds, size_t sets) {
  const auto wait = [](const at::Tensor& of) { of.flatten()[0].item(); };
  const auto run = [&](int64_t calls) {
    at::Tensor last;
    for (int64_t i = 0; i < calls; ++i) last = arm.run(static_cast<size_t>(i) % sets);
    wait(last);
  };
  run(8);
  auto start = Clock::now();
  run(16);
  const double once = std::chrono::duration<double>(Clock::now() - start).count() / 16;
  const auto calls = std::max<int64_t>(16, static_cast<int64_t>(seconds / 2 / once));
  run(calls);  // under load before the clock starts
  start = Clock::now();
  run(calls);
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count() /
         static_cast<double>(calls);
}

// Operands of one layer, as many sets as keep them out of the cache.
struct Layer {
  at::Tensor x, weight, bias, residual, gate;
  Rows x8 = {};
  CodedWeight weight8 = {};
};

class Bench {
 public:
  Bench(const Options& options, const Ops& ops, MatrixProducts* products, at::Device device)
      : options_(options), ops_(ops), products_(products), device_(device) {}

  void Run() {
    const int64_t width = options_.width;
    for (const int64_t rows : options_.rows) {
      Time("qkv", rows, Products(rows, 3 * width, width, false));
      Time("square", rows, Products(rows, width, width, true));
      Time("expand", rows, Expand(rows, 4 * width, width));
      Time("contract", rows, Products(rows, width, 4 * width, true));
      Time("passes", rows, Passes(rows, width));
    }
  }

 private:
  at::Tensor Draw(at::IntArrayRef sizes) const {
    return at::randn(sizes, at::TensorOptions(device_).dtype(at::kFloat)).to(at::kBFloat16);
  }

  std::vector<Layer> Layers(int64_t rows, int64_t outputs, int64_t width) const {
    std::vector<Layer> layers;
    for (int i = 0; i < options_.cold_sets; ++i) {
      Layer layer = {.x = Draw({1, rows, width}),
                     .weight = Draw({outputs, width}) / 45.0,
                     .bias = Draw({outputs}),
                     .residual = Draw({1, rows, outputs}),
                     .gate = Draw({1, 1, outputs})};
      layer.x8 = InForm(ops_, layer.x, RowForm::kE4m3);
      const Rows weight = InForm(ops_, layer.weight, RowForm::kE4m3);
      layer.weight8 = {weight.values, weight.scale};
      layers.push_back(std::move(layer));
    }
    return layers;
  }

  MatrixProduct Plain(const Layer& of, const at::Tensor& residual, bool gelu) const {
    return {of.x, of.weight, of.bias, none_, none_, residual, gelu};
  }
  MatrixProduct InE4m3(const Layer& of, const at::Tensor& residual, bool gelu) const {
    return {of.x8.values, of.weight8.codes, of.bias, of.x8.scale, of.weight8.scale, residual, gelu};
  }
  at::Tensor ScaledMm(const Layer& of) const {
    return ops_.Linear(of.x8, of.weight8, of.bias, at::kBFloat16);
  }

  std::vector<Arm> Products(int64_t rows, int64_t outputs, int64_t width, bool adds) {
    const double flop = 2.0 * static_cast<double>(rows * outputs) * static_cast<double>(width);
    const auto layers = std::make_shared<std::vector<Layer>>(Layers(rows, outputs, width));
    std::vector<Arm> arms;
    const auto add = [&](const std::string& name, auto call) {
      arms.push_back({name, flop, [=](size_t set) { return call((*layers)[set]); }});
    };
    add("bf16 aten", [](const Layer& of) { return at::linear(of.x, of.weight, of.bias); });
    add("e4m3 scaled_mm", [this](const Layer& of) { return ScaledMm(of); });
    if (adds) {
      add("bf16 aten, then gate_residual", [this](const Layer& of) {
        return ops_.GateResidual(of.residual, at::linear(of.x, of.weight, of.bias), of.gate);
      });
      add("e4m3 scaled_mm, then gate_residual", [this](const Layer& of) {
        return ops_.GateResidual(of.residual, ScaledMm(of), of.gate);
      });
    }
    if (products_ == nullptr) return arms;
    add("bf16 cublaslt",
        [this](const Layer& of) { return products_->Run(Plain(of, none_, false)); });
    add("e4m3 cublaslt",
        [this](const Layer& of) { return products_->Run(InE4m3(of, none_, false)); });
    if (adds) {
      add("bf16 cublaslt + residual",
          [this](const Layer& of) { return products_->Run(Plain(of, of.residual, false)); });
      add("e4m3 cublaslt + residual",
          [this](const Layer& of) { return products_->Run(InE4m3(of, of.residual, false)); });
    }
    return arms;
  }

  std::vector<Arm> Expand(int64_t rows, int64_t outputs, int64_t width) {
    std::vector<Arm> arms = Products(rows, outputs, width, false);
    const double flop = arms[0].flop;
    const auto layers = std::make_shared<std::vector<Layer>>(Layers(rows, outputs, width));
    const auto add = [&](const std::string& name, auto call) {
      arms.push_back({name, flop, [=](size_t set) { return call((*layers)[set]); }});
    };
    add("bf16 epilogue gelu",
        [this](const Layer& of) { return ops_.LinearGelu(of.x, of.weight, of.bias); });
    add("e4m3 scaled_mm, then gelu to e4m3",
        [this](const Layer& of) { return GeluTanh(ops_, ScaledMm(of), RowForm::kE4m3).scale; });
    if (products_ == nullptr) return arms;
    add("bf16 cublaslt gelu",
        [this](const Layer& of) { return products_->Run(Plain(of, none_, true)); });
    add("e4m3 cublaslt gelu",
        [this](const Layer& of) { return products_->Run(InE4m3(of, none_, true)); });
    add("e4m3 cublaslt gelu, then quantize_rows", [this](const Layer& of) {
      return InForm(ops_, products_->Run(InE4m3(of, none_, true)), RowForm::kE4m3).scale;
    });
    return arms;
  }

  std::vector<Arm> Passes(int64_t rows, int64_t width) {
    const auto narrow = std::make_shared<std::vector<at::Tensor>>();
    const auto wide = std::make_shared<std::vector<at::Tensor>>();
    for (int i = 0; i < options_.cold_sets; ++i) {
      narrow->push_back(Draw({1, rows, width}));
      wide->push_back(Draw({1, rows, 4 * width}));
    }
    const at::Tensor vector = Draw({1, 1, width});
    const auto form = RowForm::kE4m3;
    return {
        {"copy of [rows, width]", 0, [=](size_t set) { return (*narrow)[set].clone(); }},
        {"quantize_rows", 0,
         [=, this](size_t set) { return InForm(ops_, (*narrow)[set], form).scale; }},
        {"quantize_rows of 4 width", 0,
         [=, this](size_t set) { return InForm(ops_, (*wide)[set], form).scale; }},
        {"gelu to e4m3 of 4 width", 0,
         [=, this](size_t set) { return GeluTanh(ops_, (*wide)[set], form).scale; }},
        {"adaln_rms_norm", 0,
         [=, this](size_t set) {
           return ops_.AdalnRmsNorm((*narrow)[set], {vector, vector, 1e-6});
         }},
        {"adaln_rms_norm to e4m3", 0,
         [=, this](size_t set) {
           return AdalnRmsNorm(ops_, (*narrow)[set], {vector, vector, 1e-6}, form).scale;
         }},
        {"gate_residual", 0,
         [=, this](size_t set) {
           return ops_.GateResidual((*narrow)[set], (*narrow)[(set + 1) % narrow->size()], vector);
         }},
        {"gate_residual_adaln to e4m3", 0,
         [=, this](size_t set) {
           return SumAdalnRmsNorm(ops_, (*narrow)[set],
                                  {{(*narrow)[(set + 1) % narrow->size()]}, {}},
                                  {vector, vector, 1e-6}, form)
               .sum;
         }},
    };
  }

  // There and back through the arms, so that each has seen the clocks of early and late.
  void Time(const std::string& layer, int64_t rows, std::vector<Arm> arms) {
    std::vector<std::vector<double>> times(arms.size());
    const auto sets = static_cast<size_t>(options_.cold_sets);
    for (size_t i = 0; i < 2 * arms.size(); ++i) {
      const size_t at = i < arms.size() ? i : 2 * arms.size() - 1 - i;
      try {
        times[at].push_back(MicrosecondsOf(arms[at], options_.seconds / 2, sets));
      } catch (const std::exception& error) {
        std::cerr << layer << ", " << arms[at].name << ": " << error.what() << std::endl;
      }
    }
    for (size_t i = 0; i < arms.size(); ++i) {
      if (times[i].size() < 2) continue;
      const double mean = (times[i][0] + times[i][1]) / 2;
      nlohmann::json json = {
          {"layer", layer}, {"rows", rows}, {"arm", arms[i].name}, {"us", times[i]}};
      if (arms[i].flop > 0) json["tflops"] = arms[i].flop / mean * 1e-6;
      std::cout << json.dump() << std::endl;
    }
  }

  const Options& options_;
  const Ops& ops_;
  MatrixProducts* const products_;
  const at::Device device_;
  const at::Tensor none_;
};

int Main(const Options& options) {
  auto opened = kernels::OpenDevice(options.device, options.library);
  if (!opened.ok()) {
    std::cerr << opened.status() << std::endl;
    return 1;
  }
  AddFrameworkVariants(opened->catalog);
  const absl::Status status = TorchGuard([&]() -> absl::Status {
    const c10::InferenceMode no_gradients;
    const auto device = TorchDeviceOf(opened->stream);
    if (!device.ok()) return device.status();
    const auto plan = opened->catalog.Plan("fp8", {});
    if (!plan.ok()) return plan.status();
    kernels::KernelCounters counters;
    const kernels::Execution run{*plan, counters, nullptr, opened->stream};
    const auto products = MakeMatrixProducts(*device);
    if (products == nullptr) std::cerr << "cublasLt is left out: no library for it" << std::endl;
    Bench(options, Ops(run), products.get(), *device).Run();
    return absl::OkStatus();
  });
  if (status.ok()) return 0;
  std::cerr << status << std::endl;
  return 1;
}

}  // namespace
}  // namespace reel::model

int main(int argc, char** argv) {
  reel::model::Options options;
  CLI::App app("Sustained times of a block's linear layers", "linear_bench");
  app.add_option("--device", options.device, "cuda:N");
  app.add_option("--library", options.library, "libreel_cuda.so");
  app.add_option("--rows", options.rows)->delimiter(',');
  app.add_option("--width", options.width);
  app.add_option("--seconds", options.seconds, "Of load for each arm");
  CLI11_PARSE(app, argc, argv);
  return reel::model::Main(options);
}
