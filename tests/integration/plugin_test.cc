// SPDX-License-Identifier: Apache-2.0
// Plug-ins from the configuration to the pixels: reeld tells a real worker, which opens them, and
// requests for a real, tiny LTX-Video model select their variants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cmath>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "tests/fakes/decoded_video.h"
#include "tests/fakes/tiny_ltx.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Packs libraries of this build as an author does, with deploy/kernels/pack.
class Repository {
 public:
  // The pin that pack has printed.
  std::string Pack(const std::string& library, const std::string& folder,
                   std::vector<std::string> flags) {
    const std::string source = std::getenv("REEL_SOURCE");
    flags.insert(flags.begin(), {"--name=example", "--out=" + folder_.File(folder),
                                 "--library=" + BinaryPath("../plugins/" + library + ".so")});
    const ProgramResult result = RunProgram(source + "/deploy/kernels/pack", flags);
    EXPECT_EQ(result.status, 0) << result.errors;
    const size_t at = result.out.find("sha256 ");
    return at == std::string::npos ? "" : result.out.substr(at + 7, 64);
  }
  const std::string& root() const { return folder_.path(); }

 private:
  reel::testing::TempFolder folder_;
};

class Plugins : public ::testing::Test {
 protected:
  ServerSetup Configured() {
    const std::string pin = repository_.Pack("example_norms", "norms", {"--native"});
    repository_.Pack("example_torch_1", "torch", {"--torch=2.11", "--id=_example_torch_cpu_1"});
    repository_.Pack("bad_version", "old", {"--native"});
    repository_.Pack("bad_aborts_on_load", "broken", {"--native"});
    ServerSetup setup;
    setup.config = absl::StrCat(
        "models { name: 'tiny' path: '", model_.path(), "' dtype: 'fp32' }\n", "plugin_root: '",
        repository_.root(), "'\n", "plugins { name: 'mine' folder: 'norms' sha256: '", pin, "' }\n",
        "plugins { name: 'boxed' folder: 'torch' }\n", "plugins { name: 'old' folder: 'old' }\n",
        "plugins { name: 'broken' folder: 'broken' }\n",
        "plugins { name: 'pinned' folder: 'norms' sha256: '", std::string(64, '0'), "' }\n",
        "kernel_profiles { name: 'with-mine' base: 'auto' "
        "variants { key: 'rms_norm' value: 'mine' } }\n");
    return setup;
  }
  static v1::VideoSpec Spec() { return TinyModelSpec(9); }
  static v1::VideoSpec With(const std::map<std::string, std::string>& variants) {
    v1::VideoSpec spec = Spec();
    for (const auto& [op, variant] : variants) {
      (*spec.mutable_kernels()->mutable_variants())[op] = variant;
    }
    return spec;
  }
  // Calls of an operator by variant, as the report of a finished video has them.
  static std::map<std::string, int64_t> Uses(const StreamResult& result, const std::string& op) {
    std::map<std::string, int64_t> uses;
    for (const v1::KernelUse& use : result.finished.stats().kernels()) {
      if (use.op() == op) uses[use.variant()] = use.calls();
    }
    return uses;
  }
  StreamResult Render(const v1::VideoSpec& spec) {
    StreamResult result = calls_.Generate(spec);
    EXPECT_TRUE(result.status.ok()) << result.status.error_message();
    EXPECT_EQ(result.finished.state(), v1::VIDEO_STATE_SUCCEEDED);
    return result;
  }
  v1::ListKernelsResponse ListKernels() {
    v1::ListKernelsResponse response;
    grpc::ClientContext context;
    EXPECT_TRUE(calls_.server().ListKernels(&context, {}, &response).ok());
    return response;
  }

  Repository repository_;
  const model::ltx::TinyFolder model_{"0.9.5"};
  ReelServer server_{Configured()};
  Calls calls_{server_.Connect()};
};

// Mean difference of two clips' luma, in levels.
double Difference(const std::string& a, const std::string& b) {
  const auto one = reel::testing::Decode(a), two = reel::testing::Decode(b);
  EXPECT_TRUE(one.ok() && two.ok());
  if (!one.ok() || !two.ok() || one->luma.size() != two->luma.size()) return 255;
  double sum = 0, count = 0;
  for (size_t f = 0; f < one->luma.size(); ++f) {
    for (size_t i = 0; i < one->luma[f].size(); ++i) {
      sum += std::abs(one->luma[f][i] - two->luma[f][i]);
      ++count;
    }
  }
  return sum / count;
}

