// One of two translation units that include everything; a function defined twice fails to link.
#include "every_header.hpp"

#include <cstdio>

const char* name_from_other_unit();

int main() {
  const char* here = distribute::status_code_name(distribute::StatusCode::DataLoss);
  std::printf("%s %s\n", here, name_from_other_unit());
  return here == name_from_other_unit() ? 0 : 1;  // one definition, hence one literal
}
