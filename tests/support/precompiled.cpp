// Carries the precompiled header that all tests share, and registers the annexes that they link.
#include <distribute/metrics.hpp>
#include <distribute/object_stores.hpp>
#include <distribute/platforms.hpp>
#ifdef DISTRIBUTE_TESTS_LINK_SAVED_MODEL
#include <distribute/saved_model.hpp>
#endif
