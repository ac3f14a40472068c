//! The report for a browser: verdicts first, then a bar for each row.

use core::ops::RangeInclusive;

use pds_testkit::page::{escape, page};

use super::{EXPLANATION, Report, Row, notes};
use crate::goals::{Standing, Verdict};
use pds_testkit::stats::Median;

/// Returns the report as one file without external references.
#[must_use]
pub fn html(report: &Report) -> String {
    let sections = report.rows.chunk_by(|left, right| left.structure == right.structure);
    let sections: String = sections.map(section).collect();
    let body = format!("{}{}{}{sections}", verdict(report), facts(report), goals(&report.goals));
    page("pds against its peers", &body)
}

fn verdict(report: &Report) -> String {
    let count = |standing| report.goals.iter().filter(|goal| goal.standing == standing).count();
    let [met, by_interval, missed, unknown] =
        [Standing::Met, Standing::MetByInterval, Standing::Missed, Standing::NotMeasured]
            .map(count);
    let class = if missed == 0 { "kept" } else { "broken" };
    format!(
        "<p class=\"verdict {class}\">Of {} goals {met} met, {by_interval} by the interval only, {missed} missed; {unknown} \
         not measured in this run</p>\n",
        report.goals.len()
    )
}

fn facts(report: &Report) -> String {
    let lines =
        |lines: &[&str]| lines.iter().map(|line| escape(line)).collect::<Vec<_>>().join("<br>");
    let machine = report.machine.to_string();
    let machine: Vec<&str> = machine.lines().collect();
    format!(
        "<p>Each bar shows how many times as fast, or as small, ours is, on a logarithmic scale. To the right of the \
         line at 1, ours is better. The thin line is the 95 % interval.</p>\n<dl><dt>To repeat</dt><dd><code>{}</code></dd>\
         <dt>Machine</dt><dd>{}</dd><dt>Columns</dt><dd>{}</dd></dl>\n",
        escape(&report.command),
        lines(&machine),
        lines(&EXPLANATION),
    )
}

fn goals(goals: &[Verdict]) -> String {
    let row = |verdict: &Verdict| {
        let class = match verdict.standing {
            Standing::Met | Standing::MetByInterval => "kept",
            Standing::Missed => "broken",
            Standing::NotMeasured => "weak",
        };
        let standing = verdict.standing.to_string();
        let at_least = verdict.goal.at_least.to_string();
        let cells = [standing, verdict.task(), at_least, verdict.reached()].map(cell);
        format!("<tr class=\"{class}\">{}</tr>\n", cells.concat())
    };
    let rows: String = goals.iter().map(row).collect();
    table("Goals", "<tr><th>verdict<th>goal<th>at least<th>reached</tr>\n", &rows)
}

/// Returns the rows of one structure, with bars of one scale.
fn section(rows: &[Row]) -> String {
    let scale = Scale::of(rows);
    let header = format!(
        "<tr><th>case<th>operation<th>peer<th>{}<th>ratio<th>ours<th>peer's<th>our err<th>peer's<th>floor</tr>\n",
        scale.axis()
    );
    let body: String = rows.iter().map(|row| row_of(row, &scale)).collect();
    let notes = notes(rows).into_iter().map(escape).collect::<Vec<_>>().join("<br>");
    table(rows[0].structure, &header, &body) + &format!("<p>{notes}</p>\n")
}

fn row_of(row: &Row, scale: &Scale) -> String {
    let labels = [&row.case, &row.operation, row.peer].map(cell).concat();
    let figures = [row.ours, row.theirs].map(|figure| row.unit.spell(figure));
    let [ours, theirs] = row.errors();
    let numbers = figures.into_iter().chain([ours, theirs, row.floor_time()]);
    let numbers: String = numbers.map(|number| cell(&number)).collect();
    let (bar, ratio) = (scale.bar(row.ratio), cell(row.ratio.to_string()));
    format!("<tr>{labels}<td>{bar}{ratio}{numbers}</tr>\n")
}

fn table(title: &str, header: &str, rows: &str) -> String {
    format!(
        "<section>\n<h2>{}</h2>\n<div class=\"wide\"><table class=\"bars\"><thead>{header}</thead><tbody>\n{rows}</tbody></table>\
         </div>\n</section>\n",
        escape(title)
    )
}

fn cell(text: impl AsRef<str>) -> String {
    format!("<td>{}</td>", escape(text.as_ref()))
}

/// The doublings from the left end of a bar's box to its right end.
struct Scale(RangeInclusive<i32>);

