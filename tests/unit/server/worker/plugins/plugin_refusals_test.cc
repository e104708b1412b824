// SPDX-License-Identifier: Apache-2.0
// Every reason to refuse a plug-in, each with its status and its words; the catalog is as before.
#include <gmock/gmock.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "server/worker/plugin_loader.h"
#include "tests/fakes/plugins/kernel_repository.h"
#include "tests/unit/server/worker/plugins/loaded_variants.h"

namespace reel::server {
namespace {

using absl::StatusCode;
using ::testing::AllOf;
using ::testing::HasSubstr;

class PluginRefusalsTest : public ::testing::Test {
 protected:
  // Opens `source` and expects this refusal.
  void Refuses(const kernels::PluginSource& source, StatusCode code, const std::string& words) {
    const auto before = catalog_.VariantNames("rms_norm");
    const auto opened = loader_.Open(source);
    EXPECT_EQ(opened.status().code(), code) << opened.status();
    EXPECT_THAT(std::string(opened.status().message()), HasSubstr(words));
    EXPECT_EQ(catalog_.VariantNames("rms_norm"), before);
  }
  void RefusesPlugin(const std::string& plugin, StatusCode code, const std::string& words) {
    repository_.AddPlugin(plugin, plugin);
    Refuses(repository_.Source("mine", plugin), code, words);
  }
  void RefusesMetadata(const std::string& text, const std::string& words) {
    repository_.AddPlugin("example_norms");
    std::ofstream(repository_.File("metadata.json")) << text;
    Refuses(repository_.Source("mine"), StatusCode::kInvalidArgument, words);
  }

