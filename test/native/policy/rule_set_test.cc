#include "policy/rule_set.h"

#include <gtest/gtest.h>

#include <algorithm>

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

TEST(RuleSetTest, AGrantThatDoesNotGetPastAnOuterHoleOpensNoInnerOne) {
  Hole outer = MakeHole("/h");
  outer.origin.layer = Layer::kProject;
  const Settled settled = Settle(ListOf(MakeRequest("/h/.ssh", Rights::kReadWrite, true)),
                                 ListOf(MakeHole("/h/.ssh"), std::move(outer)));
  EXPECT_TRUE(settled.grants.empty());
  EXPECT_EQ(settled.holes.size(), 2u);
}

TEST(RuleSetTest, TwoHolesAtOnePlaceAreAsStrictAsBoth) {
  std::vector<Grant> grants;
  grants.push_back(MakeGrant("/h", Rights::kReadExecute));
  grants.push_back(MakeGrant("/h/x/y", Rights::kRead));
  ReduceToCover(ListOf(MakeHole("/h/x", false), MakeHole("/h/x", true)), grants);
  EXPECT_EQ(Paths(grants), (Strings{"/h", "/h/x/y"}));
}

std::string RandomPath(RandomSettings& random) {
  std::string path;
  for (unsigned depth = random.Below(5); depth > 0; --depth) path += std::string("/") + "ab"[random.Below(2)];
  return path.empty() ? "/" : path;
}

bool Denies(const Hole& hole, Rights rights) { return hole.denies_read || rights == Rights::kReadWrite; }

// The rules of settling, one sentence each, by comparing everything with everything.
TEST(RuleSetTest, SettlesByTheRulesFor10000Sets) {
  const uint64_t seed = TestSeed();
  std::printf("seed: SPTY_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  RandomSettings random(seed);
  for (int i = 0; i < 10000 && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("set " + std::to_string(i) + " of seed " + std::to_string(seed));
    std::vector<Hole> holes;
    std::vector<GrantRequest> requests;
    const auto make_all = [&](uint64_t set_seed) {
      RandomSettings one(set_seed);
      holes.clear();
      requests.clear();
      for (unsigned n = one.Below(5); n > 0; --n) holes.push_back(MakeHole(RandomPath(one), one.Chance(2)));
      for (unsigned n = one.Below(8); n > 0; --n)
        requests.push_back(
            MakeRequest(RandomPath(one), static_cast<Rights>(1 + one.Below(3)), one.Chance(2)));
    };
    const uint64_t set_seed = seed + static_cast<uint64_t>(i);
    make_all(set_seed);
    const Settled settled = Settle(std::move(requests), std::move(holes));
    make_all(set_seed);
    for (const Grant& grant : settled.grants) {
      // Nothing comes into being.
      EXPECT_TRUE(std::any_of(requests.begin(), requests.end(), [&](const GrantRequest& request) {
        return request.grant.path() == grant.path() && request.grant.rights >= grant.rights;
      })) << grant.path();
    }
    for (const GrantRequest& request : requests) {
      // A built-in grant gets into no hole that is left.
      if (request.is_explicit) continue;
      for (const Hole& hole : settled.holes) {
        const Grant* kept = nullptr;
        for (const Grant& grant : settled.grants) {
          if (grant.path() == request.grant.path() && grant.origin.layer == Layer::kDefault) kept = &grant;
        }
        EXPECT_FALSE(kept != nullptr && Denies(hole, kept->rights) && IsWithin(kept->path(), hole.path))
            << hole.path;
      }
    }
    for (const Hole& hole : holes) {
      // A hole is gone only if writing at the very path was granted explicitly.
      const bool left = std::any_of(settled.holes.begin(), settled.holes.end(),
                                    [&](const Hole& other) { return other.path == hole.path; });
      const bool opened = std::any_of(requests.begin(), requests.end(), [&](const GrantRequest& request) {
        return request.is_explicit && request.grant.rights == Rights::kReadWrite &&
               request.grant.path() == hole.path;
      });
      EXPECT_EQ(left, !opened) << hole.path;
    }
    for (const Hole& hole : settled.holes) {
      bool cuts_read = false;
      bool cuts_write = false;
      for (const Grant& grant : settled.grants) {
        if (!IsWithin(hole.path, grant.path()) || hole.path == grant.path()) continue;
        cuts_read = cuts_read || hole.denies_read;
        cuts_write = cuts_write || grant.rights == Rights::kReadWrite;
      }
      EXPECT_EQ(hole.cuts_read, cuts_read) << hole.path;
      EXPECT_EQ(hole.cuts_write, cuts_write) << hole.path;
    }
  }
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
