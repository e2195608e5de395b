#pragma once
/// Writes optimizers as text with class name and configuration, and makes them from it.

#include <distribute/base/config.hpp>
#include <distribute/optim/optimizer.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace distribute::optim {

/// Gives {"class_name": "Adam", "config": {"learning_rate": 0.001, ...}} with the current learning
/// rate, without state.
/// Throws  UnimplementedError for a class without class_name(), or a learning rate that is a
///         function of the program.
/// Source  tf.keras.optimizers.serialize
std::string serialize(const Optimizer& optimizer);

/// Makes an optimizer from such a text; options that the text lacks have their defaults.
/// Throws  InvalidArgumentError for an invalid text, or for a class that is not registered.
/// Source  tf.keras.optimizers.deserialize
std::unique_ptr<Optimizer> deserialize(const std::string& text);

/// Makes deserialize() know a class of the program, whose class_name() is `class_name`.
/// Throws  AlreadyExistsError when the name is taken.
/// Source  tf.keras.utils.register_keras_serializable
void register_optimizer(const std::string& class_name,
                        std::function<std::unique_ptr<Optimizer>(const OptimizerConfig&)> make);

/// Makes the kernel of a step of `optimizer`. An optimizer that was deserialized from
/// UpdateKernel::description(), with that description's step, gives the same bits as the original.
/// Throws  InvalidArgumentError for factors or ratios of another number of variables.
UpdateKernel make_update_kernel(const Optimizer& optimizer, StepNumbers step);

/// A kind of slot, and the attribute of Keras's optimizer that lists the slots of this kind.
struct KerasSlots {
  std::string slot, attribute;
};
/// Gives the kinds of slots of an optimizer's class in the order of Keras. Kinds in one group
/// follow each other weight by weight. A kind that Keras does not know has no attribute.
/// Source  keras.src.optimizers.base_optimizer.BaseOptimizer.variables
std::vector<std::vector<KerasSlots>> keras_slots(const std::string& class_name,
                                                 const std::vector<std::string>& slots);

}  // namespace distribute::optim
