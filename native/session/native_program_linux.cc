#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>

#include "base/eintr.h"
#include "session/native_program.h"

namespace spty {
namespace {

#if defined(__x86_64__)
constexpr Elf64_Half kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
#else
constexpr Elf64_Half kMachine = EM_NONE;
#endif

// What the kernel reads first: the headers and the loader's name are in there, or we do not know.
using Head = std::array<char, 4096>;

template <typename T>
bool ReadAt(std::span<const char> head, size_t at, T& into) {
  if (at > head.size() || head.size() - at < sizeof into) return false;
  std::memcpy(&into, head.data() + at, sizeof into);
  return true;
}

std::optional<std::string> NameIn(std::span<const char> head, const Elf64_Phdr& part) {
  if (part.p_offset > head.size() || part.p_filesz < 2 || part.p_filesz > head.size() - part.p_offset)
    return std::nullopt;
  const std::string_view text(head.data() + part.p_offset, part.p_filesz);
  const std::string_view name = text.substr(0, text.find('\0'));
  if (name.size() == text.size() || !name.starts_with('/')) return std::nullopt;
  return std::string(name);
}

std::optional<std::string> LoaderIn(std::span<const char> head) {
  Elf64_Ehdr header;
  if (!ReadAt(head, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) return std::nullopt;
  if (header.e_machine != kMachine || (header.e_type != ET_EXEC && header.e_type != ET_DYN))
    return std::nullopt;
  // What is left to others to mark theirs by (AppImages do): something may be registered to interpret those.
  if (std::any_of(header.e_ident + EI_ABIVERSION, header.e_ident + EI_NIDENT,
                  [](unsigned char byte) { return byte != 0; }))
    return std::nullopt;
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0) return std::nullopt;
  for (size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part;
    if (header.e_phoff > head.size() || !ReadAt(head, header.e_phoff + i * sizeof part, part))
      return std::nullopt;
    if (part.p_type == PT_INTERP) return NameIn(head, part);
  }
  return "";
}

}  // namespace

std::optional<std::string> LoaderOf(int fd) {
  Head head;
  const ssize_t got = RetryEintr([&] { return pread(fd, head.data(), head.size(), 0); });
  if (got <= 0) return std::nullopt;
  return LoaderIn(std::span(head.data(), static_cast<size_t>(got)));
}

}  // namespace spty
