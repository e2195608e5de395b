#include "text.hpp"

#include <algorithm>
#include <vector>

namespace dist = distribute;
namespace data = distribute::data;

namespace text_transformer {

namespace {

/// The position of the first byte that the vocabulary lacks; the size where there is none.
size_t first_unknown(const std::string& text, int64_t vocabulary) {
  const auto unknown = [vocabulary](unsigned char c) { return c >= vocabulary; };
  return size_t(std::find_if(text.begin(), text.end(), unknown) - text.begin());
}

template <typename T>
dist::Tensor numbers(const std::string& text, const dist::Shape& shape) {
  std::vector<T> all(text.size());
  std::transform(text.begin(), text.end(), all.begin(), [](unsigned char c) { return T(c); });
  return dist::Tensor(shape, all);
}

}  // namespace

Text load_text(const std::string& directory, const Options& o) {
  std::string all;
  for (const std::string& path : data::match_files(dist::io::join_path(directory, "*.txt"))) {
    const std::string text = dist::value_or_throw(dist::io::read_file(path));
    if (const size_t at = first_unknown(text, o.vocabulary); at < text.size())
      throw dist::UsageError(dist::str_cat(
          path, ": byte ", at, " is ", int(static_cast<unsigned char>(text[at])),
          ", beyond --vocabulary=", o.vocabulary, "; --vocabulary=256 takes any text"));
    all += text;
  }
  const size_t end = all.size() - all.size() / 20;
  if (int64_t(all.size() - end) <= o.context)
    throw dist::UsageError(
        dist::str_cat("--data_dir=", directory, ": the text has ", all.size(),
                      " characters; a test of its last twentieth with --context=", o.context,
                      " takes at least ", 20 * (o.context + 1)));
  return {all.substr(0, end), all.substr(end)};
}

data::Dataset pieces(const std::string& text, int64_t context) {
  const int64_t count = (int64_t(text.size()) - 1) / context;
  const auto size = size_t(count * context);
  return data::Dataset::from_tensor_slices(
      numbers<int32_t>(text.substr(0, size), {count, context}),
      numbers<int64_t>(text.substr(1, size), {count, context}));
}

namespace {

/// Tells what follows a text that grows.
class Continuation {
 public:
  Continuation(Decoder& model, const Options& o) : model_(model), options_(o) {}

  /// The logits behind the text, of which each call sees more.
  dist::Tensor logits_behind(const std::string& text) {
    if (int64_t(text.size()) > options_.context) return logits_of_last(text);
    const std::string more = text.substr(size_t(cache_.steps()));
    return model_.next_logits(numbers<int32_t>(more, {1, int64_t(more.size())}), cache_);
  }

 private:
  /// Of a longer text the network sees the end, in which every character has another place with
  /// each step: nothing of earlier steps can be kept.
  dist::Tensor logits_of_last(const std::string& text) {
    const std::string last = text.substr(text.size() - size_t(options_.context));
    dist::nn::applications::KeyValueCache cache;
    return model_.next_logits(numbers<int32_t>(last, {1, options_.context}), cache);
  }

  Decoder& model_;
  const Options& options_;
  dist::nn::applications::KeyValueCache cache_;
};

}  // namespace

std::string continued(Decoder& model, const Options& o) {
  if (!model.built()) model(dist::zeros({1, o.context}, dist::DType::Int32));
  Continuation continuation(model, o);
  std::string text = o.prompt;
  for (int64_t i = 0; i < o.sample_length; ++i) {
    const auto best = dist::top_k(continuation.logits_behind(text),
                                  o.temperature == 0 ? 1 : int(o.top_k ? o.top_k : o.vocabulary));
    int64_t drawn = 0;
    if (o.temperature > 0)
      drawn = dist::random::categorical(best.values / float(o.temperature), 1,
                                        o.common.seed * 1'000'003 + uint64_t(i))
                  .item<int64_t>();
    text += char(best.indices.data<int32_t>()[size_t(drawn)]);
  }
  return text;
}

}  // namespace text_transformer
