// SPDX-License-Identifier: Apache-2.0
#include "model/weights/manifest.h"

#include <string>

#include "absl/strings/ascii.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/base/digest/sha256.h"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

// Of "abc", the standard's example.
constexpr char kSum[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

class ManifestTest : public ::testing::Test {
 protected:
  absl::Status Verify(const std::string& manifest, const std::string& name = "a.safetensors") {
    const std::string path = folder_.Write("a.safetensors", "abc");
    return VerifyFiles(folder_.Write("sums", manifest), {{name, path}}).status();
  }
  std::string ErrorOf(const std::string& manifest) {
    const absl::Status status = Verify(manifest);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    return std::string(status.message());
  }
  const reel::testing::TempFolder folder_;
};

TEST_F(ManifestTest, TakesFilesThatMatch) {
  const std::string sum = kSum;
  for (const std::string& manifest :
       {sum + "  a.safetensors", sum + " *a.safetensors\n", sum + "  ./a.safetensors\r\n",
        "# made by hand\n\n" + sum + "  a.safetensors\n" + sum + "  somewhere/else\n",
        absl::AsciiStrToUpper(sum) + "  a.safetensors\n"}) {
    EXPECT_TRUE(Verify(manifest).ok()) << Verify(manifest);
  }
}

TEST_F(ManifestTest, NamesAFileThatDoesNotMatch) {
  const std::string other(64, '0');
  const std::string error = ErrorOf(other + "  a.safetensors\n");
  EXPECT_THAT(error, HasSubstr(folder_.path() + "/a.safetensors"));
  EXPECT_THAT(error, HasSubstr(kSum));
  EXPECT_THAT(error, HasSubstr(other));
}

TEST_F(ManifestTest, WantsEveryWeightFileListed) {
  EXPECT_THAT(ErrorOf(std::string(kSum) + "  b.safetensors\n"), HasSubstr("a.safetensors"));
  EXPECT_TRUE(Verify(std::string(kSum) + "  b\n", "config.json").ok());
}

// A shard may have any name.
TEST_F(ManifestTest, KnowsWeightsByTheirBytesToo) {
  const std::string shard = folder_.Write("shard.bin", SafetensorsOf({{"w", {1}}}));
  const std::string manifest = folder_.Write("sums", std::string(kSum) + "  b\n");
  EXPECT_EQ(VerifyFiles(manifest, {{"shard.bin", shard}}).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

// `sort -k2 sums | sha256sum` of the lines that count.
TEST_F(ManifestTest, NamesAllFilesTogetherWhateverTheirOrder) {
  const std::string path = folder_.Write("a", "abc");
  const std::string lines = std::string(kSum) + "  a\n" + kSum + "  b\n";
  const std::string manifest = folder_.Write("sums", lines + kSum + "  c\n");
  const auto one_way = VerifyFiles(manifest, {{"a", path}, {"b", path}});
  const auto other_way = VerifyFiles(manifest, {{"b", path}, {"a", path}});
  ASSERT_TRUE(one_way.ok()) << one_way.status();
  EXPECT_EQ(*one_way, Sha256Hex(lines));
  EXPECT_EQ(*one_way, *other_way);
  EXPECT_NE(*one_way, *VerifyFiles(manifest, {{"a", path}}));
}

TEST_F(ManifestTest, NamesTheLineThatIsNone) {
  for (const std::string& line :
       {std::string("abc  a"), std::string(64, 'x') + "  a", std::string(kSum),
        std::string(kSum) + "_ a", std::string(kSum) + " "}) {
    EXPECT_THAT(ErrorOf("# x\n" + line + "\n"), HasSubstr("line 2")) << line;
  }
}

TEST_F(ManifestTest, MustBeThere) {
  EXPECT_EQ(VerifyFiles(folder_.path() + "/none", {}).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(ManifestTest, ListsFilesByPart) {
  std::filesystem::create_directory(folder_.path() + "/vae");
  const std::string path = folder_.Write("vae/config.json", "{}");
  const auto files = FilesOf(folder_.path(), {"vae", "transformer"});
  ASSERT_THAT(files, SizeIs(1));
  EXPECT_EQ(files[0].name, "vae/config.json");
  EXPECT_EQ(files[0].path, path);
}

}  // namespace
}  // namespace reel::model