  testing::KernelRepository repository_;
  kernels::KernelCatalog catalog_ = kernels::BuiltInCatalog();
  PluginLoader loader_{catalog_, {}, nullptr};
};

TEST_F(PluginRefusalsTest, FoldersOutsideTheRoot) {
  repository_.AddPlugin("example_norms", "inside/repository");
  kernels::PluginSource source = repository_.Source("mine");
  source.root += "/inside";
  EXPECT_TRUE(loader_.Open(source).ok());
  const testing::TempFolder elsewhere;
  std::filesystem::create_directory_symlink(elsewhere.path(), repository_.root() + "/inside/link");
  source.folder = "link";
  Refuses(source, StatusCode::kPermissionDenied, "lies outside plugin_root");
  source.folder = "..";
  Refuses(source, StatusCode::kPermissionDenied, "lies outside plugin_root");
  source.folder = "/etc";
  Refuses(source, StatusCode::kPermissionDenied, "lies outside plugin_root");
}

TEST_F(PluginRefusalsTest, FilesOutsideTheRoot) {
  repository_.AddPlugin("example_norms");
  const std::string library = repository_.File("example_norms.so");
  std::filesystem::remove(library);
  std::filesystem::create_symlink(testing::TestPlugin("example_norms"), library);
  Refuses(repository_.Source("mine"), StatusCode::kPermissionDenied, "lies outside plugin_root");
}

TEST_F(PluginRefusalsTest, WhatIsNotThere) {
  Refuses(repository_.Source("mine", "nowhere"), StatusCode::kNotFound, "no such folder");
  std::filesystem::create_directory(repository_.root() + "/empty");
  Refuses(repository_.Source("mine", "empty"), StatusCode::kNotFound, "holds no builds");
  kernels::PluginSource source = repository_.Source("mine");
  source.root = "relative";
  Refuses(source, StatusCode::kNotFound, "plugin_root must be an absolute path");
}

TEST_F(PluginRefusalsTest, BuildsForOtherMachinesEachWithItsReason) {
  for (const char* variant :
       {"reel1-cpu-riscv64-linux", "reel2-cpu-x86_64-linux", "reel1-cu130-x86_64-linux",
        "torch-cpu", "nonsense", "torch19-cxx11-cpu-x86_64-linux"}) {
    testing::BuildToPack build;
    build.variant = variant;
    build.files = {{"a.so", "x"}};
    repository_.Add(build);
  }
  const auto opened = loader_.Open(repository_.Source("mine"));
  EXPECT_EQ(opened.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(opened.status().message()),
              AllOf(HasSubstr("riscv64-linux: it is for riscv64"),
                    HasSubstr("reel2-cpu-x86_64-linux: it is for version 2"),
                    HasSubstr("reel1-cu130-x86_64-linux: it is for CUDA"),
                    HasSubstr("torch-cpu: it holds Python code"),
                    HasSubstr("nonsense: its name is none of a build"),
                    HasSubstr("torch19-cxx11-cpu-x86_64-linux: it ")));
}

TEST_F(PluginRefusalsTest, MetadataThatSaysTooLittle) {
  RefusesMetadata("not JSON", "must be a JSON object");
  RefusesMetadata(std::string(100000, '['), "must be a JSON object");
  RefusesMetadata(R"({"id": "a-b"})", "id must be an identifier");
  RefusesMetadata(R"({"id": "../x"})", "id must be an identifier");
  RefusesMetadata(R"({"id": "a"})", "name must be there");
  RefusesMetadata(R"({"id": "a", "name": "n", "backend": {"type": "metal"}})", "cpu or cuda");
  const std::string head = R"({"id": "a", "name": "n", "backend": {"type": "cpu"})";
  RefusesMetadata(head + "}", "digest must say");
  RefusesMetadata(head + R"(, "digest": {"algorithm": "md5", "files": {}}})", "must be sha256");
  RefusesMetadata(head + R"(, "digest": {"algorithm": "sha256", "files": {}}})", "1 to 4096 files");
  RefusesMetadata(head + R"(, "digest": {"algorithm": "sha256", "files": {"a.so": "AAAA"}}})",
                  "32 bytes in base64");
  RefusesMetadata(head + R"(, "digest": {"algorithm": "sha256", "files": {"../a.so": "AAAA"}}})",
                  "paths inside the build");
}

TEST_F(PluginRefusalsTest, MetadataThatIsTooLarge) {
  RefusesMetadata(std::string((1 << 20) + 1, ' '), "no plain file of at most 1048576 bytes");
}

TEST_F(PluginRefusalsTest, MetadataThatIsNotThere) {
  repository_.AddPlugin("example_norms");
  std::filesystem::remove(repository_.File("metadata.json"));
  Refuses(repository_.Source("mine"), StatusCode::kNotFound, "metadata.json");
}

TEST_F(PluginRefusalsTest, AnotherBackendThanItsFolderSays) {
  testing::BuildToPack build;
  build.files = {{"a.so", "x"}};
  build.backend = R"({"type": "cuda", "archs": ["9.0a"]})";
  repository_.Add(build);
  Refuses(repository_.Source("mine"), StatusCode::kInvalidArgument, "another backend");
}

TEST_F(PluginRefusalsTest, AByteThatWasChanged) {
  repository_.AddPlugin("example_norms");
  std::fstream library(repository_.File("example_norms.so"),
                       std::ios::in | std::ios::out | std::ios::binary);
  library.seekp(200);
  library.put('x');
  library.close();
  Refuses(repository_.Source("mine"), StatusCode::kDataLoss, "is not what metadata.json says");
}

TEST_F(PluginRefusalsTest, AFileThatIsMissingOrUnknown) {
  repository_.AddPlugin("example_norms");
  std::ofstream(repository_.File("other.so")) << "x";
  Refuses(repository_.Source("mine"), StatusCode::kDataLoss,
          "not named by metadata.json: other.so");
  std::filesystem::remove(repository_.File("other.so"));
  std::filesystem::remove(repository_.File("example_norms.so"));
  Refuses(repository_.Source("mine"), StatusCode::kDataLoss, "is missing: example_norms.so");
}

TEST_F(PluginRefusalsTest, AnotherBuildThanTheConfigurationPins) {
  repository_.AddPlugin("example_norms");
  kernels::PluginSource source = repository_.Source("mine");
  source.sha256 = std::string(64, '0');
  Refuses(source, StatusCode::kDataLoss, "not the one that the configuration pins");
}

TEST_F(PluginRefusalsTest, LibrariesThatAreNoneOrTooMany) {
  testing::BuildToPack build;
  build.files = {{"readme.txt", "x"}};
  repository_.Add(build, "none");
  Refuses(repository_.Source("mine", "none"), StatusCode::kInvalidArgument, "no library *.so");
  build.files = {{"a.so", "x"}, {"b.so", "x"}};
  repository_.Add(build, "two");
  Refuses(repository_.Source("mine", "two"), StatusCode::kInvalidArgument, "more than one library");
  build.files = {{"a.so", "MZ, and not ELF"}};
  repository_.Add(build, "text");
  Refuses(repository_.Source("mine", "text"), StatusCode::kFailedPrecondition,
          "no shared library of this machine");
}

TEST_F(PluginRefusalsTest, LibrariesThatAreCutShort) {
  std::ifstream in(testing::TestPlugin("example_norms"), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  for (const size_t size : {size_t{4}, size_t{63}, size_t{64}, size_t{200}, whole.size() / 8}) {
    testing::BuildToPack build;
    build.files = {{"a.so", whole.substr(0, size)}};
    const std::string folder = absl::StrCat("cut-", size);
    repository_.Add(build, folder);
    const auto opened = loader_.Open(repository_.Source("mine", folder));
    EXPECT_EQ(opened.status().code(), StatusCode::kFailedPrecondition) << size;
  }
}

TEST_F(PluginRefusalsTest, LibrariesThatNeedPython) {
  RefusesPlugin("bad_needs_python_data", StatusCode::kFailedPrecondition, "_Py_NoneStruct");
  RefusesPlugin("bad_needs_python_at_once", StatusCode::kFailedPrecondition, "PyModule_Create2");
  RefusesPlugin("bad_pybind", StatusCode::kFailedPrecondition, "pybind11");
}

TEST_F(PluginRefusalsTest, TablesThatAreNotReels) {
  RefusesPlugin("bad_no_entry", StatusCode::kFailedPrecondition, "it lacks reel_plugin_v1");
  RefusesPlugin("bad_version", StatusCode::kFailedPrecondition, "another version: 2, expected 1");
  RefusesPlugin("bad_no_variants", StatusCode::kInvalidArgument, "0 variants");
  RefusesPlugin("bad_variant_name", StatusCode::kInvalidArgument, "name must be letters");
  RefusesPlugin("bad_no_launch", StatusCode::kInvalidArgument, "launch must be there");
  RefusesPlugin("bad_types", StatusCode::kInvalidArgument, "dtypes must be");
  RefusesPlugin("bad_capability", StatusCode::kInvalidArgument, "it is for the CPU");
}

TEST_F(PluginRefusalsTest, VariantsThatFitNoOperator) {
  RefusesPlugin("bad_operator", StatusCode::kInvalidArgument, "'rms_morn' is none");
  RefusesPlugin("bad_operator_without_test", StatusCode::kInvalidArgument,
                "cannot bring variants for this operator: quantize_rows; these take them");
  RefusesPlugin("bad_params_size", StatusCode::kInvalidArgument, "other parameters");
}

TEST_F(PluginRefusalsTest, VariantsThatFailTheirTest) {
  RefusesPlugin("bad_wrong_result", StatusCode::kFailedPrecondition, "computes something else");
  RefusesPlugin("bad_fails", StatusCode::kFailedPrecondition, "error 7");
  RefusesPlugin("bad_takes_nothing", StatusCode::kFailedPrecondition, "takes none of the calls");
}

TEST_F(PluginRefusalsTest, NamesAndBuildsThatAreTaken) {
  repository_.AddPlugin("example_norms");
  Refuses(repository_.Source("cpu"), StatusCode::kAlreadyExists, "rms_norm=cpu");
  ASSERT_TRUE(loader_.Open(repository_.Source("mine")).ok());
  Refuses(repository_.Source("other"), StatusCode::kAlreadyExists, "example_norms");
}

}  // namespace
}  // namespace reel::server
