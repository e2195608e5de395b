#pragma once
#include <distribute/base/error.hpp>
#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/checkpoint/detail/program_graph.hpp>
#include <distribute/checkpoint/detail/restoration.hpp>

namespace distribute::train {

DISTRIBUTE_INLINE LoadStatus::LoadStatus(
    std::shared_ptr<checkpoint_internal::Restoration> restoration, CheckpointParts parts)
    : restoration_(std::move(restoration)), parts_(std::move(parts)) {}

DISTRIBUTE_INLINE const LoadStatus& LoadStatus::assert_existing_objects_matched() const {
  const checkpoint_internal::ProgramGraph program(parts_);
  const std::vector<int32_t> file_nodes = restoration_->match(program);
  for (size_t i = 0; i < file_nodes.size(); ++i) {
    const auto& node = program.nodes()[i];
    if (!node.has_value() || node.derived || node.path == checkpoint_internal::kSaveCounter)
      continue;
    const std::string* key = restoration_->key_of(node, file_nodes[i]);
    if (!key)
      throw FailedPreconditionError(str_cat("checkpoint ", restoration_->prefix(),
                                            " has no value for '", node.path, "' of the program"));
    if (!restoration_->was_taken(*key))
      throw FailedPreconditionError(
          str_cat("checkpoint ", restoration_->prefix(), ": '", node.path,
                  "' was created after the restore and did not ask for its value '", *key, "'"));
  }
  return *this;
}

DISTRIBUTE_INLINE const LoadStatus& LoadStatus::assert_consumed() const {
  assert_existing_objects_matched();
  if (const std::string* key = restoration_->unused())
    throw FailedPreconditionError(str_cat("checkpoint ", restoration_->prefix(), ": value '", *key,
                                          "' belongs to no object of the program"));
  return *this;
}

DISTRIBUTE_INLINE const LoadStatus& LoadStatus::assert_nontrivial_match() const {
  if (!restoration_->has_matches())
    throw FailedPreconditionError(
        str_cat("nothing in checkpoint ", restoration_->prefix(), " matches the program"));
  return *this;
}

DISTRIBUTE_INLINE const LoadStatus& LoadStatus::expect_partial() const {
  restoration_->set_quiet();
  return *this;
}

}  // namespace distribute::train
