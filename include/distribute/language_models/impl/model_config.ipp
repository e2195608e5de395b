#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/language_models/detail/model_config.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>

#include <cstdlib>

namespace distribute::nn::applications::language_models_internal {

DISTRIBUTE_INLINE void check_positive(
    const char* model, std::initializer_list<std::pair<const char*, int64_t>> options) {
  for (const auto& [name, value] : options)
    if (value < 1)
      throw InvalidArgumentError(str_cat(model, ": ", name, " must be positive, got ", value));
}

DISTRIBUTE_INLINE Tensor scores_of_table(const Tensor& features, const Tensor& table) {
  const Shape& shape = features.shape();
  const Tensor rows = reshape(features, {-1, shape[-1]});
  const Tensor scores = matmul(rows, cast(table, rows.dtype()), {.transpose_b = true});
  return cast(reshape(scores, shape.with(shape.rank() - 1, table.shape()[0])), DType::Float32);
}

DISTRIBUTE_INLINE ModelConfig::ModelConfig(const std::string& path,
                                           std::initializer_list<const char*> types)
    : path_(path), json_(untrusted::parse_json(value_or_throw(io::read_file(path)), path)) {
  untrusted::object_of(json_, path);
  if (types.size() == 0) return;
  const untrusted::JsonValue* type = find("model_type");
  std::string known;
  for (const char* wanted : types) {
    if (type && type->is_string() && type->text == wanted) return;
    known += (known.empty() ? "" : ", ") + std::string(wanted);
  }
  throw InvalidArgumentError(str_cat(path, ": its model_type is ",
                                     type ? type->describe() : "missing", "; wanted ", known));
}

DISTRIBUTE_INLINE const untrusted::JsonValue* ModelConfig::find(const char* key) const {
  const untrusted::JsonValue* value = json_.find(key);
  return value && !value->is_null() ? value : nullptr;
}

DISTRIBUTE_INLINE void ModelConfig::refuse(const char* key, const untrusted::JsonValue& value,
                                           const std::string& wanted) const {
  throw UnimplementedError(
      str_cat(path_, ": ", key, " is ", value.describe(), "; only ", wanted, " is known here"));
}

DISTRIBUTE_INLINE ModelConfig ModelConfig::inside(const char* key) const {
  const untrusted::JsonValue* value = find(key);
  const std::string path = str_cat(path_, ": ", key);
  return {path, value ? untrusted::object_of(*value, path) : untrusted::JsonValue{}};
}

DISTRIBUTE_INLINE bool ModelConfig::is_null(const char* key) const {
  const untrusted::JsonValue* value = json_.find(key);
  return value && value->is_null();
}

DISTRIBUTE_INLINE bool ModelConfig::has_members(const char* key) const {
  const untrusted::JsonValue* value = find(key);
  return value && !value->members.empty();
}

DISTRIBUTE_INLINE int64_t ModelConfig::integer(const char* key, int64_t otherwise) const {
  const untrusted::JsonValue* value = find(key);
  return value ? untrusted::int_of(*value, str_cat(path_, ": ", key)) : otherwise;
}

DISTRIBUTE_INLINE std::vector<int64_t> ModelConfig::integers(const char* key) const {
  const untrusted::JsonValue* value = find(key);
  if (!value) return {};
  const std::string place = str_cat(path_, ": ", key);
  if (!value->is_array()) return {untrusted::int_of(*value, place)};
  std::vector<int64_t> all;
  for (const untrusted::JsonValue& item : value->items)
    all.push_back(untrusted::int_of(item, place));
  return all;
}

DISTRIBUTE_INLINE double ModelConfig::number(const char* key, double otherwise) const {
  const untrusted::JsonValue* value = find(key);
  if (!value) return otherwise;
  if (value->kind != untrusted::JsonValue::Kind::Number)
    throw InvalidArgumentError(str_cat(path_, ": ", key, " is no number"));
  return std::strtod(value->text.c_str(), nullptr);
}

DISTRIBUTE_INLINE double ModelConfig::number(const char* key) const {
  if (!has(key)) throw InvalidArgumentError(str_cat(path_, ": there is no ", key));
  return number(key, 0);
}

DISTRIBUTE_INLINE std::string ModelConfig::text(const char* key, const char* otherwise) const {
  const untrusted::JsonValue* value = find(key);
  return value ? untrusted::string_of(*value, str_cat(path_, ": ", key)) : otherwise;
}

DISTRIBUTE_INLINE bool ModelConfig::flag(const char* key, bool otherwise) const {
  const untrusted::JsonValue* value = find(key);
  if (!value) return otherwise;
  if (value->kind != untrusted::JsonValue::Kind::Boolean)
    throw InvalidArgumentError(str_cat(path_, ": ", key, " is neither true nor false"));
  return value->text == "true";
}

DISTRIBUTE_INLINE void ModelConfig::want(const char* key, bool wanted) const {
  const untrusted::JsonValue* value = find(key);
  if (value && flag(key, wanted) != wanted) refuse(key, *value, wanted ? "true" : "false");
}

DISTRIBUTE_INLINE void ModelConfig::want_number(const char* key, double wanted) const {
  if (has(key) && number(key) != wanted) refuse(key, *find(key), str_cat(wanted));
}

DISTRIBUTE_INLINE void ModelConfig::want_one_of(const char* key,
                                                std::initializer_list<const char*> values) const {
  const untrusted::JsonValue* value = find(key);
  if (!value) return;
  std::string known;
  for (const char* wanted : values) {
    if (value->is_string() && value->text == wanted) return;
    known += (known.empty() ? "" : ", ") + std::string(wanted);
  }
  refuse(key, *value, known);
}

DISTRIBUTE_INLINE void ModelConfig::want_all(const char* key, const char* wanted) const {
  const untrusted::JsonValue* list = find(key);
  if (!list) return;
  for (const untrusted::JsonValue& item : list->items)
    if (!item.is_string() || item.text != wanted) refuse(key, item, wanted);
}

DISTRIBUTE_INLINE void ModelConfig::want_plain() const {
  for (const auto& [key, value] : json_.members)
    if (value.is_object()) refuse(key.c_str(), value, "one for all layers");
}

DISTRIBUTE_INLINE void ModelConfig::want_none(const char* key) const {
  if (const untrusted::JsonValue* value = find(key)) refuse(key, *value, "null");
}

}  // namespace distribute::nn::applications::language_models_internal
