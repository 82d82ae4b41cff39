#include "policy/path_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "policy/path_text.h"

namespace spty {
namespace {

struct Item {
  std::string path;
};
const std::string& IndexedPath(const Item& item) { return item.path; }

std::vector<size_t> AtOrAbove(const PathIndex<Item>& index, const std::string& path) {
  std::vector<size_t> found;
  index.AnyAtOrAbove(path, [&](size_t at) {
    found.push_back(at);
    return false;
  });
  return found;
}

TEST(PathIndex, FindsWhatIsAtAPathAndAboveItFromTheRootDownwards) {
  std::vector<Item> items;
  PathIndex<Item> index(items);
  EXPECT_EQ(AtOrAbove(index, "/a"), std::vector<size_t>());
  for (const char* path : {"/a/b", "/", "/a", "/ab", "/a/b/c/d"}) {
    EXPECT_EQ(index.FindOrAdd(path, items.size()), std::nullopt);
    items.push_back({path});
  }
  EXPECT_EQ(index.FindOrAdd("/a", 99), 2U);
  EXPECT_EQ(AtOrAbove(index, "/a/b/c"), (std::vector<size_t>{1, 2, 0}));
  EXPECT_EQ(AtOrAbove(index, "/ab"), (std::vector<size_t>{1, 3}));
  EXPECT_EQ(AtOrAbove(index, "/"), std::vector<size_t>{1});
  size_t asked = 0;
  EXPECT_TRUE(index.AnyAtOrAbove("/a/b", [&](size_t at) {
    ++asked;
    return at == 2;
  }));
  EXPECT_EQ(asked, 2U) << "whoever is content is not told more";
  index.Clear();
  EXPECT_EQ(AtOrAbove(index, "/a"), std::vector<size_t>());
}

// It grows, and so does the vector, whose strings move meanwhile.
TEST(PathIndex, AgreesWithAMap) {
  std::mt19937 random(7);
  const auto path = [&] {
    std::string text;
    for (size_t parts = random() % 5; parts > 0; --parts) text += "/" + std::to_string(random() % 6);
    return text.empty() ? "/" : text;
  };
  for (const size_t reserved : {size_t{0}, size_t{300}}) {
    std::vector<Item> items;
    std::map<std::string, size_t> known;
    PathIndex<Item> index(items);
    index.Reserve(reserved);
    for (int i = 0; i < 5000; ++i) {
      const std::string added = path();
      const auto [at, is_new] = known.try_emplace(added, items.size());
      EXPECT_EQ(index.FindOrAdd(added, items.size()),
                is_new ? std::nullopt : std::optional<size_t>(at->second));
      if (is_new) items.push_back({added});
      const std::string asked = path();
      std::vector<size_t> expected;
      for (std::string place = asked;; place = ParentOf(place)) {
        if (const auto found = known.find(place); found != known.end())
          expected.insert(expected.begin(), found->second);
        if (place == "/") break;
      }
      EXPECT_EQ(AtOrAbove(index, asked), expected) << asked;
    }
    EXPECT_GT(items.size(), 500U);
  }
}

}  // namespace
}  // namespace spty
