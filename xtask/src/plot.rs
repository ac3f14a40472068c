//! `cargo xtask plot`: the picture of the README, which shows size against rate for every membership filter.

use crate::process::{Outcome, root};
use clap::Args;
use core::error::Error;
use core::iter;
use pds::compare::Candidate;
use pds::error::ParamError;
use pds::params::{ScalableParams, Schedule, TimedParams, WindowParams, bloom};
use pds::registry::{self, Structure};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::fs;

/// Draws size against rate for every membership filter: `docs/images/sizes-light.svg` and `sizes-dark.svg`.
#[derive(Debug, Args)]
pub(crate) struct Options {}

/// Keys of every filter.
const ITEMS: u64 = 1_000_000;
/// Powers of ten of the highest and of the lowest rate.
const RATES: [f64; 2] = [-1.0, -4.0];
/// Points of a line.
const POINTS: u32 = 96;
/// Bits per key at the lower and at the upper edge.
const BITS: core::ops::Range<f64> = 3.0..180.0;
const SIZE: (u32, u32) = (880, 560);
/// Room for the names at the right.
const NAMES: u32 = 216;
/// Pixels from the end of a line to its name.
const LEADER: i32 = 24;
/// Pixels between the names of two lines.
const LINE_HEIGHT: i32 = 17;

/// Colours for one kind of background.
struct Theme {
    name: &'static str,
    background: RGBColor,
    text: RGBColor,
    grid: RGBColor,
    /// One per [`Family`].
    families: [RGBColor; 4],
}

