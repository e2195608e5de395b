#pragma once
/// What device/own_convolutions.hpp brings, with its bodies.
/// Written by tools/check_umbrella.py.

#include <distribute/device/own_convolutions.hpp>

#ifndef DISTRIBUTE_SEPARATE_COMPILATION
#include <distribute/impl/own_convolutions_bodies.hpp>
#endif
