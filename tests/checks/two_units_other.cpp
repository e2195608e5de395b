// The other translation unit; see two_units_main.cpp.
#include "every_header.hpp"

const char* name_from_other_unit() {
  return distribute::status_code_name(distribute::StatusCode::DataLoss);
}
