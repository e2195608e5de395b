#pragma once
/// What a trainer needs, in one include.

#include <distribute/distribute.hpp>
