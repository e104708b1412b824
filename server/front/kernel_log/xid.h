// SPDX-License-Identifier: Apache-2.0
// Errors of GPUs as NVIDIA's driver writes them into the kernel's log.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace reel::front {

// What an error says of the GPU, and so what an operator does about it.
enum class XidClass {
  kProgram,  // a program did something wrong: the GPU is well
  kMemory,   // of its memory: errors that were corrected, contained or not, and rows put out of use
  kLink,     // to another GPU
  kDevice,   // all others: the GPU or its firmware
};
inline constexpr std::array kXidClasses = {XidClass::kProgram, XidClass::kMemory, XidClass::kLink,
                                           XidClass::kDevice};

std::string_view NameOf(XidClass what);

struct Xid {
  std::string bus_id;  // of the GPU: "0000:3b:00"
  int number = 0;
  std::string text;  // the driver's words, shortened

  XidClass what() const;
};

// Reads a line of the kernel's log; most have no error of a GPU. A hostile line gives at most a
// made-up error with bounded text.
std::optional<Xid> ReadXid(std::string_view line);

}  // namespace reel::front
