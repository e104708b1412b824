// SPDX-License-Identifier: Apache-2.0
#include "server/render/condition_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/fakes/temp_folder.h"
#include <CLI/CLI.hpp>

namespace reel::render {
namespace {

using ::testing::HasSubstr;

TEST(ReadConditionFiles, TellsPicturesFromClips) {
  const reel::testing::TempFolder folder;
  std::ofstream(folder.File("a.png")) << "\x89PNG and so on, long enough";
  std::ofstream(folder.File("b.mp4")) << std::string("\0\0\0\x20", 4) << "ftypisom and so on";
  RenderOptions options;
  options.conditions = {{folder.File("a.png"), 0, 1}, {folder.File("b.mp4"), 16, 0.5}};
  ASSERT_TRUE(ReadConditionFiles(options).ok());
  ASSERT_EQ(options.spec.conditions.size(), 2u);
  EXPECT_EQ(options.spec.conditions[0].kind, model::Condition::Kind::kImage);
  EXPECT_EQ(*options.spec.conditions[0].bytes, folder.Read("a.png"));
  EXPECT_EQ(options.spec.conditions[1].kind, model::Condition::Kind::kVideo);
  EXPECT_EQ(options.spec.conditions[1].frame_index, 16);
  EXPECT_EQ(options.spec.conditions[1].strength, 0.5);
}

TEST(ReadConditionFiles, ReadsTheSoundBehindThePictures) {
  const reel::testing::TempFolder folder;
  std::ofstream(folder.File("a.png")) << "\x89PNG and so on, long enough";
  std::ofstream(folder.File("b.wav")) << "RIFF and so on";
  RenderOptions options;
  options.conditions = {{folder.File("a.png"), 0, 1}};
  options.sound = folder.File("b.wav");
  ASSERT_TRUE(ReadConditionFiles(options).ok());
  ASSERT_EQ(options.spec.conditions.size(), 2u);
  EXPECT_TRUE(options.spec.conditions[1].is_sound());
  EXPECT_EQ(*options.spec.conditions[1].bytes, "RIFF and so on");
  options.sound = folder.File("nothing.wav");
  EXPECT_THAT(std::string(ReadConditionFiles(options).message()), HasSubstr("nothing.wav"));
}

TEST(ReadConditionFiles, ReadsAReferenceWithItsStrengths) {
  const reel::testing::TempFolder folder;
  std::ofstream(folder.File("a.mp4")) << std::string("\0\0\0\x20", 4) << "ftypisom and so on";
  RenderOptions options;
  CLI::App app;
  AddReferenceFlags(app, options);
  app.parse("--reference " + folder.File("a.mp4") + ":0.5 --reference-attention 0.25");
  ASSERT_TRUE(ReadConditionFiles(options).ok());
  ASSERT_EQ(options.spec.conditions.size(), 1u);
  EXPECT_TRUE(options.spec.conditions[0].is_reference());
  EXPECT_EQ(options.spec.conditions[0].strength, 0.5);
  EXPECT_EQ(options.spec.conditions[0].attention_strength, 0.25);
  EXPECT_THROW(app.parse("--reference-attention 0.25"), CLI::RequiresError);
}

TEST(ReadConditionFiles, NamesAFileThatItCannotRead) {
  const reel::testing::TempFolder folder;
  for (const std::string& path : {folder.File("nothing.png"), folder.File("")}) {
    RenderOptions options;
    options.conditions = {{path, 0, 1}};
    const absl::Status status = ReadConditionFiles(options);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(path));
  }
}

}  // namespace
}  // namespace reel::render
