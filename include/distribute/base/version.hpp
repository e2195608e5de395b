#pragma once
/// The version of the library as text.

#include <distribute/base/config.hpp>

namespace distribute {

#define DISTRIBUTE_TEXT_OF(x) #x
#define DISTRIBUTE_TEXT(x) DISTRIBUTE_TEXT_OF(x)
/// Such as "0.1.0".
/// Source  tf.version.VERSION
inline constexpr const char* kVersion =
    DISTRIBUTE_TEXT(DISTRIBUTE_VERSION_MAJOR) "." DISTRIBUTE_TEXT(
        DISTRIBUTE_VERSION_MINOR) "." DISTRIBUTE_TEXT(DISTRIBUTE_VERSION_PATCH);
#undef DISTRIBUTE_TEXT
#undef DISTRIBUTE_TEXT_OF

}  // namespace distribute