impl Scale {
    const WIDTH: f64 = 320.0;
    /// The most doublings. Greater ratios are drawn at the edge.
    const MOST: f64 = 8.0;

    #[expect(clippy::cast_possible_truncation, reason = "within MOST of zero")]
    fn of(rows: &[Row]) -> Self {
        let doublings =
            rows.iter().map(|row| row.ratio.value.log2().clamp(-Self::MOST, Self::MOST));
        let (low, high) = doublings.fold((-1.0, 1.0), |(low, high): (f64, f64), doublings| {
            (low.min(doublings), high.max(doublings))
        });
        Self(low.floor() as i32..=high.ceil() as i32)
    }

    fn x(&self, ratio: f64) -> f64 {
        let [start, end] = [self.0.start(), self.0.end()].map(|&end| f64::from(end));
        Self::WIDTH * (ratio.log2().clamp(start, end) - start) / (end - start)
    }

    /// Returns the axis. If there are many doublings, every second one has a label.
    fn axis(&self) -> String {
        let step = if self.0.end() - self.0.start() > 6 { 2 } else { 1 };
        let label = |doublings: i32| {
            let (x, ratio) = (self.x(2.0_f64.powi(doublings)), 2_u32.pow(doublings.unsigned_abs()));
            let by = if doublings < 0 { "1/" } else { "" };
            // Labels at the ends are moved inwards, so that they are not cut off.
            let left = (100.0 * x / Self::WIDTH).clamp(3.0, 97.0);
            format!("<span style=\"left:{left:.1}%\">{by}{ratio}</span>")
        };
        let named = self.0.clone().filter(|doublings| doublings % step == 0);
        format!("<div class=\"axis\">{}</div>", named.map(label).collect::<String>())
    }

    fn bar(&self, ratio: Median) -> String {
        let (one, tip) = (self.x(1.0), self.x(ratio.value));
        let class = if ratio.value < 1.0 { "behind" } else { "ahead" };
        let grid: String =
            self.0.clone().map(|doublings| self.line(2.0_f64.powi(doublings))).collect();
        Self::svg(&format!(
            "{grid}<rect class=\"{class}\" x=\"{:.1}\" y=\"4\" width=\"{:.1}\" height=\"10\"/>\
             <line class=\"interval\" x1=\"{:.1}\" x2=\"{:.1}\" y1=\"9\" y2=\"9\"/>\
             <line class=\"one\" x1=\"{one:.1}\" x2=\"{one:.1}\" y1=\"0\" y2=\"18\"/>",
            one.min(tip),
            (one - tip).abs(),
            self.x(ratio.low),
            self.x(ratio.high),
        ))
    }

    fn line(&self, ratio: f64) -> String {
        let x = self.x(ratio);
        format!("<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"0\" y2=\"18\"/>")
    }

    fn svg(content: &str) -> String {
        format!(
            "<svg class=\"bar\" viewBox=\"0 0 {} 18\" preserveAspectRatio=\"none\">{content}</svg>",
            Self::WIDTH
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::row;

    #[test]
    fn a_bar_starts_at_one_and_ends_at_the_ratio() {
        let scale = Scale::of(&[Row { ratio: Median::exact(8.0), ..row() }]);
        assert_eq!(scale.0, -1..=3);
        assert_eq!((scale.x(0.5), scale.x(1.0), scale.x(8.0)), (0.0, 80.0, 320.0));
        let bar = scale.bar(Median { value: 2.0, low: 1.0, high: 4.0 });
        assert!(bar.contains("class=\"ahead\" x=\"80.0\" y=\"4\" width=\"80.0\""), "{bar}");
        assert!(bar.contains("x1=\"80.0\" x2=\"240.0\""), "{bar}");
        assert!(
            scale
                .bar(Median::exact(0.5))
                .contains("class=\"behind\" x=\"0.0\" y=\"4\" width=\"80.0\"")
        );
    }

    #[test]
    fn ratios_beyond_the_scale_are_drawn_at_its_edge() {
        let scale = Scale::of(&[Row { ratio: Median::exact(1e9), ..row() }]);
        assert_eq!(scale.x(1e9), Scale::WIDTH);
        assert!(scale.axis().contains(">256</span>"));
    }

    #[test]
    fn a_row_shows_what_was_measured() {
        let html = section(&[row()]);
        for text in
            ["<td>64 B</td>", "<td>peer</td>", "<td>1.50</td>", "<td>2.000 %</td>", "hashes twice."]
        {
            assert!(html.contains(text), "{text} in {html}");
        }
    }
}
