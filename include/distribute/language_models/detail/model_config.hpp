#pragma once
/// config.json of Hugging Face, and what the models share.

#include <distribute/base/config.hpp>
#include <distribute/base/json.hpp>
#include <distribute/tensor/tensor.hpp>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace distribute::nn::applications::language_models_internal {

/// Throws  InvalidArgumentError that names the first option below 1.
void check_positive(const char* model,
                    std::initializer_list<std::pair<const char*, int64_t>> options);

/// float32 logits: products of features [..., width] with all rows of a table [vocabulary, width].
Tensor scores_of_table(const Tensor& features, const Tensor& table);

/// A config.json.
class ModelConfig {
 public:
  /// Throws  NotFoundError; InvalidArgumentError for a file whose "model_type" is none of `types`,
  ///         if there are some.
  ModelConfig(const std::string& path, std::initializer_list<const char*> types);

  /// Returns the object at a key; an empty one if there is none.
  ModelConfig inside(const char* key) const;
  /// has() tells whether a key has a value other than null, is_null() whether it has null, and
  /// has_members() whether it has an object with members.
  bool has(const char* key) const { return find(key) != nullptr; }
  bool is_null(const char* key) const;
  bool has_members(const char* key) const;
  int64_t integer(const char* key, int64_t otherwise) const;
  double number(const char* key, double otherwise) const;
  bool flag(const char* key, bool otherwise) const;
  std::string text(const char* key, const char* otherwise) const;
  /// Returns the numbers of a list, or the only one; none without the key.
  std::vector<int64_t> integers(const char* key) const;
  /// Throws  InvalidArgumentError where there is no number.
  double number(const char* key) const;
  /// Throws  UnimplementedError where the file has another value than the only one that is known.
  void want(const char* key, bool value) const;
  void want_number(const char* key, double value) const;
  void want_one_of(const char* key, std::initializer_list<const char*> values) const;
  /// Throws  UnimplementedError where a list has an item that is not `value`.
  void want_all(const char* key, const char* value) const;
  /// Throws  UnimplementedError where a member is an object by itself.
  void want_plain() const;
  /// Throws  UnimplementedError where the file has a value that is not null.
  void want_none(const char* key) const;

 private:
  ModelConfig(std::string path, untrusted::JsonValue json)
      : path_(std::move(path)), json_(std::move(json)) {}
  const untrusted::JsonValue* find(const char* key) const;
  [[noreturn]] void refuse(const char* key, const untrusted::JsonValue& value,
                           const std::string& wanted) const;

  std::string path_;
  untrusted::JsonValue json_;
};

}  // namespace distribute::nn::applications::language_models_internal
