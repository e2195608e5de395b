#pragma once
#include <distribute/checkpoint/bundle.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/detail/bundle_entry.hpp>
#include <distribute/io/file_system.hpp>

#include <utility>

namespace distribute::checkpoint_internal {

/// Adds the entries of one part, whose data files are numbered from `first_shard` on.
DISTRIBUTE_INLINE void merge_entries(train::BundleEntries part, int32_t first_shard,
                                     const std::string& part_prefix, train::BundleEntries& merged) {
  for (auto& [key, entry] : part) {
    entry.shard_id += first_shard;
    const auto [place, is_new] = merged.try_emplace(key, entry);
    if (is_new) continue;
    train::BundleEntry& known = place->second;
    if (known.slices.empty() || entry.slices.empty() || known.dims != entry.dims ||
        known.dtype != entry.dtype) {
      throw InvalidArgumentError(
          str_cat("merge of checkpoint part ", part_prefix, ": tensor '", key,
                  "' is in an earlier part too and is not partitioned alike"));
    }
    known.slices.insert(known.slices.end(), entry.slices.begin(), entry.slices.end());
  }
}

}  // namespace distribute::checkpoint_internal

namespace distribute::train {

DISTRIBUTE_INLINE void merge_bundles(const std::vector<std::string>& part_prefixes,
                                     const std::string& prefix) {
  BundleEntries merged;
  BundleHeader header{.num_shards = 0};
  std::vector<std::string> data_files;
  io::FileSystem& fs = *value_or_throw(io::file_system_for(prefix));
  for (const std::string& part : part_prefixes) {
    const std::string index = bundle_index_path(part);
    BundleHeader part_header;
    BundleEntries entries =
        decode_bundle_index(value_or_throw(io::read_file(index)), index, part_header);
    checkpoint_internal::merge_entries(std::move(entries), header.num_shards, part, merged);
    for (int32_t shard = 0; shard < part_header.num_shards; ++shard) {
      data_files.push_back(bundle_data_path(part, shard, part_header.num_shards));
      value_or_throw(fs.file_size(data_files.back()));  // throws where it is missing
    }
    header.num_shards += part_header.num_shards;
  }
  auto index = value_or_throw(io::AtomicFile::create(bundle_index_path(prefix)));
  throw_if_error(index.append(encode_bundle_index(header, merged)));
  throw_if_error(index.prepare());
  for (int32_t shard = 0; shard < header.num_shards; ++shard) {
    throw_if_error(
        fs.rename(data_files[size_t(shard)], bundle_data_path(prefix, shard, header.num_shards)));
  }
  throw_if_error(index.commit());
  for (const std::string& part : part_prefixes) {
    throw_if_error(fs.remove_file(bundle_index_path(part)));
  }
  for (const std::string& part : part_prefixes) {
    const std::string directory = io::directory_of(part);
    // Fails where other files are left, or where an earlier part took it away: both fine.
    if (directory != io::directory_of(prefix)) fs.remove_directory(directory).IgnoreError();
  }
}

}  // namespace distribute::train
