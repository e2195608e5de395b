#pragma once
/// Lets a class with optional options be made from empty braces, as in `optim::Adam adam({})`.

#include <distribute/base/config.hpp>

namespace distribute {

/// `{}` converts to this type before any other, and no other value converts to it. Without a
/// constructor that takes it, `Adam({})` is ambiguous: the braces could be default options or a
/// default optimizer to be copied.
enum class EmptyBraces {};

}  // namespace distribute
