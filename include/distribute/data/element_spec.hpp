#pragma once
/// Shapes and dtypes of a dataset's elements, and byte strings as elements.

#include <distribute/base/config.hpp>
#include <distribute/data/batch.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::data {

/// Shape, dtype and name of one component. Source  tf.TensorSpec
struct TensorSpec {
  std::vector<int64_t> shape = {};  // -1: unknown
  DType dtype = DType::Float32;
  std::string name = {};  // name of the component; "": it has none
  bool operator==(const TensorSpec&) const = default;
};

/// The specs of all components.
using ElementSpec = std::vector<TensorSpec>;

/// Formats a spec as "([-1, 28, 28, 1] float32, [-1] int64)", with names as "(image: [28, 28]
/// uint8, label: [] int64)".
std::string to_string(const ElementSpec& spec);

ElementSpec spec_of(const Batch& element);  // shapes and dtypes of an element

/// Returns the names of the components; null when no component has one.
ComponentNames names_of(const ElementSpec& spec);

/// These give the spec with a new first axis of `size` (-1: unknown), and without the first axis.
ElementSpec with_batch_axis(ElementSpec spec, int64_t size);
/// Throws  InvalidArgumentError for scalars.
ElementSpec without_batch_axis(ElementSpec spec);

/// Returns whether all sizes are known.
bool is_static(const ElementSpec& spec);
/// Returns the first axis that all components share; -1 when it is unknown or differs.
int64_t static_batch_size(const ElementSpec& spec);

/// Gives the spec of the elements that fit `a` or `b`: where their sizes differ it has -1.
/// Throws  InvalidArgumentError when ranks, dtypes or numbers of components differ.
ElementSpec common_spec(const ElementSpec& a, const ElementSpec& b);

/// Makes a batch of no rows, in which other unknown sizes are 0. A replica without data gets it.
Batch empty_batch(const ElementSpec& spec);

/// Makes uint8 [size] from the bytes without a copy. It stands for tf.data's scalar string.
Tensor bytes_tensor(std::string bytes);
/// Gives the bytes of such a tensor; they live as long as the tensor.
/// Throws  InvalidArgumentError for another dtype.
std::string_view bytes_of(const Tensor& tensor);

/// A pass with this number reads an element to find the spec, and so do the passes of its parts. A
/// source that shares its elements with other readers takes none of their elements in it.
inline constexpr uint64_t kSpecPass = UINT64_MAX;

}  // namespace distribute::data
