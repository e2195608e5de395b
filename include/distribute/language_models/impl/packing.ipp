#pragma once
#include <distribute/base/error.hpp>
#include <distribute/data/iterator.hpp>
#include <distribute/language_models/causal_lm.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

namespace distribute::nn::applications {

namespace language_models_internal {

/// A row that is being filled.
class PackedRow {
 public:
  explicit PackedRow(int64_t length)
      : length_(size_t(length)), x_(2 * length_), y_(length_), weights_(length_) {}

  bool empty() const { return used_ == 0; }
  size_t free() const { return length_ - used_; }
  /// Adds tokens, which must fit; `next` is the document's token behind them, if there is one.
  void add(std::span<const int32_t> tokens, const int32_t* next) {
    ++documents_;
    for (size_t i = 0; i < tokens.size(); ++i, ++used_) {
      x_[used_] = tokens[i];
      x_[length_ + used_] = documents_;
      const int32_t* target = i + 1 < tokens.size() ? &tokens[i + 1] : next;
      y_[used_] = target ? *target : 0;
      weights_[used_] = target ? 1.0f : 0.0f;
    }
  }
  data::Batch take() {
    const auto length = int64_t(length_);
    const data::Batch row = data::Batch::from_components(
        {Tensor(Shape{2, length}, x_), Tensor(Shape{length}, y_), Tensor(Shape{length}, weights_)});
    *this = PackedRow(length);
    return row;
  }

 private:
  size_t length_, used_ = 0;
  int32_t documents_ = 0;
  std::vector<int32_t> x_, y_;
  std::vector<float> weights_;
};

/// One pass over the documents.
class Packing {
 public:
  Packing(const data::Dataset& documents, int64_t length)
      : documents_(documents.iterator()), length_(size_t(length)), row_(length) {}

  std::optional<data::Batch> next() {
    while (read()) {
      const size_t count = std::min(length_, tokens_.size() - begin_);
      if (count > row_.free()) return row_.take();
      const size_t end = begin_ + count;
      row_.add(std::span(tokens_).subspan(begin_, count),
               end < tokens_.size() ? &tokens_[end] : nullptr);
      begin_ = end;
    }
    if (row_.empty()) return std::nullopt;
    return row_.take();
  }

 private:
  /// Whether there are tokens to add; reads the next document where there are none left.
  bool read() {
    while (begin_ == tokens_.size()) {
      const auto document = documents_.next_if_any();
      if (!document) return false;
      const Tensor& x = document->x;
      if (x.shape().rank() != 1 || (x.dtype() != DType::Int32 && x.dtype() != DType::Int64))
        throw InvalidArgumentError(str_cat("pack_documents: a document is ", name_of(x.dtype()),
                                           " ", to_string(x.shape()),
                                           ", wanted integers [tokens]"));
      const Tensor numbers = cast(x, DType::Int32);
      const auto values = numbers.data<int32_t>();
      tokens_.assign(values.begin(), values.end());
      begin_ = 0;
    }
    return true;
  }

  data::Iterator documents_;
  size_t length_, begin_ = 0;
  std::vector<int32_t> tokens_;
  PackedRow row_;
};

}  // namespace language_models_internal

DISTRIBUTE_INLINE data::Dataset pack_documents(const data::Dataset& documents, int64_t length) {
  if (length < 2)
    throw InvalidArgumentError(str_cat("pack_documents: length is ", length, ", wanted 2 or more"));
  const data::ElementSpec spec{{.shape = {2, length}, .dtype = DType::Int32},
                               {.shape = {length}, .dtype = DType::Int32},
                               {.shape = {length}, .dtype = DType::Float32}};
  return data::Dataset::from_generator(
      [documents, length]() -> data::Generator {
        const auto packing = std::make_shared<language_models_internal::Packing>(documents, length);
        return [packing] { return packing->next(); };
      },
      spec);
}

DISTRIBUTE_INLINE data::Dataset pack_documents(const std::vector<std::vector<int64_t>>& documents,
                                               int64_t length) {
  const auto rows = std::make_shared<const std::vector<std::vector<int64_t>>>(documents);
  const auto source = data::Dataset::from_generator(
      [rows]() -> data::Generator {
        return [rows, i = size_t{0}]() mutable -> std::optional<data::Batch> {
          if (i == rows->size()) return std::nullopt;
          const std::vector<int64_t>& tokens = (*rows)[i++];
          data::Batch document;
          document.x = Tensor(Shape{int64_t(tokens.size())}, tokens);
          return document;
        };
      },
      {{.shape = {-1}, .dtype = DType::Int64}});
  return pack_documents(source, length);
}

}  // namespace distribute::nn::applications
