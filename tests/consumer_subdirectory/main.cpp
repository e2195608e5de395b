// A call into the library; what the whole of it costs header-only, the check on an installed copy
// has paid already.
#include <distribute/base/error.hpp>

#include <cstdio>

int main() { std::puts(distribute::status_code_name(distribute::StatusCode::NotFound)); }
