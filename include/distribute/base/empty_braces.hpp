#pragma once
/// Lets a class with optional options be made from empty braces, as in `optim::Adam adam({})`.

#include <distribute/base/config.hpp>

#include <initializer_list>

namespace distribute {

/// Nothing converts to it, so a list of them is always empty.
struct NoElement {
  NoElement(const NoElement&) = default;
};

/// What `{}` becomes first of all. Without a constructor that takes it, `Adam({})` is ambiguous:
/// the braces could be default options or a default optimizer to be copied.
using EmptyBraces = std::initializer_list<NoElement>;

}  // namespace distribute
