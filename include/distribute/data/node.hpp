#pragma once
/// Where elements come from: the nodes of which a dataset is made.

#include <distribute/base/config.hpp>
#include <distribute/data/detail/row_table.hpp>
#include <distribute/data/detail/stream.hpp>
#include <distribute/data/element_spec.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace distribute::data {

/// Source  tf.data.INFINITE_CARDINALITY, tf.data.UNKNOWN_CARDINALITY
inline constexpr int64_t kInfiniteCardinality = -1;
inline constexpr int64_t kUnknownCardinality = -2;

/// For what goes on until its data ends; `cure` is what else can be given.
/// Throws  InvalidArgumentError for kInfiniteCardinality.
void require_end(int64_t cardinality, const std::string& consumer, const std::string& cure);

/// How often a random transformation was passed over. The copy of a node counts its own passes.
struct PassCount {
  PassCount() = default;
  PassCount(const PassCount&) {}
  std::atomic<uint64_t> next{0};
};

class Node;
using NodePtr = std::shared_ptr<const Node>;

/// Immutable, thread-safe; lives as long as the streams it opened.
class Node {
 public:
  virtual ~Node() = default;
  /// Such as "Batch"; `parameters` are the numbers that belong to it.
  virtual const char* kind() const = 0;
  virtual std::vector<int64_t> parameters() const { return {}; }
  virtual std::vector<NodePtr> inputs() const { return {}; }
  /// Makes the same transformation of other inputs. Sources return themselves, as nothing changes.
  virtual NodePtr with_inputs(std::vector<NodePtr> inputs) const = 0;
  /// False where it only moves elements: a saved position fits with it and without.
  virtual bool is_in_positions() const { return true; }

  /// The number of elements, or one of the two constants.
  virtual int64_t cardinality() const { return kUnknownCardinality; }
  virtual ElementSpec element_spec() const = 0;
  /// False where the spec was read off one element, and others may have other sizes.
  virtual bool spec_is_exact() const {
    for (const NodePtr& input : inputs())
      if (!input->spec_is_exact()) return false;
    return true;
  }

  /// A new pass over the elements.
  virtual std::unique_ptr<BatchStream> elements(const Pass& pass) const = 0;
  /// The table whose rows this dataset selects one by one; null when it makes elements otherwise.
  /// With a table, `row_numbers` gives the same pass as `elements`, as numbers.
  virtual std::shared_ptr<const RowTable> table() const { return nullptr; }
  virtual std::unique_ptr<RowStream> row_numbers(const Pass&) const { return nullptr; }

  /// A source that reads files tells which, and can read others instead. Source  FILE autosharding
  virtual std::vector<std::string> files() const { return {}; }
  virtual NodePtr with_files(std::vector<std::string>) const { return nullptr; }

  /// Where a random transformation counts the passes over it; null for others.
  virtual PassCount* passes() const { return nullptr; }

 protected:
  void set_inputs(const std::vector<NodePtr>&) {}  // a source has none
};

/// Base of the transformations of one dataset; unless they say otherwise there are as many elements
/// as before, of the same types and shapes.
class OneInputNode : public Node {
 public:
  explicit OneInputNode(NodePtr input) : input_(std::move(input)) {}
  std::vector<NodePtr> inputs() const override { return {input_}; }
  int64_t cardinality() const override { return input_->cardinality(); }
  ElementSpec element_spec() const override { return input_->element_spec(); }

 protected:
  const Node& input() const { return *input_; }
  void set_inputs(std::vector<NodePtr> inputs) { input_ = std::move(inputs.at(0)); }
  /// For what drops elements, or gives several for one.
  int64_t unknown_unless_infinite() const {
    const bool infinite = input_->cardinality() == kInfiniteCardinality;
    return infinite ? kInfiniteCardinality : kUnknownCardinality;
  }

 private:
  NodePtr input_;
};

/// Base of the transformations of several datasets.
class ManyInputsNode : public Node {
 public:
  explicit ManyInputsNode(std::vector<NodePtr> inputs) : inputs_(std::move(inputs)) {}
  std::vector<NodePtr> inputs() const override { return inputs_; }

 protected:
  void set_inputs(std::vector<NodePtr> inputs) { inputs_ = std::move(inputs); }

  std::vector<NodePtr> inputs_;
};

/// Base of nodes that are copied for other inputs, as all that do not remember what they have seen.
template <typename Derived, typename Base = OneInputNode>
class CopiedNode : public Base {
 public:
  using Base::Base;
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    auto copy = std::make_shared<Derived>(static_cast<const Derived&>(*this));
    copy->set_inputs(std::move(inputs));
    return copy;
  }
};

