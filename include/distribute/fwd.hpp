#pragma once
/// Forward declarations of the main types, for headers that only name them.

#include <cstdint>

namespace distribute {

enum class DType : uint8_t;
class Error;

}  // namespace distribute
