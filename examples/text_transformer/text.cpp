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
      throw dist::InvalidArgumentError(dist::str_cat(
          path, ": byte ", at, " is ", int(static_cast<unsigned char>(text[at])),
          ", beyond --vocabulary=", o.vocabulary, "; --vocabulary=256 takes any text"));
    all += text;
  }
  const size_t end = all.size() - all.size() / 20;
  if (int64_t(all.size() - end) <= o.context)
    throw dist::InvalidArgumentError(
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

/// The network sees pieces of one length: behind `text` stand zeros, which attention to what came
/// before does not see.
dist::Tensor logits_behind(dist::nn::Module& model, const std::string& text, const Options& o) {
  const size_t places = std::min(text.size(), size_t(o.context));
  std::string last = text.substr(text.size() - places);
  last.resize(size_t(o.context));
  const std::vector<float> logits = model(numbers<int32_t>(last, {1, o.context})).to_vector();
  const auto row = logits.begin() + std::ptrdiff_t(places - 1) * o.vocabulary;
  return dist::Tensor({1, o.vocabulary}, std::vector<float>(row, row + o.vocabulary));
}

}  // namespace

std::string continued(dist::nn::Module& model, const Options& o) {
  std::string text = o.prompt;
  for (int64_t i = 0; i < o.sample_length; ++i) {
    const auto best = dist::top_k(logits_behind(model, text, o),
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
