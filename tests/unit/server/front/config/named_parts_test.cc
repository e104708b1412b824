// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/named_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(NamedParts, EveryFileOfAModelMustBeThere) {
  const reel::testing::TempFolder folder;
  ServerOptions options;
  model::LoadOptions model{"m", folder.path(), "", {}};
  model.manifest_file = folder.File("sums");
  model.text_folder = folder.File("text");
  options.models = {{"card", "", "", {}}, model};
  EXPECT_THAT(MissingParts(options, ""), ElementsAre(AllOf(StartsWith("models[1].manifest_file:"),
                                                           HasSubstr(folder.File("sums"))),
                                                     StartsWith("models[1].text_folder:")));
  options.models[1].manifest_file = folder.Write("sums", "");
  options.models[1].text_folder.clear();
  EXPECT_THAT(MissingParts(options, ""), IsEmpty());
  options.models[1].parts = {{model::ModelPart::kVae, folder.File("vae.gguf")}};
  EXPECT_THAT(MissingParts(options, ""), ElementsAre(StartsWith("models[1].parts[0].path:")));
  options.models[1].parts.clear();
  options.models[1].path = folder.File("nowhere");
  EXPECT_THAT(MissingParts(options, ""), ElementsAre(StartsWith("models[1].path:")));
  options.models[1].path = folder.File("sum");
  EXPECT_THAT(MissingParts(options, ""),
              ElementsAre(HasSubstr("; the nearest there is " + folder.File("sums"))));
}

TEST(NamedParts, AGpuNeedsABuildWithKernelsForIt) {
  const reel::testing::TempFolder folder;
  ServerOptions options;
  options.workers = {{"cpu", "cpu", {}}, {"gpu", "cuda:0", {}}};
  EXPECT_THAT(MissingParts(options, folder.File("libreel_cuda.so")),
              ElementsAre(AllOf(StartsWith("workers[1].device:"), HasSubstr("libreel_cuda.so"))));
  options.workers[1].device = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6";
  EXPECT_THAT(MissingParts(options, folder.File("libreel_cuda.so")),
              ElementsAre(HasSubstr("no kernels for GPU-8932f937")));
  EXPECT_THAT(MissingParts(options, folder.Write("libreel_cuda.so", "x")), IsEmpty());
}

}  // namespace
}  // namespace reel::front
