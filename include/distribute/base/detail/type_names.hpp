#pragma once
/// Names of C++ types for messages.

#include <distribute/base/config.hpp>

#include <string>
#include <typeinfo>

namespace distribute::base_internal {

/// Returns the name of a type as it is written in the source, "int (int)" for "FiiE". A text that
/// is no name of the compiler's stays as it is.
std::string readable_type(const std::string& name);

/// Returns the name of a class without namespaces, functions and template arguments around it.
std::string class_name(const std::type_info& type);

}  // namespace distribute::base_internal
