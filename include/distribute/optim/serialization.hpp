#pragma once
/// Optimizers as text: class name and configuration.

#include <distribute/base/config.hpp>
#include <distribute/optim/optimizer.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace distribute::optim {

/// {"class_name": "Adam", "config": {"learning_rate": 0.001, ...}}, without state. The learning
/// rate is the present one.
/// Throws  UnimplementedError for a class without class_name(), or a schedule.
/// Source  tf.keras.optimizers.serialize
std::string serialize(const Optimizer& optimizer);

/// A new optimizer from such a text; what the text does not name has its default.
/// Throws  InvalidArgumentError for an invalid text, or for a class that is not registered.
/// Source  tf.keras.optimizers.deserialize
std::unique_ptr<Optimizer> deserialize(const std::string& text);

/// Makes deserialize() know a class of the program's own, whose class_name() is `class_name`.
/// Throws  AlreadyExistsError.
/// Source  tf.keras.utils.register_keras_serializable
void register_optimizer(const std::string& class_name,
                        std::function<std::unique_ptr<Optimizer>(const OptimizerConfig&)> make);

/// The kernel of a step of `optimizer`: where that was deserialized from the optimizer text of
/// UpdateKernel::description(), with the step of the same description, it gives the same bits.
/// Throws  InvalidArgumentError for factors or ratios of another number of variables.
UpdateKernel make_update_kernel(const Optimizer& optimizer, StepNumbers step);

/// A kind of slot, and the attribute of Keras's optimizer that lists the slots of this kind.
struct KerasSlots {
  std::string slot, attribute;
};
/// The kinds of slots of an optimizer's class in the order of Keras: groups, within which they
/// follow each other weight by weight. A kind that Keras does not know has no attribute.
/// Source  keras.src.optimizers.base_optimizer.BaseOptimizer.variables
std::vector<std::vector<KerasSlots>> keras_slots(const std::string& class_name,
                                                 const std::vector<std::string>& slots);

}  // namespace distribute::optim
