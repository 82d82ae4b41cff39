#include "track/set_id_programs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>

namespace spty {

std::vector<std::string> SetIdPrograms(std::span<const char* const> directories) {
  struct CloseDir {
    void operator()(DIR* dir) const { closedir(dir); }
  };
  std::vector<std::string> programs;
  for (const char* directory : directories) {
    const std::unique_ptr<DIR, CloseDir> dir(opendir(directory));
    while (const dirent* entry = dir == nullptr ? nullptr : readdir(dir.get())) {
      struct stat info;
      // A link is not what is executed.
      if (fstatat(dirfd(dir.get()), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == -1) continue;
      if (S_ISREG(info.st_mode) && (info.st_mode & (S_ISUID | S_ISGID)) != 0)
        programs.push_back(std::string(directory) + "/" + entry->d_name);
    }
  }
  std::ranges::sort(programs);
  return programs;
}

}  // namespace spty
