// The whole library header-only, with everything that was found (tools/check_bodies.py).
#include "every_header.hpp"