/// The number of a new pass over a dataset: one more than the last that any of its random
/// transformations has seen, so that `d.take(n)` made anew for each epoch reshuffles too. Passes
/// that several threads start at the same time may get the same number.
uint64_t take_pass(const Node& node);
void set_next_pass(const Node& node, uint64_t number);

/// A number that differs for different pipelines: guards a saved position.
int64_t fingerprint(const Node& node);
/// Number of nodes on the longest way down; tells equal shuffles of one pipeline apart.
int64_t depth(const Node& node);

/// The stream of a node by type of element.
template <typename T>
std::unique_ptr<Stream<T>> open_stream(const Node& node, const Pass& pass);
template <>
inline std::unique_ptr<BatchStream> open_stream<Batch>(const Node& node, const Pass& pass) {
  return node.elements(pass);
}
template <>
inline std::unique_ptr<RowStream> open_stream<int64_t>(const Node& node, const Pass& pass) {
  return node.row_numbers(pass);
}

/// Gives the examples of a stream of row numbers, one by one.
std::unique_ptr<BatchStream> stream_examples(std::shared_ptr<const RowTable> table,
                                             std::unique_ptr<RowStream> rows);

/// A source: the rows of a table in order.
NodePtr table_source(std::shared_ptr<const RowTable> table);

/// Gives the next element, or none at the end.
using Generator = std::function<std::optional<Batch>()>;
/// Starts a generator from its beginning; called once per pass.
using GeneratorFactory = std::function<Generator()>;
/// Makes the dataset of one file.
using FileReader = std::function<NodePtr(const std::string& path)>;

/// Elements must have the shapes and dtypes of `spec` (-1: any size).
/// Throws  InvalidArgumentError at an element that has not; what the generator throws.
/// Source  tf.data.Dataset.from_generator
NodePtr generator_source(GeneratorFactory factory, ElementSpec spec);

/// A source of one element.
/// Throws  InvalidArgumentError for one without components.
/// Source  tf.data.Dataset.from_tensors
NodePtr element_source(Batch element);

/// Gives all elements of the first file, then of the second, and so on. Autosharding by File gives
/// each worker other files.
/// Throws  InvalidArgumentError for no files.
NodePtr file_source(std::vector<std::string> files, FileReader reader);

/// As many threads, or as large a buffer, as suits the machine. Source  tf.data.AUTOTUNE
inline constexpr int64_t kAutotune = -1;

/// How many threads an option `num_parallel_calls` asks for.
int64_t num_threads_for(int64_t num_parallel_calls);

using MapFunction = std::function<Batch(const Batch&)>;
using Predicate = std::function<bool(const Batch&)>;

struct MapOptions {  // of Dataset::map
  /// Calls running at the same time, each on its own thread; the order of elements stays.
  /// kAutotune: config::threading's inter_op_parallelism_threads, or one for each core.
  int64_t num_parallel_calls = 1;
  /// Types and shapes of the results; without it the function is called once on the first element
  /// to find out.
  std::optional<ElementSpec> output_spec = {};
};

/// The function is not called for elements that a later skip, shard or restore drops.
/// Throws  what the function throws, at the element it threw for; the next call goes on behind it.
/// Source  tf.data.Dataset.map
NodePtr map_node(NodePtr input, MapFunction function, const MapOptions& options);

/// Source  tf.data.Dataset.filter
NodePtr filter_node(NodePtr input, Predicate predicate);

/// Options of Dataset::shuffle(). Source  tf.data.Dataset.shuffle
struct ShuffleOptions {
  /// Without one the global seed (tf.random.set_seed's) is taken: the same order in every process.
  std::optional<uint64_t> seed = {};
  bool reshuffle_each_iteration = true;
};

struct InterleaveOptions {   // of Dataset::interleave
  int64_t cycle_length = 2;  // parts read in turn
  int64_t block_length = 1;  // elements of a part before the next one's turn
  /// Parts opened and read ahead at the same time, each on its own thread; kAutotune as for map.
  int64_t num_parallel_calls = 1;
  /// False: a part that has nothing yet is passed over, so that the order depends on threads.
  bool deterministic = true;
};

/// `shard(kShardHint, kShardHint)` marks where AutoShardPolicy::Hint puts the real shard.
/// Source  tf.data.experimental.SHARD_HINT
inline constexpr int64_t kShardHint = -1;

}  // namespace distribute::data
