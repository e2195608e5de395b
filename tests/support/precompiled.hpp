#pragma once
/// What every test includes anyway; precompiled once.

#include <tests/support/catch.hpp>
