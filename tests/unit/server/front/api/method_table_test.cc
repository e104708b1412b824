// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/method_table.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "grpc/health/v1/health.pb.h"
#include "reel/v1/server_service.pb.h"
#include "reel/v1/video_service.pb.h"

namespace reel::front {
namespace {

std::map<std::string, const google::protobuf::MethodDescriptor*> Served() {
  std::map<std::string, const google::protobuf::MethodDescriptor*> methods;
  // A message of each file links its descriptors.
  for (const auto* file :
       {v1::GetVideoRequest::descriptor()->file(), v1::GetServerInfoRequest::descriptor()->file(),
        grpc::health::v1::HealthCheckRequest::descriptor()->file()}) {
    for (int s = 0; s < file->service_count(); ++s) {
      for (int m = 0; m < file->service(s)->method_count(); ++m) {
        methods[file->service(s)->method(m)->full_name()] = file->service(s)->method(m);
      }
    }
  }
  return methods;
}

TEST(MethodTable, HasEveryRpcOfTheDescriptorsAndNoOther) {
  const auto served = Served();
  EXPECT_GE(served.size(), 15U);
  std::set<std::string> tabled;
  for (const MethodRow& row : AllMethods()) {
    const std::string name = std::string(row.service) + "." + std::string(row.name);
    EXPECT_TRUE(tabled.insert(name).second) << name;
    ASSERT_EQ(served.count(name), 1U) << name;
    EXPECT_EQ(served.at(name)->server_streaming(), row.streams) << name;
  }
  for (const auto& [name, method] : served) {
    EXPECT_EQ(tabled.count(name), 1U) << name << " may be called by nobody knows whom";
  }
}

TEST(MethodTable, OnlyProbesNeedNoToken) {
  for (const MethodRow& row : AllMethods()) {
    EXPECT_EQ(!row.role.has_value(), row.service == "grpc.health.v1.Health") << row.name;
  }
}

TEST(MethodTable, WhatChangesSomethingOrTellsOfOtherServersNeedsMoreThanAViewer) {
  for (const MethodRow& row : AllMethods()) {
    const bool changes =
        row.name == "GenerateVideo" || row.name == "CreateVideo" || row.name == "CancelVideo" ||
        row.name == "DeleteVideo" || row.name == "LoadModel" || row.name == "UnloadModel" ||
        row.name == "RestoreWorker" || row.name == "CheckFleet" || row.name == "UploadFile";
    const bool tells_of_others = row.name == "GetFleet";
    EXPECT_EQ(row.role.value_or(Role::kViewer) >= Role::kUser, changes || tells_of_others)
        << row.name;
  }
}

// A row of the table in SECURITY.md.
std::string Documented(const MethodRow& row) {
  std::string text = absl::StrCat("| `", std::string(row.name), "` | ", row.role ? "-" : "yes");
  for (const Role role : {Role::kViewer, Role::kUser, Role::kAdmin}) {
    absl::StrAppend(&text, " | ", row.role.value_or(Role::kViewer) <= role ? "yes" : "-");
  }
  return text + " |";
}

TEST(MethodTable, IsWhatThePageOfSecuritySays) {
  const char* source = std::getenv("REEL_SOURCE");
  std::ifstream page(std::string(source == nullptr ? "." : source) + "/SECURITY.md");
  ASSERT_TRUE(page.is_open());
  std::vector<std::string> documented, expected;
  for (std::string line; std::getline(page, line);) {
    if (line.rfind("| `", 0) == 0) documented.push_back(line);
  }
  for (const MethodRow& row : AllMethods()) expected.push_back(Documented(row));
  EXPECT_EQ(documented, expected);
}

TEST(MethodTable, RowsAreFoundByMethod) {
  for (const MethodRow& row : AllMethods()) EXPECT_EQ(&RowOf(row.method), &row);
}

}  // namespace
}  // namespace reel::front
