#pragma once
#include <distribute/ops/activation.hpp>
