#pragma once
#include <distribute/base/error.hpp>
#include <distribute/launch/detail/job_token.hpp>

#include <cstdint>

#include <unistd.h>

namespace distribute::launch {

DISTRIBUTE_INLINE std::string random_hex(size_t digits) {
  std::string bytes(digits / 2, '\0'), text;
  if (::getentropy(bytes.data(), bytes.size()) != 0)
    throw InternalError("the system gives no random numbers");
  for (const char byte : bytes)
    for (const int shift : {4, 0}) text += "0123456789abcdef"[(uint8_t(byte) >> shift) & 15];
  return text;
}

}  // namespace distribute::launch
