// Whose files a report replaces and removes: those of earlier reports, and nobody else's.
#include "longtail/report/out_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "longtail/base/error.h"
#include "longtail/report/report.h"
#include "longtail/report/test_logs.h"

namespace longtail::report {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kCsv =
    "# mine\nrho,strategy,seed,overall,head,medium,tail\n100,uniform,1,50,60,40,20\nno line\n"
    "100,progressive,1,51,60,41,22\n";

// The options of a report on a CSV of the user's.
ReportOptions tables_of(const fs::path& csv, const fs::path& out) {
  base::write_atomically(csv, kCsv);
  ReportOptions options;
  options.inputs = {csv};
  options.out = out;
  options.tables_only = true;
  return options;
}

// Why nothing is written; empty if the report is.
std::string why_refused(const ReportOptions& options) {
  try {
    write_report(make_report(options), options);
  } catch (const base::UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(OutFolderTest, AListOfTheUsersRemovesNothingAndIsNotOverwritten) {
  const test::Folder in("out_list_in"), out("out_list");
  const ReportOptions options = tables_of(in.path() / "a.csv", out.path());
  base::write_atomically(out.path() / "holiday.png", std::string_view("sea"));
  base::write_atomically(out.path() / "files.txt", std::string_view("holiday.png\n"));
  EXPECT_THAT(why_refused(options), AllOf(HasSubstr("files.txt is there already and would be overwritten"),
                                          HasSubstr("give another folder (--out)")));
  EXPECT_EQ(base::read_text(out.path() / "files.txt"), "holiday.png\n");
  EXPECT_TRUE(fs::exists(out.path() / "holiday.png"));
  EXPECT_FALSE(fs::exists(out.path() / "summary.md")) << "nothing is written where something is refused";
}

TEST(OutFolderTest, AFileOfTheUsersIsNotOverwrittenAndItsFolderIsNamed) {
  for (const char* name : {"summary.md", "results.csv", "tables/overall.md"}) {
    const test::Folder in("out_user_in"), out("out_user");
    const ReportOptions options = tables_of(in.path() / "a.csv", out.path());
    fs::create_directories(out.path() / "tables");
    base::write_atomically(out.path() / name, std::string_view("mine"));
    EXPECT_THAT(why_refused(options),
                AllOf(HasSubstr(std::string(name) + " is there already"),
                      HasSubstr(out.path().string() + " is not the folder of a report")));
    EXPECT_EQ(base::read_text(out.path() / name), "mine");
  }
  // Other files of the user's are in nobody's way.
  const test::Folder in("out_beside_in"), out("out_beside");
  base::write_atomically(out.path() / "holiday.png", std::string_view("sea"));
  EXPECT_EQ(why_refused(tables_of(in.path() / "a.csv", out.path())), "");
  EXPECT_TRUE(fs::exists(out.path() / "holiday.png"));
}

TEST(OutFolderTest, AnInputIsNotOverwrittenWhateverTheFolderIsCalledOrWhoseItIs) {
  const test::Folder folder("out_input");
  const ReportOptions options = tables_of(folder.path() / "results.csv", folder.path() / "." / "");
  EXPECT_THAT(why_refused(options), HasSubstr("results.csv is what the report is made from"));
  EXPECT_EQ(base::read_text(folder.path() / "results.csv"), kCsv);
  // Also in the folder of a report.
  const test::Folder in("out_input_in"), out("out_input_out");
  ASSERT_EQ(why_refused(tables_of(in.path() / "a.csv", out.path())), "");
  ReportOptions again = tables_of(in.path() / "a.csv", out.path());
  again.inputs = {out.path() / "results.csv"};
  const std::string before = base::read_text(out.path() / "results.csv");
  EXPECT_THAT(why_refused(again), HasSubstr("results.csv is what the report is made from"));
  EXPECT_EQ(base::read_text(out.path() / "results.csv"), before);
}

TEST(OutFolderTest, TheListIsSignedAndRemovesOnlyFilesNamedAsOfAReport) {
  const test::Folder in("out_signed_in"), out("out_signed");
  const ReportOptions options = tables_of(in.path() / "a.csv", out.path() / "report");
  ASSERT_EQ(why_refused(options), "");
  const fs::path list = options.out / "files.txt";
  const std::string text = base::read_text(list);
  EXPECT_THAT(text, StartsWith("# written by longtail report\n"));
  EXPECT_THAT(text, HasSubstr("\nsummary.md\n"));
  base::write_atomically(options.out / "holiday.png", std::string_view("sea"));
  base::write_atomically(out.path() / "index.html", std::string_view("above"));
  base::write_atomically(options.out / "tables/old.md", std::string_view("of an earlier report"));
  base::write_atomically(list, text + "holiday.png\n../index.html\ntables/../../index.html\n" +
                                   (out.path() / "index.html").string() + "\ntables/old.md\n");
  EXPECT_EQ(why_refused(options), "");
  EXPECT_TRUE(fs::exists(options.out / "holiday.png"));
  EXPECT_TRUE(fs::exists(out.path() / "index.html"));
  EXPECT_FALSE(fs::exists(options.out / "tables/old.md"));
  EXPECT_EQ(base::read_text(list), text);
}

TEST(OutFolderTest, AnUnsignedListOfAnEarlierVersionIsAReports) {
  const test::Folder in("out_old_in"), out("out_old");
  const ReportOptions options = tables_of(in.path() / "a.csv", out.path());
  ASSERT_EQ(why_refused(options), "");
  const fs::path list = out.path() / "files.txt";
  const std::string text = base::read_text(list);
  base::write_atomically(out.path() / "index.html", std::string_view("the page"));
  base::write_atomically(list, "index.html\n" + text.substr(text.find('\n') + 1));
  EXPECT_EQ(why_refused(options), "");
  EXPECT_EQ(base::read_text(list), text);
  EXPECT_FALSE(fs::exists(out.path() / "index.html"));
}

TEST(OutFolderTest, AReportThatWasKilledWhileItWroteIsReplacedByTheNext) {
  const test::Folder out("out_killed");
  claim_folder(out.path(), {"summary.md", "results.csv", "index.html"}, {});
  base::write_atomically(out.path() / "index.html", std::string_view("half of it"));
  EXPECT_NO_THROW(claim_folder(out.path(), {"summary.md", "results.csv"}, {}));
  clear_stale(out.path(), {"summary.md", "results.csv"});
  EXPECT_FALSE(fs::exists(out.path() / "index.html"));
}

}  // namespace
}  // namespace longtail::report
