//! Plots of a report: what was measured, relative to what was predicted, with the range that agrees.

use super::{about, percent};
use crate::plot::drawing;
use crate::validate::judge::{Row, Verdict};
use core::error::Error;
use core::ops::Range;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Two side by side on a screen, and one on a telephone, where it is drawn at some 60 %.
const SIZE: (u32, u32) = (640, 270);
/// Deviations beyond this are drawn at the edge.
const WIDEST: f64 = 0.25;
/// Rates that fit below each other's marks.
const MOST_LABELS: f64 = 9.0;
const UNDER_AXIS: Pos = Pos { h_pos: HPos::Center, v_pos: VPos::Top };
const KEPT: RGBColor = RGBColor(0x1b, 0x6e, 0x8c);
const WEAK: RGBColor = RGBColor(0x9a, 0x9a, 0x9a);
const BROKEN: RGBColor = RGBColor(0xc6, 0x28, 0x28);
const PALE: RGBColor = RGBColor(0xb8, 0xd4, 0xde);

/// A row as deviations from the prediction.
struct Mark {
    rate: f64,
    low: f64,
    observed: f64,
    high: f64,
    verdict: Verdict,
}

impl Mark {
    fn new(row: &Row) -> Self {
        let relative = |value: f64| value / row.expected - 1.0;
        Self {
            rate: row.case.rate,
            low: row.accepted.0.map_or(f64::NEG_INFINITY, relative),
            observed: relative(row.observed),
            high: relative(row.accepted.1),
            verdict: row.verdict,
        }
    }

    /// How far the bar and the dot are from the prediction.
    fn reach(&self) -> f64 {
        let low = if self.low.is_finite() { -self.low } else { 0.0 };
        low.max(self.high).max(self.observed.abs())
    }

    const fn colors(&self) -> (RGBColor, RGBColor) {
        match self.verdict {
            Verdict::Kept | Verdict::Wide => (KEPT, PALE),
            Verdict::Weak | Verdict::Expected => (WEAK, WEAK),
            Verdict::Broken => (BROKEN, BROKEN),
        }
    }
}

/// Draws the rows of one check side by side, rates falling from left to right, as SVG.
///
/// # Errors
/// When the drawing library fails.
pub(super) fn draw(group: &[&Row]) -> Result<String, Box<dyn Error>> {
    let mut marks: Vec<Mark> = group.iter().copied().map(Mark::new).collect();
    marks.sort_by(|left, right| right.rate.total_cmp(&left.rate));
    let reach = marks.iter().map(Mark::reach).fold(0.0, f64::max).min(WIDEST) * 1.1;
    let mut svg = String::new();
    draw_into(SVGBackend::with_string(&mut svg, SIZE), &marks, -reach..reach)?;
    Ok(svg)
}

fn draw_into(
    backend: SVGBackend<'_>,
    marks: &[Mark],
    deviations: Range<f64>,
) -> Result<(), Box<dyn Error>> {
    let root = backend.into_drawing_area();
    let last = f64::from(u32::try_from(marks.len())?);
    let mut chart = ChartBuilder::on(&root)
        .margin(8)
        .x_label_area_size(52)
        .y_label_area_size(98)
        .build_cartesian_2d(-1.0..last, deviations.clone())
        .map_err(drawing)?;
    let deviation = |y: &f64| format!("{}{}", sign(*y), percent(y.abs()));
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(0xe4, 0xe4, 0xe4))
        .axis_style(RGBColor(0x80, 0x80, 0x80))
        .x_labels(0)
        .y_labels(5)
        .y_label_formatter(&deviation)
        .label_style(("sans-serif", 15))
        .x_desc("promised rate or error")
        .y_desc("against predicted")
        .draw()
        .map_err(drawing)?;
    let style = ("sans-serif", 15).into_font().color(&BLACK).pos(UNDER_AXIS);
    for (x, rate) in labels(marks, last + 1.0) {
        let (x, y) = chart.backend_coord(&(x, deviations.start));
        root.draw(&Text::new(rate, (x, y + 6), style.clone())).map_err(drawing)?;
    }
    let zero = [(-1.0, 0.0), (last, 0.0)];
    chart.draw_series(LineSeries::new(zero, RGBColor(0x60, 0x60, 0x60))).map_err(drawing)?;
    for (x, mark) in (0u32..).map(f64::from).zip(marks) {
        let clip = |value: f64| value.clamp(deviations.start, deviations.end);
        let (dot, bar) = mark.colors();
        let range = [(x, clip(mark.low)), (x, clip(mark.high))];
        let bar = LineSeries::new(range, bar.stroke_width(2));
        let dot = Circle::new((x, clip(mark.observed)), 3, dot.filled());
        chart.draw_series(bar).map_err(drawing)?;
        chart.draw_series([dot]).map_err(drawing)?;
    }
    root.present().map_err(drawing)
}

/// Returns each rate once, at the middle of its marks, as far as there is room on an axis of this length.
fn labels(marks: &[Mark], length: f64) -> Vec<(f64, String)> {
    let mut labels: Vec<(f64, String)> = Vec::new();
    let mut start = 0u32;
    for run in marks.chunk_by(|left, right| about(left.rate) == about(right.rate)) {
        let end = start + u32::try_from(run.len()).unwrap_or(u32::MAX);
        let middle = f64::midpoint(f64::from(start), f64::from(end) - 1.0);
        if labels.last().is_none_or(|(before, _)| middle - before >= length / MOST_LABELS) {
            labels.push((middle, about(run[0].rate)));
        }
        start = end;
    }
    labels
}

const fn sign(value: f64) -> &'static str {
    if value > 1e-9 {
        "+"
    } else if value < -1e-9 {
        "\u{2212}"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rate_is_named_once_and_names_do_not_overlap() {
        let marks = |rates: &[f64]| {
            let mark = |&rate: &f64| Mark {
                rate,
                low: 0.0,
                observed: 0.0,
                high: 0.0,
                verdict: Verdict::Kept,
            };
            rates.iter().map(mark).collect::<Vec<_>>()
        };
        let named = labels(&marks(&[0.1, 0.1, 0.1, 0.01, 0.01]), 6.0);
        assert_eq!(named, [(1.0, "0.1".to_owned()), (3.5, "0.01".to_owned())]);
        let rates: Vec<f64> = (1..100).map(|rate| 1.0 / f64::from(rate)).collect();
        let named = labels(&marks(&rates), 100.0);
        assert!(named.windows(2).all(|pair| pair[1].0 - pair[0].0 >= 100.0 / MOST_LABELS));
        assert!((6..=9).contains(&named.len()), "{named:?}");
    }
}
