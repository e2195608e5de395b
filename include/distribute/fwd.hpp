#pragma once
/// Forward declarations of the main types, for headers that only name them.

#include <cstdint>

namespace distribute {

class Error;

enum class DType : uint8_t;
struct Device;
class Shape;
class Tensor;

class Variable;
class GradientTape;

enum class ReduceOp;
class ReplicaContext;
class Strategy;
template <typename T>
class PerReplica;
template <typename T>
class Mirrored;

namespace nn {
class Module;
class Sequential;
}  // namespace nn

}  // namespace distribute
