#pragma once
/// What lies in files and directories, for tests that look at what a program has written.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

/// All bytes of a file; none where there is no such file.
inline std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

inline std::vector<std::string> file_lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

inline std::set<std::string> names_in(const std::string& directory) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    names.insert(entry.path().filename());
  return names;
}

/// The lines between a line `begin` and the next line `end`.
inline std::string lines_between(const std::string& path, const std::string& begin,
                                 const std::string& end) {
  std::ifstream file(path);
  std::string text, line;
  while (std::getline(file, line) && line != begin) continue;
  while (std::getline(file, line) && line != end) text += line + "\n";
  return text;
}