TEST_F(Plugins, ARequestRunsTheVariantThatItSelectsBesideTheBuiltInOne) {
  Render(Spec());  // the prompt's encoding is kept from here on, and its norms are not called again
  const StreamResult automatic = Render(Spec());
  const auto expected = Uses(automatic, "rms_norm");
  ASSERT_EQ(expected.size(), 1U);
  ASSERT_TRUE(expected.contains("cpu"));
  ASSERT_GT(expected.at("cpu"), 0);
  for (const char* variant : {"aten", "mine", "boxed"}) {
    // The prompt's encoder calls it as well, and what another variant has made of a prompt is not
    // taken for it; what this one has made is.
    const auto first = Uses(Render(With({{"rms_norm", variant}})), "rms_norm");
    EXPECT_GT(first.at(variant), expected.at("cpu"));
    const StreamResult result = Render(With({{"rms_norm", variant}}));
    EXPECT_EQ(Uses(result, "rms_norm"),
              (std::map<std::string, int64_t>{{variant, expected.at("cpu")}}));
    EXPECT_LT(Difference(automatic.file, result.file), 0.5) << variant;
  }
  v1::VideoSpec spec = With({{"rms_norm", "mine"}, {"gate_residual", "mine.plain"}});
  spec.set_prompt("a green fox");  // and its encoder runs the variant too
  const StreamResult both = Render(spec);
  EXPECT_GT(Uses(both, "rms_norm")["mine"], expected.at("cpu"));
  EXPECT_EQ(Uses(both, "rms_norm").size(), 1U);
  for (const auto& [variant, calls] : Uses(both, "gate_residual")) EXPECT_EQ(variant, "mine.plain");
}

TEST_F(Plugins, AProfileOfTheConfigurationNamesIt) {
  v1::VideoSpec spec = Spec();
  spec.mutable_kernels()->set_profile("with-mine");
  EXPECT_TRUE(Uses(Render(spec), "rms_norm").contains("mine"));
  EXPECT_EQ(server_.Metric("reel_requests_total", "profile=\"with-mine\""), 1);
}

TEST_F(Plugins, TheListTellsOriginsAndReasons) {
  const v1::ListKernelsResponse list = ListKernels();
  std::map<std::string, std::string> origins;
  for (const v1::KernelOp& op : list.ops()) {
    if (op.op() != "rms_norm") continue;
    for (const v1::KernelVariant& variant : op.variants()) {
      origins[variant.name()] = variant.origin();
      if (variant.origin() == "mine" || variant.origin() == "boxed") {
        EXPECT_TRUE(variant.support(0).runs());
        EXPECT_FALSE(variant.support(0).is_auto());
      }
    }
    EXPECT_EQ(op.variants(op.variants_size() - 1).name(), "boxed");
  }
  EXPECT_EQ(origins["mine"], "mine");
  EXPECT_EQ(origins["boxed"], "boxed");
  EXPECT_EQ(origins["cpu"], "built-in");

  std::map<std::string, v1::PluginSupport> plugins;
  for (const v1::KernelPlugin& plugin : list.plugins()) {
    ASSERT_EQ(plugin.support_size(), 1) << plugin.name();
    plugins[plugin.name()] = plugin.support(0);
  }
  EXPECT_TRUE(plugins["mine"].loaded());
  EXPECT_THAT(plugins["mine"].id(), HasSubstr("_example_cpu_"));
  EXPECT_TRUE(plugins["boxed"].loaded());
  EXPECT_EQ(plugins["boxed"].id(), "_example_torch_cpu_1");
  EXPECT_FALSE(plugins["old"].loaded());
  EXPECT_THAT(plugins["old"].reason(), HasSubstr("another version: 2, expected 1"));
  EXPECT_FALSE(plugins["broken"].loaded());
  EXPECT_THAT(plugins["broken"].reason(), HasSubstr("signal 6"));
  EXPECT_FALSE(plugins["pinned"].loaded());
  EXPECT_THAT(plugins["pinned"].reason(), HasSubstr("not the one that the configuration pins"));
  EXPECT_THAT(server_.Log(), HasSubstr("A plug-in is refused; the worker goes on without it"));
}

TEST_F(Plugins, AVariantThatIsNotThereIsRefusedWithThoseThatAre) {
  const StreamResult result = calls_.Generate(With({{"rms_norm", "old"}}));
  EXPECT_EQ(result.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(result.reason(), "UNKNOWN_KERNEL");
  EXPECT_THAT(result.status.error_message(), AllOf(HasSubstr("'old'"), HasSubstr("mine")));
}

TEST_F(Plugins, AWorkerThatComesBackHasThemAgain) {
  for (const pid_t worker : server_.Children()) ::kill(worker, SIGKILL);
  // Also while it starts: what it will offer is known from before.
  EXPECT_TRUE(Uses(Render(With({{"rms_norm", "mine"}})), "rms_norm").contains("mine"));
}

}  // namespace
}  // namespace reel::tests
