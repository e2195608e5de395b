#pragma once
/// Which strategy is current on the calling thread.

#include <distribute/base/config.hpp>

namespace distribute {

class Strategy;

/// The innermost strategy in scope, or the default one.
/// Source  tf.distribute.get_strategy
Strategy& get_strategy();

/// True when the current strategy is not the default one.
/// Source  tf.distribute.has_strategy
bool has_strategy();

/// Makes `strategy` current on the calling thread without a scope; null undoes that.
/// Throws  FailedPreconditionError inside a scope.
/// Source  tf.distribute.experimental_set_strategy
void experimental_set_strategy(Strategy* strategy);

}  // namespace distribute
