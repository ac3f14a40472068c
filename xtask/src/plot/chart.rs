//! Charts whose lines have their names at their ends, for a light and for a dark background.

use core::error::Error;
use core::iter;
use core::ops::Range;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

const SIZE: (u32, u32) = (880, 560);
/// Room for the names at the right.
const NAMES: u32 = 216;
/// Pixels from the end of a line to its name.
const LEADER: i32 = 24;
/// Pixels between the names of two lines.
const LINE_HEIGHT: i32 = 17;

/// Colours for one kind of background.
pub(super) struct Theme {
    pub(super) name: &'static str,
    background: RGBColor,
    text: RGBColor,
    grid: RGBColor,
    groups: [RGBColor; 4],
}

pub(super) const THEMES: [Theme; 2] = [
    Theme {
        name: "light",
        background: RGBColor(0xff, 0xff, 0xff),
        text: RGBColor(0x1f, 0x23, 0x28),
        grid: RGBColor(0xe1, 0xe4, 0xe8),
        groups: [
            RGBColor(0x1a, 0x7f, 0x37),
            RGBColor(0x09, 0x69, 0xda),
            RGBColor(0xbc, 0x4c, 0x00),
            RGBColor(0x82, 0x50, 0xdf),
        ],
    },
    Theme {
        name: "dark",
        background: RGBColor(0x0d, 0x11, 0x17),
        text: RGBColor(0xe6, 0xed, 0xf3),
        grid: RGBColor(0x30, 0x36, 0x3d),
        groups: [
            RGBColor(0x3f, 0xb9, 0x50),
            RGBColor(0x58, 0xa6, 0xff),
            RGBColor(0xf0, 0x88, 0x3e),
            RGBColor(0xbc, 0x8c, 0xff),
        ],
    },
];

/// A picture. Logarithmic axes have logarithms as coordinates.
pub(super) struct Chart {
    /// The name of its files, without theme and extension.
    pub(super) file: &'static str,
    pub(super) caption: &'static str,
    pub(super) x: Axis,
    pub(super) y: Axis,
    /// The names of the groups, each with a colour of its own.
    pub(super) groups: &'static [&'static str],
    pub(super) lines: Vec<Line>,
}

pub(super) struct Axis {
    pub(super) name: &'static str,
    pub(super) range: Range<f64>,
    /// The number of its labels, at most.
    pub(super) labels: usize,
    /// Returns the label of a coordinate.
    pub(super) label: fn(f64) -> String,
}

pub(super) struct Line {
    pub(super) name: String,
    /// Its group. `None` for a line that the others are compared with.
    pub(super) group: Option<usize>,
    pub(super) points: Vec<(f64, f64)>,
}

impl Chart {
    /// Returns the picture as SVG.
    ///
    /// # Errors
    /// If the drawing library fails, or a line has no point.
    pub(super) fn draw(&self, theme: &Theme) -> Result<String, Box<dyn Error>> {
        let mut svg = String::new();
        self.draw_into(SVGBackend::with_string(&mut svg, SIZE), theme)?;
        Ok(svg)
    }

    fn draw_into(&self, backend: SVGBackend<'_>, theme: &Theme) -> Result<(), Box<dyn Error>> {
        let root = backend.into_drawing_area();
        root.fill(&theme.background).map_err(drawing)?;
        let text = |size| ("sans-serif", size).into_font().color(&theme.text);
        let mut chart = ChartBuilder::on(&root)
            .margin(14)
            .margin_right(NAMES)
            .caption(self.caption, text(19))
            .x_label_area_size(46)
            .y_label_area_size(44)
            .build_cartesian_2d(self.x.range.clone(), self.y.range.clone())
            .map_err(drawing)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(theme.grid)
            .axis_style(theme.grid)
            .x_labels(self.x.labels)
            .y_labels(self.y.labels)
            .x_label_formatter(&|&x| (self.x.label)(x))
            .y_label_formatter(&|&y| (self.y.label)(y))
            .label_style(text(14))
            .x_desc(self.x.name)
            .y_desc(self.y.name)
            .draw()
            .map_err(drawing)?;
        for line in &self.lines {
            let style = line.style(theme);
            chart
                .draw_series(LineSeries::new(line.points.iter().copied(), style))
                .map_err(drawing)?;
            if line.points.len() <= 8 {
                let dots = line.points.iter().map(|&point| Circle::new(point, 3, style.filled()));
                chart.draw_series(dots).map_err(drawing)?;
            }
        }
        let end = |line: &Line| {
            let &point = line.points.last().ok_or_else(|| format!("{}: no point", line.name))?;
            Ok::<_, String>(chart.backend_coord(&point))
        };
        let ends = self.lines.iter().map(|line| end(line).map(|(x, y)| (y, x, line)));
        let mut ends = ends.collect::<Result<Vec<_>, _>>()?;
        ends.sort_by_key(|&(y, ..)| y);
        let (right, _) = chart.backend_coord(&(self.x.range.end, self.y.range.start));
        let anchor = Pos::new(HPos::Left, VPos::Center);
        let places = spread(&ends.iter().map(|&(y, ..)| y).collect::<Vec<_>>());
        for (&(from, x, line), y) in ends.iter().zip(places) {
            let color = line.color(theme);
            let leader = [(x + 2, from), (right + LEADER, y)];
            root.draw(&PathElement::new(leader, color.stroke_width(1))).map_err(drawing)?;
            let style = text(14).color(color).pos(anchor);
            let place = (right + LEADER + 5, y);
            root.draw(&Text::new(line.name.as_str(), place, style)).map_err(drawing)?;
        }
        for (place, (group, color)) in (0..).zip(self.groups.iter().zip(&theme.groups)) {
            let style = text(14).color(color).pos(anchor);
            root.draw(&Text::new(*group, (74, 62 + LINE_HEIGHT * place), style))
                .map_err(drawing)?;
        }
        root.present().map_err(drawing)
    }
}

impl Line {
    fn color<'a>(&self, theme: &'a Theme) -> &'a RGBColor {
        self.group.map_or(&theme.text, |group| &theme.groups[group])
    }

    fn style(&self, theme: &Theme) -> ShapeStyle {
        self.color(theme).stroke_width(if self.group.is_some() { 2 } else { 3 })
    }
}

/// Moves rising places apart until two names fit between them, as little as their order needs: upwards, because the highest lines
/// have room above them.
fn spread(places: &[i32]) -> Vec<i32> {
    let mut limit = i32::MAX;
    let mut moved: Vec<i32> = iter::repeat_n(0, places.len()).collect();
    for (place, moved) in places.iter().zip(&mut moved).rev() {
        *moved = (*place).min(limit);
        limit = *moved - LINE_HEIGHT;
    }
    moved
}

/// Keeps the text of an error of the drawing library, because the error itself borrows from the drawing.
pub(crate) fn drawing(error: impl Error) -> Box<dyn Error> {
    error.to_string().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_order_and_a_line_of_distance() {
        assert!(spread(&[]).is_empty());
        assert_eq!(spread(&[10, 100]), [10, 100]);
        assert_eq!(spread(&[100, 101, 200, 201]), [84, 101, 184, 201]);
        assert_eq!(spread(&[100, 110, 112]), [78, 95, 112]);
    }
}
