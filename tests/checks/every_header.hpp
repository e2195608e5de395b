#pragma once
/// All headers as a user may have them, and calls of templates that warn only where they are used.

#include <distribute/arrays.hpp>
#include <distribute/data_service.hpp>
#include <distribute/datasets.hpp>
#include <distribute/distribute.hpp>
#include <distribute/estimator.hpp>
#include <distribute/horovod.hpp>
#include <distribute/http.hpp>
#include <distribute/language_models.hpp>
#include <distribute/metrics.hpp>
#include <distribute/object_stores.hpp>
#include <distribute/platforms.hpp>
#include <distribute/preprocessing.hpp>
#include <distribute/saved_model.hpp>
#include <distribute/saving.hpp>

inline void update_everywhere(distribute::Strategy& strategy,
                              const distribute::Variable& variable) {
  strategy.extended().update(variable, [](const distribute::Variable& v) { v.value(); });
  strategy.extended().update(variable, [](const distribute::Variable& v) { return v.value(); });
}
