//! Laws that hold for all parameters.

#![expect(clippy::cast_possible_truncation, reason = "whole numbers of items and of set bits")]

use pds_params::bloom::{
    cardinality, expected_fill, information_bound, rate_asymptotic, rate_exact, rate_finite,
    rate_from_fill, scheme_excess,
};
use pds_params::{BloomParams, Estimate};
use quickcheck::{Arbitrary, Gen, quickcheck};

/// A design: up to 10^11 items and a rate from 0.99 down to 10^-15, both spread over orders of magnitude. Sizes stay
/// below 2^43 bits.
#[derive(Debug, Clone, Copy)]
struct Design {
    items: u64,
    rate: f64,
}

impl Arbitrary for Design {
    fn arbitrary(g: &mut Gen) -> Self {
        let fraction = |g: &mut Gen| f64::from(u32::arbitrary(g)) / f64::from(u32::MAX);
        let items = 10f64.powf(11.0 * fraction(g)) as u64;
        let rate = 10f64.powf(-15.0 * fraction(g)).min(0.99);
        Self { items, rate }
    }
}

impl Design {
    fn params(self) -> BloomParams {
        BloomParams::new(self.items, self.rate).unwrap()
    }
}

/// Returns the lowest exact rate for any number of hashes near the best one.
fn lowest_rate(bits: u64, items: u64) -> f64 {
    let best = BloomParams::from_bits_and_items(bits, items).unwrap().num_hashes();
    let near = best.saturating_sub(3).max(1)..=(best + 3).min(BloomParams::MAX_HASHES);
    near.map(|hashes| rate_exact(bits, items, hashes)).fold(1.0, f64::min)
}

quickcheck! {
    fn size_keeps_the_promise_and_one_bit_less_does_not(design: Design) -> bool {
        let params = design.params();
        let Design { items, rate } = design;
        let below = params.num_bits() - 1;
        let minimal = below == 0 || lowest_rate(below, items) > rate;
        params.rate_at(items) <= rate && (minimal || params.num_bits() > 1 << 40)
    }

    fn double_hashing_needs_as_much_or_more(design: Design) -> bool {
        let Design { items, rate } = design;
        let Ok(params) = BloomParams::for_double_hashing(items, rate) else {
            return rate <= items as f64 / 2f64.powi(64);
        };
        let excess = scheme_excess(params.num_bits(), items, params.num_hashes());
        let total = params.rate_at(items) + excess + items as f64 / 2f64.powi(64);
        total <= rate * (1.0 + 1e-15)
            && params.num_bits() >= design.params().num_bits()
            && params.promised_rate() == Some(rate)
    }

    fn bits_and_rate_give_back_the_items(design: Design) -> bool {
        let bits = design.params().num_bits();
        let back = BloomParams::from_bits_and_rate(bits, design.rate).unwrap();
        let items = back.expected_items().unwrap();
        items >= design.items
            && back.rate_at(items) <= design.rate
            && lowest_rate(bits, items + 1) > design.rate
    }

    fn bits_and_items_give_back_the_rate(design: Design) -> bool {
        let params = design.params();
        let back = BloomParams::from_bits_and_items(params.num_bits(), design.items).unwrap();
        let rate = back.promised_rate().unwrap();
        rate <= design.rate && rate == params.rate_at(design.items)
    }

    fn items_and_their_rate_give_back_the_bits(design: Design) -> bool {
        let params = design.params();
        let again = BloomParams::new(design.items, params.rate_at(design.items)).unwrap();
        params.num_bits() > 1 << 40 || again.num_bits() == params.num_bits()
    }

    fn more_items_need_more_bits(design: Design) -> bool {
        let more = Design { items: design.items + 1, ..design };
        more.params().num_bits() >= design.params().num_bits()
    }

    fn a_stricter_rate_needs_more_bits(design: Design) -> bool {
        let stricter = Design { rate: design.rate * 0.9, ..design };
        stricter.params().num_bits() >= design.params().num_bits()
    }

    fn no_filter_beats_the_information_bound(design: Design) -> bool {
        // A filter for few items may be smaller: its bits carry randomness that the bound averages out.
        let bound = information_bound(design.items, design.rate);
        design.items < 100 || design.params().num_bits() as f64 > bound
    }

    fn the_three_rates_are_in_order(bits: u32, items: u16, hashes: u8) -> bool {
        let (bits, items, hashes) = (u64::from(bits), u64::from(items), u32::from(hashes));
        let asymptotic = rate_asymptotic(bits, items, hashes);
        let finite = rate_finite(bits, items, hashes);
        let exact = rate_exact(bits, items, hashes);
        // The tolerance for rounding is absolute below the normal numbers.
        let in_order = |low: f64, high: f64| low <= high * (1.0 + 1e-12) + f64::MIN_POSITIVE;
        0.0 <= asymptotic && in_order(asymptotic, finite) && in_order(finite, exact) && exact <= 1.0
    }

    fn the_exact_rate_rises_with_items_and_falls_with_bits(design: Design, hashes: u8) -> bool {
        let (bits, hashes) = (design.params().num_bits(), u32::from(hashes.max(1)));
        let rate = rate_exact(bits, design.items, hashes) * (1.0 - 1e-12);
        rate_exact(bits, design.items + 1, hashes) >= rate
            && rate <= rate_exact((bits - 1).max(1), design.items, hashes)
    }

    fn the_estimate_from_the_expected_fill_is_the_number_of_items(design: Design) -> bool {
        let params = design.params();
        let ones = params.set_bits_at(design.items).value.round() as u64;
        let Estimate { value, standard_error } =
            cardinality(params.num_bits(), params.num_hashes(), ones);
        // Rounding to a whole bit changes the result by up to one item at half fill, and by more if nearly full.
        ones == params.num_bits()
            || (value - design.items as f64).abs() <= 1.0 + standard_error
    }

    fn a_rate_from_any_fill_is_a_probability(fill: f64, hashes: u32) -> bool {
        (0.0..=1.0).contains(&rate_from_fill(fill, hashes))
    }

    fn a_cardinality_is_never_negative_or_nan(bits: u64, hashes: u32, ones: u64) -> bool {
        let Estimate { value, standard_error } = cardinality(bits, hashes, ones);
        value >= 0.0 && standard_error >= 0.0
    }

    fn fill_and_set_bits_agree(design: Design) -> bool {
        let params = design.params();
        let fill = expected_fill(params.num_bits(), design.items, params.num_hashes());
        params.fill_at(design.items) == fill
            && params.set_bits_at(design.items).value == fill * params.num_bits() as f64
    }
}
