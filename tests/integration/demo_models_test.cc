// SPDX-License-Identifier: Apache-2.0
// A real model is replaced by weights that are cut short, that are not numbers, and that are good.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "tests/integration/model_calls.h"

namespace reel::tests {
namespace {

using ::testing::HasSubstr;

class DemoModels : public ::testing::Test {
 protected:
  static std::string Bundled() {
    return std::string(std::getenv("REEL_SOURCE")) + "/model/demo/weights";
  }
  // A copy, and the file of its transformer.
  std::string Copy(const std::string& name) const {
    std::filesystem::copy(Bundled(), folder_.File(name), std::filesystem::copy_options::recursive);
    return folder_.File(name);
  }
  static std::string TransformerOf(const std::string& model) {
    for (const auto& entry : std::filesystem::directory_iterator(model + "/transformer")) {
      if (entry.path().extension() == ".safetensors") return entry.path();
    }
    return "";
  }
  static std::string At(const std::string& path) {
    return absl::StrCat("models { name: 'demo' path: '", path, "' dtype: 'fp32' }");
  }

  const testing::TempFolder folder_;
};

TEST_F(DemoModels, BadWeightsNeverReplaceGoodOnes) {
  const std::string cut = Copy("cut"), poisoned = Copy("poisoned"), good = Copy("good");
  std::filesystem::resize_file(TransformerOf(cut), 100'000);
  {
    // NaN in every type.
    std::fstream file(TransformerOf(poisoned), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(-4096, std::ios::end);
    file << std::string(4096, '\xff');
  }
  ReelServer server({At(Bundled()), {}, "", true});
  ModelCalls models(server);
  v1::VideoSpec spec = SmallSpec("a red circle");
  spec.set_width(128);
  spec.set_height(128);
  spec.set_num_inference_steps(2);
  SteadyCallers callers(server, 2, spec);
  ASSERT_TRUE(callers.AwaitMore(1));
  server.Reconfigure(At(cut));
  ASSERT_TRUE(models.AwaitProblem("demo"));
  EXPECT_THAT(models.Get("demo").problem(), HasSubstr("safetensors"));
  server.Reconfigure(At(poisoned));
  ASSERT_TRUE(Eventually([&] {
    return models.Get("demo").problem().find("not finite") != std::string::npos;
  })) << models.Get("demo").problem();
  EXPECT_EQ(models.Get("demo").state(), v1::MODEL_STATE_READY);
  EXPECT_GT(models.Get("demo").weight_bytes(), 1 << 20);
  ASSERT_TRUE(callers.AwaitMore(2));
  server.Reconfigure(At(good));
  ASSERT_TRUE(Eventually([&] {
    const v1::Model model = models.Get("demo");
    return model.state() == v1::MODEL_STATE_READY && model.problem().empty();
  }));
  ASSERT_TRUE(callers.AwaitMore(3));
  callers.Stop();
  EXPECT_EQ(callers.failed(), 0);
  std::cout << "FIGURE ltx-demo replaced once, two broken ones refused: " << callers.failed()
            << " of " << callers.asked() << " requests failed\n";
}

}  // namespace
}  // namespace reel::tests
