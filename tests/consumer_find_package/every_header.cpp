// In front of the trainer in its one unit.
#include "../checks/every_header.hpp"