const THEMES: [Theme; 2] = [
    Theme {
        name: "light",
        background: RGBColor(0xff, 0xff, 0xff),
        text: RGBColor(0x1f, 0x23, 0x28),
        grid: RGBColor(0xe1, 0xe4, 0xe8),
        families: [
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
        families: [
            RGBColor(0x3f, 0xb9, 0x50),
            RGBColor(0x58, 0xa6, 0xff),
            RGBColor(0xf0, 0x88, 0x3e),
            RGBColor(0xbc, 0x8c, 0xff),
        ],
    },
];

/// What a filter can do, which chooses its colour.
#[derive(Debug, Clone, Copy)]
enum Family {
    Static,
    Plain,
    Removing,
    Moving,
}

const FAMILIES: [(Family, &str); 4] = [
    (Family::Static, "built once"),
    (Family::Plain, "takes keys"),
    (Family::Removing, "removes keys, too"),
    (Family::Moving, "grows, or forgets by age"),
];

/// The size of a filter at each rate: bits per key over the power of ten of the rate.
struct Line {
    name: &'static str,
    /// `None` for the least that any filter can have.
    family: Option<Family>,
    points: Vec<(f64, f64)>,
}

/// Writes both pictures.
///
/// # Errors
/// If a file cannot be written.
pub(crate) fn run(_: &Options) -> Outcome {
    let lines = lines()?;
    for theme in &THEMES {
        let path = path(theme);
        fs::write(&path, draw(theme, &lines)?)?;
        eprintln!("wrote {}", path.display());
    }
    Ok(())
}

fn path(theme: &Theme) -> std::path::PathBuf {
    root().join(format!("docs/images/sizes-{}.svg", theme.name))
}

fn lines() -> Result<Vec<Line>, ParamError> {
    let line = |name, family, bits: &dyn Fn(f64) -> Result<f64, ParamError>| {
        let points = powers().map(|power| Ok((power, bits(10f64.powf(power))?)));
        Ok(Line { name, family, points: points.collect::<Result<_, _>>()? })
    };
    let per_key = |bits: f64| bits / ITEMS as f64;
    let mut lines = vec![line("least possible", None, &|rate| {
        Ok(per_key(bloom::information_bound(ITEMS, rate)))
    })?];
    // Structures of the standard library have no feature: their answers are exact.
    for structure in registry::filters().filter(|structure| structure.feature.is_some()) {
        let bits = |rate| Candidate::new(structure, ITEMS, rate).map(|one| one.bits_per_item());
        lines.push(line(structure.name, Some(family(structure)), &bits)?);
    }
    // The layers of 1,000 keys, doubled, that hold so many keys.
    let layers = (ITEMS / 1_000).ilog2() + 1;
    lines.push(line(registry::SCALABLE_BLOOM.name, Some(Family::Moving), &|rate| {
        ScalableParams::new(1_000, rate, 2, Schedule::Likely(ITEMS))?.bits_per_item(layers)
    })?);
    lines.push(line(registry::WINDOW_BLOOM.name, Some(Family::Moving), &|rate| {
        Ok(WindowParams::new(ITEMS, rate, 0.1)?.bits_per_item())
    })?);
    lines.push(line(registry::TIMED_BLOOM.name, Some(Family::Moving), &|rate| {
        Ok(per_key(8.0 * TimedParams::new(ITEMS, ITEMS, rate, 0.1)?.size_in_bytes() as f64))
    })?);
    Ok(lines)
}

/// Returns the powers of ten of the rates, falling.
fn powers() -> impl Iterator<Item = f64> {
    let [highest, lowest] = RATES;
    (0..=POINTS)
        .map(move |point| highest + (lowest - highest) * f64::from(point) / f64::from(POINTS))
}

fn family(structure: &Structure) -> Family {
    use pds::compare::Ability;
    match structure.abilities() {
        Some(abilities) if abilities.remove != Ability::No => Family::Removing,
        Some(abilities) if abilities.insert == Ability::No => Family::Static,
        _ => Family::Plain,
    }
}

fn draw(theme: &Theme, lines: &[Line]) -> Result<String, Box<dyn Error>> {
    let mut svg = String::new();
    draw_into(SVGBackend::with_string(&mut svg, SIZE), theme, lines)?;
    Ok(svg)
}

fn draw_into(backend: SVGBackend<'_>, theme: &Theme, lines: &[Line]) -> Outcome {
    let root = backend.into_drawing_area();
    root.fill(&theme.background).map_err(drawing)?;
    let [highest, lowest] = RATES;
    let text = |size| ("sans-serif", size).into_font().color(&theme.text);
    let mut chart = ChartBuilder::on(&root)
        .margin(14)
        .margin_right(NAMES)
        .caption("Bits per key, for a million keys", text(19))
        .x_label_area_size(46)
        .y_label_area_size(44)
        // Rates fall from left to right, so the axis has the opposite sign.
        .build_cartesian_2d(-highest..-lowest, BITS.log_scale().base(2.0))
        .map_err(drawing)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(theme.grid)
        .axis_style(theme.grid)
        .x_labels(4)
        .x_label_formatter(&|power| format!("{} %", 10f64.powf(2.0 - power)))
        .y_label_formatter(&|bits| format!("{bits:.0}"))
        .label_style(text(14))
        .x_desc("false-positive rate")
        .draw()
        .map_err(drawing)?;
    for line in lines {
        let points = line.points.iter().map(|&(power, bits)| (-power, bits));
        chart.draw_series(LineSeries::new(points, style(theme, line))).map_err(drawing)?;
    }
    let end = |line: &Line| {
        let &(power, bits) = line.points.last().ok_or("a line without points")?;
        Ok::<_, Box<dyn Error>>(chart.backend_coord(&(-power, bits)))
    };
    let mut names: Vec<(i32, i32, &Line)> =
        lines.iter().map(|line| end(line).map(|(x, y)| (y, x, line))).collect::<Result<_, _>>()?;
    names.sort_by_key(|&(y, ..)| y);
    let anchor = Pos::new(HPos::Left, VPos::Center);
    let places = spread(&names.iter().map(|&(y, ..)| y).collect::<Vec<_>>());
    for (&(from, x, line), y) in names.iter().zip(places) {
        let color = color(theme, line);
        let leader = PathElement::new([(x + 2, from), (x + LEADER, y)], color.stroke_width(1));
        root.draw(&leader).map_err(drawing)?;
        let style = text(14).color(color).pos(anchor);
        root.draw(&Text::new(line.name, (x + LEADER + 5, y), style)).map_err(drawing)?;
    }
    for (place, (family, meaning)) in (0..).zip(FAMILIES) {
        let style = text(14).color(&theme.families[family as usize]).pos(anchor);
        root.draw(&Text::new(meaning, (74, 62 + LINE_HEIGHT * place), style)).map_err(drawing)?;
    }
    root.present().map_err(drawing)
}

fn color<'a>(theme: &'a Theme, line: &Line) -> &'a RGBColor {
    line.family.map_or(&theme.text, |family| &theme.families[family as usize])
}

fn style(theme: &Theme, line: &Line) -> ShapeStyle {
    let width = if line.family.is_some() { 2 } else { 3 };
    color(theme, line).stroke_width(width)
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
    fn the_pictures_are_what_the_command_draws() {
        let lines = lines().unwrap();
        for theme in &THEMES {
            let drawn = draw(theme, &lines).unwrap();
            let committed = fs::read_to_string(path(theme)).unwrap();
            assert!(drawn == committed, "{}: run `cargo xtask plot`", path(theme).display());
        }
    }

    #[test]
    fn every_filter_is_drawn_and_none_is_below_the_least_possible() {
        let lines = lines().unwrap();
        let (bound, filters) = lines.split_first().unwrap();
        assert_eq!(filters.len(), registry::filters().count() + 2);
        for line in filters {
            for (&(power, bits), &(_, least)) in line.points.iter().zip(&bound.points) {
                assert!(bits > least, "{} at 10^{power}: {bits} of {least} bits", line.name);
                assert!(BITS.contains(&bits), "{} at 10^{power}: {bits} bits", line.name);
            }
        }
    }

    #[test]
    fn names_keep_their_order_and_a_line_of_distance() {
        assert!(spread(&[]).is_empty());
        assert_eq!(spread(&[10, 100]), [10, 100]);
        assert_eq!(spread(&[100, 101, 200, 201]), [84, 101, 184, 201]);
        assert_eq!(spread(&[100, 110, 112]), [78, 95, 112]);
    }
}
