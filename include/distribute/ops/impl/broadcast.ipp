#pragma once
#include <distribute/ops/broadcast.hpp>
