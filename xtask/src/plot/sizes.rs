//! Size against rate of every membership filter. Sizes are computed.

use super::chart::{Axis, Chart, Line};
use pds::compare::{Ability, Candidate, aging_and_growing};
use pds::error::ParamError;
use pds::params::bloom;
use pds::registry::{self, Structure};

/// Keys of every filter.
const ITEMS: u64 = 1_000_000;
/// Points of a line.
const POINTS: u32 = 96;

/// The abilities of a filter, which choose its colour.
#[derive(Debug, Clone, Copy)]
enum Family {
    Static,
    Plain,
    Removing,
    Moving,
}

/// Returns the chart.
///
/// # Errors
/// If a filter cannot be sized.
pub(super) fn chart() -> Result<Chart, ParamError> {
    Ok(Chart {
        file: "sizes",
        caption: "Bits per key, for a million keys",
        x: Axis {
            name: "false-positive rate",
            range: 1.0..4.0,
            labels: 4,
            label: |power| format!("{} %", 10f64.powf(2.0 - power)),
        },
        y: Axis {
            name: "",
            range: 3f64.log2()..180f64.log2(),
            labels: 8,
            label: |bits| format!("{:.0}", bits.exp2()),
        },
        groups: &["built once", "takes keys", "removes keys, too", "grows, or forgets by age"],
        lines: lines()?,
    })
}

/// Returns the size of each filter, and before them the least size that any filter can have.
fn lines() -> Result<Vec<Line>, ParamError> {
    let line = |name: &str, group, bits: &dyn Fn(f64) -> Result<f64, ParamError>| {
        let powers = (0..=POINTS).map(|point| 1.0 + 3.0 * f64::from(point) / f64::from(POINTS));
        let points = powers.map(|power| Ok((power, bits(10f64.powf(-power))?.log2())));
        Ok(Line { name: name.to_owned(), group, points: points.collect::<Result<_, _>>()? })
    };
    let per_key = |bits: f64| bits / ITEMS as f64;
    let mut lines = vec![line("least possible", None, &|rate| {
        Ok(per_key(bloom::information_bound(ITEMS, rate)))
    })?];
    // Structures of the standard library have no feature: their answers are exact.
    for structure in registry::filters().filter(|structure| structure.feature.is_some()) {
        let bits = |rate| Candidate::new(structure, ITEMS, rate).map(|one| one.bits_per_item());
        lines.push(line(structure.name, Some(family(structure) as usize), &bits)?);
    }
    for (index, size) in aging_and_growing(ITEMS, 0.5)?.iter().enumerate() {
        let bits = |rate| {
            let sizes = aging_and_growing(ITEMS, rate)?;
            Ok(per_key(8.0 * sizes[index].size_in_bytes() as f64))
        };
        lines.push(line(size.structure().name, Some(Family::Moving as usize), &bits)?);
    }
    Ok(lines)
}

fn family(structure: &Structure) -> Family {
    match structure.abilities() {
        Some(abilities) if abilities.remove != Ability::No => Family::Removing,
        Some(abilities) if abilities.insert == Ability::No => Family::Static,
        _ => Family::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_is_drawn_and_none_is_below_the_least_possible() {
        let chart = chart().unwrap();
        let (bound, filters) = chart.lines.split_first().unwrap();
        assert_eq!(filters.len(), registry::filters().count() + 2);
        for line in filters {
            for (&(power, bits), &(_, least)) in line.points.iter().zip(&bound.points) {
                assert!(bits > least, "{} at 10^-{power}: 2^{bits} of 2^{least} bits", line.name);
                assert!(
                    chart.y.range.contains(&bits),
                    "{} at 10^-{power}: 2^{bits} bits",
                    line.name
                );
            }
        }
    }
}
