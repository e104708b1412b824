// SPDX-License-Identifier: Apache-2.0
#include "kernels/plugins/plugin_elf.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace reel::kernels {
namespace {

#if defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
constexpr uint32_t kLazyCall = R_AARCH64_JUMP_SLOT;
#else
constexpr uint16_t kMachine = EM_X86_64;
constexpr uint32_t kLazyCall = R_X86_64_JUMP_SLOT;
#endif

// A file's bytes; every read is checked against its end.
class Image {
 public:
  explicit Image(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat facts{};
    if (fd >= 0 && fstat(fd, &facts) == 0 && facts.st_size > 0) {
      size_ = static_cast<uint64_t>(facts.st_size);
      void* data = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
      data_ = data == MAP_FAILED ? nullptr : static_cast<const char*>(data);
    }
    if (fd >= 0) close(fd);
    if (data_ == nullptr) size_ = 0;
  }
  ~Image() {
    if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
  }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  template <typename T>
  std::optional<T> At(uint64_t offset) const {
    if (offset > size_ || size_ - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, data_ + offset, sizeof(T));
    return value;
  }
  std::string_view TextAt(uint64_t offset) const {
    if (offset >= size_) return "";
    return {data_ + offset, strnlen(data_ + offset, size_ - offset)};
  }

 private:
  const char* data_ = nullptr;
  uint64_t size_ = 0;
};

// The dynamic section of a library, and names behind it.
class Dynamic {
 public:
  explicit Dynamic(const Image& image) : image_(image) {
    const auto header = image.At<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != kMachine ||
        header->e_type != ET_DYN) {
      return;
    }
    for (uint64_t i = 0; i < header->e_phnum; ++i) {
      const auto segment = image.At<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr));
      if (segment) segments_.push_back(*segment);
    }
    for (const Elf64_Phdr& segment : segments_) {
      if (segment.p_type != PT_DYNAMIC) continue;
      for (uint64_t i = 0; i < segment.p_filesz / sizeof(Elf64_Dyn); ++i) {
        const auto entry = image.At<Elf64_Dyn>(segment.p_offset + i * sizeof(Elf64_Dyn));
        if (!entry || entry->d_tag == DT_NULL) break;
        entries_.push_back(*entry);
      }
      return;  // the section exists
    }
  }

  bool valid() const { return !entries_.empty() && Value(DT_STRTAB) && Value(DT_SYMTAB); }
  const std::vector<Elf64_Dyn>& entries() const { return entries_; }
  std::optional<uint64_t> Value(int64_t tag) const {
    for (const Elf64_Dyn& entry : entries_) {
      if (entry.d_tag == tag) return entry.d_un.d_val;
    }
    return std::nullopt;
  }
  std::string_view Text(uint64_t offset) const {
    return image_.TextAt(FileOffset(*Value(DT_STRTAB)) + offset);
  }
  // Calls `visit(symbol, name, relocation type)` for each relocation of an undefined symbol.
  template <typename Visit>
  void ForEachUndefined(const Visit& visit) const {
    ForEachIn(Value(DT_RELA), Value(DT_RELASZ), visit);
    ForEachIn(Value(DT_JMPREL), Value(DT_PLTRELSZ), visit);
  }

 private:
  uint64_t FileOffset(uint64_t address) const {
    for (const Elf64_Phdr& segment : segments_) {
      if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
          address - segment.p_vaddr < segment.p_filesz) {
        return address - segment.p_vaddr + segment.p_offset;
      }
    }
    return ~uint64_t{0} >> 1;  // past every file
  }
  template <typename Visit>
  void ForEachIn(std::optional<uint64_t> table, std::optional<uint64_t> bytes,
                 const Visit& visit) const {
    if (!table || !bytes) return;
    const uint64_t begin = FileOffset(*table), symbols = FileOffset(*Value(DT_SYMTAB));
    for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= *bytes; at += sizeof(Elf64_Rela)) {
      const auto entry = image_.At<Elf64_Rela>(begin + at);
      if (!entry) return;
      const auto symbol =
          image_.At<Elf64_Sym>(symbols + ELF64_R_SYM(entry->r_info) * sizeof(Elf64_Sym));
      if (!symbol || ELF64_R_SYM(entry->r_info) == 0 || symbol->st_shndx != SHN_UNDEF) continue;
      visit(Text(symbol->st_name), static_cast<uint32_t>(ELF64_R_TYPE(entry->r_info)));
    }
  }

  const Image& image_;
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Dyn> entries_;
};

bool BindsAtOnce(const Dynamic& dynamic) {
  return dynamic.Value(DT_BIND_NOW).has_value() ||
         (dynamic.Value(DT_FLAGS).value_or(0) & DF_BIND_NOW) != 0 ||
         (dynamic.Value(DT_FLAGS_1).value_or(0) & DF_1_NOW) != 0;
}

bool IsPython(std::string_view name) { return name.starts_with("Py") || name.starts_with("_Py"); }

absl::Status NeedsPython(std::string_view what) {
  return absl::FailedPreconditionError(
      absl::StrCat("The plug-in's library needs Python in this process: ",
                   absl::string_view(what.data(), what.size())));
}

}  // namespace

absl::Status CheckPluginElf(const std::string& path) {
  const Image image(path);
  const Dynamic dynamic(image);
  if (!dynamic.valid()) {
    return absl::FailedPreconditionError(
        "The plug-in's library is no shared library of this machine");
  }
  for (const Elf64_Dyn& entry : dynamic.entries()) {
    if (entry.d_tag != DT_NEEDED) continue;
    const std::string_view needed = dynamic.Text(entry.d_un.d_val);
    if (needed.starts_with("libtorch_python") || needed.starts_with("libpython")) {
      return NeedsPython(needed);
    }
  }
  const bool at_once = BindsAtOnce(dynamic);
  absl::Status refused;
  dynamic.ForEachUndefined([&](std::string_view name, uint32_t relocation) {
    const bool called_later = relocation == kLazyCall && !at_once;
    if (name.find("pybind11") != std::string_view::npos || (IsPython(name) && !called_later)) {
      refused.Update(NeedsPython(name));
    }
  });
  return refused;
}

}  // namespace reel::kernels
