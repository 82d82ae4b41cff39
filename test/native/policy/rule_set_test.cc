#include "policy/rule_set.h"

#include <gtest/gtest.h>

#include "policy/path_text.h"
#include "settings/random_settings.h"

namespace spty {
namespace {

Grant MakeGrant(const std::string& path, Rights rights) {
  Grant grant;
  grant.pin.path = path;
  grant.rights = rights;
  return grant;
}

Hole MakeHole(const std::string& path, bool denies_read = true) {
  Hole hole;
  hole.path = hole.spelled = path;
  hole.denies_read = denies_read;
  return hole;
}

GrantRequest MakeRequest(const std::string& path, Rights rights, bool is_explicit,
                         const std::string& spelled = "") {
  GrantRequest request;
  request.grant = MakeGrant(path, rights);
  request.grant.origin.layer = is_explicit ? Layer::kUser : Layer::kDefault;
  request.spelled = spelled.empty() ? path : spelled;
  request.is_explicit = is_explicit;
  return request;
}

std::vector<std::string> Paths(const std::vector<Grant>& grants) {
  std::vector<std::string> paths;
  for (const Grant& grant : grants) paths.push_back(grant.path());
  return paths;
}

using Strings = std::vector<std::string>;

TEST(RuleSetTest, CoveredGrantsGo) {
  std::vector<Grant> grants;
  grants.push_back(MakeGrant("/usr/lib", Rights::kReadExecute));
  grants.push_back(MakeGrant("/usr/lib/locale", Rights::kRead));
  grants.push_back(MakeGrant("/usr/libexec", Rights::kReadExecute));
  grants.push_back(MakeGrant("/usr/lib", Rights::kRead));
  grants.push_back(MakeGrant("/usr/lib/x", Rights::kReadWrite));
  ReduceToCover({}, grants);
  EXPECT_EQ(Paths(grants), (Strings{"/usr/lib", "/usr/lib/x", "/usr/libexec"}));
}

struct Settled {
  std::vector<Grant> grants;
  std::vector<Hole> holes;
  std::vector<SkippedPath> skipped;
};

Settled Settle(std::vector<GrantRequest> requests, std::vector<Hole> holes) {
  RuleSet rules;
  for (Hole& hole : holes) rules.AddHole(std::move(hole));
  for (GrantRequest& request : requests) rules.AddGrant(std::move(request));
  Settled result;
  rules.Settle(result.grants, result.holes, result.skipped);
  return result;
}

template <typename... T>
auto ListOf(T... items) {
  std::vector<std::common_type_t<T...>> list;
  (list.push_back(std::move(items)), ...);
  return list;
}

TEST(RuleSetTest, AnExplicitGrantOfTheVeryPathWins) {
  const Settled read =
      Settle(ListOf(MakeRequest("/h", Rights::kReadWrite, true), MakeRequest("/h/.ssh", Rights::kRead, true)),
             ListOf(MakeHole("/h/.ssh")));
  // Once the hole lets readers through, the wider grant says it all.
  EXPECT_EQ(Paths(read.grants), Strings{"/h"});
  ASSERT_EQ(read.holes.size(), 1u);
  EXPECT_FALSE(read.holes[0].denies_read);
  EXPECT_TRUE(read.holes[0].cuts_write);
  const Settled write =
      Settle(ListOf(MakeRequest("/h/.ssh", Rights::kReadWrite, true)), ListOf(MakeHole("/h/.ssh")));
  EXPECT_TRUE(write.holes.empty());
}

TEST(RuleSetTest, AGrantInsideAHoleNeedsTheExactPath) {
  const Settled spelled =
      Settle(ListOf(MakeRequest("/h/.ssh/config", Rights::kRead, true)), ListOf(MakeHole("/h/.ssh")));
  EXPECT_EQ(Paths(spelled.grants), Strings{"/h/.ssh/config"});
  EXPECT_EQ(spelled.holes.size(), 1u);
  const Settled linked = Settle(ListOf(MakeRequest("/h/.ssh/config", Rights::kRead, true, "/h/link")),
                                ListOf(MakeHole("/h/.ssh")));
  EXPECT_TRUE(linked.grants.empty());
  ASSERT_EQ(linked.skipped.size(), 1u);
  EXPECT_EQ(linked.skipped[0].reason, SkipReason::kInsideHole);
  const Settled dotted = Settle(ListOf(MakeRequest("/h/.ssh", Rights::kRead, true, "/h/.ssh/x/..")),
                                ListOf(MakeHole("/h/.ssh")));
  EXPECT_TRUE(dotted.grants.empty());
  const Settled built_in =
      Settle(ListOf(MakeRequest("/h/.ssh/config", Rights::kRead, false)), ListOf(MakeHole("/h/.ssh")));
  EXPECT_TRUE(built_in.grants.empty());
}

TEST(RuleSetTest, ALaterLayersHoleIsNotOpenedByAnEarlierGrant) {
  Hole hole = MakeHole("/p/secret");
  hole.origin.layer = Layer::kProject;
  const Settled settled =
      Settle(ListOf(MakeRequest("/p/secret", Rights::kRead, true)), ListOf(std::move(hole)));
  EXPECT_TRUE(settled.grants.empty());
}

TEST(RuleSetTest, AWriteHoleLeavesReading) {
  const Settled settled =
      Settle(ListOf(MakeRequest("/p", Rights::kReadWrite, false)), ListOf(MakeHole("/p/.git", false)));
  EXPECT_FALSE(settled.holes[0].cuts_read);
  EXPECT_TRUE(settled.holes[0].cuts_write);
}

// ---- the cover says the same with fewer words
// ----------------------------------------------------------------------

PolicyParts PartsOf(const std::vector<Grant>& grants, const std::vector<Hole>& holes) {
  PolicyParts parts;
  parts.confined = true;
  for (const Grant& grant : grants) parts.grants.push_back(MakeGrant(grant.path(), grant.rights));
  for (const Hole& hole : holes) parts.holes.push_back(MakeHole(hole.path, hole.denies_read));
  return parts;
}

TEST(RuleSetTest, TheCoverIsMinimalAndMeansTheSameFor10000Sets) {
  const uint64_t seed = TestSeed();
  std::printf("seed: SPTY_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  RandomSettings random(seed);
  const auto random_path = [&] {
    std::string path;
    for (unsigned depth = 1 + random.Below(4); depth > 0; --depth)
      path += std::string("/") + "ab"[random.Below(2)];
    return path;
  };
  for (int i = 0; i < 10000 && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("set " + std::to_string(i) + " of seed " + std::to_string(seed));
    std::vector<Grant> all;
    std::vector<Hole> holes;
    for (unsigned n = random.Below(8); n > 0; --n)
      all.push_back(MakeGrant(random_path(), static_cast<Rights>(1 + random.Below(3))));
    for (unsigned n = random.Below(3); n > 0; --n) holes.push_back(MakeHole(random_path(), random.Chance(2)));
    const Policy before(PartsOf(all, holes));
    std::vector<Grant> reduced = std::move(PartsOf(all, holes).grants);
    ReduceToCover(holes, reduced);
    const Policy after(PartsOf(reduced, holes));
    for (int probe = 0; probe < 20; ++probe) {
      const std::string path = random_path() + (random.Chance(2) ? "/c" : "");
      for (Rights rights : {Rights::kRead, Rights::kReadExecute, Rights::kReadWrite}) {
        EXPECT_EQ(before.Decide(path, rights).allowed, after.Decide(path, rights).allowed) << path;
      }
    }
    // Minimal: without any one of them something changes, namely at its own path.
    for (size_t without = 0; without < reduced.size(); ++without) {
      PolicyParts parts = PartsOf(reduced, holes);
      parts.grants.erase(parts.grants.begin() + static_cast<std::ptrdiff_t>(without));
      const Policy smaller(std::move(parts));
      EXPECT_FALSE(smaller.Decide(reduced[without].path(), reduced[without].rights).allowed)
          << reduced[without].path();
    }
  }
}

}  // namespace
}  // namespace spty
