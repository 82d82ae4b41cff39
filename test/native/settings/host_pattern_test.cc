#include "settings/host_pattern.h"

#include <gtest/gtest.h>

#include "settings/idna.h"
#include "settings/public_suffix.h"

namespace spty {
namespace {

HostPattern Pattern(std::string_view text) {
  ParsedHost parsed = HostPattern::Parse(text);
  EXPECT_TRUE(parsed.pattern.has_value()) << text << ": " << parsed.message;
  return parsed.pattern ? *parsed.pattern : *HostPattern::Parse("invalid.example").pattern;
}

TEST(HostPatternTest, MatchesExactNamesWithoutRegardToCaseAndTrailingDot) {
  const HostPattern pattern = Pattern("GitHub.com.");
  EXPECT_EQ(pattern.ToString(), "github.com");
  EXPECT_TRUE(pattern.Matches("github.com", 443));
  EXPECT_TRUE(pattern.Matches("GITHUB.COM.", 22));
  EXPECT_FALSE(pattern.Matches("api.github.com", 443));
  EXPECT_FALSE(pattern.Matches("github.com.evil.org", 443));
  EXPECT_FALSE(pattern.Matches("github.com..", 443));
}

TEST(HostPatternTest, WildcardMatchesBelowAndNotTheNameItself) {
  const HostPattern pattern = Pattern("*.npmjs.org");
  EXPECT_TRUE(pattern.Matches("registry.npmjs.org", 443));
  EXPECT_TRUE(pattern.Matches("a.b.npmjs.org", 443));
  EXPECT_FALSE(pattern.Matches("npmjs.org", 443));
  EXPECT_FALSE(pattern.Matches("evilnpmjs.org", 443));
  EXPECT_FALSE(pattern.Matches(".npmjs.org", 443));
}

TEST(HostPatternTest, PortRestricts) {
  const HostPattern pattern = Pattern("example.org:8443");
  EXPECT_EQ(pattern.port(), 8443);
  EXPECT_TRUE(pattern.Matches("example.org", 8443));
  EXPECT_FALSE(pattern.Matches("example.org", 443));
}

TEST(HostPatternTest, AnAddressOrGarbageMatchesNothing) {
  const HostPattern pattern = Pattern("*.example.org");
  EXPECT_FALSE(pattern.Matches(std::string_view("evil.com\0.example.org", 21), 443));
  EXPECT_FALSE(pattern.Matches("a b.example.org", 443));
  EXPECT_FALSE(pattern.Matches("1.2.3.4", 443));
  EXPECT_FALSE(pattern.Matches("", 443));
}

TEST(HostPatternTest, InternationalNamesAreTheirAsciiForm) {
  EXPECT_EQ(Pattern("Bücher.example").ToString(), "xn--bcher-kva.example");
  EXPECT_EQ(Pattern("*.münchen.de").ToString(), "*.xn--mnchen-3ya.de");
  EXPECT_EQ(Pattern("例え.jp").ToString(), "xn--r8jz45g.jp");
  EXPECT_TRUE(Pattern("xn--bcher-kva.example").Matches("BÜCHER.example", 1));
}

TEST(HostPatternTest, RefusesEverythingElse) {
  const std::string_view refused[] = {"",
                                      "*",
                                      "*.",
                                      ".",
                                      "..",
                                      "*.com",
                                      "*.org.",
                                      "*.internal",
                                      "*.co.uk",
                                      "*.com.au",
                                      "*.github.io",
                                      "*.vercel.app",
                                      "1.2.3.4",
                                      "127.1",
                                      "2130706433",
                                      "0x7f.1",
                                      "0x7f000001",
                                      "[::1]",
                                      "::1",
                                      "fe80::1%eth0",
                                      "1.2.3.4:80",
                                      "1.2.3.4.",
                                      "*.1.2.3",
                                      "a..b",
                                      ".a.b",
                                      "a.b..",
                                      "-a.b",
                                      "a-.b",
                                      "a b",
                                      "a.b ",
                                      "a\tb",
                                      "a\nb",
                                      "https://a.b",
                                      "a.b/c",
                                      "u@a.b",
                                      "**.a.b",
                                      "a.*.b",
                                      "*a.b",
                                      "a.*",
                                      "*.*.b.c",
                                      "a.b:",
                                      "a.b:0",
                                      "a.b:65536",
                                      "a.b:08",
                                      "a.b:+1",
                                      "a.b:x",
                                      "a.b:80:90",
                                      "xn--.b",
                                      "xn--a.b",
                                      "xn--99999999.b",
                                      "ab--cd.b",
                                      "a!.b",
                                      "a%2e.b",
                                      "e\xCC\x81.org",
                                      "\xF0\x9F\x92\xA9.la",
                                      "a\xE2\x80\x8B.b",
                                      "\xff.b",
                                      "ﬁ.org",
                                      "a。b",
                                      "www.exa\xC2\xADmple.org"};
  for (std::string_view text : refused) {
    const ParsedHost parsed = HostPattern::Parse(text);
    EXPECT_FALSE(parsed.pattern.has_value()) << text;
    EXPECT_FALSE(parsed.message.empty()) << text;
  }
  EXPECT_FALSE(HostPattern::Parse(std::string_view("a\0.b", 4)).pattern.has_value());
  EXPECT_FALSE(HostPattern::Parse(std::string(64, 'a') + ".b").pattern.has_value());
  EXPECT_TRUE(HostPattern::Parse(std::string(63, 'a') + ".b").pattern.has_value());
  std::string longest;
  for (int i = 0; i < 63; ++i) longest += "abc.";
  EXPECT_FALSE(HostPattern::Parse(longest + "abc").pattern.has_value());
  EXPECT_TRUE(HostPattern::Parse(longest + "a").pattern.has_value());
}

TEST(HostPatternTest, CoversWhatItMatches) {
  const char* covered[][2] = {{"*.b.c", "a.b.c"},    {"*.b.c", "*.b.c"}, {"*.b.c", "*.a.b.c"},
                              {"*.b.c", "a.b.c:80"}, {"a.b", "a.b"},     {"a.b", "a.b:443"},
                              {"a.b:443", "a.b:443"}};
  for (const auto& [outer, inner] : covered)
    EXPECT_TRUE(Pattern(outer).Covers(Pattern(inner))) << outer << " " << inner;
  const char* open[][2] = {{"*.b.c", "b.c"},   {"a.b.c", "*.b.c"},    {"*.a.b.c", "*.b.c"},
                           {"a.b:443", "a.b"}, {"a.b:443", "a.b:80"}, {"*.b.c", "xb.c"}};
  for (const auto& [outer, inner] : open)
    EXPECT_FALSE(Pattern(outer).Covers(Pattern(inner))) << outer << " " << inner;
}

TEST(IdnaTest, AgreesWithTheSamplesOfRfc3492) {
  const std::vector<uint32_t> czech = {0x50, 0x72, 0x6F, 0x10D, 0x70, 0x72, 0x6F,  0x73, 0x74, 0x11B, 0x6E,
                                       0x65, 0x6D, 0x6C, 0x75,  0x76, 0xED, 0x10D, 0x65, 0x73, 0x6B,  0x79};
  EXPECT_EQ(PunycodeEncode(czech), "Proprostnemluvesky-uyb24dma41a");
  EXPECT_EQ(PunycodeDecode("Proprostnemluvesky-uyb24dma41a"), czech);
  const std::vector<uint32_t> chinese = {0x4ED6, 0x4EEC, 0x4E3A, 0x4EC0, 0x4E48,
                                         0x4E0D, 0x8BF4, 0x4E2D, 0x6587};
  EXPECT_EQ(PunycodeEncode(chinese), "ihqwcrb4cv8a8dqg056pqjye");
  EXPECT_EQ(PunycodeDecode("ihqwcrb4cv8a8dqg056pqjye"), chinese);
}

TEST(IdnaTest, RefusesEncodingsOfWhatNoNameMayHave) {
  for (const char* label : {
           "xn--bcher-2pa",  // b, U with dots in capitals, cher
           "xn--e0agh1afp",  // capital Cyrillic
           "xn--n3h",        // a snowman
           "xn--x-sy8h",     // a ligature
           "xn--ab-g1t",     // a space of no width
           "xn--08a0euc",    // a capital Armenian letter
           "xn--y9a4835w",   // an emoji
           "xn--a-usa",      // a digraph in title case
           "xn--a-ylm",      // a capital letter with a dot
           "xn--b-yq0i",     // a letter of full width
           "xn--x-5ca",      // a superscript
       }) {
    EXPECT_FALSE(IsValidALabel(label)) << label;
  }
  // Armenian, a sharp s, Georgian, Devanagari, Cyrillic, kanji, Greek, a dot below and above, Hebrew with a
  // point, Cherokee, which is written in what Unicode calls capitals.
  for (const char* label : {"xn--y9a3aq", "xn--fa-hia", "xn--lododh2atk", "xn--h2bhs4b8d8a", "xn--b1agh1afp",
                            "xn--wgv71a119e", "xn--hxakic4aa", "xn--a-trm", "xn--a-fgc8f", "xn--f9dt7l"}) {
    EXPECT_TRUE(IsValidALabel(label)) << label;
  }
}

TEST(IdnaTest, AcceptsWhatItEncodesItself) {
  int encoded = 0;
  for (uint32_t c = 0x80; c < 0x10000; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string utf8;
    if (c < 0x800) {
      utf8 += static_cast<char>(0xC0 | (c >> 6));
    } else {
      utf8 += static_cast<char>(0xE0 | (c >> 12));
      utf8 += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    }
    utf8 += static_cast<char>(0x80 | (c & 0x3F));
    const auto label = LabelToAscii(utf8 + "x");
    if (!label) continue;
    ++encoded;
    EXPECT_TRUE(IsValidALabel(*label)) << std::hex << c;
  }
  EXPECT_GT(encoded, 30'000);
}

TEST(PublicSuffixTest, KnowsRegistriesAndSharedHosting) {
  for (const char* suffix : {"com", "internal", "co.uk", "com.br", "github.io", "s3.amazonaws.com"}) {
    EXPECT_TRUE(IsPublicSuffix(suffix)) << suffix;
  }
  for (const char* suffix : {"github.com", "npmjs.org", "example.co.uk", "me.github.io", "co.example"}) {
    EXPECT_FALSE(IsPublicSuffix(suffix)) << suffix;
  }
}

}  // namespace
}  // namespace spty
