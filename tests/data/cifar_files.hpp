#pragma once
/// Small binary files of CIFAR-10 and CIFAR-100, with the bytes that cifar/cifar.py has.

#include <filesystem>
#include <fstream>
#include <string>

namespace cifar_files {

inline std::string picture(int number, bool hundred) {
  std::string bytes;
  bytes += char(hundred ? number + 2 : number + 1);
  if (hundred) bytes += char(number + 40);
  for (int i = 0; i < 3072; ++i) bytes += char((7 * number + 31 * i + i / 251) % 256);
  return bytes;
}

inline void write(const std::string& path, int count, bool hundred) {
  std::ofstream file(path, std::ios::binary);
  for (int number = 0; number < count; ++number) file << picture(number, hundred);
}

/// All six files with `count` pictures each.
inline void write_cifar10(const std::string& directory, int count) {
  std::filesystem::create_directories(directory);
  for (int batch = 1; batch <= 5; ++batch)
    write(directory + "/data_batch_" + std::to_string(batch) + ".bin", count, false);
  write(directory + "/test_batch.bin", count, false);
}

}  // namespace cifar_files
