// SPDX-License-Identifier: Apache-2.0
// The table of operators in kernels/README.md says what the catalog says.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "kernels/built_in_catalog.h"
#include "kernels/dispatch/cuda_library.h"

namespace reel::kernels {
namespace {

struct Cells {
  std::string cpu;
  std::string cuda;
};

std::map<std::string, Cells> TableInReadme() {
  const char* source = std::getenv("REEL_SOURCE");
  std::ifstream file(std::string(source == nullptr ? "." : source) + "/kernels/README.md");
  std::map<std::string, Cells> table;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("<!--", 0) == 0) inside = line.find("<!-- table") == 0;
    const std::vector<std::string> cells = absl::StrSplit(line, " | ");
    if (!inside || cells.size() != 3 || cells[0] == "| operator") continue;
    table[cells[0].substr(2)] = {cells[1], cells[2].substr(0, cells[2].rfind(" |"))};
  }
  return table;
}

std::string Names(const OpRows& rows) {
  std::vector<std::string> names;
  for (int32_t i = 0; i < rows.count; ++i) names.emplace_back(rows.rows[i].variant);
  return absl::StrJoin(names, ", ");
}

TEST(KernelsReadme, ListsTheCpuRowsOfEveryOperator) {
  const auto table = TableInReadme();
  EXPECT_EQ(table.size(), BuiltInCpuRows().size());
  for (const OpRows& rows : BuiltInCpuRows()) {
    const auto line = table.find(rows.op);
    ASSERT_NE(line, table.end()) << "add: | " << rows.op << " | " << Names(rows) << " | ... |";
    EXPECT_EQ(line->second.cpu, Names(rows)) << rows.op;
  }
}

#ifdef REEL_CUDA_LIBRARY
TEST(KernelsReadme, ListsTheCudaRowsOfEveryOperator) {
  const auto library = LoadCudaLibrary(REEL_CUDA_LIBRARY);
  ASSERT_TRUE(library.ok()) << library.status();
  const auto table = TableInReadme();
  const auto with_rows = std::count_if(table.begin(), table.end(),
                                       [](const auto& line) { return line.second.cuda != "-"; });
  EXPECT_EQ((*library)->num_ops, with_rows);
  for (int32_t i = 0; i < (*library)->num_ops; ++i) {
    const OpRows& rows = (*library)->ops[i];
    const auto line = table.find(rows.op);
    ASSERT_NE(line, table.end()) << rows.op;
    EXPECT_EQ(line->second.cuda, Names(rows)) << rows.op;
  }
}

// The two sides are compiled apart: equal sizes are the least that lets one call the other.
TEST(CudaLibrary, HasTheOperatorsOfThisProcessWithTheSameParameters) {
  const auto library = LoadCudaLibrary(REEL_CUDA_LIBRARY);
  ASSERT_TRUE(library.ok()) << library.status();
  std::map<std::string, uint64_t> sizes;
  for (const OpRows& rows : BuiltInCpuRows()) sizes[rows.op] = rows.params_size;
  for (int32_t i = 0; i < (*library)->num_ops; ++i) {
    const OpRows& rows = (*library)->ops[i];
    EXPECT_EQ(rows.params_size, sizes[rows.op]) << rows.op;
    EXPECT_STREQ(rows.rows[rows.count - 1].variant, "generic") << rows.op;
    EXPECT_EQ(rows.rows[rows.count - 1].accepts, nullptr) << rows.op;
  }
}
#endif

}  // namespace
}  // namespace reel::kernels
