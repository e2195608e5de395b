// The library's functions, compiled once for the whole program.
#include <distribute/impl/src.hpp>
