// SPDX-License-Identifier: Apache-2.0
// kernels/operators.def, the table of operators in kernels/README.md and the catalog say the same.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "kernels/built_in_catalog.h"
#include "kernels/dispatch/cuda_library.h"

namespace reel::kernels {
namespace {

struct Cells {
  std::string cpu;
  std::string cuda;

  bool operator==(const Cells&) const = default;
};

std::string Line(const std::string& op, const Cells& cells) {
  return absl::StrCat("| ", op, " | ", cells.cpu, " | ", cells.cuda, " |");
}

std::string Listed(const char* variants) {
  return *variants == '\0' ? "-" : absl::StrReplaceAll(variants, {{" ", ", "}});
}

// operators.def.
std::map<std::string, Cells> Table() {
  return {
#define REEL_OPERATOR(op, name, files, cpu, cuda) {#op, {Listed(cpu), Listed(cuda)}},
#define REEL_HOST_OPERATOR REEL_OPERATOR
#define REEL_FUSED_OPERATOR REEL_OPERATOR
#include "kernels/operators.def"
#undef REEL_FUSED_OPERATOR
#undef REEL_HOST_OPERATOR
#undef REEL_OPERATOR
  };
}

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

std::string Names(const OpVariants& op) {
  std::vector<std::string> names;
  for (int32_t i = 0; i < op.count; ++i) names.emplace_back(op.variants[i].name);
  return absl::StrJoin(names, ", ");
}

TEST(KernelsReadme, ListsEveryOperatorWithItsVariants) {
  auto readme = TableInReadme();
  ASSERT_FALSE(readme.empty()) << "no table found: set REEL_SOURCE or run in the repository's root";
  for (const auto& [op, cells] : Table()) {
    EXPECT_EQ(Line(op, readme[op]), Line(op, cells)) << "kernels/README.md against operators.def";
    readme.erase(op);
  }
  for (const auto& [op, cells] : readme) {
    ADD_FAILURE() << "kernels/README.md has an operator that operators.def has not: " << op;
  }
}

TEST(OperatorTable, ListsTheCpuVariantsOfTheCatalog) {
  auto table = Table();
  EXPECT_EQ(table.size(), BuiltInCpuVariants().size());
  for (const OpVariants& op : BuiltInCpuVariants()) {
    EXPECT_EQ(table[op.op].cpu, Names(op)) << "kernels/operators.def: " << op.op;
  }
}

#ifdef REEL_CUDA_LIBRARY
TEST(OperatorTable, ListsTheCudaVariantsOfTheLibrary) {
  const auto library = LoadCudaLibrary(REEL_CUDA_LIBRARY);
  ASSERT_TRUE(library.ok()) << library.status();
  const auto table = Table();
  const auto with_rows = std::count_if(table.begin(), table.end(),
                                       [](const auto& line) { return line.second.cuda != "-"; });
  EXPECT_EQ((*library)->num_ops, with_rows);
  for (int32_t i = 0; i < (*library)->num_ops; ++i) {
    const OpVariants& op = (*library)->ops[i];
    const auto line = table.find(op.op);
    ASSERT_NE(line, table.end()) << op.op;
    EXPECT_EQ(line->second.cuda, Names(op)) << op.op;
  }
}

// The two sides are compiled apart: equal sizes are the least that lets one call the other.
TEST(CudaLibrary, HasTheOperatorsOfThisProcessWithTheSameParameters) {
  const auto library = LoadCudaLibrary(REEL_CUDA_LIBRARY);
  ASSERT_TRUE(library.ok()) << library.status();
  std::map<std::string, uint64_t> sizes;
  std::vector<std::string> without_generic;
  for (const OpVariants& op : BuiltInCpuVariants()) sizes[op.op] = op.params_size;
  for (int32_t i = 0; i < (*library)->num_ops; ++i) {
    const OpVariants& op = (*library)->ops[i];
    EXPECT_EQ(op.params_size, sizes[op.op]) << op.op;
    const KernelVariant& last = op.variants[op.count - 1];
    const bool is_generic = std::string_view(last.name) == "generic";
    EXPECT_EQ(last.accepts == nullptr, is_generic) << op.op;
    if (!is_generic) without_generic.emplace_back(op.op);
  }
  // Whose other calls are the vendor's.
  EXPECT_EQ(without_generic, std::vector<std::string>{"linear"});
}
#endif

}  // namespace
}  // namespace reel::kernels
