// The same for what strategy.hpp brings by itself.
#include <distribute/strategy.hpp>
