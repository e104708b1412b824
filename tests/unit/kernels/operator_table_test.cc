// SPDX-License-Identifier: Apache-2.0
// kernels/operators.def, the catalog and libreel_cuda.so list the same operators and variants.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "kernels/built_in_catalog.h"
#include "kernels/dispatch/cuda_library.h"

namespace reel::kernels {
namespace {

struct Variants {
  std::string cpu;
  std::string cuda;
};

std::string Listed(const char* variants) {
  return *variants == '\0' ? "-" : absl::StrReplaceAll(variants, {{" ", ", "}});
}

// The rows of operators.def.
std::map<std::string, Variants> Table() {
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

std::string Names(const OpVariants& op) {
  std::vector<std::string> names;
  for (int32_t i = 0; i < op.count; ++i) names.emplace_back(op.variants[i].name);
  return absl::StrJoin(names, ", ");
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
