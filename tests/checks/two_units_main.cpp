// One of two translation units that include everything; a function defined twice fails to link.
#include <distribute/fwd.hpp>

#include <distribute/distribute.hpp>

#include <cstdio>

const char* name_from_other_unit();

// Templates that warn only where they are used.
void update_everywhere(distribute::Strategy& strategy, const distribute::Variable& variable) {
  strategy.extended().update(variable, [](const distribute::Variable& v) { v.value(); });
  strategy.extended().update(variable, [](const distribute::Variable& v) { return v.value(); });
}

int main() {
  const char* here = distribute::status_code_name(distribute::StatusCode::DataLoss);
  std::printf("%s %s\n", here, name_from_other_unit());
  return here == name_from_other_unit() ? 0 : 1;  // one definition, hence one literal
}
